"""The operations that cases are made of. Each drives the session; what is wrong is found by the judge, not here.

An operation raises `Stop` if the case can't go on (the judge has said why), or `NotExercised` if the component gave no
occasion to test what the case is about. Those for one kind of component are in ``bolt_steps`` and ``spout_steps``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from multilang_cli.driver.memory import holding
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.protocol.words.events import Holdings
from multilang_cli.protocol.words.messages import SpoutCommand
from multilang_cli.suite.steps import bolt_steps, cutting, spout_steps, testee_steps
from multilang_cli.suite.steps.settling import AMPLE
from multilang_cli.suite.steps.stage import LISTENED_TO, TELL_THE_PACE, NotExercised, Stage

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Emit, FromStorm

SMALL_READ = 512
"""Bytes at a time that a slow host reads."""
SLOWLY_READ = 8 * 1024 * 1024
"""Bytes that a slow host reads in all, about: several times what the largest pipe holds."""

Operation = Callable[[Stage, dict[str, Any]], None]


def _handshake(stage: Stage, arguments: dict[str, Any]) -> None:
    """conf, context: keys to add; pad: bytes of conf; piece: bytes a write; then: what follows once the pid is read.

    await_file: wait for the pid file.
    """
    session = stage.session
    session.pump.stdin.pieces.piece = int(arguments.get("piece", 0))
    session.say(stage.handshake(arguments))
    stage.said_pid = session.await_pid(stage.limits["pid"])
    session.pump.stdin.pieces.piece = 0
    stage.go_on(if_=stage.said_pid)
    if arguments.get("then") == "tuple":
        bolt_steps.tuples(stage, {})
        session.pump.move(0)
    session.check_pid(await_file=bool(arguments.get("await_file")))


def _barrier(stage: Stage, _: dict[str, Any]) -> None:
    """The component is alive and has read everything: a heartbeat's sync, or a spout's answer to next.

    A spout that was not activated is activated, which it answers as well; where Storm tells it nothing, it is asked
    for next.
    """
    if isinstance(stage.shell, ShellBolt):
        bolt_steps.beat(stage)
    elif stage.spout.active is None and stage.spout.version.activate:
        spout_steps.activate(stage)
    else:
        spout_steps.call(stage, {"command": "next"})


def _work(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: so many tuples and their settling for a bolt, so many calls of next for a spout."""
    if isinstance(stage.shell, ShellBolt):
        bolt_steps.feed(stage, arguments)
        bolt_steps.settle(stage, {})
    else:
        spout_steps.call(stage, {"command": "activate"})
        spout_steps.call(stage, {"command": "next", **arguments})


def _unread_work(stage: Stage, arguments: dict[str, Any]) -> None:
    """Work (times) of which Storm reads nothing until the component is stalled, and then only a little at a time."""
    session = stage.session
    if isinstance(stage.shell, ShellBolt):
        times = int(arguments.get("times", 1))
        enough, said, fed = stage.limits["settle"] / 2 / times, session.pump.spoken[1], stage.feed.fed
        if bolt_steps.pace(stage, enough) > enough:
            raise NotExercised("it works too slowly to fill a pipe")
        of_one = (session.pump.spoken[1] - said) // max(1, stage.feed.fed - fed)
        session.process.hold_stdout(hold=True)
        bolt_steps.tuples(stage, {"times": min(times, max(TELL_THE_PACE, SLOWLY_READ // max(1, of_one)))})
    else:
        spout_steps.call(stage, {"command": "activate"})
        session.process.hold_stdout(hold=True)
        stage.spout.ask("next")
    full = session.wait_stalled(stage.limits["output"])
    session.pump.read_size = SMALL_READ
    session.process.hold_stdout(hold=False)
    if isinstance(stage.shell, ShellBolt):
        bolt_steps.settle(stage, {})
    else:
        stage.go_on(if_=stage.spout.wait_sync(stage.limits["sync"]))
    if not full:
        raise NotExercised("it did not say enough to fill a pipe")


def _hold_task_ids(stage: Stage, _: dict[str, Any]) -> None:
    """Keep task ids back."""
    stage.session.pump.stdin.hold_task_ids = True


def _holdings(stage: Stage, _: dict[str, Any]) -> None:
    """Look at what the component holds, and tell at the second look what has become of it."""
    session, held = stage.session, holding(stage.session.process.pid)
    if stage.held is None:
        stage.held = (held, stage.given)
    elif session.running:
        before, given = stage.held
        session.pump.note("process", Holdings(stage.given - given, *zip(before, held, strict=True)))


def _quiet(stage: Stage, arguments: dict[str, Any]) -> None:
    """Wait until the component waits for us: it has read everything and said what it had to say.

    seconds: then leave it so for as long, but for heartbeats.
    """
    stage.session.wait_quiet(stage.limits["output"], talk=LISTENED_TO)
    stage.session.wait(lambda: False, arguments.get("seconds", 0.0), "output", quietly=True)
    stage.go_on(if_=True)


_OCCASIONS: dict[str, tuple[str, Callable[[Emit], bool]]] = {
    "anchored": ("anchored tuple", lambda emit: bool(emit.anchors)),
    "direct": ("direct tuple", lambda emit: bool(emit.task)),
    "task_ids": ("tuple that asks for task ids", lambda emit: emit.wants_task_ids),
}


def _emits(stage: Stage, arguments: dict[str, Any]) -> None:
    """The case says something only if the component emitted; `anchored`, `direct`, `task_ids`: such a tuple.

    A spout is asked until it does; `again`: since it was deactivated, too.
    """
    if isinstance(stage.shell, ShellSpout) and arguments.get("again"):
        spout_steps.await_another(stage)
        return
    if isinstance(stage.shell, ShellSpout):
        spout_steps.await_emit(stage)
    emits = stage.shell.kept.emits
    wanted = [occasion for name, occasion in _OCCASIONS.items() if arguments.get(name)]
    for what, is_one in wanted or [("tuple", lambda _: True)]:
        if not any(map(is_one, emits)):
            raise NotExercised(f"it emitted no {what}")


def _close_stdin(stage: Stage, _: dict[str, Any]) -> None:
    """End of file on stdin: the component must end by itself."""
    stage.session.close_stdin(stage.limits["exit-after-eof"])


def _lose_worker(stage: Stage, _: dict[str, Any]) -> None:
    """The death of a worker while work stands in the component's stdin: what it writes meets a closed pipe."""
    stage.go_on(if_=stage.session.running)
    said: list[FromStorm] = [SpoutCommand("next")]
    if isinstance(stage.shell, ShellBolt):
        bolt, sample = stage.bolt, stage.sample()
        said = [bolt.message(sample.values, sample.component, sample.stream)]
        said += [bolt.beat_message()] if bolt.version.heartbeats else []
    # It may have to come to the end of that work first.
    slow = AMPLE * max(stage.feed.slowest, stage.settling.slowest, stage.idle.longest)
    stage.session.lose_worker(said, stage.limits["exit-after-eof"] + round(slow))


def _terminate(stage: Stage, _: dict[str, Any]) -> None:
    """SIGTERM: the component must end."""
    stage.session.terminate(stage.limits["exit-after-term"])


OPERATIONS: dict[str, Operation] = {
    "handshake": _handshake,
    "barrier": _barrier,
    "tuple": bolt_steps.feed,
    "tuple_ids": bolt_steps.with_ids,
    "trial": bolt_steps.trial,
    "backlog": bolt_steps.backlog,
    "heartbeat": bolt_steps.heartbeat,
    "tick": bolt_steps.tick,
    "settle": bolt_steps.settle,
    "call": spout_steps.call,
    "settle_pending": spout_steps.settle_pending,
    "settle_many": spout_steps.settle_many,
    "work": _work,
    "unread_work": _unread_work,
    "cut": cutting.cut,
    "split": cutting.split,
    "plan": testee_steps.plan,
    "done": testee_steps.done,
    "hold_task_ids": _hold_task_ids,
    "release_task_ids": bolt_steps.release_task_ids,
    "no_task_ids": bolt_steps.no_task_ids,
    "holdings": _holdings,
    "quiet": _quiet,
    "emits": _emits,
    "close_stdin": _close_stdin,
    "lose_worker": _lose_worker,
    "terminate": _terminate,
}
"""Every operation by its name in case files."""
