"""Workers: the processes of a few tasks, which live and die together."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.catalogue.judging import judge_of
from multilang_cli.driver.launch import Launch, LaunchError, readable, resolve
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.protocol.wire import context
from multilang_cli.topology.engine.sides import SIDES
from multilang_cli.topology.engine.wiring import profile_of
from multilang_cli.topology.history import Died, Launched
from multilang_cli.topology.tasks import merged_conf
from multilang_cli.transcript.joined import ChunkedText
from multilang_cli.transcript.naming import fit_for_a_file
from multilang_cli.transcript.private import open_private
from multilang_cli.transcript.recording import Recording, header_now

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.protocol.words.verdicts import Profile
    from multilang_cli.topology.engine.flow import Flow
    from multilang_cli.topology.engine.setup import Setup
    from multilang_cli.topology.engine.sides import BoltTask, SpoutTask
    from multilang_cli.topology.history import Happening
    from multilang_cli.transcript.redact import Redactor

STDERR_KEPT = 16 * 1024 * 1024
"""Bytes of stderr that are kept of one life of a task; all is in its transcript."""
JAVA_EXCUSED = frozenset({"direct-emit", "nested-value"})
"""Rules about what Storm makes of the JSON of a shell component, which no Java component says."""
MOST_LIVES = 100
"""Lives of a worker's tasks that are remembered for the result; all have transcripts."""


class StderrFile:
    """Keeps what a process writes to stderr, up to a limit, without secrets; the file is made with the first byte."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.path = path
        self._redactor = redactor
        self._joined = ChunkedText()
        self._size = 0

    def add(self, data: bytes) -> None:
        """Add what was read; nothing is raised where it can't be written, for it stands in the transcript too."""
        if self._size < STDERR_KEPT:
            self._size += len(data)
            try:
                with open_private(self.path, "ab") as file:
                    file.write(self._redactor.chunk(data, self._joined))
            except OSError:
                self._size = STDERR_KEPT


class TaskRun:
    """One start of a task's process: its session, its command and where it runs, and what is written of it."""

    def __init__(self, setup: Setup, flow: Flow, attempt: int, launch: Launch, profile: Profile) -> None:
        self.attempt = attempt
        self.argv = launch.argv
        task = profile.task
        component = setup.topology.components[profile.component]
        self.name = name = f"{component.id}-{task}" + (f".{attempt}" if attempt > 1 else "")
        stem = name.replace(component.id, fit_for_a_file(component.id), 1)
        self.transcript = setup.folder / "transcripts" / f"{stem}.ndjson"
        topology, worker = setup.topology.name, str(setup.layout.workers[task])
        header = header_now(f"{topology}.{name}", profile, map(readable, launch.argv), topology=topology, worker=worker)
        env = setup.worker_environment(component.env).variables
        self.cwd = Path(component.cwd or setup.cwd)
        process = ComponentProcess.start(launch.argv, cwd=self.cwd, env=env, pid_dir=private_pid_dir())
        try:
            self.recording = Recording(self.transcript, header, component.env) if setup.transcripts else None
            sinks = () if self.recording is None else (self.recording,)
            judge = judge_of(profile, setup.rulebook)
            self.side: BoltTask | SpoutTask = SIDES[profile.kind](process, judge, sinks, flow)
            self.side.attempt_is_first = attempt == 1
            if setup.topology.java is not None and component.id in setup.topology.java.components:
                self.side.excused = JAVA_EXCUSED
            stderr = StderrFile(setup.folder / "stderr" / f"{stem}.txt", setup.redactor())
            self.side.session.pump.keep_stderr = stderr.add
            conf = context.realistic_conf(merged_conf(setup.topology, setup.version.id), profile, {})
            conf["topology.name"] = setup.topology.name
            conf["storm.id"] = f"{setup.topology.name}-1-{context.SUBMITTED}"
            self.side.session.say(context.handshake(profile, setup.version, conf, str(process.pid_dir)))
        except BaseException:
            process.end()
            raise

    def finish(self, wait: float) -> None:
        """End the process, and close what is written of it."""
        self.side.session.finish(wait)
        if self.recording is not None:
            self.recording.__exit__()


class Worker:
    """The tasks of one worker. `lives`: by task, while it is up. `deaths`: those that nobody wished.

    `past`: lives that are over, but for those in which nothing was found and that were not the last. `launches`: by
    task, of all workers.
    """

    def __init__(
        self,
        number: int,
        setup: Setup,
        flow: Flow,
        launches: dict[int, Launch],
        tell: Callable[[Happening], object],
    ) -> None:
        self.number = number
        self.setup = setup
        self.flow = flow
        self.tasks = tuple(task for task, worker in setup.layout.workers.items() if worker == number)
        self.lives: dict[int, TaskRun] = {}
        self.attempt = 0
        self.deaths = 0
        self.up = False
        self.past: list[TaskRun] = []
        self._launches = launches
        self._profiles = {
            task: profile_of(setup.topology, setup.layout, setup.version, task, setup.limits)
            for task in self.tasks
            if task in launches
        }
        self._tell = tell

    def start(self) -> list[BoltTask | SpoutTask]:
        """Start all its tasks; the sessions of those that are processes. Raises LaunchError."""
        self.attempt += 1
        self.up = True
        for task in self.tasks:
            pid = None
            if task in self._launches:
                profile = self._profiles[task]
                life = TaskRun(self.setup, self.flow, self.attempt, self._launches[task], profile)
                self.lives[task] = life
                pid = life.side.session.process.pid
            component = self.setup.layout.components[task]
            self._tell(
                Launched(
                    t=self.flow.t, task=task, component=component, worker=self.number, attempt=self.attempt, pid=pid
                )
            )
            self.flow.up.add(task)
        return [life.side for life in self.lives.values()]

    def end(self, why: str) -> None:
        """It dies, all its processes with it: those that are killed by that have no part in it."""
        self.up = False
        self._tell(Died(t=self.flow.t, worker=self.number, why=why))
        self._finish(0.0)
        self.flow.drop(self.tasks)

    def stop(self, wait: float) -> None:
        """The run is over."""
        self.up = False
        self._finish(wait)

    def dismiss(self) -> None:
        """Tell all its processes to end, as ``Process.destroy`` does, and wait for none."""
        for life in self.lives.values():
            if life.side.session.exit is None:
                life.side.sent(signal.SIGTERM)

    def _finish(self, wait: float) -> None:
        lives = list(self.lives.values())
        for life in lives:
            if life.side.session.exit is None:
                life.side.sent(signal.SIGKILL if not wait else signal.SIGTERM)
        for life in lives:
            life.finish(wait)
        self.past = [life for life in self.past if life.side.session.findings][:MOST_LIVES] + lives
        self.lives.clear()


def launches_of(setup: Setup) -> dict[int, Launch]:
    """Launches of all tasks that are processes. Raises LaunchError, which names everything that is missing."""
    by_component = {}
    faults: list[LaunchError] = []
    for each in setup.topology.components.values():
        env = setup.worker_environment(each.env).variables
        try:
            by_component[each.id] = resolve(each.command, Path(each.cwd or setup.cwd), env)
        except LaunchError as error:
            where = f"{each.place}: " if each.place else ""
            faults.append(LaunchError(error.reason, f"{where}{each.id}: {error.message}", error.hint))
    if faults:
        raise LaunchError(
            faults[0].reason, " ".join(each.message for each in faults), faults[0].hint if len(faults) == 1 else ""
        )
    return {task: by_component[name] for task, name in setup.layout.components.items() if name in by_component}
