"""Operations of cases for spouts: commands, and ids for acks and fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.suite.stage import NotExercised

if TYPE_CHECKING:
    from multilang_cli.protocol.messages import Json
    from multilang_cli.suite.stage import Stage

MOST_TRIES = 20
"""Calls of next after which a spout counts as one that emits no ids."""
UNKNOWN_IDS: tuple[Json, ...] = ("mlcheck: an id that was never emitted", 9007199254740993, -1)
"""Ids of both types that the protocol has."""


def call(stage: Stage, arguments: dict[str, Any]) -> None:
    """command, times; seconds: after which it is not called again, so that a spout that sleeps costs no more.

    id: `unknown` for ack and fail of ids that it never emitted; else each is that of a tuple it emitted. pick: that of
    the tuple at this place among those that are pending, counted in a circle.
    """
    spout, command = stage.spout, str(arguments["command"])
    until = spout.now + arguments.get("seconds", float("inf"))
    for number in range(int(arguments.get("times", 1))):
        id_: Json = ""
        if arguments.get("id") == "unknown":
            stage.making_up()
            id_ = UNKNOWN_IDS[number % len(UNKNOWN_IDS)]
        elif "pick" in arguments:
            id_ = _picked(stage, int(arguments["pick"]))
        elif command in {"ack", "fail"}:
            id_ = emitted_id(stage)
        stage.go_on(if_=spout.call(command, id_, stage.patience("sync")))
        if spout.now > until:
            return


def emitted_id(stage: Stage) -> Json:
    """The id of a tuple that is pending; calls next for one. Raises NotExercised if none comes."""
    spout = stage.spout
    _check_ackers(stage)
    for _ in range(MOST_TRIES):
        ready = next((emit for emit in spout.emits if emit.id is not None), None)
        if ready is not None:
            spout.emits.remove(ready)
            return ready.id
        stage.go_on(if_=spout.call("next", limit=stage.limits["sync"]))
    raise NotExercised(f"it emitted no tuple with an id in {MOST_TRIES} calls of next")


def _picked(stage: Stage, place: int) -> Json:
    """The id at this place among those of pending tuples. Raises NotExercised if there is none."""
    _check_ackers(stage)
    pending = [emit for emit in stage.spout.emits if emit.id is not None]
    if not pending:
        raise NotExercised("it emitted no tuple with an id")
    chosen = pending[place % len(pending)]
    stage.spout.emits.remove(chosen)
    return chosen.id


def _check_ackers(stage: Stage) -> None:
    """Raise NotExercised where no ack or fail is left to be sent."""
    if stage.spout.acks_at_once:
        raise NotExercised("with no ackers Storm acks each tuple while it is emitted")


def settle_pending(stage: Stage, arguments: dict[str, Any]) -> None:
    """command: ack or fail every tuple that it has emitted with an id so far, in the order of Storm's emits."""
    spout = stage.spout
    _check_ackers(stage)
    pending = [emit.id for emit in spout.emits if emit.id is not None]
    if not pending:
        raise NotExercised("it emitted no tuple with an id")
    spout.emits.clear()
    for id_ in pending:
        stage.go_on(if_=spout.call(str(arguments["command"]), id_, stage.limits["sync"]))
