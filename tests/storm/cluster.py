"""A real LocalCluster of Storm 2.8.3 in one JVM, and what topologies did in it.

A topology is a Flux file, or the same as a dict; `shell`, `source` and `topology` write a small one. It runs until a
condition on what has happened is true: `settled`, `executed`, or a function of the `Run`. The death of a worker, which
is an event and not the end of the JVM, ends it as well.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from tests.storm.build import INSTALL, BuildError, class_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ANY = ""
"""Any component."""
LIMIT = 60.0
"""Seconds after which a run, or a start, is given up: nothing that works comes close."""
SHOWN = 40
"""Lines of the log, and events, that an error shows."""
OPTIONS = (
    "-Djava.security.manager=allow",
    "-Dfile.encoding=UTF-8",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:-UsePerfData",
)
SOON = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx768m")
"""Options of a JVM that is up soon, and slower in the long run."""


class ClusterError(AssertionError):
    """The cluster did not do what was waited for: what happened until then, and the end of its log."""


@dataclass(frozen=True)
class Death:
    """A component ended its worker: `status` for System.exit, and the exception and its causes, outermost first."""

    component: str
    status: int
    error: tuple[str, ...]


Happened: TypeAlias = dict[str, Any]
"""``event`` is emit, execute, bolt-ack, bolt-fail, ack or fail (of a spout's message ``id``), error (reported, or on
the way to a death) or death; further ``component``, ``task``, ``stream``, ``values``, ``source``, ``to`` (task ids)."""


@dataclass
class Run:
    """What happened in a topology, in the order in which Storm's threads wrote it down."""

    events: list[Happened] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    """Command lines of components that outlived the topology, and had to be killed."""
    _found: defaultdict[tuple[str, str | None], list[Happened]] = field(default_factory=lambda: defaultdict(list))

    def add(self, event: Happened) -> None:
        """Note what has happened."""
        self.events.append(event)
        self._found[event["event"], ANY].append(event)
        self._found[event["event"], event.get("component")].append(event)

    def of(self, event: str, component: str = ANY) -> list[Happened]:
        """The events of a kind, those of one component if it is given."""
        return self._found[event, component]

    @property
    def acked(self) -> list[Any]:
        """The message ids that a spout was told are acked."""
        return [each["id"] for each in self.of("ack")]

    @property
    def failed(self) -> list[Any]:
        """The message ids that a spout was told have failed."""
        return [each["id"] for each in self.of("fail")]

    @property
    def death(self) -> Death | None:
        """What ended the worker; nothing counts that happened later."""
        for each in self.of("death"):
            return Death(each["component"], each["status"], tuple(each["error"]))
        return None

    @property
    def errors(self) -> list[tuple[str, ...]]:
        """The exceptions that components reported, each with its causes."""
        return [tuple(each["error"]) for each in self.of("error")]

    def received(self, component: str) -> list[list[Any]]:
        """The values of the tuples that a bolt executed."""
        return [each["values"] for each in self.of("execute", component)]


Until: TypeAlias = Callable[[Run], bool]


def settled(count: int) -> Until:
    """Until so many message ids were acked or failed."""
    return lambda run: len(run.of("ack")) + len(run.of("fail")) >= count


def executed(component: str, count: int) -> Until:
    """Until a bolt executed so many tuples."""
    return lambda run: len(run.of("execute", component)) >= count


def source(name: str, fields: list[str], tuples: list[list[Any]]) -> dict[str, Any]:
    """A spout that emits each of `tuples` once, with the message ids 1, 2, 3..."""
    return {"id": name, "className": "mlcheck.cluster.FiniteSpout", "constructorArgs": [fields, tuples]}


def shell(name: str, kind: str, command: list[str], fields: list[str]) -> dict[str, Any]:
    """A shell component; `kind` is Bolt or Spout, `fields` those of its default stream."""
    package = f"org.apache.storm.flux.wrappers.{kind.lower()}s"
    return {"id": name, "className": f"{package}.FluxShell{kind}", "constructorArgs": [command, fields]}


def sink(name: str) -> dict[str, Any]:
    """A bolt of Flux that acks everything."""
    return {"id": name, "className": "org.apache.storm.flux.wrappers.bolts.LogInfoBolt"}


def link(origin: str, target: str, **grouping: Any) -> dict[str, Any]:
    """Tuples of `origin` go to `target`, by a shuffle grouping unless `grouping` is given as Flux has it."""
    return {"from": origin, "to": target, "grouping": {"type": "SHUFFLE", **grouping}}


class Cluster:
    """The JVM. One topology at a time. Raises BuildError or ClusterError if it can't be started.

    `options`: more for the JVM; ``-Dcluster.watch=spouts`` writes down nothing of bolts, ``-Dcluster.acks=1000`` one of
    so many acks alone. `jars`: more of a class path. `usual`: options that a benchmark may do without.
    """

    def __init__(self, scratch: Path, options: Sequence[str] = (), jars: str = "", usual: Sequence[str] = SOON) -> None:
        self.log = scratch / "storm.log"
        self._scratch = scratch
        self._stderr = scratch / "stderr"
        self._unread = b""
        self._runs = 0
        places = {name: scratch / name for name in ("tmp", "zookeeper", "home")}
        for place in places.values():
            place.mkdir(parents=True)
        command = ["java", *OPTIONS, *usual, *options, f"-Djava.io.tmpdir={places['tmp']}", f"-Dcluster.log={self.log}"]
        command += [
            "-cp",
            os.pathsep.join(filter(None, (class_path(), jars))),
            "mlcheck.cluster.Main",
            str(places["zookeeper"]),
        ]
        self._process = self._start(command, places["home"])
        try:
            self._next(time.monotonic() + LIMIT)  # that it is up
        except ClusterError:
            self.close()
            raise

    def _start(self, command: list[str], home: Path) -> subprocess.Popen[bytes]:
        with self._stderr.open("wb") as stderr:
            try:
                return subprocess.Popen(
                    command,
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    cwd=home,
                    start_new_session=True,
                )
            except FileNotFoundError:
                raise BuildError(f"java was not found. {INSTALL}") from None

    @property
    def pid(self) -> int:
        """The process id of the JVM, which leads a session and a process group of its own."""
        return self._process.pid

    def run(
        self,
        topology: Path | Mapping[str, Any],
        until: Until,
        *,
        resources: tuple[Path, ...] = (),
        limit: float = LIMIT,
    ) -> Run:
        """Run a topology until `until` is true or a worker dies, then kill it and wait for its processes to end.

        `resources`: files that lie in the folder in which components are started, as in the topology's jar; a folder
        stands for what is in it. Raises ClusterError if Storm refuses the topology, or after `limit` seconds.
        """
        self._runs += 1
        place = self._scratch / f"run-{self._runs}"
        flux = self._write(topology, place, resources)
        run = Run()
        self._ask(json.dumps({"run": str(flux), "resources": str(place / "resources")}))
        deadline = time.monotonic() + limit
        try:
            # What is still said of the topology before belongs to nobody.
            while (submitted := self._next(deadline))["event"] not in {"submitted", "refused"}:
                pass
            if submitted["event"] == "refused":
                raise ClusterError("Storm refuses the topology: " + "; caused by ".join(submitted["error"]))
            while not run.of("death") and not until(run):
                run.add(self._next(deadline, run))
        finally:
            self._stop(run)
        return run

    def _stop(self, run: Run) -> None:
        """Kill the topology. What is done by then still counts; errors do not, as components are killed too."""
        deadline = time.monotonic() + LIMIT
        stopping = False
        self._ask("stop")
        while (event := self._next(deadline))["event"] != "stopped":
            if event["event"] == "stopping":
                stopping = True
            elif not run.of("death") and not (stopping and event["event"] in {"error", "death"}):
                run.add(event)
        run.killed = event["killed"]

    def _write(self, topology: Path | Mapping[str, Any], place: Path, resources: tuple[Path, ...]) -> Path:
        folder = place / "resources"
        folder.mkdir(parents=True)
        for each in resources:
            if each.is_dir():
                shutil.copytree(each, folder, dirs_exist_ok=True)
            else:
                shutil.copy(each, folder)
        flux = place / "topology.yaml"
        if isinstance(topology, os.PathLike):
            return topology
        flux.write_text(yaml.safe_dump({"name": "topology", **topology}, sort_keys=False), encoding="utf-8")
        return flux

    def _ask(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            raise ClusterError(f"the JVM is gone\n{self.tail()}") from None

    def _next(self, deadline: float, run: Run | None = None) -> Happened:
        """The next event. Raises ClusterError if none comes in time."""
        assert self._process.stdout is not None
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                why = "the JVM is gone" if ready else "what was waited for did not happen in time"
                so_far = "" if run is None else f"; the last events: {run.events[-SHOWN:]}"
                raise ClusterError(f"{why}{so_far}\n{self.tail()}")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        event: Happened = json.loads(line)
        return event

    def tail(self) -> str:
        """The end of what the JVM logged and printed."""
        texts = [
            file.read_text(encoding="utf-8", errors="replace") for file in (self._stderr, self.log) if file.exists()
        ]
        return "\n".join(line for text in texts for line in text.splitlines()[-SHOWN:])

    def close(self) -> None:
        """End the JVM, and whatever it started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(LIMIT)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
            self._process.stdout.close()
