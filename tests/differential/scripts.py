"""Scripts: many outputs played by one process, each followed by a marker, so that its effect can be told apart.

An output that is thought to be fatal ends its script. What is thought is what the judge says, without any process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.events import Event
from multilang_cli.protocol.words.messages import Pid, SpoutCommand, TupleMsg
from multilang_cli.protocol.words.verdicts import FATAL
from tests.differential.generate import output

if TYPE_CHECKING:
    from random import Random

    from multilang_cli.catalogue.oracle import Case

Kind = Literal["bolt", "spout"]

MARK = "mark-"
"""How the message of a marker begins; a number follows."""
OVER = "over"
"""The message of the last marker."""
TUPLES: tuple[dict[str, Any], ...] = (
    {"values": ["hello", 1], "times": 4},
    {"values": ["x"], "stream": "other"},
    {"values": [1], "comp": "__system", "stream": "__tick", "task": -1},
)
"""What a bolt is given to settle and to anchor to."""
LIMIT_MS = 4000
"""Milliseconds after which a call of Storm counts as hung: hundreds of times what one takes."""
LEAST, MOST = 6, 24
"""Harmless outputs in a script."""
TRIES = 60
"""Outputs that are looked at, at most, for one that ends the script."""
PID_SHARE = 0.04
"""The part of the scripts that try the handshake."""

_FIRST_ID = 7000
_ID = re.compile(rb"\$ID([0-9])")
_NO_UTF8 = re.compile("([\udc80-\udcff]+)")


@dataclass(frozen=True)
class Script:
    """Outputs of a component. `pid`: what it answers the handshake with, None for what is right."""

    kind: Kind
    outputs: tuple[bytes, ...]
    pid: bytes | None = None

    def case(self, name: str) -> Case:
        """The script as the oracle and the player read it."""
        reads = [{"read": "next"}] if self.kind == "spout" else [{"read": "tuple"}] * number_of_tuples()
        steps: list[dict[str, Any]] = [*reads]
        for number, data in enumerate(self.outputs):
            steps += [*steps_of(data), {"raw": marker(f"{MARK}{number}")}]
        case: Case = {"case": name, "kind": self.kind, "about": "made by the differential", "limit_ms": LIMIT_MS}
        case["until_log"] = OVER
        if self.pid is not None:
            case["handshake"] = [{"pidfile": True}, *steps_of(self.pid)]
        if self.kind == "spout":
            # Each sync too early ends a call; those too many are not made.
            syncs = sum(data.count(b"sync") for data in self.outputs)
            case["calls"] = ["activate", *["next"] * (syncs + 2)]
        else:
            case["tuples"] = list(TUPLES)
        case["steps"] = [*steps, {"raw": marker(OVER)}, *([{"raw": SYNC}] if self.kind == "spout" else [])]
        return case


SYNC = '{"command":"sync"}\nend\n'


def marker(text: str) -> str:
    """A log message, which every Storm hands on."""
    return f'{{"command":"log","msg":"{text}"}}\nend\n'


def number_of_tuples() -> int:
    """Tuples that a bolt reads before it plays."""
    return sum(given.get("times", 1) for given in TUPLES)


def steps_of(data: bytes) -> list[dict[str, Any]]:
    """The steps that print `data`: text where it is text, in which the player fills in ids; else bytes."""
    parts = _NO_UTF8.split(data.decode("utf-8", "surrogateescape"))
    return [
        {"hex": part.encode("utf-8", "surrogateescape").hex()} if number % 2 else {"raw": part}
        for number, part in enumerate(parts)
        if part
    ]


class Forecast:
    """What the judge says of outputs before they are played, on one version."""

    def __init__(self, kind: Kind, version: str) -> None:
        self._version = version
        self._judge = _begun(kind, version)

    def fatal(self, data: bytes) -> bool:
        """True if the output ends the conversation; if not, it is taken as printed."""
        before = self._judge.snapshot()
        profile = self._judge.profile
        text = _ID.sub(lambda match: str(_FIRST_ID + int(match[1])).encode(), data) + marker(MARK).encode()
        try:
            ends = any(finding.fates[self._version] in FATAL for finding in self._hear(text))
        except Exception:  # noqa: BLE001 - whatever it is, it is a find
            ends = True
        if ends:
            self._judge = Conversation(profile, load_rulebook())
            self._judge.restore(before)
            return True
        return False

    def _hear(self, text: bytes) -> list[Any]:
        frames = Framer().feed(text)
        seq = self._judge.state.last_seq
        events = [Event(seq + 1 + n, 0.0, "out", read_frame(f), f.raw) for n, f in enumerate(frames)]
        return [finding for event in events for finding in self._judge.feed(event)]


def _begun(kind: Kind, version: str) -> Conversation:
    """A conversation in which the component may speak."""
    judge = Conversation(_profile(kind, version), load_rulebook())
    judge.feed(Event(0, 0.0, "out", Pid(1)))
    if kind == "spout":
        judge.feed(Event(1, 0.0, "in", SpoutCommand("next", "")))
    else:
        for number in range(number_of_tuples()):
            sent = TupleMsg(id=str(_FIRST_ID + number), comp="src", stream="default", task=2, values=[])
            judge.feed(Event(1 + number, 0.0, "in", sent))
    return judge


@cache
def _profile(kind: Kind, version: str) -> Any:
    return msgspec.structs.replace(example_profile(kind), storm=version)


def plan(random: Random, version: str) -> Script:
    """A script of random outputs: harmless ones, so far as the judge knows, and at the end one that is not."""
    kind: Kind = random.choice(("bolt", "bolt", "spout"))
    if random.random() < PID_SHARE:
        return Script(kind, (), output("pid", random))
    forecast = Forecast(kind, version)
    wanted = random.randint(LEAST, MOST)
    outputs: list[bytes] = []
    for _ in range(TRIES):
        data = output(kind, random)
        fatal = forecast.fatal(data)
        if fatal and len(outputs) < wanted:
            continue
        outputs.append(data)
        if fatal or len(outputs) > wanted + 1:
            break
    return Script(kind, tuple(outputs))
