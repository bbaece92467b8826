"""A bolt that waits for task ids, and is gone where it is answered ahead of all else."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.driver.shell.asking import hear_asked
from multilang_cli.protocol.words.events import Exited
from tests.processes import until
from tests.sessions import LIMIT, playing, seen

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.driver.session import Session

pytestmark = pytest.mark.component

WAITS = "shake()\nmessage()\n"
ANSWER = b"[4]\nend\n"


def killed(session: Session, hello: Any) -> None:
    """Kill it once it has said its pid; nothing of that is heard yet."""
    session.say(hello)
    assert session.wait(lambda: not session.judge.expecting_pid, LIMIT, "pid")
    session.process.signal(signal.SIGKILL)
    assert until(lambda: session.process.exited() is not None)
    assert ended(session) == []


def ended(session: Session) -> list[Exited]:
    """The end that was heard, if it was."""
    return [event.body for event in seen(session) if isinstance(event.body, Exited)]


def test_what_a_failed_write_could_not_give_is_told_as_unread(tmp_path: Path) -> None:
    with playing(tmp_path, WAITS) as (session, hello):
        killed(session, hello)
        session.pump.write_at_once(ANSWER)
        assert [each.unread for each in ended(session)] == [len(ANSWER)]


def test_the_end_of_its_output_is_heard_where_it_could_have_asked(tmp_path: Path) -> None:
    nobody: Any = None
    with playing(tmp_path, WAITS) as (session, hello):
        killed(session, hello)
        assert hear_asked(session.pump, nobody)
        assert [each.unread for each in ended(session)] == [0]
