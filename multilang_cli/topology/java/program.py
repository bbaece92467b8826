"""The Java program of ``java_host/``: built for a Storm version by Maven and javac on first use."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.locate import data_path
from multilang_cli.driver import jdk
from multilang_cli.driver.scratch import scratch
from multilang_cli.driver.supervisor import Supervisor
from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGGING = "log4j2-mlcheck.xml"

_PACKAGE = "mlcheck.javahost."
PLANNER, COMPONENT, CHOOSER = f"{_PACKAGE}PlanMain", f"{_PACKAGE}ComponentMain", f"{_PACKAGE}GroupingMain"
_OPENED = ("java.lang", "java.util", "java.nio")
"""Packages of the JDK that Kryo looks into."""
FLUX = {"2.5.0": "2.6.2"}
"""Storm versions whose own Flux was never published, and the next one that was."""
_SHARED = ("org.apache.storm:storm-client", "org.apache.storm:storm-core", "org.slf4j:*", "org.apache.logging.log4j:*")
"""What a topology shares with Storm: a second one would hide it."""


class JavaHostError(CommandError):
    """Java components can't be run; the message is a sentence that says why, and what to do."""


TOOLS = jdk.JavaTools("Java components need", JavaHostError)
"""Builds and runs them. Its methods raise JavaHostError."""


class JavaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of every JVM of a topology, kept in a file: a class path is too long for a command line.

    `folder`: of the plan. `tag`: the key of values that only Java can read. `class_path`: its entries. `more`: options
    that the topology wants.
    """

    folder: Path
    tag: str
    class_path: tuple[str, ...]
    more: tuple[str, ...] = ()

    def write(self) -> None:
        """Write the file."""
        options = [
            *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Dfile.encoding=UTF-8"),
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
            f"-Dlog4j2.configurationFile=classpath:{LOGGING}",
            *(f"-Dmlcheck.folder={self.folder}", f"-Dmlcheck.tag={self.tag}"),
            *self.more,
            *("-cp", os.pathsep.join(self.class_path)),
        ]
        self._file.write_text("\n".join(map(_quoted, options)) + "\n", encoding="utf-8")

    def command(self, program: str, *arguments: str) -> tuple[str, ...]:
        """The command line of a program. Raises JavaHostError."""
        return (TOOLS.java_program("java"), f"@{self._file}", program, *arguments)

    @property
    def _file(self) -> Path:
        return self.folder / "options"


def _quoted(option: str) -> str:
    return '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"'


def host_class_path(storm: str) -> tuple[str, ...]:
    """The class path of the program for Storm `storm`, built unless that is done. Raises JavaHostError.

    Each state of the sources has a folder of its own, made whole or not at all.
    """
    TOOLS.check()
    source = data_path("java_host")
    made = jdk.builds(source) / f"{storm}-{jdk.digest(source)}"
    if not made.exists():
        with _part(made) as part:
            maven = ["-f", str(source / "pom.xml"), f"-Dstorm.version={storm}", f"-Dflux.libraries={part / 'flux'}"]
            maven.append(f"-Dflux.version={FLUX.get(storm, storm)}")
            _maven(part, [*maven, "dependency:copy", "dependency:build-classpath"], f"Storm {storm}")
            _compile(source, part)
            _name(part, made)
    found = (made / "classpath").read_text(encoding="utf-8").strip()
    # Flux last: its jar holds an slf4j of its own.
    return (str(made / "classes"), *found.split(os.pathsep), str(made / "flux" / "*"))


def fetched(coordinates: tuple[str, ...]) -> tuple[str, ...]:
    """The jars of Maven coordinates (``group:artifact:version``) and of what they need. Raises JavaHostError."""
    if not coordinates:
        return ()
    project = _project(coordinates)
    made = jdk.builds(data_path("java_host")) / f"dependencies-{hashlib.sha256(project.encode()).hexdigest()[:12]}"
    if not made.exists():
        TOOLS.program("mvn")
        with _part(made) as part:
            (part / "pom.xml").write_text(project, encoding="utf-8")
            _maven(part, ["-f", str(part / "pom.xml"), "dependency:build-classpath"], ", ".join(coordinates))
            _name(part, made)
    found = (made / "classpath").read_text(encoding="utf-8").strip()
    return tuple(found.split(os.pathsep)) if found else ()


def _project(coordinates: tuple[str, ...]) -> str:
    """A Maven project with these dependencies. Raises JavaHostError for what is no coordinate."""
    left = "".join(
        "<exclusion><groupId>{}</groupId><artifactId>{}</artifactId></exclusion>".format(*each.split(":"))
        for each in _SHARED
    )
    found = []
    for each in coordinates:
        if not re.fullmatch(r"[\w.-]+(:[\w.-]+){2}", each):
            raise JavaHostError(f"{each!r} is no Maven coordinate; expected group:artifact:version")
        group, artifact, version = each.split(":")
        found.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
            f"<exclusions>{left}</exclusions></dependency>"
        )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>mlcheck</groupId><artifactId>topology</artifactId>"
        f"<version>1</version><dependencies>{''.join(found)}</dependencies></project>"
    )


@contextmanager
def _part(made: Path) -> Iterator[Path]:
    """A folder in which `made` is prepared. Raises JavaHostError."""
    with ExitStack() as stack:
        try:
            made.parent.mkdir(parents=True, exist_ok=True)
            part = stack.enter_context(scratch(f".{made.name}.", made.parent))
        except OSError as error:
            raise JavaHostError(f"{error.filename}: the program can't be built there: {error.strerror}") from None
        yield part


def _name(part: Path, made: Path) -> None:
    """Give what was prepared its name, unless somebody else has made it meanwhile."""
    with suppress(OSError):
        part.rename(made)


def _maven(part: Path, arguments: list[str], what: str) -> None:
    """Have Maven write ``classpath`` into `part`. Raises JavaHostError."""
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:2.8"
    goals = [each.replace("dependency:", f"{plugin}:", 1) for each in arguments]
    said, code = _run([TOOLS.program("mvn"), "-q", "-B", *goals, f"-Dmdep.outputFile={part / 'classpath'}"])
    if code != 0:
        raise JavaHostError(f"Maven could not fetch what {what} needs: {jdk.errors_of(said)[0]}")


def _compile(source: Path, part: Path) -> None:
    (part / "classes").mkdir()
    shutil.copy(source / "src" / LOGGING, part / "classes")
    found = (part / "classpath").read_text(encoding="utf-8").strip()
    command = [TOOLS.java_program("javac"), "--release", str(TOOLS.least), "-proc:none", "-nowarn"]
    command += ["-d", str(part / "classes"), "-cp", os.pathsep.join([found, str(part / "flux" / "*")])]
    said, code = _run([*command, *map(str, sorted((source / "src").rglob("*.java")))])
    if code != 0:
        raise JavaHostError(f"the program that hosts Java components could not be compiled: {said.strip()[:1500]}")


def _run(command: list[str]) -> tuple[str, int]:
    """Run a tool: gives its output and its exit code; nothing of it outlives mlcheck. Raises JavaHostError."""
    supervisor = Supervisor("mlcheck-build-")
    process = supervisor.start(command, stdout=PIPE, stderr=STDOUT)
    try:
        said, _ = process.communicate(timeout=jdk.BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        raise JavaHostError(f"{Path(command[0]).name} was not done within {jdk.BUILD_SECONDS} s") from None
    finally:
        supervisor.end(process)
    return said, process.returncode
