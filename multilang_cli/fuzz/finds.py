"""Scenarios that failed, kept from one search to the next: a file each, which their owner alone may read."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha384
from typing import TYPE_CHECKING

from hypothesis.database import ExampleDatabase

from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NAME_LENGTH = 16
"""Characters of a name, as Hypothesis's own database of files has it: what it has kept is read."""


class FindsDatabase(ExampleDatabase):
    """A database of Hypothesis in `folder`. `failed`: why something could not be kept, "" if all was.

    Hypothesis's own says nothing where it can't write, leaves files among temporary ones, and its folders can be read
    by all.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.failed = ""
        self._folder = folder

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Read the values that are kept under a key; none where they can't be read."""
        with suppress(OSError):
            for path in sorted((self._folder / _name(key)).iterdir()):
                if not path.name.startswith("."):
                    yield path.read_bytes()

    def save(self, key: bytes, value: bytes) -> None:
        """Keep a value under a key."""
        try:
            make_private(self._folder)
            make_private(self._folder / _name(key))
            write_whole(self._folder / _name(key) / _name(value), value, private=True)
        except OSError as error:
            self.failed = error.strerror or str(error)

    def delete(self, key: bytes, value: bytes) -> None:
        """Forget a value, if it is there."""
        with suppress(OSError):
            (self._folder / _name(key) / _name(value)).unlink()


def _name(text: bytes) -> str:
    return sha384(text).hexdigest()[:_NAME_LENGTH]
