"""Take one file out of the jar in ``lib/``: ``python3 ../unpack.py resources/storm.py``. Standard library only."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path


def main(member: str) -> None:
    """Write the file beside the jar, under its own name."""
    [jar] = Path("lib").glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        (jar.parent / Path(member).name).write_bytes(archive.read(member))


if __name__ == "__main__":
    main(sys.argv[1])
