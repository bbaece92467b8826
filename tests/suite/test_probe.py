"""What answers tell nothing is not guessed at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.subject.declared import Probe
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.suite.probe import kind_of
from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

CHATTERS = """
import json, os, sys, threading, time
def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line: os._exit(0)
        lines.append(line)
    return json.loads("".join(lines))
def send(message): os.write(1, json.dumps(message).encode() + b"\\nend\\n")
open(os.path.join(read()["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
def chatter():
    while True: time.sleep(0.05); send({"command": "sync"})
threading.Thread(target=chatter, daemon=True).start()
while True: read()
"""
"""Says sync all the time, and settles nothing."""


def test_who_says_sync_all_the_time_and_settles_nothing_is_neither(tmp_path: Path) -> None:
    script = tmp_path / "chatters.py"
    script.write_text(CHATTERS, encoding="utf-8")
    found = kind_of(Component(command=(sys.executable, str(script)), kind="auto"), RunOptions(timeout=2.0))
    assert (found.kind, found.silent) == (None, False)
    assert found.how == "it says sync without being asked, so it can't be told: say --kind bolt or --kind spout"


BEGIN = """
import json, os, signal, sys
def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line: os._exit(0)
        lines.append(line)
    return json.loads("".join(lines))
def send(message): os.write(1, json.dumps(message).encode() + b"\\nend\\n")
first = read()
open(os.path.join(first["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
"""
"""A handshake as it should be."""

OLD_LIBRARY = """
while True:
    tuple_ = read()
    {before}
    send({{"command": "emit", "anchors": [tuple_["id"]], "tuple": [tuple_["tuple"][0]]}})
    {after}
"""
"""A bolt from before heartbeats: it gives them to the user's code, as libraries of 2012 to 2014 do."""

ACK = 'send({"command": "ack", "id": tuple_["id"]})'
FAIL = 'send({"command": "fail", "id": tuple_["id"]})'

BOLTS = {
    "dies of a heartbeat": OLD_LIBRARY.format(before="", after=ACK),
    "acks a heartbeat": OLD_LIBRARY.format(before=f"if not tuple_['tuple']: {ACK}; continue", after=ACK),
    "fails everything": OLD_LIBRARY.format(before=f"{FAIL}; continue", after=""),
    "never acks": OLD_LIBRARY.format(before="", after=""),
    "takes numbers only": OLD_LIBRARY.format(before="tuple_['tuple'][0] + 1", after=ACK),
    "acks the third of three": "seen = []\n"
    + OLD_LIBRARY.format(before="seen.append(tuple_)\n    if len(seen) < 3: continue", after=ACK),
}


def asked(tmp_path: Path, text: str, **more: Any) -> Probe:
    """What the probe finds of the program `text`; `more`: fields of the component, and the Storm version."""
    (tmp_path / "component.py").write_text(text, encoding="utf-8")
    options = RunOptions(timeout=more.pop("timeout", 5.0), storm=more.pop("storm", ""))
    return kind_of(Component(command=(sys.executable, str(tmp_path / "component.py")), kind="auto", **more), options)


@pytest.mark.parametrize("name", BOLTS)
def test_who_acks_fails_or_anchors_is_a_bolt(name: str, tmp_path: Path) -> None:
    declared = {"acks the third of three": {"settles": "after-3", "samples": (["a"], ["b"])}}
    more = declared.get(name, {"samples": ([1],)} if name == "takes numbers only" else {})
    found = asked(tmp_path, BEGIN + BOLTS[name], **more)
    assert found.kind == "bolt", found.how
    assert found.how.startswith("it settles" if name != "never acks" else "it anchors an emit to a tuple")


def test_a_version_without_heartbeats_sends_none(tmp_path: Path) -> None:
    watch = "if tuple_['stream'] == '__heartbeat': open('seen', 'w')"
    found = asked(tmp_path, BEGIN + OLD_LIBRARY.format(before=watch, after=ACK), storm="0.9.2", cwd=str(tmp_path))
    assert found == Probe("bolt", "it settles a tuple: a bolt")
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize("id_", ["'id': 1, ", ""])
def test_a_spout_that_emits_and_never_syncs_is_one(id_: str, tmp_path: Path) -> None:
    text = f"while True:\n    if read().get('command') == 'next': send({{'command': 'emit', {id_}'tuple': [1]}})"
    assert asked(tmp_path, BEGIN + text).kind == "spout"


def test_what_was_seen_is_said_of_the_undecided(tmp_path: Path) -> None:
    text = (
        "send({'command': 'log', 'msg': 'x'})\nsys.stderr.write('no idea\\n')\nsys.stderr.flush()\nwhile True: read()"
    )
    (tmp_path / "component.py").write_text(BEGIN + text, encoding="utf-8")
    ran = mlcheck("run", "--timeout", "5", "--", sys.executable, "component.py", cwd=tmp_path)
    assert ran.returncode == 2
    said = " ".join(ran.stderr.split())
    assert "it answers neither a heartbeat nor a tuple nor `next`: to a heartbeat it said log after its pid, " in said
    assert 'its last line of stderr is "no idea"' in said
    assert "say --kind bolt or --kind spout, or give a tuple that it takes (--tuple JSON)" in said


FAULTS = {
    "raise RuntimeError('in initialize')": "before anything was asked of it: RuntimeError: in initialize",
    "os.kill(os.getpid(), signal.SIGSTOP)": "it stopped itself before it was asked anything",
    "os.close(1); sys.stdin.read()": "it closes its stdout after its pid, before anything was asked of it",
    "signal.pause()": "it does not read its stdin",
}
"""What a component does after its pid, and what is said of that."""


@pytest.mark.parametrize("text", FAULTS)
def test_who_dies_or_hangs_by_itself_is_at_fault_whatever_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / "component.py").write_text(BEGIN + text, encoding="utf-8")
    ran = mlcheck("run", "--timeout", "3", "--", sys.executable, "component.py", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert FAULTS[text] in " ".join(ran.stderr.split())


DIES_OF = "while True:\n    said = read()\n    if said.get('command', said.get('stream')) in {}: sys.exit(4)\n"


def test_who_dies_as_a_bolt_and_as_a_spout_is_at_fault(tmp_path: Path) -> None:
    found = asked(tmp_path, BEGIN + DIES_OF.format(("__heartbeat", "next")))
    assert (found.kind, found.fault) == (None, True)
    assert "as a bolt it dies of a heartbeat; it exited with code 4; as a spout it dies of `next`" in found.how


def test_who_dies_as_a_bolt_and_hangs_as_a_spout_is_at_fault(tmp_path: Path) -> None:
    found = asked(tmp_path, BEGIN + DIES_OF.format(("__heartbeat",)))
    assert (found.kind, found.fault) == (None, True)
    assert "as a bolt it dies of a heartbeat; it exited with code 4; as a spout it does not answer `next`" in found.how


def test_who_answers_activate_and_dies_of_next_and_of_a_heartbeat_is_a_spout(tmp_path: Path) -> None:
    text = "while True:\n    if read().get('command') != 'activate': sys.exit(4)\n    send({'command': 'sync'})\n"
    found = asked(tmp_path, BEGIN + text)
    assert (found.kind, found.how) == ("spout", "it answers `activate` with a sync, and no `next`: a spout")


def test_who_dies_of_next_before_it_is_activated_is_a_spout_all_the_same(tmp_path: Path) -> None:
    text = "active = False\nwhile True:\n    said = read()\n    active = active or said.get('command') == 'activate'\n"
    text += "    if active: send({'command': 'sync'})\n    else: sys.exit(4)\n"
    assert asked(tmp_path, BEGIN + text).kind == "spout"


@pytest.mark.parametrize("dies", [False, True])
def test_a_bare_pid_is_the_protocol_of_before_0_7_1(tmp_path: Path, *, dies: bool) -> None:
    """Its library reads the folder for pids, writes the pid as a line, and reads conf and context."""
    text = "import os, sys\nfolder = sys.stdin.readline()\nsys.stdin.readline()\nprint(os.getpid(), flush=True)\n"
    text += "open(folder + '/x')" if dies else "sys.stdin.read()"
    (tmp_path / "component.py").write_text(text, encoding="utf-8")
    for kind in ("auto", "bolt"):
        ran = mlcheck("run", "--timeout", "3", "--kind", kind, "--", sys.executable, "component.py", cwd=tmp_path)
        assert ran.returncode == 3
        assert "is the protocol of before Storm 0.7.1" in " ".join((ran.stderr + ran.stdout).split())


LOGS = """
while True:
    message = read()
    send({"command": "log", "msg": message["tuple"][0] + " was skipped" if message.get("tuple") else "nothing"})
"""


def test_who_says_what_a_tuple_told_it_is_a_bolt(tmp_path: Path) -> None:
    assert asked(tmp_path, BEGIN + LOGS)[:2] == ("bolt", "it says again what a tuple told it: a bolt")
    assert asked(tmp_path, BEGIN + LOGS.replace('message["tuple"][0] + ', '"it" + ')).kind is None


NO_PID = BEGIN.replace('send({"pid": os.getpid()})', 'send({"command": "log", "msg": "started"})')


def test_who_never_says_a_pid_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "logs.py").write_text(f"{NO_PID}\nwhile read(): pass\n")
    ran = mlcheck("run", "--timeout", "2", "--", sys.executable, "logs.py", cwd=tmp_path)
    assert ran.returncode == 1
    assert "be it a bolt or a spout: it says something before its pid: " in ran.stderr
    (tmp_path / "fails.py").write_text(f'{NO_PID}\nwhile read(): send({{"command": "fail", "id": ""}})\n')
    ran = mlcheck("run", "-k", "handshake.pid-first", "--", sys.executable, "fails.py", cwd=tmp_path)
    said = " ".join(ran.stdout.split())
    assert "FAIL it says something before its pid" in said
    assert 'every version: the worker dies with all its tasks; its log of message 4 says "Failed a non-existent' in said


def test_what_is_no_message_is_none_of_a_bolt_nor_of_a_spout(tmp_path: Path) -> None:
    text = """
while True:
    if read().get('tuple'): os.write(1, b'Object (fromList [])\\nend\\n')
"""
    (tmp_path / "component.py").write_text(BEGIN + text, encoding="utf-8")
    ran = mlcheck("run", "--timeout", "3", "--", sys.executable, "component.py", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert "FAIL  it prints to stdout: text that is no message: 'Object (fromList [])'" in ran.stdout


ROLES = {
    "spout": ("said['command']\n    sys.exit(4)", "it dies of `activate`: exit code 4"),
    "bolt": ("said['stream']\n    sys.exit(3)", "it dies of a heartbeat: exit code 3"),
}


@pytest.mark.parametrize("role", ROLES)
def test_what_it_does_of_the_other_role_is_not_told(role: str, tmp_path: Path) -> None:
    text, told = ROLES[role]
    (tmp_path / "component.py").write_text(f"{BEGIN}while True:\n    said = read()\n    {text}\n", encoding="utf-8")
    ran = mlcheck("run", "--timeout", "3", "--", sys.executable, "component.py", cwd=tmp_path)
    assert ran.returncode == 1
    assert f"FAIL  {told}" in ran.stdout
    assert "  Also " not in ran.stdout


def test_a_slow_spout_that_syncs_whatever_comes_is_no_bolt(tmp_path: Path) -> None:
    text = """
import time
while said := read():
    if said.get('command') == 'next': time.sleep(9)
    send({'command': 'sync'})
"""
    assert asked(tmp_path, BEGIN + text, timeout=20.0).kind == "spout"


OWN_FAILINGS = {
    "dies": "send({'command': 'emit', 'tuple': ['a']}); status.text",
    "waits for a lock": "import threading; threading.Lock().acquire(); threading.Event().wait()",
}


@pytest.mark.parametrize("failing", OWN_FAILINGS)
def test_a_failing_spout_that_syncs_whatever_comes_is_no_bolt(failing: str, tmp_path: Path) -> None:
    text = f"""
while said := read():
    if said.get('command') == 'next':
        {OWN_FAILINGS[failing]}
    send({{'command': 'sync'}})
"""
    found = asked(tmp_path, BEGIN + text, timeout=6.0)
    assert (found.kind, found.how) == (
        "spout",
        "it answers a tuple with a sync too, as Storm's own spouts in Ruby do: a spout",
    )


DEADLY = """
while True:
    said = read()
    if 'tuple' in said: raise OSError('no connection')
"""


def test_who_dies_of_each_tuple_and_passes_over_commands_is_told_what_it_dies_of(tmp_path: Path) -> None:
    (tmp_path / "component.py").write_text(BEGIN + DEADLY, encoding="utf-8")
    ran = mlcheck("run", "--timeout", "3", "--", sys.executable, "component.py", cwd=tmp_path)
    assert ran.returncode == 1
    assert "FAIL  it dies of a heartbeat: OSError: no connection" in ran.stdout


MADE_UP = """
while True:
    tuple_ = read()
    if 'tuple' not in tuple_ or not tuple_['tuple']: send({'command': 'sync'}); continue
    if tuple_['tuple'][0].startswith('word'): size = 4
    send({'command': 'emit', 'anchors': [tuple_['id']], 'tuple': [size]})
    send({'command': 'ack', 'id': tuple_['id']})
"""


def test_a_name_that_no_value_of_ours_gives_is_nobodys_fault(tmp_path: Path) -> None:
    (tmp_path / "component.py").write_text(BEGIN + MADE_UP, encoding="utf-8")
    command = ("--kind", "bolt", "-k", "bolt.settle.once", "--", sys.executable, "component.py")
    ran = mlcheck("run", *command, cwd=tmp_path)
    assert ran.returncode == 6
    assert "it uses a name that is not there: NameError: name 'size' is not defined" in " ".join(ran.stdout.split())


WINDOW = """
import threading, time, traceback
open_ = []
def settle():
    while True:
        time.sleep(60)
        while open_: send({'command': 'ack', 'id': open_.pop()})
threading.Thread(target=settle, daemon=True).start()
try:
    while True:
        said = read()
        if said['comp'] is None: send({'command': 'sync'})
        elif said['stream'] == '__tick': send({'command': 'ack', 'id': said['id']})
        else: open_.append(said['id'])
except Exception:
    send({'command': 'error', 'msg': traceback.format_exc()})
    send({'command': 'sync'})
    os._exit(1)
"""
"""Settles in windows, and says an error and a sync before it ends, as pystorm does."""


def test_a_bolt_that_answers_next_with_an_error_and_a_sync_is_no_spout(tmp_path: Path) -> None:
    found = asked(tmp_path, BEGIN + WINDOW)
    assert (found.kind, found.how) == ("bolt", "it takes `next` for a tuple, and ends: a bolt")


def test_a_bolt_that_settles_ticks_is_sent_one(tmp_path: Path) -> None:
    text = """
while said := read():
    if said.get('stream') == '__tick': send({'command': 'ack', 'id': said['id']})
    elif not said.get('tuple'): send({'command': 'sync'})
"""
    (tmp_path / "component.py").write_text(BEGIN + text, encoding="utf-8")
    command = (sys.executable, str(tmp_path / "component.py"))
    found = kind_of(Component(command=command, kind="auto", settles="on-tick"), RunOptions())
    assert (found.kind, found.how) == ("bolt", "it settles a tuple: a bolt")


def test_a_spout_that_answers_once_it_is_activated_is_one(tmp_path: Path) -> None:
    text = """
active = False
while said := read():
    active = active or said.get('command') == 'activate'
    if active: send({'command': 'sync'})
"""
    found = asked(tmp_path, BEGIN + text)
    assert (found.kind, found.how) == ("spout", "it answers `next` with a sync: a spout")


def test_a_bolt_that_loses_what_comes_first_is_one(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    rest = """
read()
while True:
    message = read()
    if isinstance(message, dict) and message.get("stream") == "__heartbeat": send({"command": "sync"})
"""
    script.write_text(BEGIN + rest, encoding="utf-8")
    found = kind_of(Component(command=(sys.executable, str(script)), kind="auto"), RunOptions(timeout=3.0))
    assert (found.kind, found.how) == ("bolt", "it answers a heartbeat, if not the first: a bolt")


def test_who_says_no_pid_is_waited_for_once(tmp_path: Path) -> None:
    script, starts = tmp_path / "silent.py", tmp_path / "starts"
    script.write_text(f"import sys\nopen({str(starts)!r}, 'a').write('.')\nsys.stdin.read()\n", encoding="utf-8")
    found = kind_of(Component(command=(sys.executable, str(script)), kind="auto"), RunOptions(timeout=2.0))
    assert (found.kind, found.silent, starts.read_text(encoding="utf-8")) == (None, True, ".")


READS_TO_THE_END = """
message = json.loads(sys.stdin.read())
send({"command": "ack", "id": message["id"]})
"""


def test_who_takes_what_it_is_sent_only_once_its_stdin_is_closed_is_at_fault(tmp_path: Path) -> None:
    script = tmp_path / "reads.py"
    script.write_text(BEGIN + READS_TO_THE_END, encoding="utf-8")
    component = Component(command=(sys.executable, str(script)), kind="auto")
    found = kind_of(component, RunOptions(timeout=2.0))
    assert (found.kind, found.fault) == (None, True), found.how
    assert {cause.id for each in found.met for cause in each.causes} == {"reads-in-blocks"}


HOLDS_BACK = """
held = []
while True:
    if read().get("stream") == "__heartbeat":
        held.append(b'{"command": "sync"}\\nend\\n')
    if len(held) == 32:
        os.write(1, b"".join(held))
        held.clear()
"""


def test_a_bolt_whose_syncs_fill_a_buffer_first_is_one(tmp_path: Path) -> None:
    script = tmp_path / "holds.py"
    script.write_text(BEGIN + HOLDS_BACK, encoding="utf-8")
    found = kind_of(Component(command=(sys.executable, str(script)), kind="auto"), RunOptions(timeout=2.0))
    assert found.kind == "bolt", found.how
