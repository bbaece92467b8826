"""Asks real Storm what it does: ``oracle/run.py --storm 2.8.3 [--cases FILE...] [--only NAME...] --out FILE``.

Builds the Java program for the Storm version on first use (Maven, a JDK of 17 or later), plays the cases to it in one
JVM and writes the verdicts, in the format of conformance/oracle/verdicts.json, when all of them are there. ``--storm``
may be repeated: the versions are asked one after the other and share the file. With ``--update`` what FILE says of
other cases and versions stays. README.md beside this file tells more.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PLAYER = ROOT / "multilang_cli" / "component" / "player.py"
DATA = ROOT / "conformance" / "oracle"
CASES = (DATA / "cases.json", DATA / "more-cases.json")
LINES = ((2, "storm2"), (1, "storm1"), (0, "storm0"))
"""The Maven profile by the least major version that it builds."""
OLDEST = (0, 9, 3)
"""Before it there are no metrics for components, which the example topology registers."""
BUILD_SECONDS = 900
SPARE_SECONDS = 120
"""What the JVM may take beyond the limits of its cases."""

Verdicts = dict[str, dict[str, dict[str, Any]]]


class OracleError(Exception):
    """What kept the oracle from an answer, as a sentence."""


def profile_of(version: str) -> str:
    """The Maven profile of a Storm version such as "2.6.4". Raises OracleError if it can't be asked."""
    parts = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    if parts is None:
        raise OracleError(f"{version} is no Storm version; expected something like 2.8.3")
    if tuple(map(int, parts.groups())) < OLDEST:
        raise OracleError(f"Storm {version} is too old for the oracle; the oldest that it can ask is 0.9.3")
    return next(profile for least, profile in LINES if int(parts[1]) >= least)


def build(version: str) -> str:
    """Compile the program for `version` unless that is done, and return its class path."""
    target = HERE / "target" / version
    stamp = target / "classpath"
    sources = [HERE / "pom.xml", *(HERE / "src").rglob("*.java")]
    if not stamp.exists() or stamp.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "-P", profile_of(version)]
        command += [f"-Dstorm.version={version}", "clean", "compile", "dependency:build-classpath"]
        done = _run([*command, f"-Dmdep.outputFile={stamp}"])
        if done.returncode != 0:
            raise OracleError(f"Maven could not build the oracle for Storm {version}:\n{done.stdout}")
    return os.pathsep.join([str(target / "classes"), stamp.read_text(encoding="utf-8").strip()])


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS, check=False
        )
    except FileNotFoundError:
        raise OracleError(f"{command[0]} was not found; the oracle needs Maven and a JDK of 17 or later") from None
    except subprocess.TimeoutExpired:
        raise OracleError(f"{command[0]} took longer than {BUILD_SECONDS} s") from None


def java(version: str, classpath: str) -> list[str]:
    """The command that starts a program of the oracle, less its class and arguments."""
    # Storm decodes stderr in the JVM's charset: fixed, so that the locale does not matter. Kryo looks into java.lang.
    options = [
        "-Djava.security.manager=allow",
        f"-Dstorm.version={version}",
        "-Dfile.encoding=UTF-8",
        "-Xss4m",
        "-XX:+UseSerialGC",
    ]
    options += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.util", "java.nio")]
    return ["java", *options, "-cp", classpath]


def ask(version: str, cases: list[dict[str, Any]], jobs: int = 1) -> dict[str, dict[str, Any]]:
    """Play `cases` to Storm `version`, in `jobs` JVMs; the verdicts by name. Raises OracleError if one is missing."""
    command = [*java(version, build(version)), "mlcheck.oracle.Main"]
    # Neighbours are alike, and so are the times they take: dealt out like cards, the hands are equally long.
    hands = [cases[start::jobs] for start in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(lambda hand: _play(command, hand), hands))
    verdicts = {name: verdict for answer, _ in answers for name, verdict in answer.items()}
    missing = [case["case"] for case in cases if case["case"] not in verdicts]
    if missing:
        said = "".join(stderr for _, stderr in answers)
        raise OracleError(f"Storm {version} gave no verdict on {missing[0]} and {len(missing) - 1} more:\n{said}")
    return verdicts


def _play(command: list[str], cases: list[dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], str]:
    """Play `cases` in one JVM; the verdicts it came to by name, and what it said on stderr."""
    seconds = sum(case.get("limit_ms", 8000) / 1000 for case in cases) + SPARE_SECONDS
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(cases, file)
        file.flush()
        player = [sys.executable, "-I", "-S", str(HERE / "traced_player.py"), str(PLAYER)]
        try:
            done = subprocess.run(
                [*command, file.name, *player],
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {}, f"the JVM was not done after {seconds:.0f} s"
    return {line["case"]: line["verdict"] for line in map(json.loads, done.stdout.splitlines())}, done.stderr


def render(verdicts: Verdicts) -> str:
    """The file's text: a line a version, so that differences can be read."""
    blocks = []
    for name, by_version in verdicts.items():
        lines = [f"  {json.dumps(version)}: {json.dumps(verdict)}" for version, verdict in by_version.items()]
        blocks.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def write_whole(path: Path, text: str) -> None:
    """Write `path` at one stroke: a reader sees the old file or the new one, never half of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def choose(cases: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """The cases called `names`, or all. Raises OracleError if there is no such case."""
    known = {case["case"] for case in cases}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise OracleError(f"there is no case {unknown[0]}")
    return [case for case in cases if not names or case["case"] in names]


def read_cases(files: Sequence[Path]) -> list[dict[str, Any]]:
    """All cases of `files`, each a JSON list of cases. Raises OracleError if two have the same name."""
    cases: list[dict[str, Any]] = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))]
    names = Counter(case["case"] for case in cases)
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise OracleError(f"two cases are called {twice[0]}")
    return cases


def updated(old: Verdicts, new: Verdicts) -> Verdicts:
    """`old` with what `new` says of its cases and versions in the place of what it said."""
    return old | {name: old.get(name, {}) | by_version for name, by_version in new.items()}


def main() -> int:
    """Run the command line; 0 when the file was written, 2 when not, 130 when interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--storm", action="append", required=True, metavar="VERSION", help="a published Storm version")
    parser.add_argument("--cases", type=Path, nargs="+", default=CASES, metavar="FILE", help="JSON lists of cases")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="play these cases only")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many JVMs play at the same time")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the verdicts go")
    parser.add_argument("--update", action="store_true", help="keep what is in the file of other cases and versions")
    options = parser.parse_args()
    try:
        cases = choose(read_cases(options.cases), options.only)
        answers = {version: ask(version, cases, options.jobs) for version in options.storm}
        names = [case["case"] for case in cases]
        verdicts = {name: {v: answers[v][name] for v in options.storm} for name in names}
        if options.update:
            verdicts = updated(json.loads(options.out.read_text(encoding="utf-8")), verdicts)
        write_whole(options.out, render(verdicts))
    except (OracleError, OSError, json.JSONDecodeError) as error:
        sys.stderr.write(f"oracle: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
