"""Operations of cases for spouts: commands, and ids for acks and fails."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from multilang_cli.driver.waits.starving import OwnTime
from multilang_cli.protocol.judge.spout_rules import key_of
from multilang_cli.suite.steps.idling import BUDGET, IDLE_FOR_GOOD
from multilang_cli.suite.steps.stage import NotExercised, WentSilent

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.suite.steps.stage import Stage

NEVER_EMITTED = "mlcheck: an id that was never emitted"
MOST_TRIES = 20
"""Calls of next after which a spout counts as one that emits no ids."""
IN_VAIN = 20
"""Calls of next in vain after which a spout that emitted before is asked no more."""
BETWEEN_CALLS = 0.1
"""Seconds between calls of one that has to find its source again."""
STILL_PAUSED = (
    "it emitted at each of {calls} calls of next, and at none of {more} once it was deactivated and activated again: "
    "Storm asks it for more, and gets nothing (does `activate` undo what `deactivate` does, or did its source run dry?)"
)


def call(stage: Stage, arguments: dict[str, Any]) -> None:
    """command, times; seconds: after which it is not called again, so that a spout that sleeps costs no more.

    ack and fail are of tuples that it emitted; pick: of the one at this place among those pending, counted in a circle.
    id: `unknown` in a case that was written of a conversation in which the id was never emitted; no shipped one has it.
    patient: time is left behind a next that brings nothing, for what is sent again after a while.
    A spout is activated before it is asked for a tuple, whatever a case says.
    """
    spout, command = stage.spout, str(arguments["command"])
    if command == "next":
        activate(stage)
    allowed = OwnTime(spout.session.process, arguments.get("seconds", stage.idle.budget))
    for _ in range(int(arguments.get("times", 1))):
        id_: Json = ""
        if arguments.get("id") == "unknown":
            stage.making_up()
            id_ = NEVER_EMITTED
        elif "pick" in arguments:
            id_ = _picked(stage, int(arguments["pick"]))
        elif command in {"ack", "fail"}:
            id_ = emitted_id(stage)
        if command == "next":
            if sleeps_next(stage):
                return
            _ask(stage, patient="patient" in arguments)
        else:
            if command == "deactivate" and stage.paused is None:
                stage.paused = (stage.calls, spout.kept.count)
            _tell(stage, command, id_, stage.patience("sync"))
        if allowed.is_over or _is_tired(stage):
            return


def _ask(stage: Stage, *, patient: bool) -> None:
    """Call next; `patient`: leave a moment behind one that brings nothing."""
    emitted = stage.spout.kept.count
    ask(stage)
    if patient and stage.spout.kept.count == emitted:
        stage.spout.session.wait(lambda: False, BETWEEN_CALLS, "output", quietly=True)


def _tell(stage: Stage, command: str, id_: Json, limit: float) -> None:
    stage.has_failed = stage.has_failed or command == "fail"
    stage.go_on(if_=stage.spout.call(command, id_, limit))


def activate(stage: Stage) -> None:
    """Activate the spout if it was not activated yet: no Storm asks one for tuples before (``SpoutExecutor.call``)."""
    if stage.spout.active is None:
        stage.go_on(if_=stage.spout.call("activate", limit=stage.patience("sync")))


def ask(stage: Stage) -> None:
    """Call next, and note how long it took if it brought nothing."""
    spout, before, began = stage.spout, stage.spout.kept.count, stage.spout.session.now
    stage.calls += 1
    stage.go_on(if_=spout.call("next", limit=stage.patience("sync")))
    if spout.kept.count > before:
        if stage.fruitful == stage.calls - 1 and not stage.has_failed:
            stage.fruitful = stage.calls
            stage.idle.fruitful = max(stage.idle.fruitful, stage.fruitful)
        stage.idle.came(stage.idled)
        stage.idled = 0.0
    else:
        stage.idled += spout.session.now - began
        stage.idle.asked(stage.idled)
        if spout.session.now - began > BUDGET:
            stage.idle.slept(stage.calls)


def _is_tired(stage: Stage) -> bool:
    """True if it was asked in vain for so long that there is no use in more."""
    return stage.idled > stage.idle.allowance


def sleeps_next(stage: Stage) -> bool:
    """True if another call of next was seen to bring nothing but a long wait."""
    return stage.idle.sleeps_at(stage.calls + 1)


def _may_emit_yet(stage: Stage) -> bool:
    """True if it emitted nothing in this case, and was not found to be silent: some say nothing for seconds."""
    return stage.idle.limited and not (stage.spout.kept.count or stage.idle.is_silent)


def await_emit(stage: Stage) -> None:
    """Call next until the spout has emitted something, for as long as there is any use in it."""
    while stage.spout.active and _may_emit_yet(stage) and not (_is_tired(stage) or sleeps_next(stage)):
        ask(stage)


def await_another(stage: Stage) -> None:
    """Call next until an activated spout emits as it did before it was deactivated. Raises WentSilent if it does not.

    Only one is waited for that emitted at each call, and more often than that in another conversation: the source of
    others may be dry.
    """
    spout, (calls, emitted) = stage.spout, stage.paused or (0, 0)
    if not 0 < calls == stage.fruitful < stage.idle.fruitful:
        return
    until = spout.session.now + IDLE_FOR_GOOD
    while spout.kept.count == emitted:
        if spout.session.now > until:
            raise WentSilent(STILL_PAUSED.format(calls=calls, more=stage.calls - calls))
        spout.session.wait(lambda: False, BETWEEN_CALLS, "output", quietly=True)
        ask(stage)


def emitted_id(stage: Stage) -> Json:
    """The id of a tuple that is pending; calls next for one. Raises NotExercised if none comes."""
    spout, began, tries = stage.spout, stage.spout.session.now, 0
    _check_ackers(stage)
    while True:
        ready = next((emit for emit in spout.kept.emits if emit.id is not None), None)
        if ready is not None:
            spout.kept.emits.remove(ready)
            return ready.id
        if stage.idle.knows_no_ids:
            raise NotExercised("it emits no tuple with an id")
        if _asked_enough(stage, tries, spout.session.now - began):
            stage.idle.sought(spout.session.now - began)
            raise NotExercised(f"it emitted no tuple with an id in {tries} call{'s' * (tries != 1)} of next")
        ask(stage)
        tries += 1


def _asked_enough(stage: Stage, tries: int, seconds: float) -> bool:
    """True if a spout was asked often, or for long, and gave no tuple with an id."""
    if not tries:
        return sleeps_next(stage)
    often = tries >= MOST_TRIES and not _may_emit_yet(stage)
    return often or _is_tired(stage) or sleeps_next(stage) or (stage.idle.limited and seconds >= IDLE_FOR_GOOD)


def settle_many(stage: Stage, arguments: dict[str, Any]) -> None:
    """command: ack or fail, of each tuple as it comes, `times` of them or as many as a few seconds bring.

    A spout that stops is given time to find more, and no case depends on it: see `ReplayWatch`.
    """
    spout, command = stage.spout, str(arguments["command"])
    allowed = OwnTime(spout.session.process, stage.idle.budget)
    settled = vain = 0
    while settled < int(arguments["times"]) and vain < IN_VAIN and (vain or not allowed.is_over):
        ready = next((emit for emit in spout.kept.emits if emit.id is not None), None)
        if ready is not None:
            spout.kept.emits.remove(ready)
            _tell(stage, command, ready.id, stage.patience("sync"))
            settled, vain = settled + 1, 0
        elif spout.acks_at_once or stage.idle.knows_no_ids or _is_tired(stage) or sleeps_next(stage):
            return
        else:
            if vain:
                spout.session.wait(lambda: False, BETWEEN_CALLS, "output", quietly=True)
            ask(stage)
            vain += 1


def _picked(stage: Stage, place: int) -> Json:
    """The id at this place among those of pending tuples. Raises NotExercised if there is none."""
    _check_ackers(stage)
    pending = [emit for emit in stage.spout.kept.emits if emit.id is not None]
    if not pending:
        raise NotExercised("it emitted no tuple with an id")
    chosen = pending[place % len(pending)]
    stage.spout.kept.emits.remove(chosen)
    return chosen.id


def _check_ackers(stage: Stage) -> None:
    """Raise NotExercised where no ack or fail is left to be sent."""
    if stage.spout.acks_at_once:
        raise NotExercised("with no ackers Storm acks each tuple while it is emitted")


def settle_pending(stage: Stage, arguments: dict[str, Any]) -> None:
    """command: ack, fail, or either in turn, for every tuple that it has emitted with an id so far, in that order.

    backwards: in the other order. again: only if an id among them was emitted before, else there is no occasion.
    """
    spout = stage.spout
    _check_ackers(stage)
    await_emit(stage)
    pending = [emit.id for emit in spout.kept.emits if emit.id is not None]
    if not pending and stage.settled:
        raise NotExercised(f"it emitted no more with an id behind {len(stage.settled)}, nor one that failed again")
    if not pending:
        raise NotExercised("it emitted no tuple with an id")
    keys = [key_of(id_) for id_ in pending]
    if arguments.get("again") and stage.settled.isdisjoint(keys) and len(set(keys)) == len(keys):
        raise NotExercised("no id that failed came again while next was called")
    stage.settled.update(keys)
    spout.kept.emits.clear()
    commands = cycle(("fail", "ack") if arguments["command"] == "either" else (str(arguments["command"]),))
    for command, id_ in zip(commands, reversed(pending) if arguments.get("backwards") else pending, strict=False):
        _tell(stage, command, id_, stage.limits["sync"])
