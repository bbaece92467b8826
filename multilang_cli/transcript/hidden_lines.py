"""Lines of recordings without secrets, one by one and in any order: for a program that copies them elsewhere."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.words.messages import Malformed
from multilang_cli.transcript.format import BAD, FRAMES, EventLine, decode_header, decode_line, encode
from multilang_cli.transcript.reader import ConversationReader
from multilang_cli.transcript.redact import Redactor
from multilang_cli.transcript.write import is_json, is_plain

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Event

_BAD = (*BAD, ValueError)
_TELLING = (b'"conf"', b'"argv"', b'"raw64"')
"""One of them stands in every line that may hold a secret which is not known, or not as it is."""
_IDENTIFYING = frozenset({"transcript", "conv"})
_HOLDING = frozenset({"profile", "argv", "snapshot"})
"""Parts of a header in which secrets stand by their keys."""


class LineRedactor:
    """Hides in lines what this process knows to be secret, and what settings in headers that it has met name so."""

    def __init__(self) -> None:
        self._of: dict[str, Redactor] = {}
        self._usual = Redactor({})

    def line(self, text: bytes) -> bytes:
        """A line, given and returned without its line end; the same bytes if nothing is hidden in it."""
        if not self._of and self._usual.misses(text) and not any(mark in text for mark in _TELLING):
            return text
        try:
            line = decode_line(text)
            if line.transcript is not None:
                return self._header(text)
            return text if line.end is not None else self._event(line, text)
        except _BAD:
            return self._usual.text(text)

    def _header(self, text: bytes) -> bytes:
        header = decode_header(text)
        redactor = Redactor(header.profile.conf, words=header.argv)
        clean = redactor.header(header)
        fields = msgspec.json.decode(text)
        shown = _clean(fields, redactor)
        shown |= {key: msgspec.to_builtins(getattr(clean, key)) for key in _HOLDING & fields.keys()}
        if clean.redacted:
            shown["redacted"] = clean.redacted
        if shown == fields:
            return text
        self._of[header.conv] = redactor
        return encode(shown)

    def _event(self, line: EventLine, text: bytes) -> bytes:
        redactor = self._of.get(line.conv, self._usual)
        event = ConversationReader(newer=True, expecting_pid=False).event(line)
        if event is None:
            fields = msgspec.json.decode(text)
            clean = _clean(fields, redactor)
            return text if clean == fields else encode(clean)
        changed, keys = redactor.event(event)
        return _rewritten(line, changed) if keys else text


def _clean(fields: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A line that may have more than this version of the format knows; it stays one of its own version."""
    return {key: value if key in _IDENTIFYING else redactor.clean(value) for key, value in fields.items()}


def _rewritten(line: EventLine, event: Event) -> bytes:
    """The line with what `event` says now, its place as it was."""
    fields: dict[str, Any] = {"conv": line.conv, "seq": line.seq, "t": line.t, "ch": line.ch}
    if line.off is not None:
        fields["off"] = line.off
    if line.fault:
        fields["fault"] = line.fault
    if line.ch not in FRAMES and line.ch != "err":
        return encode({**fields, "msg": event.body})
    if not isinstance(event.body, Malformed) and is_plain(event) and is_json(event.raw[:-5]):
        return encode({**fields, "msg": msgspec.Raw(event.raw[:-5])})
    return encode({**fields, "raw64": b64encode(event.raw).decode()})
