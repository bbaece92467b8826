"""The JDK and Maven that programs in Java are built with on first use, and the folders that they are built in.

Standard library only, so that ``oracle/run.py`` works with any Python.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

INSTALL = "on Debian: sudo apt-get install openjdk-17-jdk-headless maven"
BUILD_SECONDS = 900
_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


class JavaTools(NamedTuple):
    """Tools of the releases `least` to `last` of Java. `needed`: the words before them, such as ``the oracle needs``.

    `error`: raised where something is missing.
    """

    needed: str
    error: type[Exception]
    least: int = 17
    last: int | None = None

    @property
    def _releases(self) -> str:
        until = f"to {self.last}" if self.last else "or later"
        return f"{self.needed} a JDK of {self.least} {until}"

    def program(self, name: str) -> str:
        """A program on PATH."""
        found = shutil.which(name)
        if found is None:
            raise self.error(f"{name} was not found on PATH; {self._releases} and Maven, {INSTALL}")
        return found

    def java_program(self, name: str) -> str:
        """A program of the JDK that Maven takes: that of JAVA_HOME, else of PATH."""
        home = Path(os.environ.get("JAVA_HOME", "")) / "bin" / name
        return str(home) if os.environ.get("JAVA_HOME") and home.exists() else self.program(name)

    def check(self) -> None:
        """See that a compiler, Maven and a Java of one of these releases are there."""
        self.java_program("javac")
        self.program("mvn")
        java = [self.java_program("java"), "-version"]
        said = subprocess.run(java, capture_output=True, text=True, check=False).stderr
        found = _JAVA_VERSION.search(said)
        if found is None or not self.least <= int(found[1]) <= (self.last or int(found[1])):
            shown = found[1] if found else "of an unknown version"
            raise self.error(f"this Java is {shown}; {self._releases}, {INSTALL}")


def is_clone(source: Path) -> bool:
    """True if `source` lies in a clone of the repository, where things are built and recorded in place."""
    return (source.parent / "pyproject.toml").is_file()


def builds(source: Path) -> Path:
    """The folder of what is built of `source`: in a clone beside it, else in the user's cache."""
    if is_clone(source):
        return source / "target"
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "mlcheck" / source.name


def digest(source: Path) -> str:
    """A name for this state of the sources in `source`."""
    files = [source / "pom.xml", *sorted(file for file in (source / "src").rglob("*") if file.is_file())]
    whole = hashlib.sha256()
    for file in files:
        whole.update(b"%s\0%s\0" % (str(file.relative_to(source)).encode(), file.read_bytes()))
    return whole.hexdigest()[:12]


def errors_of(said: str) -> list[str]:
    """The errors that Maven tells, never none."""
    lines = (line.partition("[ERROR]")[2].strip() for line in said.splitlines() if "[ERROR]" in line)
    return [line for line in lines if line] or [said.strip()[-500:]]
