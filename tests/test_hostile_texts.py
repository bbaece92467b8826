"""Texts that a component writes to make a pattern take the square of their length, or worse: each is read in time."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue.loader import load_causes, load_rulebook, load_tracebacks
from multilang_cli.causes.diagnosis import diagnose
from multilang_cli.causes.facts import Known, Source, facts_of
from multilang_cli.causes.model import Cause, Place
from multilang_cli.causes.tracebacks import MOST_OF_A_LINE, MOST_READ, bounded, shown_lines
from multilang_cli.causes.unheard import what_they_are
from multilang_cli.driver.pids import has_a_pid_file
from multilang_cli.driver.process import STDERR_KEPT
from multilang_cli.protocol.words.events import Chunk, Event, Exited
from multilang_cli.protocol.words.messages import Emit, Log, Malformed, TupleMsg
from multilang_cli.subject.source.lines import source_lines
from multilang_cli.subject.source.sources import origin_in
from multilang_cli.suite.runner.watch import WATCHED_BYTES, Watch
from multilang_cli.suite.verdict.causes import _Stderr
from multilang_cli.suite.verdict.lines import with_code
from multilang_cli.transcript.secrets import hide
from tests.sessions import ACK_ALL, LIMIT, bolt_of, playing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HANG = 10.0
"""CPU seconds in which whatever a component writes must have been read: good patterns take some hundredths."""
HEADS = (
    "Traceback (most recent call last):\n",
    "Exception in bolt: ",
    "Exception in thread a ",
    "a:1:in ",
    "    at a (",
    "<internal:",
    "thread 'a' panicked at '",
    "PHP Fatal error: ",
    "panic: ",
    "   at x in /",
    "terminate called after throwing an instance of 'a'\n",
    "Error: a\n",
    "authorization=",
    "a://",
    '{"a":"',
    "-----BEGIN ",
    "password",
    "mysql ",
    "",
)
UNITS = (
    "\n",
    "\n ",
    " \t",
    ": ",
    " - ",
    " at ",
    " in /",
    "', a:1",
    "x at y line ",
    '\\"',
    "a=,",
    "ujson ",
    "(",
    "E.",
    "{ ",
    " ",
    "%22",
)

AGAIN = ("\n", ": ", " at ")
"""Units that are tried behind many heads, too."""


class _HangError(BaseException):
    """Too much was computed: no `except` of what is tested may take it for its own."""


@contextmanager
def cpu_bound(seconds: float) -> Iterator[None]:
    """Fail where the body computes longer than that; whatever else runs on the machine does not count."""

    def ring(*_: Any) -> None:
        raise _HangError

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    except _HangError:
        pytest.fail(f"it took more than {seconds:g} s")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def read(text: str) -> None:
    """Do all with it that is done with what a component wrote to stderr, or logged."""
    forms = load_tracebacks()
    shown_lines(text, forms.death_in(text, ("/srv",), "python"))
    events = [Event(0, 0.0, "process", Exited(code=1))]
    facts = facts_of(events, (), Source(kind="bolt"), forms, Known(stderr=text))
    diagnose(facts, load_causes(), load_rulebook().rules)
    what_they_are(text[:400])
    hide(text, "text")
    hide(text, "settings")


@pytest.mark.long
@pytest.mark.sample(85)  # a third of the pairs: each head with five units, each unit with five or six heads
@pytest.mark.parametrize(("unit", "head"), list(product(UNITS, HEADS)), ids=ascii)
def test_no_text_takes_long(unit: str, head: str) -> None:
    size = STDERR_KEPT - len(head)
    many = (head + unit * 20) * (STDERR_KEPT // len(head + unit * 20))
    for text in (head + unit * (size // len(unit)) + "!", many)[: 2 if unit in AGAIN else 1]:
        with cpu_bound(HANG):
            read(text)


def test_a_pipe_is_no_source(tmp_path: Path) -> None:
    """A traceback may name what the component has put there: to open it must not wait for a writer."""
    os.mkfifo(tmp_path / "bolt.py")
    (tmp_path / "link.py").symlink_to("/dev/zero")
    (tmp_path / "other.py").write_text(f"print('hello, world')\n{'x' * 5000}\n")
    assert source_lines(tmp_path / "bolt.py") == source_lines(tmp_path / "link.py") == []
    source = Source(kind="bolt", language="python", roots=(str(tmp_path),))
    found = origin_in(source, "hello, world")
    assert found is not None
    assert found.file == "other.py"
    cause = Cause(id="x", certainty="certain", headline="h", place=Place("bolt.py", 1), rank=1, mend="m")
    place = with_code(cause, source.roots).place
    assert place is not None
    assert place.code == ""


def test_what_a_silent_component_answers_is_bounded() -> None:
    answer = _Stderr()
    for _ in range(10):
        answer.take([Event(0, 0.0, "err", Chunk(STDERR_KEPT), raw=bytes(STDERR_KEPT))], None)
    assert len(answer.text) <= 2 * STDERR_KEPT


def test_a_pid_folder_may_be_anything(tmp_path: Path) -> None:
    assert not has_a_pid_file(tmp_path / "none")
    (tmp_path / "file").write_text("")
    assert not has_a_pid_file(tmp_path / "file")
    (tmp_path / "12").write_text("")
    assert has_a_pid_file(tmp_path)


def test_long_lines_are_cut_and_stay_as_many() -> None:
    text = f"{'a' * 5000}\n\n{'b' * 10}\n"
    assert [len(line) for line in bounded(text).split("\n")] == [MOST_OF_A_LINE + 3, 0, 10, 0]
    assert len(bounded("\n" * (MOST_READ + 5))) == MOST_READ


def test_a_death_behind_much_text_is_told_with_its_line() -> None:
    before = "x\n" * MOST_READ
    death = load_tracebacks().death_in(f"{before}Traceback (most recent call last):\nKeyError: 'a'\n", (), "python")
    assert death is not None
    assert death.at == MOST_READ


def test_large_messages_are_not_kept_for_a_report() -> None:
    """Of 4,096 events each may be 64 MiB."""
    watch, large = Watch(), "x" * 100_000
    bodies: list[Any] = [
        Emit(values=[large]),
        TupleMsg(None, [large], 1, "s", "1"),
        Log(large),
        Malformed("shape", 0, large, "d", (Emit(values=[large]),)),
    ]
    watch.take([Event(seq, 0.0, "out", body, large.encode()) for seq, body in enumerate(bodies)], None)
    assert len(watch.sizes) == len(bodies)
    kept = [event.raw for event in watch.events.values()] + [repr(event.body) for event in watch.events.values()]
    assert max(map(len, kept)) < 3 * WATCHED_BYTES


class Sizes:
    """Bytes of the events that are taken at once."""

    largest = 0

    def take(self, events: Sequence[Event], _: object) -> None:
        self.largest = max(self.largest, sum(len(event.raw) for event in events if event.channel == "in"))


@pytest.mark.component
def test_large_tuples_are_not_put_together(tmp_path: Path) -> None:
    """Each copy that is made of many on the way would be as large as all of them."""
    sizes = Sizes()
    with playing(tmp_path, ACK_ALL) as (session, greeting):
        bolt = bolt_of(session)
        assert session.handshake(greeting, LIMIT)
        session.add_sink(sizes)
        for _ in range(20):
            bolt.send(["x" * 1_000_000], "s", "default")
        assert bolt.settle_all(LIMIT)
    assert 1_000_000 < sizes.largest < 2_000_000
