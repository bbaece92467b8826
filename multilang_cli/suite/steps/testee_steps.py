"""Operations of cases for a library's testee: it is told what to do, and the judge knows what must come of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.subject.profiles import VALUED

if TYPE_CHECKING:
    from multilang_cli.suite.steps.stage import Stage


def plan(stage: Stage, arguments: dict[str, Any]) -> None:
    """Send a bolt a tuple that says what to `do`, with the `values` after it; comp, stream and task of its source.

    length: in place of values, a text of so many characters, no two parts of it alike.
    """
    values = arguments.get("values", [])
    if size := int(arguments.get("length", 0)):
        values = [" ".join(map(str, range(size)))[:size]]
    source: dict[str, Any] = {"stream": VALUED} if values else {}
    source |= {name: arguments[name] for name in ("comp", "stream", "task") if name in arguments}
    stage.bolt.send([arguments["do"], *values], **source)


def done(stage: Stage, _: dict[str, Any]) -> None:
    """Wait until everything that was asked for is said; a tick tells a bolt that does many tuples at once to begin."""
    bolt, session = stage.shell, stage.session
    if not isinstance(bolt, ShellBolt):
        return
    if bolt.profile.testee == "batch" and "ticks" in stage.accepts and not bolt.tick_period:
        bolt.tick()
    unsaid = partial(_unsaid, bolt, len(bolt.tick_ids))
    stage.go_on(if_=session.wait(lambda: session.idle and not unsaid(), stage.limits["plan"], "plan", unsaid))


def _unsaid(bolt: ShellBolt, began: int) -> int:
    """The number of messages asked for and not said. Ticks since `began` don't count: the clock brings ever more."""
    asked = bolt.judge.state.asked
    if asked is None:
        return 0
    later = frozenset(bolt.tick_ids[began:])
    return sum(wanted.id not in later for wanted in (*asked.queue, *asked.passed))
