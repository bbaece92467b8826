"""The oracle's Java program (``oracle/``): built for a Storm version by Maven, and asked what that Storm does.

Standard library only, so that ``oracle/run.py`` works with any Python.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, STDOUT
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.locate import data_path
from multilang_cli.component import player
from multilang_cli.driver import jdk
from multilang_cli.driver.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

PROFILES = ((2, "storm2"), (1, "storm1"), (0, "storm0"))
"""The Maven profile by the least major version that it builds."""
OLDEST = (0, 9, 3)
"""Before it there are no metrics for components, which the example topology registers."""
LAST_JAVA = 23
"""Later ones can no longer catch System.exit."""
SPARE_SECONDS = 120
"""What a JVM may take beyond the limits of its cases."""
ANSWER_SECONDS = 600
"""What a program that answers line by line may take for all lines."""
LIMIT_MS = 8000
"""How long a case may take that does not say so."""
SHOWN_LINES = 4

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})(-[A-Za-z0-9.-]{1,40})?")


class OracleError(Exception):
    """The oracle gave no answer; the message is a sentence that says why."""


class OracleUnavailableError(OracleError):
    """Something is missing that its user can mend: Java, Maven, the network, a version that exists."""


_TOOLS = jdk.JavaTools("the oracle needs", OracleUnavailableError, last=LAST_JAVA)


def parsed(version: str) -> tuple[int, int, int]:
    """The three numbers of a Storm version such as "2.6.4". Raises UnavailableError if it can't be asked."""
    parts = _VERSION.fullmatch(version)
    if parts is None:
        raise OracleUnavailableError(f"{version[:60]!r} is no Storm version; expected three numbers, such as 2.8.3")
    numbers = (int(parts[1]), int(parts[2]), int(parts[3]))
    if numbers < OLDEST:
        raise OracleUnavailableError(f"Storm {version} is too old for the oracle; the oldest that it can ask is 0.9.3")
    return numbers


def ask(
    version: str, cases: list[dict[str, Any]], jobs: int = 1, tell: Callable[[str], None] | None = None
) -> dict[str, dict[str, Any]]:
    """Play `cases` to Storm `version`, in `jobs` JVMs; the verdicts by name, in the order of the cases.

    `tell`: called by several threads with the name of each case that is done. Raises OracleError if one has no verdict.
    """
    command = [*java(version, build(version)), "mlcheck.oracle.Main"]
    # Neighbours are alike, and so are the times they take: dealt out like cards, the hands are equally long.
    hands = [hand for start in range(jobs) if (hand := cases[start::jobs])]
    jvms: list[Jvm] = []
    with ThreadPoolExecutor(max(len(hands), 1)) as pool:
        try:
            jvms += (Jvm(command, hand) for hand in hands)
            answers = list(pool.map(lambda jvm: jvm.verdicts(tell or (lambda _: None)), jvms))
        finally:
            for jvm in jvms:
                jvm.end()
    verdicts = {name: verdict for answer in answers for name, verdict in answer.items()}
    missing = [case["case"] for case in cases if case["case"] not in verdicts]
    if missing:
        said = "; ".join(jvm.said for jvm in jvms if jvm.said)
        raise OracleError(f"Storm {version} gave no verdict on {missing[0]} and {len(missing) - 1} more: {said}")
    return {case["case"]: verdicts[case["case"]] for case in cases}


def answers(version: str, program: str, texts: Iterable[str]) -> list[Any]:
    """Answers of a line-by-line program of the oracle to each text, on Storm `version`. Raises OracleError.

    `program`: the name of its class, such as Parse.
    """
    command = [*java(version, build(version)), f"mlcheck.oracle.{program}"]
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    try:
        done = subprocess.run(
            command, input=lines, capture_output=True, text=True, encoding="utf-8", timeout=ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise OracleError(f"{program} of Storm {version} gave no answer within {ANSWER_SECONDS} s") from None
    if done.returncode != 0:
        raise OracleError(f"{program} of Storm {version} could not be asked:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Jvm:
    """One JVM that plays cases."""

    def __init__(self, command: list[str], cases: list[dict[str, Any]]) -> None:
        self.said = ""
        """The end of what it said on stderr, once it is over."""
        self._supervisor = Supervisor("oracle-")
        self._folder = self._supervisor.folder
        self._seconds = sum(case.get("limit_ms", LIMIT_MS) / 1000 for case in cases) + SPARE_SECONDS
        script = self._folder / "cases.json"
        script.write_text(json.dumps(cases), encoding="utf-8")
        program, *options = command
        watched = [sys.executable, "-I", "-S", str(data_path("oracle", "traced_player.py")), player.__file__]
        with (self._folder / "stderr").open("wb") as stderr:
            self._process = self._supervisor.start(
                [program, f"-Djava.io.tmpdir={self._folder}", *options, str(script), *watched],
                stdout=PIPE,
                stderr=stderr,
            )

    def verdicts(self, tell: Callable[[str], None]) -> dict[str, dict[str, Any]]:
        """The verdicts by name, as far as it came to them. Returns when it ended, or when its time is over."""
        timer = threading.Timer(self._seconds, self._process.kill)
        timer.start()
        found = {}
        try:
            for line in self._process.stdout or ():
                # A line that was cut by its death is no verdict.
                with suppress(json.JSONDecodeError):
                    answer = json.loads(line)
                    found[answer["case"]] = answer["verdict"]
                    tell(answer["case"])
            self._process.wait()
        finally:
            timer.cancel()
        self.said = _last_lines((self._folder / "stderr").read_text(encoding="utf-8", errors="replace"))
        return found

    def end(self) -> None:
        """End it, and what it started."""
        self._supervisor.end(self._process)


def java(version: str, classpath: str) -> list[str]:
    """The command that starts a program of the oracle, less its class and arguments. Raises UnavailableError."""
    # Storm decodes stderr in the JVM's charset: fixed, so that the locale does not matter. Kryo looks into java.lang.
    options = [
        "-Djava.security.manager=allow",
        f"-Dstorm.version={version}",
        "-Dfile.encoding=UTF-8",
        "-Xss4m",
        "-XX:+UseSerialGC",
    ]
    options += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.util", "java.nio")]
    return [_TOOLS.java_program("java"), *options, "-cp", classpath]


def build(version: str) -> str:
    """Compile the program for `version` unless that is done, and return its class path. Raises OracleError.

    Each state of the sources has a folder of its own, made whole or not at all, so nobody takes classes away from a
    JVM that runs.
    """
    parsed(version)
    _TOOLS.check()
    source = data_path("oracle")
    folder = jdk.builds(source)
    made = folder / f"{version}-{jdk.digest(source)}"
    if not (made / "classpath").exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            part = Supervisor(f".{made.name}.", folder)
        except OSError as error:
            raise OracleUnavailableError(
                f"{error.filename}: the oracle can't be built there: {error.strerror}"
            ) from None
        _compile(version, source, part, made)
    return os.pathsep.join([str(made / "classes"), (made / "classpath").read_text(encoding="utf-8").strip()])


def _compile(version: str, source: Path, supervisor: Supervisor, made: Path) -> None:
    """Compile into the supervisor's folder, then call it `made`, unless somebody else has made that meanwhile."""
    part = supervisor.folder
    profile = next(profile for least, profile in PROFILES if parsed(version)[0] >= least)
    command = [_TOOLS.program("mvn"), "-q", "-B", "-f", str(source / "pom.xml"), "-P", profile]
    command += [f"-Dstorm.version={version}", f"-Doracle.build={part}", f"-Dmdep.outputFile={part / 'classpath'}"]
    maven = supervisor.start([*command, "compile", "dependency:build-classpath"], stdout=PIPE, stderr=STDOUT)
    try:
        said, _ = maven.communicate(timeout=jdk.BUILD_SECONDS)
        if maven.returncode != 0:
            raise _why_not_built(version, said)
        if not made.exists():
            part.rename(made)
    except subprocess.TimeoutExpired:
        raise OracleError(f"Maven did not build the oracle for Storm {version} within {jdk.BUILD_SECONDS} s") from None
    finally:
        supervisor.end(maven)


def _why_not_built(version: str, said: str) -> OracleError:
    errors = jdk.errors_of(said)
    if re.search(rf"org\.apache\.storm:storm-\w+:\w+:{re.escape(version)} (was not found|in )", said):
        return OracleUnavailableError(
            f"there is no Storm {version} in the repositories that Maven asks; storm.apache.org lists the releases"
        )
    if re.search(r"Could not (transfer|resolve)|Unknown host|PluginResolutionException", said):
        return OracleUnavailableError(f"Maven could not fetch what the oracle needs for Storm {version}: {errors[0]}")
    return OracleError(f"the oracle could not be compiled for Storm {version}: {'; '.join(errors)[:1500]}")


def _last_lines(text: str) -> str:
    lines: Iterable[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(list(lines)[-SHOWN_LINES:])
