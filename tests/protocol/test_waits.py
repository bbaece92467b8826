"""Who waits on whom, as recordings and findings keep it, read back into its parts."""

from __future__ import annotations

import pytest

from multilang_cli.protocol.words.clauses import clauses
from multilang_cli.protocol.words.events import Deadline
from multilang_cli.protocol.words.verdicts import Finding
from multilang_cli.protocol.words.waits import Waits

AT_STDIN = "is blocked reading its stdin, which is empty"
UNREAD = "waits in poll, but not for its stdin, where {} unread"
NO_IDS = "no task ids are on their way: its last emit asked for none (need_task_ids is false)"

WRITTEN: dict[str, Waits] = {
    "": Waits(),
    AT_STDIN: Waits(AT_STDIN),
    f"{AT_STDIN}: it waits for Storm, and Storm waits for its sync of 'a; b'; {NO_IDS}": Waits(
        AT_STDIN, "it waits for Storm", "its sync of 'a; b'", (NO_IDS,)
    ),
    f"{AT_STDIN}; {NO_IDS}": Waits(AT_STDIN, hints=(NO_IDS,)),
    "is reading its stdin; Storm waits for its pid; and on": Waits(
        "is reading its stdin", storm="its pid", hints=("and on",)
    ),
    "has a child process 7 (sh) that is asleep (read): that process waits for nobody but the clock": Waits(
        "has a child process 7 (sh) that is asleep (read)", "that process waits for nobody but the clock"
    ),
    "waits in pipe_read: it reads a pipe, most likely its stdin": Waits(
        "waits in pipe_read: it reads a pipe, most likely its stdin"
    ),
    # Of a person, of another version, or of nobody: nothing of it is lost.
    "; Storm waits for ; : it waits for , and Storm waits for 'x; ": Waits(
        hints=("Storm waits for ", ": it waits for , and Storm waits for 'x", "")
    ),
}


@pytest.mark.parametrize(("sentence", "parts"), WRITTEN.items(), ids=range(len(WRITTEN)))
def test_the_sentence_of_a_recording_is_read_into_its_parts(sentence: str, parts: Waits) -> None:
    assert Waits.read(sentence) == parts
    assert str(parts) == sentence
    assert Deadline("sync", 1.0, sentence).waits == parts
    assert Waits.behind(f"no sync of 'a; the component b'{parts.clause}") == (parts if sentence else None)


@pytest.mark.parametrize(
    ("doing", "at_stdin", "stopped", "unread"),
    [
        (AT_STDIN, True, False, None),
        ("waits in epoll_wait for its stdin, which is empty", True, False, None),
        ("is reading its stdin", False, False, None),
        ("has a child process 7 (cat) that is stopped by a signal, such as SIGSTOP", False, True, None),
        (UNREAD.format("1 byte stands"), False, False, 1),
        (UNREAD.format("1,234 bytes stand"), False, False, 1234),
    ],
)
def test_what_it_does_is_known_by_its_words(doing: str, at_stdin: bool, stopped: bool, unread: int | None) -> None:
    waits = Waits.read(f"{doing}: it waits for Storm; its stdin, which is empty, is stopped by a signal")
    assert (waits.at_stdin, waits.stopped, waits.unread) == (at_stdin, stopped, unread)


@pytest.mark.parametrize(
    ("sentence", "program"),
    [
        ("is asleep (nanosleep): it waits for nobody but the clock", ""),
        ("has a child process 7 (curl) that waits in poll, but not for its stdin: it waits", "curl"),
        ("waits in poll: that part of it waits for a pipe of process 7 (perl), which is blocked", "perl"),
        ("is asleep; the pid file of process 7 (perl)", ""),
    ],
)
def test_a_program_that_it_waits_for_is_known_by_its_name(sentence: str, program: str) -> None:
    assert Waits.read(sentence).program == program


@pytest.mark.parametrize(
    ("message", "head"),
    [
        ("no sync of 'next' within 5 s; the component is asleep", "no sync of 'next' within 5 s"),
        ("a limit of mlcheck's own; Storm's is another", "a limit of mlcheck's own"),
        ("the command 'a; b' is unknown; did you mean 'a; c'?", "the command 'a; b' is unknown"),
        ("""the value ["it's; x"] was sent; it sees 1""", """the value ["it's; x"] was sent"""),
        (r"the text 'it\'s; x' is no JSON; so", r"the text 'it\'s; x' is no JSON"),
        ("the text 'cut...; nothing closes it", "the text 'cut..."),
    ],
)
def test_what_a_message_quotes_is_no_end_of_its_head(message: str, head: str) -> None:
    assert Finding(rule="x", level="must", seq=0, offset=0, message=message).head == head
    assert "; ".join(clauses(message)) == message


def test_what_the_point_is_stands_in_the_shorter_sentences() -> None:
    waits = Waits(AT_STDIN, "it waits for Storm", "its sync of 'next'", (NO_IDS,))
    assert waits.shorter == (
        str(waits),
        f"{AT_STDIN}; {NO_IDS.partition(' (')[0]}",
        f"{AT_STDIN}; Storm waits for its sync of 'next'",
        AT_STDIN,
    )
