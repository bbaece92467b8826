"""Results made by hand: what the formats are tested on."""

from __future__ import annotations

import json

import msgspec

from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import Clause, Effect, Fate, Finding, Outlook, Profile, Rule, StormVersion
from multilang_cli.reports.escape import decode_at
from multilang_cli.reports.model import (
    ComponentReport,
    ExcerptLine,
    Exit,
    RunResult,
    Selection,
    SubjectResult,
    Suite,
    Tool,
    Untested,
)
from multilang_cli.reports.verdict import Circumstances, conclude

GONE = "Pipe to subprocess seems to be broken! No output read."


def version(name: str, *, verified: bool = True) -> StormVersion:
    return StormVersion(
        id=name,
        verified=verified,
        dialect="simple",
        context="full",
        activate=True,
        task_ids="overtake",
        heartbeats=True,
        refreshed_by="sync",
        timeout_key="topology.subprocess.timeout.secs",
        command_id=True,
    )


ACK_TWICE = Rule(
    id="ack-twice",
    title="A tuple is settled once",
    kind="bolt",
    level="must",
    occasions=("emit",),
    clause=Clause("The bolt acks or fails a tuple; its id is then forgotten.", "Multilang protocol, Bolts"),
    effects=(
        Effect(
            versions=">=2.0", fate="dies", error=f"java.lang.RuntimeException: {GONE}", confirmed_by=("bolt-ack-twice",)
        ),
        Effect(versions="<2.0", fate="ignored"),
    ),
    why="Storm keeps the id only until the first ack.",
    mend="Ack each tuple in one place, at the end of process().\n\nIn Python, use BasicBolt.",
    good='in   {"id":"5",...}\nout  {"command":"ack","id":"5"}',
    bad='in   {"id":"5",...}\nout  {"command":"ack","id":"5"}\nout  {"command":"ack","id":"5"}',
    since="0.7.1",
)
STRAY_TEXT = Rule(
    id="stray-text",
    title="Only messages on stdout",
    kind="both",
    level="must",
    occasions=("emit",),
    clause=Clause("标准输出 is for messages.", "Multilang protocol"),
    effects=(Effect(versions="*", fate="dies"),),
    why="Storm parses it.",
    mend="Print to stderr, or send a log message.",
    good="{}",
    bad="hello",
)
DIRECT = Rule(
    id="direct-emit",
    title="A direct emit kills workers since 2.6",
    kind="both",
    level="note",
    occasions=("emit",),
    clause=Clause("task: the task to send to.", "Multilang protocol, Emit"),
    effects=(Effect(versions=">=2.6", fate="dies"), Effect(versions="<2.6", fate="survives")),
    why="A cast.",
    mend="Use a fields grouping.",
    good="{}",
    bad="{}",
)
RULEBOOK = Rulebook(
    {rule.id: rule for rule in (ACK_TWICE, STRAY_TEXT, DIRECT)},
    (version("0.9.2", verified=False), version("1.2.4"), version("2.5.0"), version("2.8.3")),
)


def finding(rule: Rule, message: str, seq: int = 3, related: tuple[int, ...] = ()) -> Finding:
    effects = RULEBOOK.effects(rule.id)
    fates: dict[str, Fate] = {name: effect.fate for name, effect in effects.items()}
    return Finding(
        rule=rule.id,
        level=rule.level,
        seq=seq,
        offset=120,
        message=message,
        related=related,
        fates=fates,
        errors={name: effect.error for name, effect in effects.items() if effect.error},
        fingerprint=rule.id,
    )


def passed(*ids: str) -> tuple[SubjectResult, ...]:
    return tuple(SubjectResult(id=name, title=name, verdict="pass", duration=0.01) for name in ids)


TWICE = SubjectResult(
    id="bolt.settle.once",
    title="Each tuple is settled once",
    verdict="fail",
    reason="tuple 5 was acked twice",
    expected="one ack or fail of tuple 5",
    duration=0.25,
    findings=(finding(ACK_TWICE, "tuple 5 was acked twice", related=(1, 2)),),
    outlook=(Outlook("2.8.3", "dies", 3, "ack-twice"),),
    excerpt=(
        ExcerptLine(seq=1, t=0.01, channel="in", text='{"id":"5","comp":"src","stream":"default","tuple":["a"]}'),
        ExcerptLine(seq=2, t=0.02, channel="out", text='{"command":"ack","id":"5"}', note="the first"),
        ExcerptLine(seq=3, t=0.021, channel="out", text='{"command":"ack","id":"5"}', mark=True, note="again", at=22),
    ),
    stderr_tail="Traceback (most recent call last):\n  File bolt.py, line 3\nValueError: no\n",
    exit=Exit(code=1),
    transcript=".mlcheck/last/bolt.settle.once.ndjson",
    reproduce="mlcheck run bolt.py -k bolt.settle.once",
)
WARNED = SubjectResult(
    id="bolt.emit.direct",
    title="A direct emit",
    level="note",
    verdict="warn",
    reason="emits to task 7: right by the protocol, but on Storm 2.8.3: worker dies",
    findings=(finding(DIRECT, "emits to task 7"),),
)
HOSTILE_BYTES = (
    b'\x1b[2J\x1b]0;owned\x07 \xff\xfe {"a":"\xe2\x80\xae\xc2\x9b31m&<b>]]>"}\x00 \xe4\xb8\x96\xe7\x95\x8c wrong'
)
_TEXT, _AT = decode_at(HOSTILE_BYTES, len(HOSTILE_BYTES) - 5)
HOSTILE = SubjectResult(
    id="bolt.stdout.clean",
    title="Nothing but messages on stdout",
    verdict="fail",
    reason=f"text that is no message: {_TEXT}",
    findings=(finding(STRAY_TEXT, f"text that is no message: {_TEXT}", seq=9),),
    excerpt=(
        ExcerptLine(seq=9, t=1.5, channel="out", text=_TEXT, mark=True, note="no JSON\x1b[31m", at=_AT),
        ExcerptLine(seq=10, t=1.6, channel="err", text="x" * 5000 + "\ud800"),
    ),
    stderr_tail="\x1b[31mred\x1b[0m\r\n" + "y" * 300 + "\n\u202eright to left",
    exit=Exit(signal=9),
)
BASE = RunResult(
    tool=Tool(version="0.1.0"),
    suite=Suite(name="component suite", hash="5f3a"),
    component=ComponentReport(command=("python3", "bolt.py"), why=".py: python3 on PATH", kind="bolt"),
    profile=Profile(
        kind="bolt",
        conf={"db.password": "hunter2", "topology.message.timeout.secs": 30},
        tasks={3: "split"},
        limits={"settle": float("inf")},
    ),
    storm="2.8.3",
    seed=7,
    started_at="2026-11-21T04:35:48Z",
    duration=3.1,
    platform={"system": "Linux", "python": "3.11.7"},
    selection=Selection(available=25, selected=25),
    limits={"handshake": 10.0, "settle": float("inf")},
    notes=('without samples: fed one tuple ["snow white and the seven dwarfs"]',),
)


def result(*subjects: SubjectResult, circumstances: Circumstances | None = None, **changes: object) -> RunResult:
    """A concluded result with these subjects."""
    return conclude(msgspec.structs.replace(BASE, subjects=subjects, **changes), circumstances)


GREEN = passed("bolt.heartbeat.idle", "bolt.heartbeat.behind-backlog", "both.pid.first")
SKIPPED = SubjectResult(id="bolt.tick.settled", title="Ticks", verdict="skip", reason="undeclared: ticks")
AGAIN = msgspec.structs.replace(TWICE, id="bolt.settle.unicode", title="Unicode is settled once")
RESULTS: dict[str, RunResult] = {
    "pass": result(*GREEN, SKIPPED),
    "fail": result(*GREEN, WARNED, TWICE, AGAIN, SKIPPED),
    "hostile": result(HOSTILE),
    "interrupted": result(
        *GREEN,
        circumstances=Circumstances(interrupted=True),
        untested=(Untested(reason="interrupted before they ran", ids=("bolt.settle.once", "bolt.unicode")),),
        next_command="mlcheck run bolt.py --resume",
    ),
    "nothing": result(),
    "silent": result(
        circumstances=Circumstances(no_first_message=True),
        component=ComponentReport(command=("./bolt",), exit=Exit(code=127), stderr_tail="./bolt: not found\n"),
        notes=("the component ended before its first message",),
    ),
}


def from_json(text: str | bytes) -> RunResult:
    """A report read back. Raises msgspec.ValidationError if it is none."""
    return msgspec.convert(json.loads(text), RunResult, str_keys=True)
