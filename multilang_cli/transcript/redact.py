"""Keeps the secrets of conf out of transcripts: in the header, in the handshake, and wherever they turn up later."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol import events, wire
from multilang_cli.protocol.framing import TERMINATOR, frame_text
from multilang_cli.protocol.messages import Handshake, Malformed
from multilang_cli.protocol.shortening import CUT
from multilang_cli.transcript.format import BAD, FRAMES, Header, decode_fact, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "***"
SECRET_KEYS = re.compile(
    r"passw|passphrase|secret|token|credential|authorization|auth[._-]?payload|api[._-]?key|access[._-]?key"
    r"|private[._-]?key|(?:^|[._-])key$",
    re.IGNORECASE,
)
"""Keys of conf whose values are hidden, wherever in the key this stands."""

_HARMLESS = re.compile(
    r"(?:^|[._-])(?:secs?|seconds|millis|ms|mins|count|size|class|plugin|path|file|type|enabled?|factory|strategy|freq)$",
    re.IGNORECASE,
)
_HIDDEN, _CUT = HIDDEN.encode(), CUT.encode()
_MIN_LENGTH = 8
_PIECE = 3
"""Bytes of a secret's piece beside a cut from which on it is hidden."""
_SYNTAX = '"\\'
"""At the ends of a secret these are not looked for: beside a string, JSON has them as well, and needs its own."""
_CUTS = re.compile(rb"(?=(%b))" % re.escape(_CUT))
_PAIR = re.compile(rb'("((?:[^"\\]|\\.)*)"\s*:\s*)("(?:[^"\\]|\\.)*")')


def redacted(conf: dict[str, Any], secret_keys: re.Pattern[str] = SECRET_KEYS) -> tuple[dict[str, Any], dict[str, Any]]:
    """A copy of `conf` with ``***`` for every secret, at any depth, and the secrets by the key that told them."""
    found: dict[str, Any] = {}
    return {key: _hidden(key, value, secret_keys, found) for key, value in conf.items()}, found


def _hidden(key: str, value: Any, secret_keys: re.Pattern[str], found: dict[str, Any]) -> Any:
    if _is_secret(key, secret_keys) and value not in (None, "", True, False):
        found[key] = value
        return HIDDEN
    if isinstance(value, dict):
        return {name: _hidden(name, item, secret_keys, found) for name, item in value.items()}
    if isinstance(value, list):
        return [_hidden("", item, secret_keys, found) for item in value]
    return value


def _is_secret(key: str, secret_keys: re.Pattern[str]) -> bool:
    return secret_keys.search(key) is not None and _HARMLESS.search(key) is None


class Redactor:
    """Hides the secrets of one conversation. It learns them from the profile's conf and from the handshake."""

    def __init__(self, conf: dict[str, Any], secret_keys: re.Pattern[str] = SECRET_KEYS) -> None:
        self._pattern = secret_keys
        self._needles: dict[bytes, str] = {}
        self._handshaken = False
        self._learn(redacted(conf, secret_keys)[1])

    @property
    def idle(self) -> bool:
        """True if there is nothing to hide and nothing more to learn."""
        return self._handshaken and not self._needles

    @property
    def knows(self) -> bool:
        """True if there is something to hide."""
        return bool(self._needles)

    def header(self, header: Header) -> Header:
        """`header` without secrets, with the keys that were hidden."""
        conf, found = redacted(header.profile.conf, self._pattern)
        text, keys = self._scrub(wire.encoded(encode, conf))
        conf = msgspec.json.decode(text) if keys else conf
        clean: Header = msgspec.structs.replace(
            header,
            profile=msgspec.structs.replace(header.profile, conf=conf),
            argv=tuple(self._scrub(word.encode("utf-8", "replace"))[0].decode() for word in header.argv),
            snapshot=msgspec.json.decode(self._scrub(encode(header.snapshot))[0]),
            redacted=tuple(sorted({*header.redacted, *found})),
        )
        return clean

    def event(self, event: events.Event) -> tuple[events.Event, tuple[str, ...]]:
        """`event` without secrets, and the keys that were hidden in it: the same event and () if there were none."""
        raw, keys = event.raw, set[str]()
        if event.channel == "in" and not self._handshaken:
            raw, keys = self._handshake(event)
        if event.channel not in FRAMES and event.channel != "err":
            text, keys = self._scrub(encode(event.body))
            body = decode_fact(text) if keys else event.body
        else:
            (raw, more), body = self._scrub(raw), event.body
            keys = keys | more
        if not keys:
            return event, ()
        return msgspec.structs.replace(event, raw=raw, body=body), tuple(sorted(keys))

    def _handshake(self, event: events.Event) -> tuple[bytes, set[str]]:
        self._handshaken = True
        if isinstance(event.body, Handshake):
            conf, found = redacted(event.body.conf, self._pattern)
            self._learn(found)
            if not found:
                return event.raw, set()
            return self._without(event.raw, conf) or self._unread(event.raw)[0], set(found)
        return self._unread(event.raw) if isinstance(event.body, Malformed) else (event.raw, set())

    def _without(self, raw: bytes, conf: dict[str, Any]) -> bytes | None:
        """A handshake with another conf, its line ends as they were; None if it is not strict JSON."""
        try:
            value = msgspec.json.decode(frame_text(raw))
        except BAD:
            return None
        begin, end = raw.index(b"{"), raw.rindex(b"}") + 1
        return raw[:begin] + wire.frame({**value, "conf": conf})[: -len(TERMINATOR)] + raw[end:]

    def _unread(self, raw: bytes) -> tuple[bytes, set[str]]:
        """A handshake that is no strict JSON: whatever looks like a secret key and its value."""
        found: dict[str, Any] = {}

        def hide(match: re.Match[bytes]) -> bytes:
            """A key and its value, hidden if the key looks like that of a secret."""
            key = match[2].decode("utf-8", "replace")
            if not _is_secret(key, self._pattern):
                return match[0]
            found[key] = _unquoted(match[3])
            return match[1] + b'"' + HIDDEN.encode() + b'"'

        hidden = _PAIR.sub(hide, raw)
        self._learn(found)
        return hidden, set(found)

    def _learn(self, found: dict[str, Any]) -> None:
        for key, value in found.items():
            for text in _texts(value):
                core = text.strip(_SYNTAX)
                if len(text) >= _MIN_LENGTH:
                    self._needles |= dict.fromkeys(_spellings(core if len(core) >= _MIN_LENGTH else text), key)

    def text(self, text: bytes) -> bytes:
        """`text`, in UTF-8, without the secrets known so far: for reports, which quote what a component printed.

        Nor with what is left of one where something was left out.
        """
        clean = self._scrub(text)[0]
        if not self._needles or _CUT not in clean:
            return clean
        shown, done = [], 0
        for begin, end in sorted(self._pieces(clean)):
            if end > done:
                shown += [clean[done:begin], _HIDDEN]
                done = end
        return b"".join(shown) + clean[done:]

    def _pieces(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where the pieces of secrets beside cuts are. A dot before a cut makes it a run of dots, and two cuts."""
        longest = max(map(len, self._needles))
        for cut in _CUTS.finditer(text):
            before, after = text[max(0, cut.start() - longest) : cut.start()], text[cut.end(1) : cut.end(1) + longest]
            if size := max(_ending(before, needle) for needle in self._needles):
                yield cut.start() - size, cut.start()
            if size := max(_beginning(after, needle) for needle in self._needles):
                yield cut.end(1), cut.end(1) + size

    def _scrub(self, text: bytes) -> tuple[bytes, set[str]]:
        keys: set[str] = set()
        for needle, key in self._needles.items():
            if needle in text:
                text = text.replace(needle, _HIDDEN)
                keys.add(key)
        return text, keys


def _unquoted(text: bytes) -> str:
    """The string that is written so, as far as it is one of JSON."""
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1].decode("utf-8", "replace")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _spellings(text: str) -> set[bytes]:
    """How a string is written: as it is, by Storm, by the JSON writers of most languages, in a finding's sentence.

    And each of them again within a report in JSON.
    """
    plain = text.encode("utf-8", "replace")
    once = {
        plain,
        wire.frame(text)[1:-6],
        json.dumps(text)[1:-1].encode(),
        encode(plain.decode())[1:-1],
        ascii(text)[1:-1].encode(),
    }
    return once | {encode(each.decode())[1:-1] for each in once}


def _beginning(text: bytes, secret: bytes) -> int:
    """How many bytes at the beginning of a text are the end of a secret; 0 for few, which tell nothing."""
    at = text.rfind(secret[-_PIECE:], 0, len(secret))
    while at >= 0:
        if secret.endswith(text[: at + _PIECE]):
            return at + _PIECE
        at = text.rfind(secret[-_PIECE:], 0, at + _PIECE - 1)
    return 0


def _ending(text: bytes, secret: bytes) -> int:
    """How many bytes at the end of a text are the beginning of a secret; 0 for few."""
    at = text.find(secret[:_PIECE], max(0, len(text) - len(secret)))
    while at >= 0:
        if secret.startswith(text[at:]):
            return len(text) - at
        at = text.find(secret[:_PIECE], at + 1)
    return 0


def mark(event: events.Event, keys: tuple[str, ...]) -> events.Event:
    """The note that the frame of `event` was changed: it bears the same `seq`, so that no other number is moved."""
    return events.Event(event.seq, event.t, "control", events.Redacted(event.seq, keys))
