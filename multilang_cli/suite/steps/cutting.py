"""Messages cut at every place: part one is written, and part two only when the component has read that and waits.

A pipe keeps no message boundaries: who takes what one read returns for a message, or decodes the bytes of each read by
themselves, breaks here. Without the wait both parts come as one, and nothing is tested.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.words.messages import HEARTBEAT_STREAM, SYSTEM_TASK, SpoutCommand, TaskIds, TupleMsg
from multilang_cli.suite.steps import bolt_steps, spout_steps
from multilang_cli.suite.steps.stage import NotExercised

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.driver.shell.bolt import ShellBolt
    from multilang_cli.protocol.wire.context import Sample
    from multilang_cli.protocol.words.messages import FromStorm
    from multilang_cli.suite.steps.stage import Stage

AFFORDABLE = 3.0
"""Seconds that cutting one message at many places may take; one that needs twice as long is asked no more."""
GOLDEN = 0.618


def cut(stage: Stage, arguments: dict[str, Any]) -> None:
    """message: which one (`MESSAGES`) is sent again and again, cut after its first byte, its second, and so on."""
    MESSAGES[arguments["message"]](stage, arguments)


def split(stage: Stage, arguments: dict[str, Any]) -> None:
    """message: the kind (`KINDS`) of which the next is cut; at: after so many bytes; hold: with such a pause."""
    kind, hold = KINDS[arguments["message"]], float(arguments.get("hold", 0))
    stage.session.pump.stdin.pieces.cut(kind, int(arguments["at"]), hold)


KINDS: dict[str, type[FromStorm]] = {"tuple": TupleMsg, "task-ids": TaskIds, "command": SpoutCommand}
"""What Storm says, by its name in `split`. Heartbeats and ticks are tuples."""


def _places(stage: Stage, message: FromStorm, each: float, limit: str) -> list[int]:
    """Places where a message is cut: everywhere, or as often as one affords that needs `each` seconds a message.

    In an order that spreads them, so that the first few say the most.
    """
    size = len(wire.encode(message, stage.session.judge.version))
    affordable = min(AFFORDABLE, stage.limits[limit] / 2) / each if each else size
    return sorted(range(1, size, max(1, round(size / max(1, affordable)))), key=lambda at: at * GOLDEN % 1)


def _message(bolt: ShellBolt, sample: Sample) -> TupleMsg:
    return bolt.message(sample.values, sample.component, sample.stream)


def _size(bolt: ShellBolt, sample: Sample) -> int:
    return len(wire.encode(_message(bolt, sample), bolt.version))


def _drain(stage: Stage) -> None:
    """Wait until the pipe has taken everything."""
    stage.go_on(if_=stage.session.flush(stage.limits["read"]))


def _tuple(stage: Stage, arguments: dict[str, Any]) -> None:
    """Samples; values: a shape of which the first is taken."""
    shape = arguments.get("values", "plain")
    bolt, each = stage.bolt, bolt_steps.pace(stage)
    made = [] if shape == "plain" else stage.made(shape)[:1]
    size = partial(_size, bolt)
    longest = max(made or stage.samples, key=size)
    for at in _places(stage, _message(bolt, longest), each, "settle"):
        _drain(stage)
        sample = made[0] if made else stage.sample()
        # A shorter sample is cut at another of its places.
        bolt.stdin.pieces.cut(TupleMsg, at if at < size(sample) else at % (size(sample) - 1) + 1)
        stage.send(sample)
        _drain(stage)
    bolt_steps.settle(stage, {})


def _heartbeat(stage: Stage, _: dict[str, Any]) -> None:
    bolt = stage.bolt
    began = bolt.session.now
    for at in _places(stage, TupleMsg(None, [], SYSTEM_TASK, HEARTBEAT_STREAM, bolt.new_id()), 0.0, "heartbeat"):
        if bolt.session.now - began > 2 * AFFORDABLE:
            return
        bolt.stdin.pieces.cut(TupleMsg, at)
        stage.go_on(if_=bolt.beat(stage.limits["heartbeat"]))


def _task_ids(stage: Stage, _: dict[str, Any]) -> None:
    """The answer to an emit, cut at fewer places if it works slowly; nothing to cut if it never asks for task ids."""
    bolt = stage.bolt
    began = bolt.session.now
    for at in range(1, len(wire.encode(TaskIds([4]), bolt.version))):
        if bolt.session.now - began > 2 * AFFORDABLE and stage.feed.slowest > 1:
            return
        bolt.stdin.hold_task_ids = True
        stage.send(stage.sample())
        # It may emit a moment later, from a thread that sleeps: quiet is not enough to say that it never asks.
        bolt.session.wait(partial(bolt_steps.asked_or_over, bolt), stage.limits["output"], "output")
        stage.go_on(if_=True)
        if not bolt.stdin.held:
            raise NotExercised("it never asked for task ids")
        bolt.stdin.pieces.cut(TaskIds, at)
        bolt.stdin.release_task_ids()
        bolt_steps.settle(stage, {})


def _next(stage: Stage, _: dict[str, Any]) -> None:
    spout = stage.spout
    spout_steps.activate(stage)
    began = spout.session.now
    spout_steps.ask(stage)
    for at in _places(stage, SpoutCommand("next", ""), spout.session.now - began, "sync"):
        if spout_steps.sleeps_next(stage):
            return
        spout.stdin.pieces.cut(SpoutCommand, at)
        spout_steps.ask(stage)


def _settles(command: str) -> Callable[[Stage, dict[str, Any]], None]:
    """Byte by byte at first, then cut, as long as the spout emits tuples with ids."""

    def play(stage: Stage, _: dict[str, Any]) -> None:
        """Settle what the spout emitted, in pieces; stops when nothing is left to settle."""
        spout, limit = stage.spout, stage.limits["sync"]
        id_ = spout_steps.emitted_id(stage)
        spout.stdin.pieces.piece = 1
        stage.go_on(if_=spout.call(command, id_, limit))
        spout.stdin.pieces.piece = 0
        began = spout.session.now
        for at in _places(stage, SpoutCommand(command, id_), 0.0, "sync"):
            if spout.session.now - began > 2 * AFFORDABLE:
                return
            try:
                id_ = spout_steps.emitted_id(stage)
            except NotExercised:
                return
            spout.stdin.pieces.cut(SpoutCommand, at)
            stage.go_on(if_=spout.call(command, id_, limit))

    return play


MESSAGES: dict[str, Callable[[Stage, dict[str, Any]], None]] = {
    "tuple": _tuple,
    "heartbeat": _heartbeat,
    "task-ids": _task_ids,
    "next": _next,
    "ack": _settles("ack"),
    "fail": _settles("fail"),
}
"""Every message that can be cut, by its name in case files."""
