"""Places of the published data: inside the package in a wheel, at the top of the repository in a clone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent


@cache
def data_path(*parts: str) -> Path:
    """The file or folder `parts`, beginning with ``schemas`` or ``conformance``. It need not exist."""
    packaged = _PACKAGE / "_data"
    return (packaged if packaged.is_dir() else _PACKAGE.parent).joinpath(*parts)
