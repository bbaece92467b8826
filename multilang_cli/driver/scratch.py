"""Temporary folders that go with mlcheck, however it ends."""

from __future__ import annotations

import atexit
import secrets
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.driver.reaper import REAPER, remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator


def make_registered(prefix: str, folder: Path | None = None) -> tuple[str, Path]:
    """Make a private folder in `folder`, else among temporary files; the cookie under which it is registered, too.

    It is registered before it is there: a SIGKILL may come at any moment. Raises OSError.
    """
    cookie = secrets.token_hex(8)
    path = (folder or Path(tempfile.gettempdir())).absolute() / f"{prefix}{cookie}"
    REAPER.expect(cookie, str(path))
    try:
        path.mkdir(mode=0o700)
    except OSError:
        REAPER.ended(cookie)
        raise
    return cookie, path


@contextmanager
def scratch(prefix: str, folder: Path | None = None) -> Iterator[Path]:
    """Make a folder of this prefix in `folder`, else among temporary files, and remove it: after a SIGKILL too.

    Raises OSError.
    """
    cookie, path = make_registered(prefix, folder)
    try:
        yield path
    finally:
        remove_tree(str(path))
        REAPER.ended(cookie)


def lasting_scratch(prefix: str) -> Path:
    """A folder of this prefix among temporary files, which goes with mlcheck, however that ends. Raises OSError."""
    cookie, path = make_registered(prefix)

    def end() -> None:
        """Remove it."""
        remove_tree(str(path))
        REAPER.ended(cookie)

    atexit.register(end)
    return path
