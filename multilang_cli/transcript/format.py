"""The lines of a transcript as values (``schemas/transcript.schema.json``): header, event line, end line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from multilang_cli.catalogue.judging import schema_fault
from multilang_cli.protocol.words.events import Channel, Fact
from multilang_cli.protocol.words.shortening import SHOWN_OF_VALUE, ends
from multilang_cli.protocol.words.verdicts import Profile

MAJOR, MINOR = 1, 0
_LONGEST_VERSION = 20
"""Characters of a version: Python reads no number of thousands."""
VERSION = f"{MAJOR}.{MINOR}"
"""The version of the format that is written. Every 1.y is read."""

FRAMES = frozenset({"in", "out"})
"""Channels of frames; `err` has chunks of bytes, the others facts."""


class TranscriptError(Exception):
    """A file that is no transcript, or not one that can be read. `path`, `line` (from 1, 0 if none) and `why`."""

    def __init__(self, path: str, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}" if line else f"{path}: {why}")
        self.path, self.line, self.why = path, line, why


class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first line of a conversation, or of a further part of one.

    `conv`: the conversation's id, the same in all its parts; `part` counts from 1. `started_at`: wall-clock time at
    t = 0, ISO 8601. `snapshot`: the judge's state where a further part begins (``Conversation.snapshot``). `redacted`:
    keys of conf whose values were hidden. `transcript`: the version of the format.
    """

    conv: str
    profile: Profile
    transcript: str = ""
    part: Annotated[int, msgspec.Meta(ge=1)] = 1
    storm: str = ""
    argv: tuple[str, ...] = ()
    topology: str = ""
    component: str = ""
    task: int | None = None
    worker: str = ""
    host: str = ""
    started_at: str = ""
    snapshot: dict[str, Any] | None = None
    redacted: tuple[str, ...] = ()


class Counts(msgspec.Struct, frozen=True):
    """Contents of a part: events, and bytes of frames and chunks, by channel."""

    events: dict[str, int] = {}
    bytes: dict[str, int] = {}


LARGEST_SEQ = 2**63 - 1


class EndLine(msgspec.Struct, frozen=True):
    """The last line of a part: nothing was lost."""

    conv: str
    end: Counts


class EventLine(msgspec.Struct, frozen=True, gc=False):
    """One event as it stands in the file; `msg` is left as it was written.

    Every line is read as one of these first, so `conv` and the rest have defaults: see ``read``.
    """

    conv: str = ""
    seq: Annotated[int, msgspec.Meta(le=LARGEST_SEQ)] = -1
    t: float = -1.0
    ch: str = ""
    msg: msgspec.Raw = msgspec.Raw()
    raw64: str | None = None
    off: int | None = None
    fault: Literal["", "cut", "too-long"] = ""
    transcript: str | None = None
    end: Counts | None = None


class PlainLine(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The line of a frame that stands there as it was, behind the one before it in its stream: most lines are such."""

    conv: str
    seq: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_SEQ)]
    t: Annotated[float, msgspec.Meta(ge=0)]
    ch: Literal["in", "out"]
    msg: msgspec.Raw


CHANNELS: frozenset[str] = frozenset(Channel.__args__)  # type: ignore[attr-defined]

BAD = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoders raise."""
decode_line = msgspec.json.Decoder(EventLine).decode
decode_plain_lines = msgspec.json.Decoder(PlainLine).decode_lines
_decode_header = msgspec.json.Decoder(Header).decode
decode_fact = msgspec.json.Decoder(Fact).decode
encode = msgspec.json.Encoder().encode


def decode_header(text: bytes) -> Header:
    """The header on a line. Raises one of `BAD`, also for a JSON Schema of values in it that can't be applied."""
    header = _decode_header(text)
    for name, stream in (header.profile.streams or {}).items():
        fault = None if stream.schema is None else schema_fault(stream.schema)
        if fault is not None:
            raise msgspec.ValidationError(f"the schema of stream {ends(name, SHOWN_OF_VALUE)!r}: {fault.why}")
    return header


def header_line(header: Header) -> bytes:
    """The line that opens `header`'s part, in the version that is written here."""
    # That key comes first: by it a header is known.
    return encode({"transcript": "", **msgspec.to_builtins(header)} | {"transcript": VERSION}) + b"\n"


def check_version(version: str) -> str:
    """The reason why a transcript of `version` (major.minor) can not be read here; empty if it can."""
    major, dot, minor = version.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal() and len(version) <= _LONGEST_VERSION):
        return f"{version[:20]!r} is no version of the format"
    if int(major) != MAJOR:
        newer = "; a newer mlcheck reads it" if int(major) > MAJOR else ""
        return f"the format is version {version[:20]}; this mlcheck reads {MAJOR}.x{newer}"
    return ""


def is_newer(version: str) -> bool:
    """True if lines may hold what this reader does not know."""
    return int(version.partition(".")[2]) > MINOR
