"""``mlcheck repl`` at a terminal: every command, keys, history, and a component that speaks when it likes."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pexpect  # type: ignore[import-untyped]
import pytest
from prompt_toolkit.history import InMemoryHistory

from multilang_cli.repl.commands.every import COMMANDS
from multilang_cli.repl.terminal import history_in
from tests.command import BOLT, ROOT, SPOUT
from tests.repl.test_repl import ASKS_IDS, LOOP, component

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.component

LIMIT = 30
"""Seconds that a busy machine may need for what is expected."""
CTRL_C, CTRL_D, UP, TAB = "\x03", "\x04", "\x1b[A", "\t"
FLOODS = 'shake()\nwhile True: say(\'{"command":"log","msg":"x"}\\nend\\n\' * 1000)\n'
PASTE = "\x1b[200~{}\x1b[201~"
PROMPT = r"(?:bolt|spout) [\d.]+(?: \(ended\))?>"
DRAWING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


def drawn(text: str) -> str:
    """The pattern of a text that is added to a line."""
    return rf"(?<!\d){text}\x1b\[\?7h"


class Session:
    """A person at a terminal. What is typed ahead is taken when the prompt stands; `keys` need it to stand."""

    def __init__(self, folder: Path, words: tuple[str, ...], own: dict[str, str]) -> None:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MLCHECK_", "NO_COLOR"))}
        more = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "XDG_STATE_HOME": str(folder / "state")}
        self.child: Any = pexpect.spawn(
            sys.executable,
            ["-m", "multilang_cli", "repl", *words],
            cwd=str(folder),
            env={**env, **more, **own, "PYTHONPATH": str(ROOT)},
            encoding="utf-8",
            dimensions=(50, 150),
            timeout=LIMIT,
        )
        self._log = io.StringIO()
        self.child.logfile_read = self._log

    @property
    def shown(self) -> str:
        """All that was shown so far, without the drawing."""
        return DRAWING.sub("", self._log.getvalue())

    def expect(self, pattern: str) -> None:
        """Wait until something is shown."""
        self.child.expect(pattern)

    def type(self, text: str) -> None:
        """Type a line."""
        self.child.send(f"{text}\r")

    def keys(self, keys: str) -> None:
        """Type keys, as soon as the next prompt stands."""
        self.expect(PROMPT)
        self.expect(r"\x1b\[\?25h")
        self.child.send(keys)

    def completes(self, typed: str, rest: str) -> None:
        """Type the beginning of a line, and let the Tab key add the rest."""
        self.keys(typed + TAB)
        self.expect(re.escape(typed))
        self.expect(drawn(rest))

    def ends(self) -> int:
        """Wait for the end; the exit code."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return -1 if self.child.exitstatus is None else int(self.child.exitstatus)


@contextmanager
def session(folder: Path, *words: str, **env: str) -> Iterator[Session]:
    person = Session(folder, words, env)
    try:
        yield person
    finally:
        person.child.close(force=True)


BOLT_COMMANDS: list[tuple[str, str]] = [
    ("help", "help NAME tells more"),
    ('tuple ["snow white"]', r'"command": "ack"'),
    ("heartbeat", r'"command": "sync"'),
    ("tick", r'"command": "ack"'),
    ("wait settle", "settle, after"),
    ("pending", "nothing is pending"),
    ("findings", "nothing is wrong"),
    ("explain ack-twice", "Mend"),
    ("history 3", r'"__tick"'),
    ("show 4", r'"snow white"'),
    ("tree", "ack val 0"),
    ("edit 4", r'tuple \["snow white"\]'),
    ("", "snow"),
    ("taskids", "are sent by themselves"),
    ("conf topology.name", "mlcheck"),
    ("context", "componentid"),
    ("set", "messages shown for one command"),
    ("save talk.ndjson", "events; `mlcheck lint"),
    ("source steps.repl", "nothing is wrong"),
    (r'raw {"comp":"x","tuple":["q"],"task":1,"stream":"s","id":"77"}\nend\n', '"ack", "id": "77"'),
    ("restart topology.debug=true", "handshake"),
    ("storm 1.2", "handshake"),
    ("eof", "exited with code 0"),
    ("restart", "handshake"),
    ("signal", "SIGTERM"),
]
SPOUT_COMMANDS: list[tuple[str, str]] = [
    ("activate", "sync"),
    ("next", "cow jumped"),
    ("next", "apple a day"),
    ("ack", "sync"),
    ('fail "2"', "sync"),
    ("deactivate", "sync"),
]


def test_every_command_is_typed_once() -> None:
    typed = {line.split()[0] for line, _ in (*BOLT_COMMANDS, *SPOUT_COMMANDS) if line}
    assert typed | {"quit"} == set(COMMANDS)


@pytest.mark.parametrize(
    ("lines", "words"),
    [(BOLT_COMMANDS, ("--kind", "bolt", BOLT)), (SPOUT_COMMANDS, ("--kind", "spout", SPOUT))],
    ids=["bolt", "spout"],
)
def test_commands(tmp_path: Path, lines: list[tuple[str, str]], words: tuple[str, ...]) -> None:
    (tmp_path / "steps.repl").write_text("findings\n", encoding="utf-8")
    with session(tmp_path, *words) as person:
        for line, shown in lines:
            person.type(line)
            person.expect(shown)
        person.type("quit")
        assert person.ends() == 0


def test_fields_are_asked_for_one_by_one(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", "--tuple", '["x", 1]', BOLT) as person:
        person.type("tuple times=2")
        person.expect(r"field1 \(JSON or text\):")
        person.type("snow white")
        person.expect(r"field2 \(JSON or text\):")
        person.type("[7]")
        for _ in range(2):
            person.expect('"command": "ack"')
        assert person.shown.count('"tuple":["snow white",[7]]') == 2
        person.type("tuple")
        person.expect("field1")
        person.expect(r"\x1b\[\?25h")
        person.child.send(CTRL_C)
        person.expect("no tuple was sent")
        person.type("quit")
        assert person.ends() == 0


def test_lines_that_go_on_and_lines_that_are_pasted(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.type('tuple ["snow white",')
        person.type("7]")
        person.expect(r'"tuple":\["snow white",7\]')
        person.keys(PASTE.format('tuple ["a"]\ntuple [\n"b"\n]\npending\n') + "\r")
        person.expect("The component is ")
        person.type("quit")
        assert person.ends() == 0
        assert re.findall(r'in +\{.*"tuple":(\S+),"task"', person.shown)[-2:] == ['["a"]', '["b"]']


def test_tab_completes_commands_ids_and_options(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "spout", SPOUT) as person:
        person.completes("nex", "t")
        person.type("")
        person.expect('"command": "sync"')
        person.completes("fail al", "l")
        person.type("")
        person.expect(r'\{"id":"1","command":"fail"\}')
        person.type("quit")
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.completes('tuple ["a"] str', "eam=")
        person.child.send("def" + TAB)
        person.expect(drawn("ault"))
        person.type("")
        person.expect(r'"tuple":\["a"\]')
        person.type("quit")


def test_ctrl_c_ends_a_wait_and_never_the_session(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", component(tmp_path, LOOP + "    time.sleep(3600)")) as person:
        person.type("heartbeat")
        person.type("wait sync")
        person.expect("waiting for sync; Ctrl-C ends the wait")
        person.child.send(CTRL_C)
        person.expect(r"you waited long enough; the component (?:.|\n)*nanosleep")
        person.keys("half a line" + CTRL_C)
        person.type("findings")
        person.expect("nothing is wrong so far")
        person.keys(CTRL_D)
        person.expect(r"Something is pending .*\[y/N\]")
        person.type("n")
        person.keys(CTRL_D)
        person.expect(r"Something is pending .*\[y/N\]")
        person.type("y")
        assert person.ends() == 0


def test_ctrl_c_ends_the_wait_for_a_first_message(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", component(tmp_path, "time.sleep(3600)")) as person:
        person.expect("handshake: conf of")
        person.child.send(CTRL_C)
        person.type("pending")
        person.expect("pending: its pid")
        person.type("quit")
        assert person.ends() == 0


def test_ctrl_c_ends_a_script_and_not_the_session(tmp_path: Path) -> None:
    (tmp_path / "steps.repl").write_text("tuple\nwait settle 3600\nhistory\n", encoding="utf-8")
    sleeps = component(tmp_path, LOOP + "    time.sleep(3600)")
    with session(tmp_path, "--kind", "bolt", "--source", "steps.repl", sleeps) as person:
        person.expect("> wait settle")
        person.child.send(CTRL_C)
        person.expect("you waited long enough")
        person.type("findings")
        person.expect("nothing is wrong so far")
        person.type("quit")
        assert person.ends() == 0
        assert "> history" not in person.shown


def test_keys_are_taken_while_a_component_floods(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", component(tmp_path, FLOODS)) as person:
        person.expect(PROMPT)
        person.type("help")
        person.expect("help NAME tells more")
        person.type("wait settle")
        person.type("quit")
        assert person.ends() == 0


def test_what_a_component_says_appears_while_nobody_types(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.type("set heartbeats 0.05")
        person.type("restart")
        for _ in range(3):
            person.expect('"command": "sync"')
        person.type("quit")
        assert person.ends() == 0
        assert person.shown.count('"stream":"__heartbeat"') >= 3


def test_task_ids_by_hand(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", component(tmp_path, ASKS_IDS)) as person:
        person.type("taskids hand")
        person.type('tuple ["a"]')
        person.expect('"command":"emit"')
        person.type("taskids 4 5")
        person.expect(r"told \[4, 5\]")
        person.type("quit")
        assert person.ends() == 0


def test_a_message_is_opened_changed_and_sent(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.type('tuple ["snow white"] stream=default')
        person.expect('"ack"')
        person.type("edit")
        person.expect(r'tuple \["snow white"\]')
        person.child.send('\x7f\x7f and black"]\r')
        person.expect(r'"tuple": \["black"\]')


def test_a_component_that_has_ended_is_offered_again(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.type("eof")
        person.expect("exited with code 0")
        person.keys("\r")
        person.expect("Start it again")
        person.child.send("n\r")
        person.keys("\r")
        person.expect("Start it again")
        person.child.send("\r")
        person.expect("handshake")


def test_a_line_below_the_prompt_says_how_it_stands(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", BOLT, PROMPT_TOOLKIT_NO_CPR="") as person:
        person.expect(r"\x1b\[6n")
        person.child.send("\x1b[1;1R")
        person.expect(r"process \d+ .*repl-1.ndjson")


def test_what_was_typed_before_is_suggested(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.type('tuple ["snow white"]')
        person.expect('"ack"')
        person.keys("tup")
        person.expect(r'le \["snow white"\]')
        person.child.send("\x1b[C\r")
        person.expect('"ack"')


def test_history_stays_and_keeps_no_secret(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", "--conf", "db.password=known-hush", BOLT) as person:
        person.type("heartbeat")
        person.expect('"command": "sync"')
        person.type("conf set my.password hush-hush")
        person.expect("from the next start")
        for secret in ("known-hush", "https://u:hush-hush@h/x"):
            person.type(f'tuple ["{secret}"]')
            person.expect('"ack"')
        person.type("quit")
        assert person.ends() == 0
    kept = tmp_path / "state" / "mlcheck" / "repl-history"
    assert "hush" not in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o077 == 0
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.keys(UP + UP)
        person.expect("heartbeat")
        person.type("")
        person.expect('"command": "sync"')
        person.type("quit")
        assert person.ends() == 0


def test_a_history_of_the_working_directory_is_nobodys() -> None:
    assert isinstance(history_in({}), InMemoryHistory)
    assert isinstance(history_in({"XDG_STATE_HOME": "state"}), InMemoryHistory)


def test_sigterm_ends_it_and_its_component(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", BOLT) as person:
        person.expect(PROMPT)
        found = re.search(r"as process (\d+)", person.shown)
        assert found
        person.child.kill(signal.SIGTERM)
        assert person.ends() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(found[1]), 0)


def test_a_component_without_a_first_message_can_be_looked_at(tmp_path: Path) -> None:
    with session(tmp_path, "--kind", "bolt", component(tmp_path, "sys.exit(4)")) as person:
        person.expect("exited with code 4")
        person.expect(r"\(ended\)>")
        person.expect(r"\x1b\[\?25h")
        person.child.send(CTRL_D)
        assert person.ends() == 3


def test_no_other_command_imports_prompt_toolkit() -> None:
    code = (
        "import sys, multilang_cli.repl.starting, multilang_cli.suite.checking; print('prompt_toolkit' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
