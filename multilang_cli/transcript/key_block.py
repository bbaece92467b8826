"""A private key in a text that comes in parts: its lines are told by the mark that begins it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.protocol.words.messages import Error, Log
from multilang_cli.transcript.secrets import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.words.events import Event

_BEGIN = re.compile(rb"-----BEGIN (?:[A-Z0-9]+ ){0,5}PRIVATE KEY(?: BLOCK)?-----[ \t]*(?:\r?\n|\\n|$)")
_LINES = re.compile(rb"(?:[ \t]*+(?:[A-Za-z0-9+/=\\]++|[A-Z][A-Za-z\-]{2,20}: [^\r\n]*+)?[ \t]*+(?:\r?\n|$))*+")
"""Lines of a key; whatever else there is ends it, so that a complaint that quotes the mark hides nothing."""
_LONGEST_MARK = 100


class KeyBlock:
    """Remembers whether a text is amid a private key."""

    def __init__(self) -> None:
        self._inside = False
        self._tail = b""

    def places(self, part: bytes) -> Iterator[tuple[int, int]]:
        """The places of a key in the next part of the text."""
        text, known = self._tail + part, len(self._tail)
        at = known if self._inside else 0
        while True:
            if not self._inside:
                found = _BEGIN.search(text, at)
                if found is None:
                    break
                self._inside, at = True, found.end()
            lines = _LINES.match(text, at)
            end = lines.end() if lines else at
            hidden = max(at, known), max(at, known) + len(text[max(at, known) : end].rstrip())
            if hidden[1] > hidden[0]:
                yield hidden[0] - known, hidden[1] - known
            at = end
            if end == len(text):
                break
            self._inside = False
        self._tail = b"" if self._inside else text[max(at, len(text) - _LONGEST_MARK) :]

    def without(self, part: bytes) -> bytes:
        """The next part of the text, without what of a key is in it."""
        shown, done = b"", 0
        for begin, end in self.places(part):
            shown += part[done:begin] + HIDDEN.encode()
            done = end
        return shown + part[done:] if done else part

    def line(self, said: str) -> str:
        """The next line of the text, likewise."""
        raw = said.encode("utf-8", "surrogatepass") + b"\n"
        return self.without(raw)[:-1].decode("utf-8", "surrogatepass")


class KeylessEvents:
    """Takes private keys out of events, in their order: chunks of stderr, and texts for people, hold pieces of one."""

    def __init__(self) -> None:
        self._stderr, self._log = KeyBlock(), KeyBlock()

    def event(self, event: Event) -> Event:
        """The next event; the same if nothing of a key is in it."""
        if event.channel == "err":
            raw = self._stderr.without(event.raw)
            return event if raw == event.raw else msgspec.structs.replace(event, raw=raw)
        if not isinstance(event.body, Log | Error) or not event.body.msg:
            return event
        said = self._log.line(event.body.msg)
        if said == event.body.msg:
            return event
        fields = msgspec.json.decode(frame_text(event.raw))
        body = msgspec.structs.replace(event.body, msg=said)
        return msgspec.structs.replace(event, raw=wire.frame({**fields, "msg": said}), body=body)
