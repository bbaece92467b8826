"""Temporary folders that go with mlcheck, however it ends."""

from __future__ import annotations

import secrets
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.driver.janitor import JANITOR, remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def scratch(prefix: str, folder: Path | None = None) -> Iterator[Path]:
    """Make a folder of this prefix in `folder`, else among temporary files, and remove it: after a SIGKILL too.

    Raises OSError.
    """
    cookie = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder, ignore_cleanup_errors=True) as made:
        path = Path(made).absolute()
        JANITOR.expect(cookie, str(path))
        try:
            yield path
        finally:
            remove_tree(str(path))
            JANITOR.ended(cookie)
