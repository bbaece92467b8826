"""The feature tables: each command in them runs, in a folder as the pages say, and shows what its row says."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import ROOT, mlcheck

if TYPE_CHECKING:
    from pathlib import Path

PAGE, ANCHORS = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("features.md", "features-anchors.md"))
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| (?:`mlcheck ([^`]+)` )?\|$", re.MULTILINE)
ROWS = [(feature, command) for feature, _, command in ROW.findall(PAGE) if feature not in {"feature", "---"}]
OF_ANCHORS = ROW.findall(ANCHORS)
MADE = [line for page in (PAGE, ANCHORS) for line in page.partition("```sh\n")[2].partition("```")[0].splitlines()]
ONE_CASE = ["-k", "bolt.settle.once"]
"""What a row shows of a run is there in one case as in all."""
STANDS_FOR = {
    "topology.yaml": str(ROOT / "examples" / "topologies" / "split-count.yaml"),
    "FOLDER": str(ROOT / "conformance" / "testees" / "component"),
    "python3": sys.executable,
}

SHOWN = {
    "cases are data": r'"\$schema"',
    "stable ids": r"bolt\.settle\.once +must +bolt",
    "a case quotes its clause": r'Clause +"A bolt MUST ack or fail each tuple',
    "clauses traced to checks, the untested named": r"spout\.commands\.unknown .* no Storm writes another command",
    "levels": r"(?s) must .* note .* should ",
    "frozen set of requirements for each version": r"1 passed",
    "several versions of the specification": r"Storm: runs on 0\.9\.7 to 2\.8\.3",
    "both roles": r"host\.bolt\.heartbeats +must",
    "capabilities are declared, and gate": r"1 passed",
    "broken programs as a self-test": r"claimed",
    "reference programs": r"made/split_bolt\.go",
    "messages held to a JSON Schema": r"holds to transcript",
    "more than pass and fail": r'(?s)"warn".*"skip".*"untestable".*"xfail".*"stale".*"flaky".*"error"',
    "inconclusive is a verdict": r"(?s)INCONCLUSIVE.*--tuple.*exit code 6",
    "a list of known failures, written by the tool": r"known failures, written to known-failures\.txt: \d\d",
    "they still run": r"1 known failures? \(of 1 tested\)",
    "a stale one fails": r"(?s)STALE.*delete line 3 of known-failures\.txt",
    "an entry carries what is broken": r"a rule that is broken and not listed",
    "flaky is a verdict": r"1 passed",
    "a fault of the tester is told apart": r"5 \| harness-fault",
    "classes of exit codes": r"(?s)Exit codes:.*  5 .*  130 ",
    "include and exclude by pattern": r"1 passed",
    "an empty selection is an error": r"did you mean bolt\.settle\?",
    "list, dry run": r"Nothing was started",
    "starts the program, speaks on its pipes": r"1 passed",
    "parallel": r"2 at once",
    "time limits": r"1 passed",
    "partial results": r"1 failed, \d+ not tested",
    "seed": r'"seed": ?7\b',
    "configuration file": r"jobs +default +1",
    "completion in the shell": r"complete .*-F _mlcheck mlcheck",
    "colour can be switched off": r"\A[^\x1b]*1 passed[^\x1b]*\Z",
    "plug-ins": r"shell_bolt",
    "stderr beside the failure": r"\| splitting",
    "the messages of the failing case": r"(?s)What was said.*-->.*Record: +\.mlcheck/last/bolt\.settle\.once\.ndjson",
    "expected and actual": r"(?s)Wrong +ack-twice.*Expected +one ack or fail",
    "a command that reproduces it": r"Again +mlcheck (run|replay) ",
    "record and replay": r"SAME +\d+ messages as then",
    "generated inputs, shrinking": r"PASS",
    "JUnit": r"1 failed",
    "JSON, with a schema": r"1 failed",
    "HTML": r"1 failed",
    "CI: action, job summary": r"::error file=broken\.py",
    "secrets are hidden": r"1 passed",
    "matrix of implementations and cases": r"out/index\.html",
    "badges": r"multilang_cli\.component",
    "trend over versions of a library": r"multilang_cli\.component",
    "performance": r"tuples/s",
    "fault injection": r" struck at ",
    "safety checked over a history": r"0 lost",
    "pictures in time": r"PASS",
    "by hand": r'"tuple": \["white"\]',
    "forms and completion from the schema": r'"tuple": \["white"\]',
    "edit a message and send it again": r'"tuple": \["white"\]',
    "filters": r"talk\.html: conformant",
    "tap real traffic": r"\A",
    "docs from the code": r"mlcheck explain heartbeats\.answered",
}
"""What its command prints, by feature."""
WRITTEN = {
    "JUnit": ("mlcheck.xml", r"<failure "),
    "JSON, with a schema": ("result.json", r'"verdict": ?"not-conformant"'),
    "HTML": ("report.html", r"<script"),
    "CI: action, job summary": ("summary.md", r"## FAIL"),
    "secrets are hidden": (".mlcheck/last/bolt.settle.once.ndjson", r"(?s)\A(?!.*sesame-7)"),
    "matrix of implementations and cases": ("out/matrix.md", r"library\.bolt\.value\.strings"),
    "badges": ("out/badges/component.svg", r"<svg"),
    "trend over versions of a library": ("out/matrix.json", r"multilang_cli\.component"),
    "pictures in time": ("run.html", r"<script"),
    "filters": ("talk.html", r"<script"),
    "tap real traffic": (".mlcheck/tap/*.log", r""),
}
"""A file that it writes, and what stands in it."""
CODES = {"inconclusive is a verdict": 6, "a stale one fails": 1, "an empty selection is an error": 4}
"""Exit codes of those that don't end with 0, nor, of a bolt that is broken, with 1."""

ONLY_OF_ANCHORS = {
    "run -k bolt.settle -k handshake bolt.py": r"13 passed",
    "run -k bolt.ack.once bolt.py": r"1 passed",
    "run -k ack-twice bolt.py": r"1 passed",
    "run --json absent.py": r'"absent\.py is neither a file here nor on PATH\."',
    "replay talks/bolt.settle.once.ndjson --until 8 --then repl --source steps.repl bolt.py": (
        r'"tuple": \["white"\](?s:.*)played up to event 8'
    ),
    "run --strict bolt.py": r"1 passed",
    "run --timeout 5 bolt.py": r"1 passed",
    "run --record-all bolt.py": r"1 passed",
    "run --limit frame=16777216 bolt.py": r"1 passed",
    "run -k library.bolt.value.strings --testee FOLDER": r"1 passed",
    "run --testee FOLDER --dry-run": r"(?s)testee\.py.*bolt\.settle\.once",
    "run -k bolt.settle.once --known-failures flaky.txt bolt.py": r"1 passed",
    "run --suite own.white.yaml -k own.white bolt.py": r"1 passed",
    "run bolt.py": r"1 passed",
    "run --tuple '[\"snow white\"]' bolt.py": r"\A(?!.*made-up)(?s:.*)1 passed",
    "run -k handshake bolt.py": r"11 passed",
    "run --report json=result.json --report markdown=summary.md broken.py": r"1 failed",
    "matrix FOLDER -o out --json": r'"name": "multilang_cli\.component"',
    "list versions --json": r'"id": "2\.8\.3"',
    "docs matrix/matrix": r"storm\.js",
    "run --max-fail 1 broken.py": r"1 failed",
    "run -k bolt.settle -j 2 --limit read=5 bolt.py": r"2 passed",
    "run --pid foreign -- python3 bolt.py": r"1 passed",
    "run -k bolt.value --accepts empty bolt.py": r"2 passed",
    "run -k 'bolt.*.once' bolt.py": r"passed",
    "fuzz --max-time 30 --conversations 5 --seed 3 --database finds bolt.py": r"PASS",
    "fuzz --max-time 60 --save-case found.yaml broken.py": r"--suite found\.yaml -k fuzz\.ack-twice",
    "fuzz --conversations 5 --tuples tuples.ndjson bolt.py": r"PASS",
    "topology run --search 5 topology.yaml": r"PASS",
    "lint --coverage talks": r"(?i)never",
    "run --report junit=mlcheck.xml --record talks broken.py": r"1 failed",
    "docs api": r"Conversation",
    "docs first-run": r"first",
    "tap --record-all -- python3 bolt.py": r"\A",
    "topology run --fault duplicate:split@2 topology.yaml": r" struck at ",
    "repl --source steps.repl bolt.py": r'"tuple": \["white"\]',
    "run --json broken.py": r'\A(?s:.*)"not-conformant"',
    "config show --json": r'"components"',
    "run --env LEVEL=1 --cwd words split_bolt.py": r"1 passed",
    "run --limit pid=5 bolt.py": r"1 passed",
}
"""What the commands print that stand in the tables of anchors alone."""
ENDS_WITH = {"run --json absent.py": 3}
"""Exit codes of those that don't end with 0, nor, of a bolt that is broken, with 1."""


def test_every_row_of_an_anchor_has_a_command_or_says_why_not() -> None:
    assert len(OF_ANCHORS) > 80
    assert [there for there, here, command in OF_ANCHORS if not (command or here.startswith("no: "))] == []
    commands = {command for _, _, command in OF_ANCHORS if command}
    assert commands - {command for _, command in ROWS} == ONLY_OF_ANCHORS.keys()


def test_every_row_has_a_command_and_something_that_it_shows() -> None:
    assert len(ROWS) > 50
    assert [feature for feature, command in ROWS if not command] == []
    assert {feature for feature, _ in ROWS} == SHOWN.keys()
    assert WRITTEN.keys() | CODES.keys() <= SHOWN.keys()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page, made once for all rows; what is long is made of one case."""
    folder = tmp_path_factory.mktemp("made")
    for line in MADE:
        words = shlex.split(line)
        if words[0] != "mlcheck":
            subprocess.run(line, cwd=folder, shell=True, check=True)  # noqa: S602 (a line of our own page)
        elif "--write-known-failures" in words:
            (folder / words[3]).write_text("# Known failures\n\nbolt.settle.once  ack-twice\n", encoding="utf-8")
        else:
            one = ONE_CASE if words[1] == "run" else []
            assert mlcheck(words[1], *one, *words[2:], cwd=folder).returncode == 0
    return folder


def narrowed(words: list[str]) -> list[str]:
    """The command, of one case where it shows the same."""
    if "--write-known-failures" in words:  # it is written of all cases alone, most of which wait
        return [words[0], "--jobs", "4", *words[1:]]
    if words[0] == "matrix":
        return [words[0], "-k", "library.bolt.value.strings", *words[1:]]
    alone = words[0] == "run" and not {"-k", "-x"} & {*words}
    return [words[0], *ONE_CASE, *words[1:]] if alone else words


def outcome(command: str, made: Path, folder: Path) -> tuple[int, str]:
    """The exit code of a command of a table, in a folder of its own, and what it prints."""
    shutil.copytree(made, folder)
    words = [STANDS_FOR.get(word, word) for word in narrowed(shlex.split(command))]
    ran = mlcheck(*words, cwd=folder, stdin='tuple ["snow white"]\nwait settle\n' if words[0] == "repl" else "")
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.component
@pytest.mark.sample(12)
@pytest.mark.parametrize(("feature", "command"), ROWS, ids=[feature for feature, _ in ROWS])
def test_a_command_of_the_table_shows_what_its_row_says(feature: str, command: str, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    code, said = outcome(command, made, folder)
    assert code == CODES.get(feature, int(command.endswith("broken.py") and "known" not in command)), said
    assert re.search(SHOWN[feature], said), said
    if feature in WRITTEN:
        name, pattern = WRITTEN[feature]
        [path] = folder.glob(name)
        assert re.search(pattern, path.read_text(encoding="utf-8"))


@pytest.mark.component
@pytest.mark.sample(12)
@pytest.mark.parametrize("command", ONLY_OF_ANCHORS)
def test_a_command_of_an_anchor_shows_what_its_row_says(command: str, made: Path, tmp_path: Path) -> None:
    code, said = outcome(command, made, tmp_path / "here")
    assert code == ENDS_WITH.get(command, int(command.endswith("broken.py"))), said
    assert re.search(ONLY_OF_ANCHORS[command], said), said
