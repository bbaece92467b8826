"""Page documents for the tests, of every type of section, small ones and large ones."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import msgspec

from multilang_cli.reports.matrix.files import read_matrix
from multilang_cli.reports.matrix.page import document_of
from tests.command import ROOT

Json = dict[str, Any]

KINDS = ["tuple", "emit", "ack", "task_ids", "log", "heartbeat", "sync", "stderr", "pid", "context", "exit", "deadline"]
IN, OUT, ERR, PROCESS, CONTROL = range(5)


class Talk:
    """A conversation that grows event by event."""

    def __init__(self) -> None:
        self.events: dict[str, list[Any]] = {
            name: [] for name in ("seq", "t", "ch", "kind", "head", "text", "size", "thread")
        }
        self.threads: dict[str, int] = {}
        self._clock = 0.0

    def add(self, ch: int, kind: str, head: str, message: Any = "", *, thread: str = "", after: float = 0.0004) -> int:
        """Add an event `after` seconds; its seq. A `message` that is no text is written as JSON."""
        self._clock += after
        text = message if isinstance(message, str) else json.dumps(message)
        seq = len(self.events["seq"])
        index = self.threads.setdefault(thread, len(self.threads)) if thread else -1
        row = (seq, round(self._clock, 6), ch, KINDS.index(kind), head, text, len(text), index)
        for column, value in zip(self.events.values(), row, strict=True):
            column.append(value)
        return seq

    def section(self, name: str, title: str, **more: Any) -> Json:
        """The section of this conversation."""
        section = {"id": name, "type": "conversation", "title": title, "events": self.events, "kinds": KINDS}
        return {**section, "threads": list(self.threads), "findings": [], "outlook": [], **more}


def page(*sections: Json, **more: Any) -> Json:
    """A document of these sections."""
    made = {"made_by": "mlcheck 0.1.0", "made_at": "2026-11-21T12:00:00Z"}
    head = {"page": "1.0", "title": "split_bolt.py", "subtitle": "", "verdict": None}
    return {**head, **made, "sections": list(sections), **more}


ACK_TWICE: Json = {
    "seq": 13,
    "rule": "ack-twice",
    "title": "acks a tuple that is settled already",
    "level": "must",
    "message": 'The component acked tuple "2" at event 13, but had acked it at event 12.',
    "related": [8, 12],
    "clause": "The id is removed at the first ack or fail; one that is not there is an error.",
    "source": "Storm: ShellBolt.handleAck",
    "why": "Storm forgets the id at the first ack or fail. The second kills the worker, with all other tasks in it: "
    "the whole topology stutters because of one message.",
    "mend": "Settle in one place. In user code: don't ack or fail when the library does (auto-ack, BasicBolt).",
    "fates": [
        {"versions": "0.7.1 to 0.9.2", "fate": "survives"},
        {
            "versions": "0.9.7 to 2.8.3",
            "fate": "dies",
            "error": "Acked a non-existent or already acked/failed id: 2",
        },
    ],
}
LOG_LEVEL: Json = {
    "seq": 16,
    "rule": "log-level",
    "title": "logs at a level that Storm does not know",
    "level": "should",
    "message": 'The level 7 of the log "splitting" is none of 0 to 4.',
    "why": "Storm logs it at info, whatever was meant.",
    "fates": [{"versions": "all versions", "fate": "ignored"}],
}


def split_bolt() -> Talk:
    """A bolt that splits sentences, acks one tuple twice, and is then killed."""
    talk = Talk()
    talk.add(CONTROL, "context", "limits: 10 s for an answer, 30 s for a heartbeat", after=0)
    handshake = {"conf": {"topology.message.timeout.secs": 30}, "context": {"taskid": 3}, "pidDir": "/run/pids"}
    talk.add(IN, "context", "handshake as task 3 of split", handshake)
    talk.add(OUT, "pid", "pid 4711", {"pid": 4711}, after=0.141)
    for number, words in enumerate((["snow", "white"], ["seven", "dwarfs"]), start=1):
        thread = f'tuple "{number}"'
        message = {"id": str(number), "comp": "src", "stream": "default", "task": 2, "tuple": [" ".join(words)]}
        if number == 2:
            message["id"] = "2"
        talk.add(IN, "tuple", f"tuple {number} of src:default", message, thread=thread, after=0.002)
        for word in words:
            emit = {"command": "emit", "anchors": [str(number)], "tuple": [word, 9007199254740993]}
            talk.add(OUT, "emit", f'emit ["{word}"] anchored to {number}', emit, thread=thread)
            if number == 1:
                talk.add(IN, "task_ids", "task ids [5]", "[5]", thread=thread)
        talk.add(OUT, "ack", f"ack {number}", {"command": "ack", "id": str(number)}, thread=thread, after=0.0011)
    talk.add(OUT, "ack", "ack 2", {"command": "ack", "id": "2"}, thread='tuple "2"')
    talk.add(ERR, "stderr", "WARN splitter: queue is long", "WARN splitter: queue is long (12 waiting)\n")
    talk.add(IN, "heartbeat", "heartbeat", {"id": "-6955786537413359385", "stream": "__heartbeat"}, after=1.5)
    talk.add(OUT, "log", 'log "splitting" at level 7', {"command": "log", "msg": "splitting", "level": 7})
    talk.add(OUT, "sync", "sync", {"command": "sync"}, after=0.0002)
    talk.add(CONTROL, "deadline", "10 s are over: no answer", after=10)
    talk.add(PROCESS, "exit", "killed by SIGTERM", after=0.02)
    return talk


def conversation(name: str = "talk") -> Json:
    """The conversation of `split_bolt`, with findings and outlook."""
    dies = [
        {
            "version": version,
            "fate": "dies",
            "seq": 13,
            "sentence": "The worker dies at the second ack: Acked a non-existent or already acked/failed id: 2.",
        }
        for version in ("0.9.7", "0.10.2", "1.2.4", "2.5.0", "2.8.3")
    ]
    survives = {"version": "0.7.1", "fate": "survives", "seq": None, "sentence": "It would have gone on to the end."}
    return split_bolt().section(
        name, "Conversation of task 3", findings=[ACK_TWICE, LOG_LEVEL], outlook=[survives, *dies]
    )


GRAPH: Json = {
    "nodes": [
        {"id": "root", "label": "tuple 1 of src", "detail": "edge id 0x4", "tone": "plain"},
        {"id": "a", "label": "snow", "detail": "edge id 0x2", "tone": "good", "to": "talk/4"},
        {"id": "b", "label": "white", "tone": "bad", "to": "talk/6"},
    ],
    "edges": [
        {"from": "root", "to": "a", "label": "emit"},
        {"from": "root", "to": "b", "label": "emit", "tone": "bad"},
    ],
    "direction": "TB",
}
STEPS: Json = {
    "id": "tree",
    "type": "steps",
    "title": "Tuple tree of message 1",
    "graph": GRAPH,
    "steps": [
        {"text": "src emits tuple 1", "ack_val": "0x4", "node": "root"},
        {"text": 'split emits ["snow"]', "ack_val": "0x4", "node": "a", "to": "talk/4"},
        {"text": 'split emits ["white"]', "ack_val": "0x4", "node": "b", "to": "talk/6"},
        {"text": "split acks tuple 1", "ack_val": "0xf", "node": "root", "tone": "good", "to": "talk/8"},
        {"text": 'count acks ["snow"]', "ack_val": "0x9", "node": "a"},
        {"text": 'count acks ["white"]', "ack_val": "0x0", "node": "b", "tone": "good"},
    ],
}
TABLE: Json = {
    "id": "cases",
    "type": "table",
    "title": "Cases",
    "columns": [{"name": "case"}, {"name": "verdict"}, {"name": "ms", "align": "right"}],
    "rows": [
        ["bolt.ack.once", {"text": "fail", "tone": "bad", "to": "talk/13"}, 12.5],
        ["bolt.heartbeat.behind-backlog", {"text": "pass", "tone": "good"}, 110],
        ["bolt.handshake.pid", {"text": "pass", "tone": "good"}, 9],
        ["bolt.emit.task-ids", {"text": "warn", "tone": "warn"}, {"text": "1.2 s", "value": 1200}],
        ["bolt.ticks", {"text": "skip", "tone": "muted"}, None],
        ["bolt.log.levels", {"text": "warn", "tone": "warn", "to": "talk/16"}, 31],
    ],
}
PLOT: Json = {
    "id": "settle",
    "type": "plot",
    "title": "Time to settle",
    "note": "From the tuple to its ack or fail.",
    "x": {"label": "time", "unit": "s"},
    "y": {"label": "settled after", "unit": "ms", "log": False},
    "series": [
        {"name": "ack", "style": "points", "x": [1, 2, 2, 3, 4], "y": [2, 4, 5, 3, 9], "to": ["talk/8"] * 5},
        {"name": "heartbeat", "style": "line", "x": [1, 3, 5], "y": [1, 6, 2]},
    ],
    "bands": [
        {"from": 8, "to": 12, "label": "slow", "tone": "warn"},
        {"from": 7, "to": 7, "label": "limit", "tone": "bad"},
        {"from": 1.5, "to": 2.5, "label": "pause:count", "tone": "bad", "along": "x"},
        {"from": 4, "to": 4, "label": "kill:count", "tone": "warn", "along": "x"},
    ],
}
FACTS: Json = {
    "id": "facts",
    "type": "facts",
    "title": "What was judged",
    "rows": [["component", "python3 split_bolt.py"], ["kind", "bolt"], ["Storm", "2.8.3"], ["tuples", "2"]],
}
TEXT: Json = {
    "id": "again",
    "type": "text",
    "title": "Do it again",
    "paragraphs": ["This command runs the same case again."],
    "code": "mlcheck run --case bolt.ack.once -- python3 split_bolt.py",
}


def everything() -> Json:
    """One section of every type."""
    graph = {"id": "topology", "type": "graph", "title": "Topology", **GRAPH, "direction": "LR"}
    return page(
        conversation(),
        FACTS,
        TABLE,
        MATRIX,
        PLOT,
        STEPS,
        graph,
        TEXT,
        title="split_bolt.py",
        subtitle='It acks tuple "2" twice: every Storm since 0.9.7 kills the worker for that.',
        verdict={"text": "not conformant", "tone": "bad"},
    )


MATRIX: Json = {
    "id": "matrix",
    "type": "matrix",
    "title": "Every case",
    "note": "pass: as the protocol has it.",
    "corner": "case",
    "columns": [{"name": "storm.py", "note": "2.8.3, Python"}, {"name": "storm.js"}],
    "groups": [
        [
            "bolt",
            [
                {"name": "bolt.tick", "cells": [{"text": "pass", "tone": "good"}, None]},
                {"name": "bolt.settle.once", "detail": "settles once", "cells": [{"text": "-", "tone": "muted"}, None]},
            ],
        ],
        [
            "spout",
            [
                {
                    "name": "spout.sync.activate",
                    "cells": [
                        {"text": "pass", "tone": "good"},
                        {"text": "FAIL", "tone": "bad", "detail": "no sync", "file": "cells/storm_js/spout.html"},
                    ],
                }
            ],
        ],
    ],
}


@cache
def library_matrix() -> Json:
    """The page of `mlcheck matrix` for the libraries of the docs."""
    found: Json = msgspec.to_builtins(document_of(read_matrix(ROOT / "docs" / "matrix")))
    return found


@cache
def audit() -> Json:
    """A page that `mlcheck audit run --report html=PATH` made."""
    found: Json = json.loads((ROOT / "tests" / "data" / "audit_page.json").read_text(encoding="utf-8"))
    return found


@cache
def large(count: int) -> Json:
    """A page with a conversation of `count` events, and a finding in every 10,000."""
    talk = Talk()
    for number in range(count // 4):
        thread, name = f'tuple "{number}"', str(number)
        message = {"id": name, "comp": "src", "stream": "default", "task": 2, "tuple": [f"snow white {number}", number]}
        emit = {"command": "emit", "anchors": [name], "tuple": [f"snow {number}"]}
        talk.add(IN, "tuple", f"tuple {number} of src:default", message, thread=thread)
        talk.add(OUT, "emit", f'emit ["snow {number}"] anchored to {number}', emit, thread=thread)
        talk.add(IN, "task_ids", "task ids [5]", "[5]", thread=thread)
        talk.add(OUT, "ack", f"ack {number}", {"command": "ack", "id": name}, thread=thread)
    findings = [{**ACK_TWICE, "seq": seq, "related": [seq - 1]} for seq in range(9_999, count, 10_000)]
    return page(talk.section("talk", "Conversation", findings=findings))
