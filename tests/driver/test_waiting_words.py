"""From facts to sentences: data alone, no process."""

from __future__ import annotations

from typing import get_args

import pytest

from multilang_cli.driver.waits.who_waits import Debts, State, Waiting, facts, waits_of
from multilang_cli.protocol.words.events import Exited
from multilang_cli.protocol.words.waits import Waits

READS = Waiting("reading-stdin", call="read")
READS_SAID = "is blocked reading its stdin, which is empty: it waits for Storm"
NEXT = Debts(command="next")

SENTENCES: dict[str, tuple[Waiting, Debts, str]] = {
    "it waits for Storm": (READS, Debts(), READS_SAID),
    "each waits for the other": (READS, NEXT, f"{READS_SAID}, and Storm waits for its sync of 'next'"),
    "the pid": (READS, Debts(pid=True), f"{READS_SAID}, and Storm waits for its pid"),
    "a heartbeat and tuples": (
        READS,
        Debts(heartbeats=1, tuples=3),
        f"{READS_SAID}, and Storm waits for its sync of a heartbeat and the ack or fail of 3 tuples",
    ),
    "after the end only the end": (
        Waiting("sleeping", call="nanosleep"),
        Debts(end=True, tuples=3),
        "is asleep (nanosleep): it waits for nobody but the clock, and Storm waits for its end",
    ),
    "task ids are pending": (
        READS,
        Debts(pid=True, task_ids=1),
        f"{READS_SAID}, and Storm waits for its pid; Storm still has to send the task ids of an emit",
    ),
    "task ids are held": (
        READS,
        Debts(task_ids=3, held=2),
        f"{READS_SAID}; mlcheck holds back the task ids of 2 emits",
    ),
    "an ack inside the emit": (
        READS,
        Debts(command="ack", task_ids=1, reentered=True),
        (
            f"{READS_SAID}, and Storm waits for its sync of 'ack'; "
            "Storm acks inside the emit, and sends its task ids only after the sync of that ack"
        ),
    ),
    "a direct emit": (
        READS,
        Debts(command="next", unasked="direct"),
        (
            f"{READS_SAID}, and Storm waits for its sync of 'next'; no task ids are on their way: "
            "its last emit was direct, and Storm never answers those with task ids"
        ),
    ),
    "an emit that asked for none": (
        READS,
        Debts(command="next", unasked="declined"),
        (
            f"{READS_SAID}, and Storm waits for its sync of 'next'; "
            "no task ids are on their way: its last emit asked for none (need_task_ids is false)"
        ),
    ),
    "who owes nothing is told nothing of task ids": (READS, Debts(unasked="declined"), READS_SAID),
    "half a message that does not fit": (
        Waiting("writing-stdout", stdout=65536),
        Debts(rest=b"xx"),
        "is blocked writing its stdout, which is full (65536 bytes): it waits for Storm to read it",
    ),
    "who does not read is told nothing of task ids": (
        Waiting("running"),
        Debts(unasked="direct"),
        "is busy (running): it waits for nobody",
    ),
    "bytes left in stdin": (
        Waiting("reading-stdin", stdin=3),
        NEXT,
        "is reading its stdin; Storm waits for its sync of 'next'",
    ),
    "a pipe that is empty again": (Waiting("writing-stdout"), Debts(), "is writing its stdout"),
    "a lone byte": (
        Waiting("writing-stderr", stderr=1),
        Debts(),
        "is blocked writing its stderr, which is full (1 byte): it waits for Storm to read it",
    ),
    "both pipes": (
        Waiting("writing-stdout", stdout=4096, stdin=65536, stdin_full=True),
        Debts(tuples=2, unsent=7),
        (
            "is blocked writing its stdout, which is full (4096 bytes): it waits for Storm to read it, "
            "and Storm waits for the ack or fail of 2 tuples; its stdin is full too: "
            "65536 bytes unread and 7 bytes more wait to be written"
        ),
    ),
    "a message without an end": (
        READS,
        Debts(rest=b'{"pid":1}\x1b'),
        f"{READS_SAID}; the last it wrote is no whole message, it ends in '{{\"pid\":1}}\\x1b'",
    ),
    "a hostile command": (
        READS,
        Debts(command="\x1b[31m"),
        f"{READS_SAID}, and Storm waits for its sync of '\\\\x1b[31m'",
    ),
    "what is polled can't be seen": (
        Waiting("idle", call="epoll_wait", polling=True),
        Debts(),
        "waits in epoll_wait, its stdin is empty",
    ),
    "many are polled": (
        Waiting(
            "idle", stdin=1, call="poll", polling=True, polls_stdin=True, polls=("a", "b", "c"), timed=True, limit=9
        ),
        Debts(),
        "waits in poll for its stdin: it waits for a and b and 1 more, or for 9 ms to pass",
    ),
    "a time that can't be seen": (
        Waiting("idle", call="ppoll", polling=True, polls_stdin=True, timed=True),
        Debts(),
        "waits in ppoll for its stdin, which is empty: it waits for Storm, or for a time to pass",
    ),
    "a descriptor that is not shown": (
        Waiting("elsewhere", call="read"),
        Debts(),
        "is blocked in read of a descriptor that the system does not show",
    ),
    "a file": (Waiting("elsewhere", call="read", target="/dev/pts/3"), Debts(), "is blocked in read of /dev/pts/3"),
    "a guess claims nothing more": (
        Waiting("writing-stdout", call="pipe_write", guessed=True, stdout=9),
        Debts(),
        "waits in pipe_write: it writes a pipe, most likely its stdout",
    ),
    "a call that is not known": (
        Waiting("unknown", call="system call 999"),
        Debts(),
        "is in system call 999, which tells no more",
    ),
    "another user": (
        Waiting("unknown", hidden="it runs as another user (uid 5)"),
        NEXT,
        (
            "does something that the system does not tell, for it runs as another user (uid 5); "
            "Storm waits for its sync of 'next'"
        ),
    ),
    "a debugger that can't be seen": (Waiting("traced"), Debts(), "is stopped by a debugger"),
    "a signal without a name": (
        Waiting("exited", exited=Exited(signal=99)),
        Debts(),
        "was ended by signal 99 (unnamed)",
    ),
    "one of several at work": (
        Waiting("running", pid=7, command="java", kin="descendant", alone=False),
        Debts(),
        "has a descendant process 7 (java) that is busy (running): that part of it waits for nobody",
    ),
}


@pytest.mark.parametrize(("seen", "debts", "said"), SENTENCES.values(), ids=SENTENCES.keys())
def test_facts_make_a_sentence(seen: Waiting, debts: Debts, said: str) -> None:
    waits = waits_of(seen, debts)
    assert str(waits) == said
    assert Waits.read(said) == waits


def test_every_state_has_words_of_its_own() -> None:
    said = [waits_of(Waiting(state, exited=Exited(code=0) if state == "exited" else None)) for state in get_args(State)]
    assert len(set(said)) == len(said)


def test_the_line_of_facts() -> None:
    threads = (("read of descriptor 0 (stdin)", 1), ("futex", 11))
    seen = Waiting("reading-stdin", written=5, complained=1, stdin=2, stdout=3, stderr=None, threads=threads)
    assert facts(seen, Debts(unsent=4)) == (
        "in the pipes: stdin 2 bytes and 4 bytes more to write, stdout 3 bytes, stderr closed; "
        "so far 5 bytes of stdout and 1 byte of stderr; threads: read of descriptor 0 (stdin), 11 x futex"
    )


def test_many_kinds_of_threads_are_counted() -> None:
    seen = Waiting("running", threads=tuple((f"call {number}", 2) for number in range(8)))
    assert facts(seen).endswith("2 x call 5, 4 more")
