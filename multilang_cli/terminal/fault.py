"""The last resort: a fault of mlcheck's own becomes a sentence, and its traceback a file."""

from __future__ import annotations

import os
import platform
import shlex
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli import __version__
from multilang_cli.terminal.output import shown
from multilang_cli.transcript.private import open_private

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(".mlcheck")
_TELLING = frozenset({"--conf", "--env"})


def report_fault(error: BaseException, arguments: Sequence[str]) -> str:
    """Write down what happened; the sentence that says so and names the file."""
    what = f"a fault of mlcheck's own, not of your component: {type(error).__name__}: {_short(error)}."
    text = (
        f"mlcheck {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"mlcheck {shlex.join(without_values(arguments))}\n\n{''.join(traceback.format_exception(error))}"
    )
    path = _write(shown(text))
    return f"{what} The details are in {path}; please report it with that file." if path else what


def without_values(arguments: Sequence[str]) -> list[str]:
    """The command line as it may be sent to others: what --conf and --env say is left out."""
    words: list[str] = []
    for word in arguments:
        option, equals, value = word.partition("=")
        if words and words[-1] in _TELLING:
            words.append(f"{option}=***")
        elif option in _TELLING and equals:
            words.append(f"{option}={value.partition('=')[0]}=***")
        else:
            words.append(word)
    return words


def _write(text: str) -> Path | None:
    name = f"fault-{os.getpid()}.txt"
    for temporary in (False, True):
        try:
            # Looked for in here: there may be no place for temporary files at all.
            folder = Path(tempfile.gettempdir()) if temporary else FOLDER
            folder.mkdir(parents=True, exist_ok=True)
            # Made anew or not at all: among temporary files, a link of that name would lead anywhere.
            with open_private(folder / name, "x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return folder / name
    return None


def _short(error: BaseException) -> str:
    text = str(error).strip().split("\n", 1)[0]
    return text[:200] if text else "no message"
