"""The status file of a tap."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from multilang_cli.transcript.private import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.tap.plan import TapPlan


class StatusFile:
    """Shows how far a tap is, in one file of JSON: where `plan` says, or named for the conversation in a folder.

    A device or a pipe is left as it is: it must not become a file, and nobody may be waited for.
    """

    def __init__(self, plan: TapPlan) -> None:
        self._place = plan.status or plan.folder
        self._is_folder = self._place == plan.folder
        self._written: Path | None = None

    def write(self, name: str, text: str) -> None:
        """Write it whole or not at all. The file of an earlier `name` goes."""
        path = self._place
        if self._is_folder or path.is_dir():
            path /= f"{name}.status.json"
        if path.exists() and not path.is_file():
            return
        if self._written is not None and self._written != path:
            with suppress(OSError):
                self._written.unlink()
        self._written = path
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{text}\n")
