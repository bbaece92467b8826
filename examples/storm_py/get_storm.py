#!/usr/bin/env python3
"""Fetch the real storm.py, the library that Storm publishes for Python, and put it next to the examples here.

Usage: get_storm.py [DIRECTORY]. It needs Maven: ``mvn``.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ARTIFACT = "org.apache.storm:multilang-python:2.8.3"
MEMBER = "resources/storm.py"


def fetch(directory: Path) -> Path:
    """Return the path of storm.py in `directory`. Raises CalledProcessError or OSError if Maven fails or is missing."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={scratch}"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        [jar] = Path(scratch).glob("*.jar")
        target = directory / "storm.py"
        with zipfile.ZipFile(jar) as archive:
            target.write_bytes(archive.read(MEMBER))
    return target


def main() -> None:
    """Fetch it, or say which line would."""
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    try:
        print(fetch(directory))
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit(
            f"{problem}\nFetch it by hand: mvn dependency:copy -Dartifact={ARTIFACT} -DoutputDirectory=.\n"
            f"and unpack {MEMBER} from that jar into {directory}."
        )


if __name__ == "__main__":
    main()
