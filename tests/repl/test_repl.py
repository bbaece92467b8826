"""``mlcheck repl`` without a terminal: commands from a pipe or a file, real components, exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.repl.commands.every import COMMANDS
from tests.command import BOLT, ROOT, SPOUT, mlcheck
from tests.sessions import PID

if TYPE_CHECKING:
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
    assert "nothing is pending\nThe component is blocked reading its stdin" in shown
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
    assert "nothing is pending" in shown
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
    assert "pending on Storm's side: task ids of 1 emits" in shown
    assert re.findall(r'"told (.*?)"', shown) == ["[4, 5]", "[]", "[4]"]
    assert "task ids are sent by hand; 1 emits wait for theirs" in shown
    assert "no emit waits" in said(tmp_path, "taskids 4\n", "--kind", "bolt", BOLT, code=2)


def test_a_spout_waits_for_task_ids_by_hand(tmp_path: Path) -> None:
    commands = "taskids hand\nnext\nnext\n"
    shown = said(tmp_path, commands, "--kind", "spout", component(tmp_path, SPOUT_ASKS_IDS), code=2)
    assert "task ids are pending: `taskids 4 5`" in shown
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
    assert (wrong.returncode, "bolt.by-hand.ndjson" in wrong.stdout) == (1, True), wrong.stdout
    assert mlcheck("schema", "validate", "case", "bolt.by-hand.yaml", cwd=tmp_path).returncode == 0
    assert "raw bytes" in said(tmp_path, "raw [1]\\nend\\n\nsave case bolt.raw\n", "--kind", "bolt", BOLT)


def test_nothing_of_a_component_reaches_the_terminal(tmp_path: Path) -> None:
    shown = said(tmp_path, "tuple\nhistory\nshow 6\n", "--kind", "bolt", component(tmp_path, HOSTILE), code=1)
    assert [char for char in shown if not char.isprintable() and char != "\n"] == []
    assert r"\x1b]0;x\x07 \xff" in shown
    assert r"\x1b[31mred\r" in shown


def test_a_disk_that_is_full_is_told_and_the_session_goes_on(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the handshake does not fit any more."""
    words = [sys.executable, "-m", "multilang_cli", "repl", "--kind", "bolt", BOLT]
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input='tuple ["a"]\nwait settle\nsave kept.ndjson\n',
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("repl-1.ndjson: nothing more is recorded: File too large") == 1
    assert "settle, after" in done.stdout
    assert "kept.ndjson: only the first 1 event of this start: recording ended there: File too large" in done.stdout


def test_a_flood_has_an_end(tmp_path: Path) -> None:
    commands = "set lines 5\nset show out\ntuple\nwait quiet\nset\nhistory 2\n"
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, FLOOD))
    assert 10 < len(shown.splitlines()) < 40
    assert "(more than `set lines` has;" in shown
    assert re.search(r"^show +out ", shown, re.MULTILINE)


def test_who_waits_on_whom_is_said(tmp_path: Path) -> None:
    shown = said(
        tmp_path,
        "tuple\nset limit settle 0.5\nwait settle 0.5\npending\n",
        "--kind",
        "bolt",
        component(tmp_path, LOOP),
    )
    assert re.search(r"control an ack or fail will not come; in the pipes: stdin 0 bytes, stdout 0 bytes", shown)
    assert re.search(r"tuple-unsettled: .* the component is blocked reading its stdin", " ".join(shown.split()))
    assert len(re.findall("in the pipes", shown)) == 2, "in the event, and by `pending`"
    assert re.search(r"pending: ack or fail of -?\d+, tuple 4, \d", shown)


def test_without_limits_nothing_is_missed(tmp_path: Path) -> None:
    commands = "conf subprocess.timeout\nset\nsignal STOP\ntuple\nwait settle 0.1\nsignal CONT\nwait settle\neof\n"
    shown = said(tmp_path, commands, "--kind", "bolt", "--no-limits", BOLT)
    assert "topology.subprocess.timeout.secs = 2000000" in shown
    assert re.search(r"^limit +none +as --no-limits asks", shown, re.MULTILINE)
    assert shown.count("tuple-unsettled") == 2, "for the limit that was typed, and no other"
    assert "the process exited with code 0" in shown


def test_who_was_sent_what_ends_him_did_not_end_by_himself(tmp_path: Path) -> None:
    shown = said(tmp_path, "signal USR1\nwait exit\nfindings\n", "--kind", "bolt", component(tmp_path, LOOP))
    assert "killed by SIGUSR1" in shown
    assert "exited:" not in shown
    catches = "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: os._exit(3))\n" + LOOP
    shown = said(tmp_path, "signal USR1\nwait exit\n", "--kind", "bolt", component(tmp_path, catches), code=1)
    assert "exited: the process exited with code 3" in shown


def test_help_tells_of_every_command(tmp_path: Path) -> None:
    each = "".join(f"help {name}\n" for name in COMMANDS)
    shown = said(tmp_path, f"help\n{each}", "--kind", "bolt", BOLT)
    for name, command in COMMANDS.items():
        assert f"{name} {command.usage}".strip() in shown
        assert command.help.split("\n")[0] in shown
        assert (
            "\n" + f"{name:18}  " in shown or f"\n{name} {command.usage}".rstrip() in shown
        ) or command.kind == "spout"


def test_help_cuts_no_sentence(tmp_path: Path) -> None:
    done = mlcheck("repl", "--kind", "bolt", BOLT, cwd=tmp_path, stdin="help\n", COLUMNS="80")
    assert "Show what is pending" in done.stdout
    assert "left out" not in done.stdout


def test_trees_show_ack_vals(tmp_path: Path) -> None:
    commands = "tuple\ntree\ntick\ntree 4\nrestart topology.acker.executors=0\n"
    shown = said(tmp_path, commands, "--kind", "bolt", component(tmp_path, WRONG_TWICE), code=1)
    assert re.search(r'source emitted "-?\d+": acked after', shown)
    first = r"ack +4 by bolt +XOR +([0-9a-f]{1,16}) +ack val 0\n"
    assert re.search(first + r".*ack +4 by bolt +XOR +\1 +ack val [0-9a-f]+ +WRONG: acked before", shown)
    shown = said(tmp_path, "next 2\nfail\ntree\n", "--kind", "spout", SPOUT)
    assert 'spout emitted "1": failed after' in shown
    assert 'spout emitted "2": 1 tuple open' in shown
    no_ackers = said(tmp_path, "next\ntree\n", "--kind", "spout", "--ackers", "0", SPOUT, code=2)
    assert "with no ackers" in no_ackers
