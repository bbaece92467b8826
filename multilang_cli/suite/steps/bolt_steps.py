"""Operations of cases for bolts: tuples of many shapes, heartbeats, ticks, task ids, and what is settled."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.verdicts import together
from multilang_cli.suite.steps.stage import LISTENED_TO, TELL_THE_PACE, NotExercised
from multilang_cli.suite.steps.unsettled import LEAST_TICKS, await_settled

if TYPE_CHECKING:
    from multilang_cli.driver.shell.bolt import ShellBolt
    from multilang_cli.suite.steps.stage import Stage

IDS = (
    "9223366657141538492",
    "-9223370353215747951",
    "113662209360253365",
    "-5025562857975149833",
    "-1850184588377",
)
"""Ids that Storm can draw (``java.util.Random.nextLong``). As doubles they lose the last bits."""

LOOKING = 5.0
"""Seconds for which a bolt that seems too slow is looked at."""

GROWTH = 4
"""How many times the tuples of the look before."""

FEWEST_FED = 3
"""Tuples that each bolt is fed where more are asked for, however slow it is."""
WORTH = 10.0
"""Seconds of work that one feeding of more is worth."""


MOST_ALIKE = 10
"""Times that a tuple of our making is fed at most."""
SENT_AGAIN = 64 * 1024
"""Characters of one that is fed more than once: some have ten million."""


def tuples(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: how many samples; values: a shape (``values.SHAPES``), every tuple that it makes of the samples.

    these: the tuples themselves, which the component is said to take; of a component (comp), stream and task.
    """
    if "these" in arguments:
        named = {name: arguments[name] for name in ("comp", "stream", "task") if name in arguments}
        for values in arguments["these"]:
            stage.bolt.send(values, **named)
        return
    shape = arguments.get("values", "plain")
    if shape == "plain":
        # Where what was made up is settled, this is waited for in earnest.
        stage.may_refuse = stage.may_refuse and bool(stage.feed.open)
        for _ in range(int(arguments.get("times", 1))):
            stage.send(stage.sample())
    else:
        made = stage.made(shape)
        stage.making_up()
        # Who collects N may collect by value: a key of our making would never have so many.
        again = min(together(stage.session.judge.profile.settles), MOST_ALIKE) - 1
        small = [sample for sample in made if len(repr(sample.values)) <= SENT_AGAIN] if again else []
        for sample in (*made, *small * again):
            stage.send(sample)


def feed(stage: Stage, arguments: dict[str, Any]) -> None:
    """The same as `tuples`, but no more of them than are worth their time."""
    tuples(stage, {**arguments, "times": _affordable(stage, int(arguments.get("times", 1)))})


def _affordable(stage: Stage, times: int) -> int:
    """As many as a slow bolt does in some seconds: what it does with a few it does with more."""
    pace, settles = stage.settling.pace, stage.session.judge.profile.settles
    if not pace or settles.startswith(("after-", "on-")):
        return times
    return min(times, max(FEWEST_FED, int(WORTH / pace)))


def with_ids(stage: Stage, _: dict[str, Any]) -> None:
    """Samples with the most difficult of the ids that Storm may draw."""
    for id_ in IDS:
        sample = stage.sample()
        stage.bolt.send_as(id_, sample.values, sample.component, sample.stream)


def trial(stage: Stage, _: dict[str, Any]) -> None:
    """Plain text of our own, which the component may refuse by failing or dying of it: then the case says nothing.

    What follows is judged in earnest: who takes plain text of our making has to take difficult text as well. One trial
    is enough for a run.
    """
    if "text" in stage.accepts or stage.settling.takes_text:
        return
    how = stage.session.judge.profile.settles
    if how == "unchecked":
        raise NotExercised('it can\'t be told whether it takes text of our making; if it should: accepts = ["text"]')
    stage.trying = "text of our making"
    failed, times = stage.bolt.kept.fails, together(how)
    made = stage.made("ascii")
    stage.making_up()
    for sample in made * times:
        stage.send(sample)
        if how == "by-limit":
            # Each by itself: who loses tuples that come together takes text all the same.
            settle(stage, {})
    settle(stage, {})
    if stage.bolt.kept.fails > failed:
        raise NotExercised(f'it does not take {stage.trying}: it fails it; if it should, say so: accepts = ["text"]')
    stage.trying = ""
    stage.made_up = None
    stage.settling.takes_text = True


def backlog(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: as many tuples at once, unless it works so slowly that they would outlast half of the limit.

    Those that its stdin holds are written: Storm sends a heartbeat ahead of all others, but never ahead of these.
    """
    times = int(arguments.get("times", 1000))
    enough = stage.limits["heartbeat"] / 2 / times
    if (each := pace(stage, enough)) > enough:
        raise NotExercised(
            f"a few tuples take it {each:.2g} s each: {times} might outlast the limit (--limit heartbeat=SECONDS)"
        )
    tuples(stage, {"times": times})
    stage.session.pump.move(0)


def pace(stage: Stage, enough: float = inf) -> float:
    """Seconds that the bolt needs for a tuple, seen on a few; where `enough` is less, again, now that it is warm.

    Each time more of them: who settles by a clock settles many at once. Looked at for LOOKING seconds, at least twice:
    a busy machine is slow for a while, a slow bolt every time. Raises NotExercised for a bolt that collects tuples.
    """
    if stage.session.judge.profile.testee == "batch":
        raise NotExercised("it collects tuples: how fast it is, is the clock's affair")
    began, times = stage.bolt.session.now, TELL_THE_PACE
    each = _pace_once(stage, times)
    while each > enough:
        times = max(TELL_THE_PACE, min(GROWTH * times, int(LOOKING / each)))
        each = min(each, _pace_once(stage, times))
        if stage.bolt.session.now > began + LOOKING:
            break
    return each


def _pace_once(stage: Stage, times: int) -> float:
    began = stage.bolt.session.now
    tuples(stage, {"times": times})
    settle(stage, {})
    return (stage.bolt.session.now - began) / times


def heartbeat(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: so many, without waiting; between: as many samples between two of them, in one write.

    wait: False to go on without their syncs.
    """
    bolt, between = stage.bolt, int(arguments.get("between", 0))
    for number in range(int(arguments.get("times", 1))):
        if number and between:
            tuples(stage, {"times": between})
        bolt.heartbeat(ahead=not between)
    if arguments.get("wait", True):
        stage.go_on(if_=bolt.wait_beat(stage.limits["heartbeat"]))


def tick(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: so many tick tuples: as the clock brings them, or at once to a bolt to which Storm would send none."""
    bolt, times = stage.bolt, int(arguments.get("times", 1))
    if bolt.tick_period:
        stage.go_on(if_=bolt.await_ticks(times, bolt.tick_period + stage.limits["output"]))
        return
    for _ in range(times):
        bolt.tick()


def settle(stage: Stage, _: dict[str, Any]) -> None:
    """Wait until every tuple is settled, as far as the component says that it settles them.

    Ticks come by the clock meanwhile, where they are declared: a batch may need several.
    """
    bolt, how, limit = stage.bolt, stage.session.judge.profile.settles, stage.patience("settle")
    left = 0
    if how == "unchecked":
        beat(stage)
        return
    if bolt.tick_period:
        limit = max(limit, LEAST_TICKS * bolt.tick_period)
    elif how == "on-tick":
        bolt.tick()
    if how == "on-next":
        stage.send(stage.sample())
        left = 1
    elif how.startswith("after-"):
        left = together(how) - 1
        if not (stage.settling.settled or stage.feed.settled or stage.trying):
            tuples(stage, {"times": max(0, left + 1 - stage.feed.fed - len(bolt.stdin.queue))})
    stage.go_on(if_=await_settled(stage, limit, left))


def beat(stage: Stage) -> None:
    """Wait until the bolt has read everything: by a heartbeat, where this Storm sends them."""
    bolt = stage.bolt
    if bolt.version.heartbeats:
        stage.go_on(if_=bolt.beat(stage.patience("heartbeat")))
    else:
        bolt.session.wait_quiet(stage.limits["output"], talk=LISTENED_TO)
        stage.go_on(if_=True)


def release_task_ids(stage: Stage, _: dict[str, Any]) -> None:
    """Send the task ids that were kept back."""
    if not stage.session.pump.stdin.held:
        stage.bolt.session.wait(partial(asked_or_over, stage.bolt), stage.limits["output"], "output")
    held = stage.session.pump.stdin.held
    stage.session.pump.stdin.release_task_ids()
    if not held:
        raise NotExercised("it never asked for task ids")


def asked_or_over(bolt: ShellBolt) -> bool:
    """True if task ids are held back, or none will be asked for. A bolt may emit a moment later, from a thread."""
    # What waits in our own buffer, behind a message that is cut, the component has not seen yet.
    return bool(bolt.stdin.held) or (bolt.session.idle and (not bolt.judge.state.open or bolt.session.stuck()))


def no_task_ids(stage: Stage, _: dict[str, Any]) -> None:
    """Answer every emit with an empty list of task ids, as where nobody consumes the stream."""
    stage.session.pump.stdin.no_task_ids = True
