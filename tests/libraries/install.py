#!/usr/bin/env python3
"""Install the real multilang libraries, each at the version that findings.yaml speaks of, into .cache/libraries.

What is there is not fetched again. It needs mvn, npm and uv (which it finds as dev.py does), and builds the testees of
our own libraries with go, cargo and mvn.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from dev import find_uv  # noqa: E402 (dev.py is a script at the top of the repository)

if TYPE_CHECKING:
    from collections.abc import Callable

CACHE = ROOT / ".cache" / "libraries"
PYTHON = CACHE / "python" / "bin"
STORM = "2.8.3"
NODE_STORM = "0.0.1"
TESTEES = ROOT / "conformance" / "testees"
SOURCES = {".go", ".mod", ".java", ".xml", ".rs", ".toml", ".c", ".h"}
"""The endings of files that a compiler reads."""
JARS = {"storm_py": ("python", "storm.py"), "storm_rb": ("ruby", "storm.rb"), "storm_js": ("javascript", "storm.js")}
"""Per library: the end of its artifact's name, and its file in the jar's resources."""


def install() -> None:
    """Have every library in CACHE. Raises CalledProcessError or OSError if a package manager fails or is missing."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes may ask at once
        for library in JARS:
            _once(library, STORM, _install_jar)
        _once("node_storm", NODE_STORM, _install_npm)
        _hand_out()
        for folder in sorted(TESTEES.glob("*/testee.yaml")):
            _build(folder.parent)
        _once("python", (HERE / "requirements.txt").read_text(encoding="utf-8") + sys.version, _install_python)
        for library in ("pystorm", "streamparse"):
            _link(ROOT / "conformance" / "testees" / library / "lib", CACHE / "python")


def _once(name: str, what: str, fetch: Callable[[Path], None]) -> None:
    """Let `fetch` fill the directory of this name, unless that holds `what` already: a stamp is written last."""
    directory, stamp = CACHE / name, CACHE / f"{name}.stamp"
    wanted = hashlib.sha256(f"{what}\n{directory}".encode()).hexdigest()
    if directory.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    stamp.unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    fetch(directory)
    stamp.write_text(wanted, encoding="utf-8")


def _install_jar(directory: Path) -> None:
    language, member = JARS[directory.name]
    artifact = f"org.apache.storm:multilang-{language}:{STORM}"
    _call("mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={directory}")
    [jar] = directory.glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        (directory / member).write_bytes(archive.read(f"resources/{member}"))


def _hand_out() -> None:
    """Give the testees what their `prepare` would fetch once more."""
    for library, (_, member) in JARS.items():
        testee = TESTEES / library
        if testee.is_dir():
            (testee / "lib").mkdir(exist_ok=True)
            shutil.copyfile(CACHE / library / member, testee / "lib" / member)
    node_storm = TESTEES / "node_storm" / "lib"
    if not node_storm.exists():
        node_storm.symlink_to(CACHE / "node_storm")


def _build(folder: Path) -> None:
    """Do what a testee with its own library needs before the first start, if a source of it has changed."""
    commands = yaml.safe_load((folder / "testee.yaml").read_text(encoding="utf-8")).get("prepare", [])
    sources = [path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES and "target" not in path.parts]
    if not sources or not commands:
        return
    digest = hashlib.sha256(f"{folder}".encode() + b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = CACHE / f"testee-{folder.name}.stamp"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return
    for command in commands:
        subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    stamp.write_text(digest, encoding="utf-8")


def _link(place: Path, target: Path) -> None:
    """Have a testee use what is installed already."""
    if not place.exists():
        place.unlink(missing_ok=True)
        place.symlink_to(target)


def _install_npm(directory: Path) -> None:
    # Without scripts: an old WebSocket library, which no worker uses, would compile a part of itself in vain.
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
    _call("npm", "install", *options, "--prefix", str(directory), f"node-storm@{NODE_STORM}")


def _install_python(directory: Path) -> None:
    _call(find_uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(directory))
    python, wanted = directory / "bin" / "python", HERE / "requirements.txt"
    _call(find_uv(), "pip", "install", "--quiet", "--python", str(python), "--requirements", str(wanted))


def _call(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def main() -> None:
    """Install, or say what could not be, with the package manager's own words above it."""
    try:
        install()
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit(f"{problem}\nThe libraries need mvn, npm, uv, go and cargo, and for the first time a network.")


if __name__ == "__main__":
    main()
