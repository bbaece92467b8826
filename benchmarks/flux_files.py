"""Every Flux file of a clone of Storm, run or refused: ``python -m benchmarks.flux_files DIR [NAME]...``.

DIR: a work tree of apache/storm, or its git directory. The Java classes of flux-examples, and of flux-core's tests, are
compiled into a jar, those that need what is not there left out. Each file runs for some seconds, with the properties
that it asks for, and a line says what became of it: it runs, or the sentence with which mlcheck refuses it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from multilang_cli.topology.java.program import TOOLS, host_class_path

STORM = "2.8.3"
SECONDS = "4"
LIMIT = 150
SOURCES = ("flux/flux-examples/src/main", "flux/flux-core/src/test")
SCRIPTS = (
    "examples/storm-starter/multilang/resources",
    "storm-multilang/javascript/src/main/resources/resources",
    "storm-multilang/python/src/main/resources/resources",
)
CONFIGS = "flux/flux-core/src/test/resources/configs"
MISUSE = 2
_PROPERTY = re.compile(r"\$\{(?!ENV-)([^}\[]+)")


def main() -> int:
    """Run the command line; 1 if a file did neither run nor get a sentence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("storm", type=Path, help="a clone of apache/storm")
    parser.add_argument("--jar", action="append", default=[], help="more of the class path")
    parser.add_argument("names", nargs="*", help="files, by name; all by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mlcheck-flux-files-") as folder:
        work = Path(folder)
        _check_out(given.storm, work)
        jars = [str(_compiled(work)), *given.jar]
        files = sorted(file for file in (work / "flux").rglob("*.yaml") if not given.names or file.name in given.names)
        odd = 0
        for file in files:
            told, understood = _outcome(file, jars, work)
            odd += not understood
            print(f"{file.name:44} {told}", flush=True)
    print(f"{len(files)} files, {odd} of them neither run nor refused by a sentence")
    return 1 if odd else 0


def _check_out(storm: Path, work: Path) -> None:
    """Take the sources and files out of the clone."""
    archive = subprocess.run(
        ["git", "-C", str(storm), "archive", "HEAD", *SOURCES, *SCRIPTS], stdout=subprocess.PIPE, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(work)], input=archive, check=True)
    resources = work / "resources"
    for each in SCRIPTS:
        shutil.copytree(work / each, resources, dirs_exist_ok=True)
    shutil.copytree(work / CONFIGS, resources / "configs")


def _compiled(work: Path) -> Path:
    """A jar of what compiles: sources with errors are left out, one round after another."""
    classes = work / "classes"
    classes.mkdir()
    class_path = ":".join(host_class_path(STORM))
    sources = {str(file) for file in work.rglob("*.java") if not file.name.endswith("Test.java")}
    while sources:
        command = [TOOLS.java_program("javac"), "-proc:none", "-nowarn", "-Xmaxerrs", "10000", "-cp", class_path]
        done = subprocess.run(
            [*command, "-d", str(classes), *sorted(sources)], capture_output=True, text=True, check=False
        )
        wrong = set(re.findall(r"^(\S+\.java):\d+: error", done.stderr, re.MULTILINE)) & sources
        if not wrong:
            break
        sources -= wrong
    return classes


def _outcome(file: Path, jars: list[str], work: Path) -> tuple[str, bool]:
    """What became of a file, and whether that can be understood."""
    text = file.read_text(encoding="utf-8")
    values = {name: name.replace(".", "-") for name in _PROPERTY.findall(text)}
    command = [sys.executable, "-m", "multilang_cli", "topology", "run", str(file), "--record", str(work / "run")]
    command += ["--conf", "topology.max.task.parallelism=2"]
    command += ["--seconds", SECONDS, "--drain", "1", "--storm", STORM, "--resources", str(work / "resources")]
    command += [word for jar in jars for word in ("--jar", jar)]
    command += [word for name, value in (values or {"none": ""}).items() for word in ("--property", f"{name}={value}")]
    (work / "run" / "result.json").unlink(missing_ok=True)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=file.parent)
    except subprocess.TimeoutExpired:
        return f"not done within {LIMIT} s", False
    result = work / "run" / "result.json"
    if done.returncode == MISUSE or not result.exists():
        sentence = done.stderr.strip()
        told = sentence.removeprefix("mlcheck: ").removeprefix(f"{file}:").strip().replace(f"{work}/", "")
        return f"refused: {told}", sentence.count("\n") == 0
    found = json.loads(result.read_text(encoding="utf-8"))
    emitted = re.search(r"^  \S+ +\d+ +([\d,]+)", done.stdout, re.MULTILINE)
    return f"runs: {found['verdict']}, {emitted[1] if emitted else 'none'} emitted by its first component", True


if __name__ == "__main__":
    sys.exit(main())
