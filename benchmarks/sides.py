"""The two sides of a measured conversation: components in C, ours as `run` starts it, and where both are placed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.driver.environment import worker_environment
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.verdicts import Profile, StreamSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.judge.conversation import Conversation
    from multilang_cli.protocol.words.messages import Handshake, Json
    from multilang_cli.protocol.words.rulebook import Rulebook

HERE = Path(__file__).parent
FIELDS = ("title", "sentence", "number", "weight", "last")
LIMIT = 10.0
"""Seconds without an answer after which a measure gives up."""

CPUS = sorted(os.sched_getaffinity(0))
Place = Literal["one CPU", "two CPUs", "any CPU"]


def values(number: int) -> list[Json]:
    """The five values of a tuple: two strings, an integer, a float, a boolean."""
    return ["snow white", "and the seven dwarfs", number, 0.5, False]


def place(component: int, where: Place, driver: int | None = None) -> None:
    """Bind the process `driver`, ourselves by default, and the process `component` to CPUs.

    On one CPU both to the first, on two each to its own, on any neither.
    """
    ours, theirs = _cpus(where)
    _bind(driver or os.getpid(), ours)
    _bind(component, theirs)


def _cpus(where: Place) -> tuple[list[int], list[int]]:
    if where == "any CPU":
        return CPUS, CPUS
    return CPUS[:1], CPUS[:1] if where == "one CPU" else CPUS[-1:]


def _bind(process: int, cpus: list[int]) -> None:
    """Bind all threads; those to come inherit it."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread.name), cpus)


def unplace() -> None:
    """Let the system place us again."""
    _bind(os.getpid(), CPUS)


def told(where: Place) -> str:
    """How `place` puts both sides, for the output."""
    if where == "any CPU":
        return f"both sides on any of the {len(CPUS)} CPUs"
    (ours,), (theirs,) = _cpus(where)
    return f"os.sched_setaffinity: the driving side on CPU {ours}, the component on CPU {theirs}"


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mlcheck-benchmarks-")


def folder() -> Path:
    """A folder for files of this run, removed at its end."""
    return Path(_folder().name)


@cache
def compiled(name: str) -> str:
    """The path of the program made from ``name.c``. Raises CalledProcessError if the compiler refuses."""
    program = folder() / name
    program.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-O2", "-o", program, HERE / f"{name}.c"], check=True)
    return str(program)


@cache
def rulebook() -> Rulebook:
    """The rules, read once."""
    return load_rulebook()


def profile(kind: Literal["bolt", "spout"]) -> Profile:
    """A component between a source (task 2) and a sink (task 4), its stream declared."""
    stream = StreamSpec(FIELDS, consumers={"sink": (4,)}, groupings={"sink": {"type": "SHUFFLE"}})
    return Profile(kind=kind, streams={"default": stream}, tasks={1: "__acker", 2: "source", 3: "component", 4: "sink"})


def started(argv: Sequence[str]) -> ComponentProcess:
    """A component, started as `run` starts one."""
    return ComponentProcess.start(argv, cwd=HERE, env=worker_environment({}).variables, pid_dir=private_pid_dir())


def handshake(process: ComponentProcess, judge: Conversation) -> Handshake:
    """Storm's first message to `process`."""
    conf = context.realistic_conf(base_conf(judge.version.id), judge.profile, {})
    return context.handshake(judge.profile, judge.version, conf, str(process.pid_dir))


def met(session: Session, where: Place) -> None:
    """Place both sides and exchange the handshake."""
    place(session.process.pid, where)
    if not session.handshake(handshake(session.process, session.judge), LIMIT):
        raise RuntimeError("the component did not answer the handshake")
