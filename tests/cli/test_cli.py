from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli import __version__
from multilang_cli.cli.commands import COMMANDS, GROUPS, TOP
from multilang_cli.cli.examples import EXAMPLES
from multilang_cli.reports.verdict import OUTCOMES
from multilang_cli.terminal.exits import PRECEDENCE, ExitCode, worst
from tests.command import ROOT, mlcheck, refusal
from tests.test_docs_users import given

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.component


def test_version(tmp_path: Path) -> None:
    ran = mlcheck("--version", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"mlcheck {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--version"], {"typer", "msgspec", "yaml", "json", "argparse", "difflib", "multilang_cli.cli.dispatch"}),
        (["--help"], {"typer", "msgspec", "yaml", "rich", "jsonschema", "multilang_cli.cli.app"}),
        (["list", "--help"], {"typer", "msgspec", "yaml", "rich", "jsonschema"}),
        (
            ["run", "--help"],
            {"rich.console", "jsonschema", "multilang_cli.suite.checking", "multilang_cli.suite.runner.suite_run"},
        ),
        (["list", "rules"], {"rich.console", "jsonschema", "multilang_cli.suite.runner.suite_run"}),
    ],
    ids=["version", "help", "help of a group", "help of a command", "a light command"],
)
def test_nothing_is_imported_before_it_is_needed(tmp_path: Path, arguments: list[str], unwanted: set[str]) -> None:
    code = (
        "import sys; from multilang_cli.__main__ import main; sys.argv = ['mlcheck', *sys.argv[1:]]; code = main();"
        "print('\\nLOADED', *sys.modules); sys.exit(code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(ran.stdout.rpartition("LOADED ")[2].split())
    assert "multilang_cli" in loaded
    assert loaded & unwanted == set()


@pytest.mark.parametrize("words", [[], *([group] for group in GROUPS), *(words.split() for words in COMMANDS)], ids=str)
def test_help_is_complete(tmp_path: Path, words: list[str]) -> None:
    ran = mlcheck(*words, "--help", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(" ".join(["Usage: mlcheck", *words]))
    assert "-h, --help" in ran.stdout
    assert not re.search(r"[a-z]\.\.\.|<\w+>|\[\[(?!component)|\[default|(?<!\$)\{[A-Z]+\}", ran.stdout), (
        "cut, or the name of a type"
    )
    assert "\x1b" not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80


def test_help_names_every_command(tmp_path: Path) -> None:
    top = mlcheck("--help", cwd=tmp_path).stdout
    for words, command in COMMANDS.items():
        group, _, last = words.partition(" ")
        assert f"  {group} " in top
        if last:
            assert command.help in mlcheck(group, "-h", cwd=tmp_path).stdout
        else:
            assert command.help in top


def test_help_has_every_command_in_one_panel() -> None:
    named = [name for names in TOP.values() for name in names]
    assert sorted(named) == sorted({words.split()[0] for words in COMMANDS})


@pytest.mark.parametrize("command", EXAMPLES)
def test_examples_of_the_help_are_understood(command: str) -> None:
    for line in EXAMPLES[command]:
        words = shlex.split(line, comments=True)
        assert words[0] == "mlcheck"
        assert " ".join(words[1:]).startswith(command)
        given(words[1:])


def test_help_of_run_names_every_option(tmp_path: Path) -> None:
    text = mlcheck("run", "--help", cwd=tmp_path).stdout
    for option in (
        *("--kind", "--storm", "--tuple", "--tuples", "--conf", "--conf-file", "--stream", "--cwd", "--env", "--task"),
        *("--settles", "--pid", "--limit", "-k", "--exclude", "-x", "--timeout", "--strict", "--seed", "--record"),
        *("--record-all", "--report", "--suite", "--color", "-q", "-v", "--component", "!direct"),
    ):
        assert option in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rum", "there is no command 'rum'; did you mean run?"),
        ("ru bolt.py", "there is no command 'ru'; did you mean run?"),
        ("--versoin", "there is no option '--versoin' before a command; did you mean --version?"),
        (
            "list",
            (
                "list: which? mlcheck list rules, mlcheck list cases, mlcheck list host-cases, mlcheck list protocol, "
                "mlcheck list versions, mlcheck list --kills."
            ),
        ),
        ("list rule", "list: there is no command 'rule'; did you mean rules?"),
        (
            "list --json rules",
            "list: options stand behind its command, as in `mlcheck list rules --json`; commands are rules,",
        ),
        ("list rules more", "list rules: "),
        (
            "run --fields id,n b.py",
            "there is no option --fields (arguments of the component come after --); did you mean --input",
        ),
        (
            "run --knd bolt x",
            "there is no option --knd (arguments of the component come after --); did you mean --kind?",
        ),
        ("run --timeout", "run: Option '--timeout' requires an argument."),
        ("run", "which component?"),
        ("run --kind=blot x", "--kind: there is no 'blot'; did you mean bolt?"),
        ("run --tuple [1 x", "--tuple: no JSON"),
        ("run --tuples absent x", "--tuples absent: can't be read"),
        ("run --stream default x", "--stream: expected NAME:field,field"),
        ("run --storm 3.1 x", "there is no Storm version '3.1'"),
        ("run --color pink x", "--color: there is no 'pink'; known are auto, always, never."),
        ("run --report jsn=x y", "there is no format 'jsn'; did you mean json?"),
        ("run --report json=/dev/null/x y", "can't write /dev/null/x"),
        ("run --suite absent x", "absent: No such file or directory."),
        (
            "explain ack-twise",
            "there is no rule, cause, case or sentence 'ack-twise'; did you mean ack-twice?",
        ),
        ("explain -", "to read a worker's log from stdin, add --log - to the command."),
        ("explain bolt.heartbeat.idel", "did you mean bolt.heartbeat.idle?"),
        ("explain", "explain: give a rule, a cause, a case or an error's text, or a worker's log by --log FILE."),
        ("lint absent", "lint: absent: can't be read: No such file or directory."),
        ("lint - x", "lint: - stands for stdin and must be the only transcript."),
        ("schema show messages/emitt", "there is no schema 'messages/emitt'; did you mean messages/emit?"),
        ("schema validate config absent.toml", "absent.toml: can't be read"),
        ("run \x1b[31m", "there is no"),
    ],
)
def test_misuse(tmp_path: Path, line: str, words: str) -> None:
    arguments = ["run", "--kind", "\x1b[31m", "x"] if "\x1b" in line else shlex.split(line)
    ran = mlcheck(*arguments, cwd=tmp_path)
    assert ran.returncode == ExitCode.MISUSE, ran.stderr
    assert words in refusal(ran)
    assert "\x1b" not in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["list"], ["run"]], ids=str)
def test_h_is_help_only(tmp_path: Path, words: list[str]) -> None:
    assert mlcheck(*words, "-h", cwd=tmp_path).stdout == mlcheck(*words, "--help", cwd=tmp_path).stdout


def test_nothing_said_prints_help(tmp_path: Path) -> None:
    ran = mlcheck(cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Usage: mlcheck COMMAND")


@pytest.mark.parametrize("variable", ["TIMEOUT=soon", "STORM=9", "STRICT=maybe", "SEED=x", "COLOR=pink"])
def test_bad_environment(tmp_path: Path, variable: str) -> None:
    name, _, value = variable.partition("=")
    ran = mlcheck("run", "x", cwd=tmp_path, **{f"MLCHECK_{name}": value})
    assert ran.returncode == ExitCode.MISUSE
    assert value in refusal(ran)


def test_broken_config_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text("[[component]]\ncommand = 'x'\nsamples = [['a'], 'b']\n")
    ran = mlcheck("run", cwd=tmp_path)
    assert ran.returncode == ExitCode.MISUSE
    assert f"{tmp_path}/mlcheck.toml:3: component[0].samples[1]: " in refusal(ran)


def test_windows_gets_one_sentence() -> None:
    code = "import sys; sys.platform = 'win32'; from multilang_cli.__main__ import main; sys.exit(main())"
    ran = subprocess.run([sys.executable, "-c", code, "list", "rules"], capture_output=True, text=True, check=False)
    assert ran.returncode == ExitCode.MISUSE
    assert "on Windows, run it inside WSL." in refusal(ran)


BREAK_RULES = """
import sys
from multilang_cli.cli.lookup import listing
def rules():
    raise {error}
listing.rules = rules
sys.argv = ["mlcheck", "list", "rules"]
from multilang_cli.__main__ import main
sys.exit(main())
"""


def test_a_fault_of_our_own_leaves_its_traceback_in_a_file(tmp_path: Path) -> None:
    code = BREAK_RULES.format(error="ZeroDivisionError('planted \\x1b[31m')")
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == ExitCode.HARNESS_FAULT
    text = refusal(ran)
    assert "ZeroDivisionError: planted \\x1b[31m" in text
    (file,) = (tmp_path / ".mlcheck").iterdir()
    assert str(file.relative_to(tmp_path)) in text
    assert "Traceback" in file.read_text()


def test_interrupt(tmp_path: Path) -> None:
    code = BREAK_RULES.format(error="KeyboardInterrupt")
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, refusal(ran)) == (ExitCode.INTERRUPTED, "mlcheck: interrupted.\n")


def test_exit_codes_are_those_of_the_results() -> None:
    assert [int(code) for code in PRECEDENCE] == [outcome.code for outcome in OUTCOMES]
    names = {outcome.code: outcome.verdict.replace("-", "_").upper() for outcome in OUTCOMES}
    assert names == {code.value: code.name for code in ExitCode}


@pytest.mark.parametrize(("codes", "expected"), [([], 0), ([0, 6], 6), ([6, 1, 0], 1), ([1, 3, 4], 3), ([5, 130], 130)])
def test_worst(codes: Sequence[int], expected: int) -> None:
    assert worst(list(codes)) == expected


@pytest.mark.parametrize("what", ["rules", "cases", "versions"])
def test_list(tmp_path: Path, what: str) -> None:
    ran = mlcheck("list", what, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert all(len(line.split()) >= 2 for line in ran.stdout.splitlines())
    known = {"rules": "ack-twice", "cases": "bolt.heartbeat.idle", "versions": "2.8.3"}[what]
    assert known in {line.split()[0] for line in ran.stdout.splitlines()}


@pytest.mark.parametrize(
    ("name", "words"), [("ack-twice", ["Clause", "Mend", "Storm"]), ("bolt.heartbeat.idle", ["Steps"])]
)
def test_explain(tmp_path: Path, name: str, words: list[str]) -> None:
    ran = mlcheck("explain", name, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(name)
    assert all(word in ran.stdout for word in words)


def test_colour_only_where_wanted(tmp_path: Path) -> None:
    assert "\x1b" not in mlcheck("explain", "ack-twice", cwd=tmp_path).stdout
    assert "\x1b[" in mlcheck("explain", "ack-twice", "--color", "always", cwd=tmp_path).stdout


def test_schema_show_is_the_schema(tmp_path: Path) -> None:
    ran = mlcheck("schema", "show", "messages/emit", cwd=tmp_path)
    assert json.loads(ran.stdout) == json.loads((ROOT / "schemas" / "messages" / "emit.schema.json").read_bytes())
    assert "messages/emit " in mlcheck("schema", "list", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.json", '{"command": "emit",\n "tuple": 1}', "a.json:2: /tuple: "),
        ("a.yaml", "command: emit\nanchors: []\ntuple: 1\n", "a.yaml:3: /tuple: "),
        ("a.ndjson", '{"command":"emit","tuple":[]}\n\n{"command":"emit","tuple":1}\n', "a.ndjson:3: /tuple: "),
        ("a.toml", "command = 'emit'\ntuple = 1\n", "a.toml: /tuple: "),
    ],
)
def test_schema_validate(tmp_path: Path, name: str, text: str, place: str) -> None:
    (tmp_path / name).write_text(text)
    ran = mlcheck("schema", "validate", "messages/emit", name, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith(place)
    (tmp_path / name).write_text(text.replace("1", "[]"))
    assert mlcheck("schema", "validate", "messages/emit", name, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.json", "{\n'a': 1}", "a.json:2: no JSON"),
        ("a.ndjson", "\n{\n", "a.ndjson:2: no JSON"),
        ("a.yaml", "a: [\nb", "a.yaml:3: no YAML"),
        ("a.yaml", "!!python/object/apply:os.getpid []", "a.yaml:1: no YAML: a value with the tag"),
        ("a.json", "[NaN]", "a.json: no JSON: NaN is no JSON number"),
    ],
)
def test_schema_validate_what_is_no_document(tmp_path: Path, name: str, text: str, place: str) -> None:
    (tmp_path / name).write_text(text)
    ran = mlcheck("schema", "validate", "messages/emit", name, cwd=tmp_path)
    assert ran.returncode == ExitCode.MISUSE
    assert place in refusal(ran)


def test_schema_validate_stdin(tmp_path: Path) -> None:
    ran = mlcheck("schema", "validate", "messages/sync", "-", cwd=tmp_path, stdin='{"command":"sync"}\n')
    assert (ran.returncode, ran.stdout) == (0, "-: holds to messages/sync\n")
