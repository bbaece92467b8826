#!/usr/bin/env python3
"""Install the real multilang libraries, each at the version that findings.yaml speaks of, into .cache/libraries.

What is there is not fetched again. Standard library only; it needs mvn, npm and uv (which it finds as dev.py does).
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

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
JARS = {"storm_py": ("python", "storm.py"), "storm_rb": ("ruby", "storm.rb"), "storm_js": ("javascript", "storm.js")}
"""Per library: the end of its artifact's name, and its file in the jar's resources."""


def install() -> None:
    """Have every library in CACHE. Raises CalledProcessError or OSError if a package manager fails or is missing."""
    for library in JARS:
        _once(library, STORM, _install_jar)
    _once("node_storm", NODE_STORM, _install_npm)
    _once("python", (HERE / "requirements.txt").read_text(encoding="utf-8") + sys.version, _install_python)


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
        sys.exit(f"{problem}\nThe libraries need mvn, npm and uv, and for the first time a network.")


if __name__ == "__main__":
    main()
