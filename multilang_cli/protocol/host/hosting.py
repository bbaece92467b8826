"""Common parts of the rules of hosts: their memory, the state of Storm, and a look at what is no message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words.feeds import Feed, HostMemory
from multilang_cli.protocol.words.verdicts import FATAL

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.verdicts import Outlook

_decode_first = json.JSONDecoder().raw_decode


def memory_of(judge: RuleContext) -> HostMemory:
    """The judge's memory of the host; at first, all of its feed is still to be said."""
    if judge.state.hosted is None:
        feed = judge.profile.feed or Feed()
        told = judge.version.activate
        calls = [call for call in feed.calls if told or call.call not in {"activate", "deactivate"}]
        judge.state.hosted = HostMemory(tuples=list(feed.tuples), calls=calls)
    return judge.state.hosted


def is_free(judge: RuleContext) -> bool:
    """True for a host that was told nothing: what it says is held to Storm alone, not to a feed."""
    return judge.profile.feed is not None and judge.profile.feed.free


def death_of(judge: RuleContext) -> Outlook | None:
    """The death or hang of this Storm by now; None if it goes on."""
    mine = next(outlook for outlook in judge.outlook() if outlook.version == judge.version.id)
    return mine if mine.fate in FATAL else None


def is_whole(raw: bytes) -> bool:
    """True if the bytes of a message end with a line ``end``."""
    return raw.endswith((b"\nend\n", b"\rend\n", b"\rend\r", b"\nend\r")) or raw in {b"end\n", b"end\r"}


def value_of(raw: bytes) -> Json:
    """The JSON value of a message, whatever its shape; None if it is none."""
    try:
        return json.loads(frame_text(raw))
    except (ValueError, RecursionError):
        return None


def holds_several(raw: bytes) -> bool:
    """True if what should be one message is several JSON values."""
    try:
        text = frame_text(raw).decode()
        _, end = _decode_first(text)
        rest = text[end:].lstrip()
        return rest[:1] in {"{", "["} and bool(_decode_first(rest))
    except (ValueError, RecursionError):
        return False
