from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from multilang_cli import __version__
from multilang_cli.cli.commands import COMMANDS, GROUPS
from multilang_cli.cli.exits import PRECEDENCE, ExitCode, worst
from multilang_cli.reports.verdict import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent
BOLT = str(ROOT / "examples" / "python" / "split_bolt.py")
SPOUT = str(ROOT / "examples" / "python" / "sentence_spout.py")
MUTANT_BOLT = str(ROOT / "tests" / "mutants" / "bolt.py")


def mlcheck(*arguments: str, cwd: Path, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would, without the settings of whoever runs the tests."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MLCHECK_") and name != "COLUMNS"}
    return subprocess.run(
        [sys.executable, "-m", "multilang_cli", *arguments],
        cwd=cwd,
        env={**clean, "NO_COLOR": "1", "PYTHONPATH": str(ROOT), **env},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def refusal(ran: subprocess.CompletedProcess[str]) -> str:
    """The one paragraph on stderr; nothing on stdout, and no traceback."""
    assert ran.stdout == ""
    assert ran.stderr.startswith("mlcheck: ")
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.rstrip()[-1] in ".?!"
    return ran.stderr


def test_version(tmp_path: Path) -> None:
    ran = mlcheck("--version", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"mlcheck {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--version"], {"typer", "msgspec", "yaml", "json", "argparse", "difflib", "multilang_cli.cli.dispatch"}),
        (["--help"], {"typer", "msgspec", "yaml", "rich", "jsonschema", "multilang_cli.cli.app"}),
        (["list", "--help"], {"typer", "msgspec", "yaml", "rich", "jsonschema"}),
        (["run", "--help"], {"rich.console", "jsonschema", "multilang_cli.cli.running", "multilang_cli.suite.runner"}),
        (["list", "rules"], {"rich.console", "jsonschema", "multilang_cli.suite.runner"}),
    ],
    ids=shlex.join,
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
    assert "..." not in ran.stdout.replace("]...", "").replace("}...", "").replace(" ...", "").replace(",...", "")
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
        ("list", "list: which? mlcheck list rules, mlcheck list cases, mlcheck list versions."),
        ("list rule", "list: there is no command 'rule'; did you mean rules?"),
        ("list rules more", "list rules: "),
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
        ("explain ack-twise", "explain: there is no rule or case 'ack-twise'; did you mean ack-twice?"),
        ("explain bolt.heartbeat.idel", "did you mean bolt.heartbeat.idle?"),
        ("explain", "explain: Missing argument 'RULE|CASE'."),
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
from multilang_cli.cli import listing
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
        ("a.yaml", "!!python/object/apply:os.getpid []", "a.yaml:1: no YAML: could not determine a constructor"),
        ("a.json", "[NaN]", "a.json: NaN is no JSON number"),
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


@pytest.mark.component
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["absent.py"], 3, "absent.py is neither a file here nor on PATH."),
        (["--kind", "bolt", "absent.py"], 3, "absent.py"),
        (["--", "sh", "-c", "exit 3"], 3, "no first message"),
        (["--kind", "bolt", "-k", "bolt.hartbeat", BOLT], 4, "bolt.heartbeat"),
        (["--kind", "bolt", "-k", "bolt.heartbeat", "--exclude", "bolt", BOLT], 4, "leaves no case"),
    ],
)
def test_run_that_cannot_begin(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    ran = mlcheck("run", *arguments, cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    assert words in refusal(ran)


@pytest.mark.component
@pytest.mark.parametrize(("component", "kind"), [(BOLT, "bolt"), (SPOUT, "spout")])
def test_run_asks_what_the_component_is(tmp_path: Path, component: str, kind: str) -> None:
    ran = mlcheck("run", "-k", "handshake.pid-first", "--report", "json=r.json", component, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["component"]["kind"] == kind
    assert f": a {kind}" in report["component"]["why"]
    assert "PASS  1 passed" in ran.stdout
    assert list((tmp_path / ".mlcheck" / "last").iterdir()) == []


@pytest.mark.component
def test_run_of_a_broken_bolt_and_lint_of_its_recording(tmp_path: Path) -> None:
    ran = mlcheck(
        *("run", "--kind", "bolt", "-k", "bolt.settle.once", "--report", "json=-", "--record", "rec", "--"),
        *("python3", MUTANT_BOLT, "ack-twice"),
        cwd=tmp_path,
    )
    assert ran.returncode == 1
    (subject,) = json.loads(ran.stdout)["subjects"]
    assert subject["reproduce"].startswith("mlcheck run --kind bolt -k bolt.settle.once -- python3 ")
    linted = mlcheck("lint", "--report", "json=-", subject["transcript"], cwd=tmp_path)
    assert linted.returncode == 1
    assert json.loads(linted.stdout)["subjects"][0]["findings"] == subject["findings"]
    shown = mlcheck("lint", subject["transcript"], cwd=tmp_path)
    assert shown.returncode == 1
    assert "must ack-twice" in shown.stdout
    older = mlcheck("lint", "--storm", "1.2", "--report", "json=-", subject["transcript"], cwd=tmp_path)
    assert json.loads(older.stdout)["storm"] == "1.2.4"


@pytest.mark.component
def test_lint_of_a_cut_recording(tmp_path: Path) -> None:
    mlcheck("run", "--kind", "bolt", "-k", "handshake.pid-first", "--record-all", BOLT, cwd=tmp_path)
    (path,) = (tmp_path / ".mlcheck" / "last").iterdir()
    whole = mlcheck("lint", str(path), cwd=tmp_path)
    assert (whole.returncode, "Note" in whole.stdout) == (0, False)
    path.write_bytes(path.read_bytes()[:-30])
    cut = mlcheck("lint", str(path), cwd=tmp_path)
    assert cut.returncode == 0
    assert "was cut here" in " ".join(cut.stdout.split())
    path.write_bytes(b"no transcript\n")
    ran = mlcheck("lint", str(path), cwd=tmp_path)
    assert ran.returncode == ExitCode.MISUSE
    assert f"{path}:1: " in refusal(ran)


@pytest.mark.component
def test_run_of_all_components_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(
        f"record = 'rec'\n[[component]]\nname = 'good'\nkind = 'bolt'\ncommand = '{BOLT}'\n"
        f"[[component]]\nname = 'bad'\nkind = 'bolt'\ncommand = ['python3', '{MUTANT_BOLT}', 'ack-twice']\n"
        "[[component]]\nname = 'absent'\ncommand = 'absent.py'\n"
    )
    below = tmp_path / "below"
    below.mkdir()
    ran = mlcheck("run", "-q", "-k", "bolt.settle.once", "--report", "json=r.json", cwd=below)
    assert ran.returncode == 3
    assert "mlcheck: absent: absent.py is neither a file here nor on PATH.\n" in ran.stderr
    assert [line.split("  ")[0] for line in ran.stdout.splitlines()] == ["good: PASS", "bad: FAIL"]
    assert json.loads((below / "r-good.json").read_text())["exit_code"] == 0
    (subject,) = json.loads((below / "r-bad.json").read_text())["subjects"]
    assert (below / subject["transcript"]).resolve() == tmp_path / "rec" / "bad" / "bolt.settle.once.ndjson"
    again = mlcheck(*shlex.split(subject["reproduce"])[1:], cwd=below)
    assert again.returncode == 1
    assert mlcheck("run", "-q", "--component", "good", "-k", "bolt.settle", cwd=below).returncode == 0


@pytest.mark.component
def test_nobody_reads_stdout(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stdout:
        ran = subprocess.run(
            [sys.executable, "-m", "multilang_cli", "run", "--kind", "bolt", "-k", "handshake.pid-first", BOLT],
            cwd=tmp_path,
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.component
def test_an_interrupt_keeps_what_is_known(tmp_path: Path) -> None:
    arguments = ["run", "-v", "--kind", "bolt", "--report", "json=r.json", BOLT]
    with subprocess.Popen(
        [sys.executable, "-m", "multilang_cli", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"3/"):
                process.send_signal(signal.SIGINT)
                break
        process.stderr.read()
    assert process.returncode == ExitCode.INTERRUPTED
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["complete"] is False
    assert {subject["verdict"] for subject in report["subjects"]} <= {"pass", "skip"}
    assert report["subjects"]
