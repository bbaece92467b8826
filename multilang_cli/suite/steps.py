"""The operations that cases are made of. Each drives the session; what is wrong is found by the judge, not here.

An operation raises `Stop` if the case can't go on (the judge has said why), or `NotExercised` if the component gave no
occasion to test what the case is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from multilang_cli.host.shell_bolt import ShellBolt
from multilang_cli.host.shell_spout import ShellSpout
from multilang_cli.protocol.messages import HEARTBEAT_STREAM, SYSTEM_TASK, Emit, Handshake, Json, TupleMsg

if TYPE_CHECKING:
    from multilang_cli.host.session import Session

UNICODE = 'snöwhite 雪 \U0001f478 \u2028 ﷽ \\ / " \t é'
"""Text that breaks what is not UTF-8 all the way: non-ASCII, beyond the BMP, line separators, what JSON escapes."""


FEW = 5
"""Tuples that tell how fast a bolt works."""


class Stop(Exception):  # noqa: N818 (no error: the judge's findings are)
    """The case is over before its last step."""


class NotExercised(Exception):  # noqa: N818 (no error)
    """The component gave no occasion: the message says what it never did."""


class Stage:
    """What an operation works on: the session, the samples, and the case's own memory.

    `handshake`: builds the handshake message from a step's arguments. `fed`: True once a sample was delivered.
    """

    def __init__(
        self,
        session: Session,
        samples: tuple[list[Json], ...],
        handshake: Callable[[dict[str, Any]], Handshake],
    ) -> None:
        self.session = session
        self.samples = samples
        self.handshake = handshake
        self.limits = session.profile.limits
        self.fed = False
        self.shaken = False
        self._next_sample = 0

    @property
    def bolt(self) -> ShellBolt:
        """The session, as Storm's side of a bolt."""
        assert isinstance(self.session, ShellBolt)  # noqa: S101 (cases are chosen by kind)
        return self.session

    @property
    def spout(self) -> ShellSpout:
        """The session, as Storm's side of a spout."""
        assert isinstance(self.session, ShellSpout)  # noqa: S101 (cases are chosen by kind)
        return self.session

    def sample(self) -> list[Json]:
        """The next sample's values, in turn."""
        self._next_sample += 1
        return self.samples[(self._next_sample - 1) % len(self.samples)]


Operation = Callable[[Stage, dict[str, Any]], None]


def _go_on(stage: Stage, *, if_: bool) -> None:
    if not if_:
        raise Stop
    if not stage.session.running:
        raise Stop


def _handshake(stage: Stage, arguments: dict[str, Any]) -> None:
    """conf, context, extra: keys to add; pad: bytes of conf; piece: bytes a write; with: what follows at once.

    await_file: wait for the pid file.
    """
    session = stage.session
    session.piece = int(arguments.get("piece", 0))
    follow = arguments.get("with")
    if follow == "tuple":
        session.say(stage.handshake(arguments))
        stage.bolt.send(stage.sample())
        stage.fed = True
        stage.shaken = session.wait(lambda: not session.judge.expecting_pid, stage.limits["pid"], "pid")
        session.check_pid(await_file=False)
    else:
        await_file = bool(arguments.get("await_file"))
        stage.shaken = session.handshake(stage.handshake(arguments), stage.limits["pid"], await_file=await_file)
    session.piece = 0
    _go_on(stage, if_=stage.shaken)


def _barrier(stage: Stage, _: dict[str, Any]) -> None:
    """The component is alive and has read everything: a heartbeat's sync, or a spout's answer to next."""
    if isinstance(stage.session, ShellBolt):
        _go_on(stage, if_=stage.bolt.beat(stage.limits["heartbeat"]))
    else:
        _call(stage, {"command": "next"})


def _tuple(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: how many; values: plain, or unicode: every string replaced, types kept."""
    for _ in range(int(arguments.get("times", 1))):
        values = stage.sample()
        if arguments.get("values") == "unicode":
            values = [UNICODE if isinstance(value, str) else value for value in values]
        stage.bolt.send(values)
    stage.fed = True


def _backlog(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: as many tuples at once, unless it works so slowly that they would outlast half of the limit."""
    bolt, times = stage.bolt, int(arguments.get("times", 1000))
    began = bolt.now
    _tuple(stage, {"times": FEW})
    _settle(stage, {})
    each = (bolt.now - began) / FEW
    if each * times > stage.limits["heartbeat"] / 2:
        raise NotExercised(
            f"it takes {each:.2g} s a tuple: {times} would outlast the limit (--limit heartbeat=SECONDS)"
        )
    _tuple(stage, {"times": times})


def _heartbeat(stage: Stage, arguments: dict[str, Any]) -> None:
    """comp: None as Storm sends it, or a name as the protocol page shows."""
    bolt = stage.bolt
    if arguments.get("comp") is None:
        _go_on(stage, if_=bolt.beat(stage.limits["heartbeat"]))
        return
    bolt.say(TupleMsg(bolt.new_id(), arguments["comp"], HEARTBEAT_STREAM, SYSTEM_TASK, []))
    _go_on(stage, if_=bolt.wait_beat(stage.limits["heartbeat"]))


def _settle(stage: Stage, _: dict[str, Any]) -> None:
    """Wait until every tuple is settled; a component that declares otherwise is not held to the limit."""
    if stage.session.profile.settles == "by-limit":
        _go_on(stage, if_=stage.bolt.settle_all(stage.limits["settle"]))
    else:
        _barrier(stage, {})


def _call(stage: Stage, arguments: dict[str, Any]) -> None:
    """command, times; id: `emitted` for ack and fail: that of a tuple it emitted, once each."""
    spout, command = stage.spout, str(arguments["command"])
    for _ in range(int(arguments.get("times", 1))):
        id_ = _emitted_id(stage) if command in {"ack", "fail"} else ""
        _go_on(stage, if_=spout.call(command, id_, stage.limits["sync"]))


def _emitted_id(stage: Stage) -> Json:
    """The id of a tuple that is pending; calls next for one, 20 times at most."""
    spout = stage.spout
    for _ in range(20):
        ready = next((emit for emit in spout.emits if emit.id is not None), None)
        if ready is not None:
            spout.emits.remove(ready)
            return ready.id
        _go_on(stage, if_=spout.call("next", limit=stage.limits["sync"]))
    raise NotExercised("it emitted no tuple with an id in 20 calls of next")


def _work(stage: Stage, arguments: dict[str, Any]) -> None:
    """times: so many tuples and their settling for a bolt, so many calls of next for a spout."""
    if isinstance(stage.session, ShellBolt):
        _tuple(stage, arguments)
        _settle(stage, {})
    else:
        _call(stage, {"command": "activate"})
        _call(stage, {"command": "next", **arguments})


def _hold_task_ids(stage: Stage, _: dict[str, Any]) -> None:
    """Keep task ids back."""
    stage.session.hold_task_ids = True


def _release_task_ids(stage: Stage, _: dict[str, Any]) -> None:
    """Send the task ids that were kept back."""
    if not stage.session.held:
        raise NotExercised("it never asked for task ids")
    stage.session.release_task_ids()


def _quiet(stage: Stage, _: dict[str, Any]) -> None:
    """Wait until the component waits for us: it has read everything and said what it had to say."""
    stage.session.wait_quiet(stage.limits["output"])
    _go_on(stage, if_=True)


def _emits(stage: Stage, arguments: dict[str, Any]) -> None:
    """The case says something only if the component emitted; `anchored`: an anchored tuple."""
    emits: Iterable[Emit] = stage.bolt.emits if isinstance(stage.session, ShellBolt) else stage.spout.emits
    if arguments.get("anchored"):
        emits = [emit for emit in emits if emit.anchors]
    if not list(emits):
        raise NotExercised("it emitted no anchored tuple" if arguments.get("anchored") else "it emitted nothing")


def _close_stdin(stage: Stage, _: dict[str, Any]) -> None:
    """End of file on stdin: the component must end by itself."""
    stage.session.close_stdin(stage.limits["exit-after-eof"])


def _terminate(stage: Stage, _: dict[str, Any]) -> None:
    """SIGTERM: the component must end."""
    stage.session.terminate(stage.limits["exit-after-term"])


OPERATIONS: dict[str, Operation] = {
    "handshake": _handshake,
    "barrier": _barrier,
    "tuple": _tuple,
    "backlog": _backlog,
    "heartbeat": _heartbeat,
    "settle": _settle,
    "call": _call,
    "work": _work,
    "hold_task_ids": _hold_task_ids,
    "release_task_ids": _release_task_ids,
    "quiet": _quiet,
    "emits": _emits,
    "close_stdin": _close_stdin,
    "terminate": _terminate,
}
"""Every operation by its name in case files."""
