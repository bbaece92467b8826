"""A small host of its own: ``MLCHECK_FEED=FILE host.py COMPONENT...``. MLCHECK_MUTANT plants one bug in it, by name.

Standard library only, and nothing of mlcheck: what is right here was written from the protocol alone.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

FEED = json.loads(Path(os.environ["MLCHECK_FEED"]).read_text(encoding="utf-8"))
MUTANT = os.environ.get("MLCHECK_MUTANT", "")
BEAT = 1.0
TIMEOUT = FEED.get("conf", {}).get("topology.subprocess.timeout.secs", 30)
DIED = 11


class WorkerDiedError(Exception):
    pass


class Host:
    def __init__(self, command: list[str], folder: str) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.folder = folder
        self.lock = threading.Lock()
        self.open: set[str] = set()
        self.ids: list[Any] = []
        self.heard = threading.Event()
        self.asked = threading.Event()
        self.active = False
        self.stopping = threading.Event()

    def write(self, message: Any, end: str = "\nend\n") -> None:
        text = json.dumps(message, ensure_ascii=MUTANT != "latin")
        with self.lock:
            self.stdin.write((text + end).encode("latin-1" if MUTANT == "latin" else "utf-8", "replace"))
            self.stdin.flush()

    def read(self) -> Any:
        lines: list[bytes] = []
        while True:
            line = self.stdout.readline()
            if not line:
                raise WorkerDiedError("no output read")
            if line.rstrip(b"\r\n") == b"end":
                break
            lines.append(line)
        self.heard.set()
        try:
            message = json.loads(b"".join(lines))
        except ValueError:
            raise WorkerDiedError("no JSON") from None
        return message

    def greet(self) -> None:
        topology, streams = FEED["topology"], FEED["topology"]["streams"]
        context = {
            "task->component": topology["tasks"],
            "taskid": str(FEED["task"]) if MUTANT == "task-text" else FEED["task"],
            "componentid": FEED["component"],
            "streams": list(streams),
            "stream->outputfields": {name: spec["fields"] for name, spec in streams.items()},
            "stream->target->grouping": {n: spec["groupings"] for n, spec in streams.items() if spec.get("groupings")},
            "source->stream->grouping": {
                source: {name: spec["grouping"] for name, spec in specs.items()}
                for source, specs in topology.get("sources", {}).items()
            },
            "source->stream->fields": {
                source: {name: spec["fields"] for name, spec in specs.items()}
                for source, specs in topology.get("sources", {}).items()
            },
        }
        conf = {} if MUTANT == "empty-conf" else FEED.get("conf", {})
        pids = "/nowhere/at/all" if MUTANT == "no-pid-dir" else self.folder
        name = "config" if MUTANT == "config" else "conf"
        if MUTANT != "no-handshake":
            self.write({name: conf, "pidDir": pids, "context": context}, "\n" if MUTANT == "no-end" else "\nend\n")
        if MUTANT == "impatient":
            self.write({"command": "next"} if FEED["kind"] == "spout" else self.tuple_of(FEED["tuples"][0]))
        pid = self.read().get("pid")
        if not isinstance(pid, int):
            raise WorkerDiedError("no pid")

    def targets(self, stream: str) -> list[int]:
        consumers = FEED["topology"]["streams"][stream].get("consumers", {})
        chosen = [random.choice(tasks) for tasks in consumers.values()]  # noqa: S311
        return [*chosen, 99] if MUTANT == "strange-task" else chosen

    def emitted(self, message: dict[str, Any]) -> None:
        stream = message.get("stream", "default")
        if stream not in FEED["topology"]["streams"]:
            raise WorkerDiedError("unknown stream")
        if FEED["kind"] == "bolt" and any(anchor not in self.open for anchor in message.get("anchors", [])):
            raise WorkerDiedError("anchored onto what is settled")
        if message.get("task") is not None:
            # Since 2.6 no Storm survives a direct emit.
            if MUTANT != "survives-direct":
                raise WorkerDiedError("direct emit")
            self.write([message["task"]])
        elif (message.get("need_task_ids", True) or MUTANT == "always-ids") and MUTANT != "no-ids":
            self.write(self.targets(stream))

    def heard_from_bolt(self, message: dict[str, Any]) -> None:
        command = message["command"]
        if command == "emit":
            self.emitted(message)
        elif command in {"ack", "fail"} and MUTANT != "forgiving":
            if message["id"] not in self.open:
                raise WorkerDiedError("no such tuple")
            self.open.discard(message["id"])
        elif command == "error" and MUTANT == "dies-of-errors":
            raise WorkerDiedError("an error")
        elif command == "log" and MUTANT == "only-syncs":
            self.heard.clear()

    def call(self, call: dict[str, Any]) -> None:
        command = call["call"]
        id_ = self.ids[call.get("emit", 0)] if command in {"ack", "fail"} else ""
        if command in {"ack", "fail"} and MUTANT == "ids-as-text":
            id_ = str(id_)
        if command == "ack" and MUTANT == "acks-anything":
            id_ = "an id of nobody"
        self.asked.set()
        self.write({"command": "nextTuple" if MUTANT == "other-words" and command == "next" else command, "id": id_})
        if MUTANT == "unsynced":
            self.write({"command": "next", "id": ""})
        while (message := self.read())["command"] != "sync":
            if message["command"] == "emit":
                if message.get("id") is not None:
                    self.ids.append(message["id"])
                self.emitted(message)
            elif message["command"] not in {"log", "error"} and MUTANT != "forgiving":
                raise WorkerDiedError("unknown command")
        self.asked.clear()
        if command in {"activate", "deactivate"}:
            self.active = command == "activate"
        if command == "deactivate" and MUTANT == "asks-while-inactive":
            self.call({"call": "next"})

    def tuple_of(self, fed: dict[str, Any]) -> dict[str, Any]:
        id_ = "1" if MUTANT == "same-id" else str(random.getrandbits(60))
        self.open.add(id_)
        values = list(map(str, fed["values"])) if MUTANT == "values-as-text" else fed["values"]
        source = {name: fed[name] for name in ("comp", "stream", "task")}
        if MUTANT == "stranger":
            source["comp"] = "nobody"
        return {"id": int(id_) if MUTANT == "id-number" else id_, "tuple": values, **source}

    def watch(self) -> None:
        """Give a spout up that does not answer in time; one that is asked nothing owes no answer."""
        silent = 0.0
        while not self.stopping.wait(BEAT):
            owes = self.asked.is_set() or MUTANT == "punishes-idle"
            silent = 0.0 if self.heard.is_set() or not owes else silent + BEAT
            self.heard.clear()
            if silent > TIMEOUT and MUTANT != "patient":
                self.end()
                os._exit(DIED)

    def beat(self) -> None:
        silent = 0.0
        while not self.stopping.wait(BEAT):
            stream = "heartbeat" if MUTANT == "beat-stream" else "__heartbeat"
            task = 0 if MUTANT == "beat-task" else -1
            beat: dict[str, Any] = {
                "id": str(random.getrandbits(60)),
                "comp": None,
                "stream": stream,
                "task": task,
                "tuple": [],
            }
            self.write(beat)
            silent = 0.0 if self.heard.is_set() else silent + BEAT
            self.heard.clear()
            if silent > TIMEOUT and MUTANT != "endless":
                self.end()
                os._exit(DIED)

    def be_bolt(self) -> None:
        tuples = FEED.get("tuples", [])
        if MUTANT == "reversed":
            tuples = tuples[::-1]
        if MUTANT == "drops-last":
            tuples = tuples[:-1]
        if MUTANT == "ticks-unasked":
            self.write(
                {
                    **self.tuple_of({**FEED["tuples"][0], "values": [1]}),
                    "comp": "__system",
                    "stream": "__tick",
                    "task": -1,
                }
            )
        for fed in tuples:
            for _ in range(2 if MUTANT == "twice" else 1):
                self.write(self.tuple_of(fed))
        if MUTANT != "no-beat":
            threading.Thread(target=self.beat, daemon=True).start()
        while True:
            self.heard_from_bolt(self.read())

    def be_spout(self) -> None:
        calls = FEED.get("calls", [])
        threading.Thread(target=self.watch, daemon=True).start()
        skipped = {"no-activate": "activate", "no-acks": "ack"}.get(MUTANT)
        for call in calls:
            for _ in range(2 if MUTANT == "calls-twice" and call["call"] != "next" else 1):
                if call["call"] != skipped:
                    self.call(call)
        while not self.stopping.wait(0.05):
            if self.active or MUTANT == "no-activate":
                self.call({"call": "next"})

    def end(self) -> None:
        self.stopping.set()
        if MUTANT != "orphans":
            self.process.terminate()
            self.process.wait()


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder:
        host = Host(sys.argv[1:], folder)
        try:
            host.greet()
            host.be_bolt() if FEED["kind"] == "bolt" else host.be_spout()
        except (WorkerDiedError, BrokenPipeError, KeyError, AttributeError):
            if MUTANT == "endless":
                signal.pause()
            return DIED
        finally:
            host.end()
    return 0


if __name__ == "__main__":
    # An orphan holds our pipes: whoever waits for threads would wait for it.
    status = main()
    sys.stdout.flush()
    os._exit(status)
