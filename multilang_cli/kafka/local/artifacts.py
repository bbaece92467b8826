"""The jars of a server, copied by Maven once into the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

POM = Path(__file__).parent / "pom.xml"
INSTALL = "on Debian: sudo apt-get install default-jdk-headless maven"
SECONDS = 900
SHOWN_LINES = 5


class UnavailableError(Exception):
    """No server can be had here; the message says why, and what to do."""


def class_path(pom: Path = POM) -> str:
    """The class path of what a POM depends on, Kafka by default; fetched if missing. Raises UnavailableError."""
    for name in ("java", "mvn"):
        if shutil.which(name) is None:
            raise UnavailableError(f"{name} was not found, and Kafka needs Java 17 and Maven; {INSTALL}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mlcheck"
    folder = cache / f"jars-{hashlib.sha256(pom.read_bytes()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _fetch(pom, folder / "lib")
            (folder / "complete").touch()
    return str(folder / "lib" / "*")


def _fetch(pom: Path, lib: Path) -> None:
    shutil.rmtree(lib, ignore_errors=True)
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={lib}"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"Maven had not fetched the jars after {SECONDS} s; try again") from None
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()[-SHOWN_LINES:]
        raise UnavailableError("Maven could not fetch the jars; it said:\n  " + "\n  ".join(said))
