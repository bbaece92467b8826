"""Makes the Java program of the LocalCluster: Maven brings Storm's jars, javac compiles. Done once, then offline."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent / "java"
SOURCES = HERE / "src"
CLASSES = HERE / "target" / "classes"
LIBRARIES = HERE / "target" / "lib"
DEPENDENCIES = HERE / "target" / "dependencies"

STORM = "2.8.3"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:2.8"
"""This one copies a jar whose parent POM is not published, as flux-core's is not; 3.6 does not."""
INSTALL = "On Debian: apt-get install openjdk-17-jdk-headless maven"
SECONDS = 900


class BuildError(Exception):
    """Why there is no program, in sentences."""


def class_path() -> str:
    """The class path of the program, made if it is missing or older than its sources. Raises BuildError."""
    if not _newer(DEPENDENCIES, [HERE / "pom.xml"]):
        _resolve()
    sources = sorted(SOURCES.rglob("*.java"))
    if not _newer(CLASSES / "built", [*sources, DEPENDENCIES]):
        _compile(sources)
    # Flux last: its jar holds an slf4j of its own.
    return os.pathsep.join([str(CLASSES), str(SOURCES), _libraries()])


def run_tool(command: list[str]) -> None:
    """Run a tool of the JDK or Maven to its end. Raises BuildError, with what it printed, if it fails or is missing."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise BuildError(
            f"{command[0]} was not found; LocalCluster needs Maven and a JDK 17 to 23. {INSTALL}"
        ) from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"{command[0]} was not done after {SECONDS} s") from None
    if done.returncode != 0:
        raise BuildError(f"{command[0]} failed, exit code {done.returncode}:\n{done.stdout}")


def _resolve() -> None:
    command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), f"{PLUGIN}:copy"]
    command += [f"-Dartifact=org.apache.storm:flux-core:{STORM}", f"-DoutputDirectory={LIBRARIES}"]
    run_tool([*command, f"{PLUGIN}:build-classpath", f"-Dmdep.outputFile={DEPENDENCIES}"])


def _compile(sources: list[Path]) -> None:
    CLASSES.mkdir(parents=True, exist_ok=True)
    command = ["javac", "--release", "17", "-proc:none", "-nowarn", "-d", str(CLASSES), "-cp", _libraries()]
    run_tool([*command, *map(str, sources)])
    (CLASSES / "built").touch()


def _libraries() -> str:
    return os.pathsep.join([DEPENDENCIES.read_text(encoding="utf-8").strip(), str(LIBRARIES / "*")])


def _newer(made: Path, sources: list[Path]) -> bool:
    return made.exists() and made.stat().st_mtime >= max(source.stat().st_mtime for source in sources)
