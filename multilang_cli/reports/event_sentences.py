"""Sentences on what happens to a process or on a pipe without being a message. Not yet escaped."""

from __future__ import annotations

import shlex
import signal
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words import events as facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.protocol.words.waits import Waits


def sentence_of(fact: Any) -> str:
    """A sentence on what happened to the process, or what was waited for in vain."""
    tell = _SENTENCES.get(fact.__class__)
    return tell(fact) if tell is not None else type(fact).__name__


_WHOLE_MILLIS = 100
"""Milliseconds from which on no fraction of one is told."""


def lasted(seconds: float) -> str:
    """A duration in words, what is quick told apart as well: ``0.052 ms``, ``3.6 ms``, ``250 ms``, ``1.500 s``."""
    if seconds >= 1:
        return f"{seconds:.3f} s"
    millis = seconds * 1000
    return f"{millis:.{0 if millis >= _WHOLE_MILLIS else 1 if millis >= 1 else 3}f} ms"


_AWAITED = {
    "pid": "its pid",
    "sync": "its sync",
    "heartbeat": "its answer to a heartbeat",
    "settle": "an ack or fail",
    "exit-after-eof": "its end, after its stdin was closed",
    "exit-after-term": "its end, after SIGTERM",
    "read": "it to read its stdin",
    "output": "it",
    "plan": "what it was asked to do",
    "host": "what its host was to do",
}


def awaiting(waiting_for: str, seconds: float, waits: Waits) -> str:
    """A sentence on a wait that goes on, and what is done meanwhile: ``waiting 7 s for its sync; it is asleep``."""
    return f"waiting {seconds:.0f} s for {_AWAITED[waiting_for]}; it {waits.doing}"


def _deadline(fact: Any) -> str:
    """Tell of a limit that ran out. Who waits on whom stands in the finding; where there is no rule, here."""
    awaited = _AWAITED[fact.waiting_for]
    vain = f"{awaited} will not come" if fact.proven else f"waited {fact.limit:g} s in vain for {awaited}"
    who = f": the component {fact.blocked}" if fact.blocked and fact.waiting_for == "output" else ""
    return f"{vain}{who}{f'; {fact.facts}' if fact.facts else ''}"


def _exited(fact: Any) -> str:
    how = f"exited with code {fact.code}" if fact.signal is None else f"was killed by {signal_name(fact.signal)}"
    return f"the process {how}{f', but {joined}' if (joined := ' and '.join(fact.holders)) else ''}"


def _checked(fact: Any) -> str:
    return f"pid {fact.pid}: {fact.relation}; its file: {fact.file}"


def _held(fact: Any) -> str:
    files, processes = fact.files, fact.processes
    before = f"{files[0]} and {processes[0]} before {fact.messages} messages"
    return f"{files[1]} files are open, in {processes[1]} processes ({before})"


def _gap(fact: Any) -> str:
    count = "" if fact.events is None else f"{fact.events} "
    return f"{count}events are missing here: {fact.why}"


def signal_name(number: int) -> str:
    """The name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_SENTENCES: dict[type, Callable[[Any], str]] = {
    facts.Started: lambda fact: f"started {shlex.join(fact.argv)} as process {fact.pid}",
    facts.PidChecked: _checked,
    facts.Holdings: _held,
    facts.Exited: _exited,
    facts.StdinClosed: lambda _: "its stdin was closed",
    facts.Signalled: lambda fact: f"{signal_name(fact.signal)} was sent",
    facts.StdoutClosed: lambda _: "it closed its stdout",
    facts.WriteFailed: lambda fact: f"writing to its stdin failed: {fact.error}",
    facts.Deadline: _deadline,
    facts.Activation: lambda fact: (
        f"{'activated' if fact.active else 'deactivated'}: this Storm tells no component of it"
    ),
    facts.Barrier: lambda fact: f"all before this was read{f' ({fact.name})' if fact.name else ''}",
    facts.Gap: _gap,
    facts.Redacted: lambda fact: f"secrets were hidden in event {fact.seq_redacted}: {', '.join(fact.keys)}",
    facts.End: lambda fact: f"the conversation is over{f': {fact.why}' if fact.why else ''}",
}
