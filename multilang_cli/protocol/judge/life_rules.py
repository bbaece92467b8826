"""Rules of the process, and of limits that ran out."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from multilang_cli.protocol.judge import tuple_rules
from multilang_cli.protocol.storm.taking import fields_of
from multilang_cli.protocol.words.messages import MAX_BOLT_PENDING, Sync
from multilang_cli.protocol.words.rulebook import VersionEffect

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.judge.state import State
    from multilang_cli.protocol.words.events import (
        Again,
        Chunk,
        Deadline,
        End,
        Event,
        Exited,
        Holdings,
        PidChecked,
        Signalled,
        StdinClosed,
        StdoutClosed,
        WriteFailed,
    )
    from multilang_cli.protocol.words.messages import Malformed

PIPE = 64 * 1024
"""Bytes that a pipe holds: what a spout may write to stderr while Storm does not read it."""
MANY_HELD, SHARE_HELD = 50, 0.5
"""Files or processes more that count, and the part of the messages that they have to be of."""
HELD = {"files": "open files", "processes": "processes, those counted that ended and were not waited for,"}
FLOOD = 4 * PIPE
"""Bytes of stderr within one command that were never seen to pass."""


def variant_of(malformed: Malformed, judge: RuleContext) -> str:
    """The variant of the rule that an irregular frame breaks."""
    if malformed.kind == "command-unknown":
        lost = any(message != Sync() for message in malformed.salvage)
        return "misspelt" if judge.profile.kind == "bolt" and lost else judge.profile.kind
    if malformed.kind == "pid-not-first":
        return "sync" if all(message == Sync() for message in malformed.salvage) else ""
    if malformed.kind == "tuple-missing":
        reading = next(iter(malformed.by_dialect.values()), None)
        return tuple_rules.variant(judge, {} if reading is None else fields_of(reading))
    return ""


def pid_checked(judge: RuleContext, event: Event, fact: PidChecked) -> None:
    """The pid must be that of the process or of a living descendant; behind a container it can't be known."""
    if fact.relation in {"foreign", "dead"} and judge.profile.pid == "own":
        what = (
            "of no living process" if fact.relation == "dead" else "of another process, no descendant of the component"
        )
        judge.breach("pid-wrong", event, f"the pid {fact.pid} is {what}", subject=str(fact.pid), stable=fact.relation)
    if fact.file == "missing":
        text = f"there is no file {fact.pid} in the pid directory"
        judge.breach("pid-file-missing", event, text, subject=str(fact.pid))
    elif fact.file == "filled":
        judge.breach("pid-file-filled", event, "the pid file is not empty", subject=str(fact.pid))


def holdings(judge: RuleContext, event: Event, fact: Holdings) -> None:
    """Judge what has grown with the messages, less what may be held for open tuples and for emits not acked."""
    pending = len(judge.state.open) + len(judge.state.message_ids)
    for what, named in HELD.items():
        before, after = getattr(fact, what)
        more = after - before - pending
        if more >= MANY_HELD and more >= fact.messages * SHARE_HELD:
            given = "calls of next" if judge.profile.kind == "spout" else "tuples"
            text = f"it has {after} {named} now, and had {before} before {fact.messages} {given}"
            judge.breach("holdings-grow", event, text, subject=what, stable=what)


def exited(judge: RuleContext, event: Event, fact: Exited) -> None:
    """The end of the process is right only after Storm closed its stdin, sent a signal or wrote what can't be read."""
    state = judge.state
    if state.cut or state.lost_pipe or _is_expected(state):
        return
    state.lost_pipe = True
    how = f"exited with code {fact.code}" if fact.signal is None else f"was killed by signal {fact.signal}"
    what = _at_what_point(judge)
    judge.breach("exited", event, f"the process {how} {what}", stable=how)


def dismissed(judge: RuleContext, _: Event, fact: StdinClosed | Signalled) -> None:
    """From now on the end of the process is what Storm wants."""
    judge.state.dismissed = judge.state.unheard = True
    judge.state.orphaned = judge.state.orphaned or getattr(fact, "stdout", False)


def _is_expected(state: State) -> bool:
    """True if Storm wants the end, or may have, or if nothing was settled or answered since a message nobody reads."""
    if state.dismissed or state.may_be_dismissed:
        return True
    return state.garbled > max([state.last_sync, *state.settled.latest()])


def _at_what_point(judge: RuleContext) -> str:
    state = judge.state
    if not state.said and not state.gap:
        return "before its pid"
    if state.commands:
        return f"while Storm waits for the sync of {state.commands[0].what!r}"
    if state.open:
        return f"with {len(state.open)} tuples not settled" if len(state.open) > 1 else "with a tuple not settled"
    return "while Storm still needs it"


def stdout_closed(judge: RuleContext, event: Event, _: StdoutClosed) -> None:
    """Storm sees the end of stdout as the death of the process."""
    state = judge.state
    if not (state.cut or state.lost_pipe or state.phase == "ended" or _is_expected(state)):
        state.lost_pipe = True
        judge.breach("stdout-closed", event, "stdout was closed while the process lives")


def write_failed(judge: RuleContext, event: Event, fact: WriteFailed) -> None:
    """Storm can't write: the component closed its stdin."""
    state = judge.state
    if not (state.lost_pipe or state.cut or state.phase == "ended" or _is_expected(state)):
        state.lost_pipe = True
        judge.breach("stdin-closed", event, f"the component closed its stdin: {fact.error}")


def stderr(judge: RuleContext, event: Event, fact: Chunk) -> None:
    """While a spout answers, nobody reads its stderr (STORM-75): a full pipe blocks it for good."""
    state = judge.state
    if judge.profile.kind != "spout" or not state.commands or event.channel != "err":
        return
    before, state.stderr = state.stderr, state.stderr + fact.size
    for bound, when in ((PIPE, "race"), (FLOOD, "")):
        if before <= bound < state.stderr:
            during = state.commands[0].what
            text = f"more than {bound // 1024} KiB of stderr within {during!r}: Storm does not read it meanwhile"
            judge.breach("stderr-flood", event, text, when=when, stable=when, related=(state.commands[0].seq,))


CROSSED = 2
"""Heartbeats that may be on their way while the one before them is answered."""
TALKS = 1.0
"""Seconds since its last message within which a component that was waited for in vain is one that talks on."""
SINCE_1_1 = frozenset({"activate", "deactivate"})
"""Commands that Storm 1.1 was the first to send."""
_DEADLINES = {
    "pid": ("handshake-silent", "no pid{within} after the handshake"),
    "read": ("stdin-not-read", "its stdin was not read for {limit:g} s"),
    "exit-after-eof": ("outlives-stdin", "still running {limit:g} s after its stdin was closed"),
    "orphaned": ("outlives-worker", "still running {limit:g} s after its stdin and stdout were closed"),
    "exit-after-term": ("outlives-sigterm", "still running {limit:g} s after SIGTERM"),
}


def deadline(judge: RuleContext, event: Event, fact: Deadline) -> None:
    """A limit ran out. Storm itself has few limits; the finding says who waits on whom."""
    within = f" within {fact.limit:g} s"
    tail = fact.waits.clause
    if fact.proven:
        why = "it has read everything and waits for more" if fact.idle else "no thread of it runs"
        within, tail = "", f", and that will not change: {why}{tail}"
    elif fact.waiting_for == "pid":
        tail = f" (a limit of mlcheck's own: Storm waits for ever){tail}"
    orphaned = fact.waiting_for == "exit-after-eof" and judge.state.orphaned
    if fact.waiting_for in _DEADLINES:
        rule, text = _DEADLINES["orphaned" if orphaned else fact.waiting_for]
        bounded = rule == "stdin-not-read" and MAX_BOLT_PENDING in judge.profile.conf
        when = "bounded" if bounded else ""
        judge.breach(rule, event, text.format(limit=fact.limit, within=within) + tail, when=when)
    elif fact.waiting_for == "sync":
        talks = not fact.proven and event.t - judge.state.heard < TALKS
        _no_sync(judge, event, within, tail, talks_for=fact.limit - TALKS if talks else inf)
    elif fact.waiting_for == "heartbeat":
        _no_answer(judge, event, within, tail)
    elif fact.waiting_for == "settle":
        _not_settled(judge, event, fact.again, within, tail)


def _no_sync(judge: RuleContext, event: Event, within: str, tail: str, *, talks_for: float) -> None:
    """Judge a command without a sync.

    `talks_for`: seconds since the command from which on a message shows that it talks on: each sets Storm's clock back.
    """
    if judge.state.reentered >= 0:
        why, when = ("with no ackers", "") if judge.profile.without_ackers else ("what reaches no task", "nowhere")
        text = f"{why} Storm acks inside the emit, before it sends the task ids: both sides wait for each other{tail}"
        judge.breach("ackers-zero", event, text, when=when, stable=when, related=(judge.state.reentered,))
        return
    for pending in judge.state.commands[:1]:
        talks = judge.state.heard - pending.t >= talks_for
        text = f"no sync of {pending.what!r}{within}{', though it talks on' if talks else ''}{tail}"
        # Storm asks it since 1.1 alone. No variant, which a list of known failures would have to name.
        effects = judge.rulebook.effects("sync-missing", "activation" if pending.what in SINCE_1_1 else "")
        if talks:
            effects = {
                version: VersionEffect("hangs", "") if effect.fate == "dies" else effect
                for version, effect in effects.items()
            }
        what, related = pending.what, (pending.seq,)
        judge.breach("sync-missing", event, text, subject=what, stable=what, related=related, effects=effects)


def _no_answer(judge: RuleContext, event: Event, within: str, tail: str) -> None:
    state = judge.state
    for pending in state.heartbeats[:1]:
        # A sync that crosses the next heartbeat answers the one before it.
        passed = sum(each.t < state.synced for each in state.heartbeats)
        when = "some" if passed > CROSSED else "others" if state.heard > pending.t else "silent"
        text = f"no sync of a heartbeat{within}{tail}"
        if when == "some":
            text = f"{len(state.heartbeats)} heartbeats were not answered with a sync, though others were{tail}"
        judge.breach("heartbeat-unanswered", event, text, when=when, related=(pending.seq,))


def _not_settled(judge: RuleContext, event: Event, again: Again | None, within: str, tail: str) -> None:
    waiting = judge.state.open
    if not waiting:
        return
    related = tuple(seq for seq, _ in list(waiting.values())[:5])
    if again is not None and again.id in waiting:
        _passed_over(judge, event, again, related, tail)
        return
    first = next(iter(waiting))
    many = f"{len(waiting)} tuples were" if len(waiting) > 1 else "a tuple was"
    text = f"{many} neither acked nor failed{within}{tail}"
    judge.breach("tuple-unsettled", event, text, subject=first, related=related)


SOME_SETTLED = 20
"""Equal tuples that must have been settled before it is said that the first of them was forgotten."""
NEVER_SETTLED = 200
"""Equal tuples of which none was settled, before it is said that none ever is."""


def _passed_over(judge: RuleContext, event: Event, again: Again, related: tuple[int, ...], tail: str) -> None:
    """Judge a tuple that stayed open while later ones were settled: forgotten, if equal ones show that it is no batch.

    What nobody declared a component need not understand, and a join may wait for a partner: that is no failure.
    """
    settled = f"{again.settled} of {again.fed} equal tuples that came after it were"
    if again.earlier:
        text = f"a tuple was neither acked nor failed, as {again.fed - again.settled} equal ones in an earlier case"
    elif again.settled:
        text = f"a tuple was neither acked nor failed, though {settled}"
    else:
        text = f"a tuple was neither acked nor failed, nor any of {again.fed} equal ones after it; others were"
    certain = again.declared and (again.settled >= SOME_SETTLED or again.fed >= NEVER_SETTLED)
    rule = "tuple-forgotten" if certain else "tuple-unsettled"
    shown = (judge.state.open[again.id][0], *related)
    judge.breach(rule, event, text + tail, subject=again.id, related=tuple(dict.fromkeys(shown))[:5])


def ended(judge: RuleContext, event: Event, _: End) -> None:
    """Judge what a spout emitted after its last sync: Storm never read it. To lose a line of a log is no breach."""
    state = judge.state
    if judge.profile.kind == "spout" and state.unread_logs:
        judge.foresee("log-after-sync", event, "unread")
    if judge.profile.kind == "spout" and state.unread:
        related = tuple(state.unread[:5])
        text = "an emit after the last sync, which Storm never read"
        judge.breach("output-after-sync", event, text, when="unread", stable="unread", related=related)
