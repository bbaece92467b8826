"""``mlcheck repl`` without a terminal: commands from a pipe or a file, real components, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.cli.by_hand import setup_of
from multilang_cli.suite.options import Component, RunOptions
from multilang_cli.workbench.repl.driver import COMMANDS, Driver
from multilang_cli.workbench.repl.screen import Screen
from tests.command import BOLT, ROOT, SPOUT, mlcheck, refusal
from tests.sessions import PID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.component

LOOP = """
shake()
while True:
    tup = message()
"""
WRONG_TWICE = (
    LOOP
    + """
    if isinstance(tup, dict): say('{"command":"ack","id":"%s"}\\nend\\n' % tup["id"] * 2)
"""
)
ASKS_IDS = (
    LOOP
    + """
    if isinstance(tup, list): say('{"command":"log","msg":"told %s"}\\nend\\n' % tup)
    else: say('{"command":"emit","tuple":["x"],"anchors":["%s"]}\\nend\\n' % tup["id"])
"""
)
HOSTILE = (
    LOOP
    + """
    say('{"command":"log","msg":"\\\\u001b[2J\\\\u202e"}\\nend\\n')
    os.write(1, b'\\x1b]0;x\\x07 \\xff\\nend\\n')
    os.write(2, b'\\x1b[31mred\\r\\n')
"""
)
FLOOD = (
    LOOP
    + """
    say('{"command":"log","msg":"x"}\\nend\\n' * 20000)
"""
)
DIES = "sys.stderr.write('no such module'); sys.exit(4)"
SPOUT_ASKS_IDS = (
    LOOP
    + """
    if isinstance(tup, list): say('{"command":"log","msg":"told %s"}\\nend\\n{"command":"sync"}\\nend\\n' % tup)
    elif tup["command"] == "next": say('{"command":"emit","tuple":["x"],"id":7}\\nend\\n')
    else: say('{"command":"sync"}\\nend\\n')
"""
)


def component(folder: Path, code: str) -> str:
    """A component of a few lines, started by its shebang."""
    path = folder / "component.py"
    path.write_text(f"#!{sys.executable} -IS\n{PID}{code}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def said(folder: Path, commands: str, *arguments: str, code: int = 0) -> str:
    """What a session prints on stdout."""
    done = mlcheck("repl", *arguments, cwd=folder, stdin=commands)
    assert (done.returncode, done.stderr) == (code, ""), done.stdout + done.stderr
    return done.stdout


def test_a_bolt_is_given_what_is_typed(tmp_path: Path) -> None:
    commands = """
    # a comment, and a tuple over several lines
    tuple ["snow white",
           7] stream=default comp=source task=1 times=2
    wait settle
    heartbeat
    tick
    pending
    findings
    """
    shown = said(tmp_path, commands, "--kind", "bolt", BOLT)
    assert shown.count('"tuple":["snow white",7],"task":1') == 2
    assert shown.count('"command": "ack"') == 3
    assert shown.count('"command": "sync"') == 1
    assert '"comp":"__system","tuple":[1]' in shown
    assert "settle, after " in shown
    assert "nothing is owed\nThe component has written " in shown
    assert "nothing is wrong so far" in shown


def test_a_spout_is_asked_and_told(tmp_path: Path) -> None:
    commands = 'activate\nnext 2\nack\nfail "2"\nnext\nack all\nack 99\ndeactivate\npending\neof\n'
    shown = said(tmp_path, commands, "--kind", "spout", SPOUT)
    told = re.findall(r'in +\{"id":("?\w*"?),"command":"(\w+)"\}', shown)
    assert [command for _, command in told] == [
        "activate",
        "next",
        "next",
        "ack",
        "fail",
        "next",
        "ack",
        "ack",
        "deactivate",
    ]
    assert [id_ for id_, command in told if command in {"ack", "fail"}] == ['"1"', '"2"', '"3"', "99"]
    assert shown.count('"command": "sync"') == 9
    assert "nothing is owed" in shown
    assert "the process exited with code 0" in shown


def test_what_is_wrong_is_marked_where_it_happens_and_counts(tmp_path: Path) -> None:
    shown = said(
        tmp_path, "tuple\nexplain\nexplain ack-twise\n", "--kind", "bolt", component(tmp_path, WRONG_TWICE), code=2
    )
    assert re.search(
        r'out +\{"command":"ack".*\n.*out .*\n  --> must +ack-twice: .*\n +Storm 2\.8\.3.*: worker dies', shown
    )
    assert "Mend " in shown
    assert "did you mean ack-twice?\nline 3: this command could not be done" in shown
    said(tmp_path, "tuple\n", "--kind", "bolt", component(tmp_path, WRONG_TWICE), code=1)


def test_the_transcript_gives_the_same_findings(tmp_path: Path) -> None:
    name = component(tmp_path, WRONG_TWICE)
    shown = said(
        tmp_path, "tuple\nraw nonsense\\nend\\n\nrestart\ntuple\nsave talk.ndjson\n", "--kind", "bolt", name, code=1
    )
    for path, rules in ((".mlcheck/last/repl-1.ndjson", {"ack-twice", "host-message"}), ("talk.ndjson", {"ack-twice"})):
        report = tmp_path / "report.json"
        assert mlcheck("lint", path, "--report", f"json={report}", cwd=tmp_path).returncode == 1
        found = json.loads(report.read_bytes())["subjects"][0]["findings"]
        assert {each["rule"] for each in found} >= rules
    assert len(re.findall("--> must +ack-twice", shown)) == 2
    assert said(tmp_path, "save talk.ndjson\n", "--kind", "bolt", BOLT, code=2).count("there already") == 1


def test_task_ids_by_hand(tmp_path: Path) -> None:
    commands = "taskids hand\ntuple\npending\ntaskids 4 5\ntuple\ntaskids []\ntuple\ntaskids\ntaskids auto\n"
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, ASKS_IDS))
    assert "owed by Storm: task ids of 1 emits" in shown
    assert re.findall(r'"told (.*?)"', shown) == ["[4, 5]", "[]", "[4]"]
    assert "task ids are sent by hand; 1 emits wait for theirs" in shown
    assert "no emit waits" in said(tmp_path, "taskids 4\n", "--kind", "bolt", BOLT, code=2)


def test_a_spout_waits_for_task_ids_by_hand(tmp_path: Path) -> None:
    commands = "taskids hand\nnext\nnext\n"
    shown = said(tmp_path, commands, "--kind", "spout", component(tmp_path, SPOUT_ASKS_IDS), code=2)
    assert "task ids are owed: `taskids 4 5`" in shown
    assert "Storm still waits for the sync of the command before" in shown
    commands = "taskids hand\nnext\ntaskids 4 4\nnext\ntaskids auto\ntaskids\n"
    shown = said(tmp_path, commands, "--kind", "spout", component(tmp_path, SPOUT_ASKS_IDS))
    assert re.findall(r'"told (.*?)"', shown) == ["[4, 4]", "[4]"]


def test_bytes_of_ones_own(tmp_path: Path) -> None:
    raw = r'raw {"comp":"x","tuple":["\xc3\xa9 \\u00e9"],"task":1,"stream":"s","id":"77"}\nend\n'
    shown = said(tmp_path, f"{raw}\nraw [1]\nshow 4\n", "--kind", "bolt", BOLT)
    assert '"id": "77"' in shown
    assert '"tuple": [\n      "é é"\n    ]' in shown.replace('  "tuple', '"tuple')
    assert "a backslash" in said(tmp_path, "raw \\q\n", "--kind", "bolt", BOLT, code=2)


def test_restarts_with_other_conf_context_and_storm(tmp_path: Path) -> None:
    commands = """
    conf set topology.debug true
    conf topology.debug
    conf set my.password hush-hush-hush
    context set more {"a":
       [1]}
    restart topology.workers=3
    conf topology.workers
    conf my.
    context
    conf unset topology.debug
    storm 1.2
    storm
    conf topology.debug
    """
    shown = said(tmp_path, commands, "--kind", "bolt", BOLT)
    assert "topology.debug = true" in shown
    assert "topology.workers = 3" in shown
    assert '"more": {\n    "a": [\n      1' in shown
    assert "topology.debug = false" in shown
    assert shown.count("handshake: conf of") == 3
    assert "Storm 1.2.4; known are 0.7.1" in shown
    assert shown.count("hush-hush-hush") == 1, "only where it was typed"
    assert 'my.password = "***"' in shown
    assert "hush-hush" not in (tmp_path / ".mlcheck" / "last" / "repl-2.ndjson").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A session with a bolt that is right, in which many commands can be tried."""
    folder = tmp_path_factory.mktemp("driver")
    setup = setup_of(Component(command=(BOLT,), kind="bolt"), RunOptions(), limited=True)
    driver = Driver(setup, Screen(lambda: 160, color=False), folder, waits=True)
    driver.begin()
    yield driver
    driver.end_life()


@pytest.mark.parametrize(
    ("commands", "why"),
    [
        ("nexd\n", "there is no command 'nexd'; did you mean next?"),
        ("next\n", "next: Storm says that to a spout, and this is a bolt"),
        ("tuple {}\n", "expected the values as a JSON array"),
        ("tuple [1,\n", "no JSON: "),
        ("tuple [NaN]\n", "no JSON: NaN is no JSON number"),
        ("tuple [1] times=0\n", "times: expected a whole number from 1"),
        ("tuple [1] tiems=2\n", "there is no 'tiems' here; known are stream="),
        ("tuple file=none.ndjson\n", "none.ndjson: can't be read: No such file"),
        ("show 99\n", "there is no message 99 that can be shown"),
        ("show\n", "show: expected a whole number"),
        ("wait forever\n", "wait: expected seconds, not 'forever'"),
        ("wait quiet -1\n", "wait: expected seconds, 0 or more"),
        ("signal NONE\n", "signal: known are TERM"),
        ("set show few\n", "set show: expected all, out"),
        ("set limit bedtime 3\n", "names are pid"),
        ("storm 9.9\n", "there is no Storm version '9.9'"),
        ("conf unset nothing.there\n", "was not set by hand"),
        ("context set taskid 4\n", "taskid is what the profile says"),
        ("tree\n", "there is no tree yet"),
        ("explain\n", "expected a rule"),
        ("save\n", "expected a file"),
        ("save case Words\n", "is no id of a case"),
        ("source none.repl\n", "none.repl: can't be read"),
        ('restart "topology\n', "no closing quotation"),
        ("eof\ntuple\n", "tuple: the component has ended; `restart` starts it again"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    driver: Driver, commands: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = [driver.execute(command) for command in commands.splitlines()]
    assert done == [*([True] * (len(done) - 1)), False]
    assert why in capsys.readouterr().out.replace("\n", " ")


def test_a_command_that_cannot_be_done_ends_a_script(tmp_path: Path) -> None:
    shown = said(tmp_path, "help\n\nnexd\nfindings\n", "--kind", "bolt", BOLT, code=2)
    assert re.search(r"^line 3: this command could not be done$", shown, re.MULTILINE)
    assert "> findings" not in shown


def test_scripts_call_scripts(tmp_path: Path) -> None:
    (tmp_path / "inner.repl").write_text("heartbeat\n", encoding="utf-8")
    (tmp_path / "outer.repl").write_text("source inner.repl\ntuple\nquit\nheartbeat\n", encoding="utf-8")
    shown = said(tmp_path, "", "--kind", "bolt", "--source", "outer.repl", BOLT)
    assert shown.count('"__heartbeat"') == 1
    assert shown.count('"command": "ack"') == 1
    (tmp_path / "inner.repl").write_text("\nheartbeet\n", encoding="utf-8")
    shown = said(tmp_path, "", "--kind", "bolt", "--source", "outer.repl", BOLT, code=2)
    assert "inner.repl:2: this command could not be done" in shown
    (tmp_path / "inner.repl").write_text("source inner.repl\n", encoding="utf-8")
    assert "more than 8 deep" in said(tmp_path, "", "--kind", "bolt", "--source", "inner.repl", BOLT, code=2)


def test_samples_and_files_of_tuples(tmp_path: Path) -> None:
    (tmp_path / "more.ndjson").write_text('["c"]\n\n["d"]\n', encoding="utf-8")
    commands = "tuple times=3\ntuple file=more.ndjson times=2\n"
    shown = said(tmp_path, commands, "--kind", "bolt", "--tuple", '["a"]', "--tuple", '["b"]', BOLT)
    assert re.findall(r'in .*"tuple":\["(\w)"\]', shown) == list("abacdcd")


def test_a_session_becomes_a_case(tmp_path: Path) -> None:
    commands = 'tuple ["a b"]\nheartbeat\nwait settle\nsave case bolt.by-hand\n'
    shown = said(tmp_path, f"restart topology.debug=true\n{commands}", "--kind", "bolt", BOLT)
    line = shown.partition("play it with\n")[2].splitlines()[0].split()
    assert line[:2] == ["mlcheck", "run"]
    done = mlcheck(*line[1:], cwd=tmp_path)
    assert (done.returncode, "PASS  1 passed" in done.stdout) == (0, True), done.stdout
    wrong = mlcheck(*line[1:-1], component(tmp_path, WRONG_TWICE), cwd=tmp_path)
    assert "FAIL  bolt.by-hand" in wrong.stdout
    assert mlcheck("schema", "validate", "case", "bolt.by-hand.yaml", cwd=tmp_path).returncode == 0
    assert "raw bytes" in said(tmp_path, "raw [1]\\nend\\n\nsave case bolt.raw\n", "--kind", "bolt", BOLT)


def test_nothing_of_a_component_reaches_the_terminal(tmp_path: Path) -> None:
    shown = said(tmp_path, "tuple\nhistory\nshow 6\n", "--kind", "bolt", component(tmp_path, HOSTILE), code=1)
    assert [char for char in shown if not char.isprintable() and char != "\n"] == []
    assert r"\x1b]0;x\x07 \xff" in shown
    assert r"\x1b[31mred\r" in shown


def test_a_flood_has_an_end(tmp_path: Path) -> None:
    commands = "set lines 5\nset show out\ntuple\nwait quiet\nset\nhistory 2\n"
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, FLOOD))
    assert 10 < len(shown.splitlines()) < 40
    assert "(more than `set lines` has;" in shown
    assert re.search(r"^show out ", shown, re.MULTILINE)


def test_who_waits_on_whom_is_said(tmp_path: Path) -> None:
    shown = said(
        tmp_path,
        "tuple\nset limit settle 0.5\nwait settle 0.5\npending\n",
        "--kind",
        "bolt",
        component(tmp_path, LOOP),
    )
    assert re.search(r"no settle will come: the component .* blocked reading its stdin", shown)
    assert "tuple-unsettled" in shown
    assert re.search(r"owed: ack or fail of -?\d+, tuple 4, \d", shown)


def test_without_limits_nothing_is_missed(tmp_path: Path) -> None:
    commands = "conf subprocess.timeout\nset\nsignal STOP\ntuple\nwait settle 0.1\nsignal CONT\nwait settle\neof\n"
    shown = said(tmp_path, commands, "--kind", "bolt", "--no-limits", BOLT)
    assert "topology.subprocess.timeout.secs = 2000000" in shown
    assert "none, as --no-limits asks" in shown
    assert shown.count("tuple-unsettled") == 2, "for the limit that was typed, and no other"
    assert "the process exited with code 0" in shown


def test_a_component_that_says_no_pid(tmp_path: Path) -> None:
    shown = said(tmp_path, "tuple\n", "--kind", "bolt", component(tmp_path, DIES), code=3)
    assert "no such module" in shown
    assert "the process exited with code 4" in shown
    assert "> tuple" not in shown
    refused = mlcheck("repl", "--kind", "bolt", "./nowhere.py", cwd=tmp_path)
    assert refused.returncode == 3
    assert "does not exist" in refusal(refused)


@pytest.mark.parametrize(
    "arguments",
    [("--kind", "bolt", "--storm", "9", BOLT), ("--source", "none.repl", BOLT), ("--limit", "bed=3", BOLT), ()],
    ids=lambda words: " ".join(words[:2]),
)
def test_misuse_is_told_before_anything_starts(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = mlcheck("repl", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert refusal(done)


def test_which_kind_it_is_is_found_out(tmp_path: Path) -> None:
    assert '"command": "sync"' in said(tmp_path, "next\n", SPOUT)


def started(folder: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "multilang_cli", "repl", "--kind", "bolt", BOLT]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        words, cwd=folder, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_an_interrupt_ends_it_and_its_component(tmp_path: Path) -> None:
    with started(tmp_path) as session:
        assert session.stdin is not None
        assert session.stdout is not None
        pid = int(session.stdout.readline().split()[-1])
        session.stdin.write("heartbeat\n")
        session.stdin.flush()
        assert any('"command": "sync"' in line for line in session.stdout)
        session.send_signal(signal.SIGINT)
        assert session.wait() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_nobody_reads_what_it_says(tmp_path: Path) -> None:
    with started(tmp_path) as session:
        assert session.stdin is not None
        assert session.stdout is not None
        assert session.stderr is not None
        session.stdout.readline()
        session.stdout.close()
        session.stdin.write("heartbeat\n" * 50)
        session.stdin.close()
        assert session.wait() == 0
        assert session.stderr.read() == ""


def test_help_tells_of_every_command(tmp_path: Path) -> None:
    each = "".join(f"help {name}\n" for name in COMMANDS)
    shown = said(tmp_path, f"help\n{each}", "--kind", "bolt", BOLT)
    for name, command in COMMANDS.items():
        assert f"{name} {command.usage}".strip() in shown
        assert command.help.split("\n")[0] in shown
        assert (
            "\n" + f"{name:18}  " in shown or f"\n{name} {command.usage}".rstrip() in shown
        ) or command.kind == "spout"


def test_trees_show_ack_vals(tmp_path: Path) -> None:
    commands = "tuple\ntree\ntick\ntree 4\nrestart topology.acker.executors=0\n"
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, WRONG_TWICE), code=1)
    assert re.search(r'source emitted "-?\d+": acked after', shown)
    assert re.search(r"ack +([0-9a-f]{1,16}) ack val 0 .*to bolt \(4\)\n.*ack +\1 ack val .*WRONG: acked before", shown)
    shown = said(tmp_path, "next 2\nfail\ntree\n", "--kind", "spout", SPOUT)
    assert 'spout emitted "1": failed after' in shown
    assert 'spout emitted "2": 1 tuples open' in shown
    no_ackers = said(tmp_path, "next\ntree\n", "--kind", "spout", "--ackers", "0", SPOUT, code=2)
    assert "with no ackers" in no_ackers
