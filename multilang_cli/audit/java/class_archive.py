"""An archive of the classes that Java had loaded when an audit ended: without one, half of a session's start is those.

Java makes it at its end, once that has been asked for twice: it takes a while and some room, which a machine that
audits once has no use for. Java itself refuses an archive of other jars or of another Java, and does without.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

import pyspark

QUIET = "-Xlog:disable"
"""Java would say on stdout what it does not like about an archive."""
GIVEN_UP = 3600.0
"""Seconds after which an archive that is not whole will not become so."""
UNUSED = 30 * 86400.0
"""Seconds after which an archive that no audit used is removed: its Java or its Spark may be gone."""
_MAGIC = 4


def java_options(version: str, *, make: bool = False) -> str:
    """Java's options that use the archive, or make it where there is none and `make`; "" if there is nothing to do.

    `version`: what this Java says of itself.
    """
    path = place(version)
    try:
        if _is_whole(path):
            os.utime(path)
            _remove_unused(path.parent)
            return f'"-XX:SharedArchiveFile={path}" {QUIET}'
        if make and _is_due(path):
            return f'"-XX:ArchiveClassesAtExit={path}" {QUIET}'
    except OSError:
        # Nothing can be kept here.
        return ""
    return ""


def place(version: str) -> Path:
    """The archive's file, in the user's cache: another for each Java and each installation of Spark."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mlcheck"
    jars = Path(pyspark.__file__).parent / "jars"
    changed = jars.stat().st_mtime_ns if jars.is_dir() else 0
    told = f"{version}\0{pyspark.__version__}\0{jars}\0{changed}"
    return cache / f"spark-{hashlib.sha256(told.encode()).hexdigest()[:12]}.jsa"


def _is_whole(path: Path) -> bool:
    """True if it is there: Java writes its first bytes last."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        return any(file.read(_MAGIC))
    return False


def _is_due(path: Path) -> bool:
    """True if somebody audited here before, and no other Java is writing it."""
    asked = path.with_suffix(".asked")
    if not asked.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        asked.touch()
        return False
    return not path.exists() or time.time() - path.stat().st_mtime > GIVEN_UP


def _remove_unused(folder: Path) -> None:
    """Remove archives that were not used for long: each has its time of change set when it is."""
    for path in folder.glob("spark-*"):
        if path.suffix in {".jsa", ".asked"} and time.time() - path.stat().st_mtime > UNUSED:
            path.unlink()
