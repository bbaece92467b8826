"""Recordings of the tap without a tap: records as the forwarding side would tell them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import example_profile, load_rulebook, load_versions
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT
from multilang_cli.protocol.words.events import Deadline, PidChecked
from multilang_cli.protocol.words.messages import Handshake
from multilang_cli.tap import feed as tap_feed
from multilang_cli.tap.feed import TapRecord
from multilang_cli.tap.plan import TapPlan
from multilang_cli.tap.recorder import Recorder
from tests import notation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Kind

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BEGIN = TapRecord(tap_feed.FACT, 0.0, b'{"event":"started","argv":["x"],"pid":1}')
KINDS = {"in": tap_feed.IN, "out": tap_feed.OUT, "err": tap_feed.ERR}


def handshake(kind: Kind, conf: Mapping[str, object] | None = None) -> Handshake:
    """What the newest Storm says first to the component of the example topology."""
    profile = example_profile(kind)
    whole = context.realistic_conf({}, profile, conf or {})
    return context.handshake(profile, load_versions()[-1], whole, "/pids")


def records_of(events: Iterable[Event], first: Handshake) -> list[TapRecord]:
    """Events as the tap comes to know them; without what only a driver knows. Any handshake is `first`."""
    found = []
    for event in events:
        if isinstance(event.body, PidChecked | Deadline):
            continue
        raw = event.raw
        if isinstance(event.body, Handshake):
            raw = wire.encode(first, load_versions()[-1])
        kind = KINDS.get(event.channel, tap_feed.FACT)
        found.append(TapRecord(kind, event.t, raw if kind != tap_feed.FACT else msgspec.json.encode(event.body)))
    return found


def conversation(text: str, kind: Kind = "bolt", conf: Mapping[str, object] | None = None) -> list[TapRecord]:
    """Records of a conversation in the notation of rules."""
    records = records_of(notation.parse(text, DEFAULT_LIMIT), handshake(kind, conf))
    return records if b'"started"' in records[0].data else [BEGIN, *records]


def recorded(folder: Path, batches: Iterable[Sequence[TapRecord]], **plan: object) -> Recorder:
    """Record batches of records, to the end."""
    whole: dict[str, Any] = {"command": ("component", "x"), "folder": folder, **plan}
    recorder = Recorder(TapPlan(**whole), 4711, STARTED)
    for batch in batches:
        recorder.take(batch)
    recorder.end()
    return recorder


def linted(folder: Path) -> list[tuple[str, int, str]]:
    """What ``mlcheck lint`` finds in the transcripts of a folder: rule, seq and fingerprint."""
    judged = judge_transcripts(sorted(folder.glob("*.ndjson")), load_rulebook())
    return [(f.rule, f.seq, f.fingerprint) for subject in judged.subjects for f in subject.findings]


def logged(folder: Path) -> list[tuple[str, int]]:
    """The findings in the log of a folder: rule and seq."""
    [log] = folder.glob("*.log")
    lines = [line.split(" ") for line in log.read_text(encoding="utf-8").splitlines()]
    return [(words[2], int(words[4].rstrip(":"))) for words in lines if words[1] in {"must", "should", "note"}]
