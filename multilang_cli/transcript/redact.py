"""Keeps secrets out of transcripts and reports: in settings and commands, and wherever they turn up later."""

from __future__ import annotations

import json
import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from multilang_cli.protocol.storm.diagnosis import STRING_OR_NUMBER
from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import TERMINATOR, frame_text
from multilang_cli.protocol.words import events
from multilang_cli.protocol.words.large import LARGEST_DECODED, STRING, pieces
from multilang_cli.protocol.words.messages import Emit, Error, Handshake, Log, Malformed, TupleMsg
from multilang_cli.transcript.format import BAD, FRAMES, Header, decode_fact, encode
from multilang_cli.transcript.given import GIVEN
from multilang_cli.transcript.joined import ChunkedText
from multilang_cli.transcript.key_block import KeyBlock
from multilang_cli.transcript.scrubber import SecretScrubber
from multilang_cli.transcript.secrets import HIDDEN, Found, hide, hide_words, in_words, is_name, redacted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["HIDDEN", "TOLD", "USUAL", "Redactor", "everywhere", "is_name", "mark", "redacted"]

T = TypeVar("T")
Names = re.Pattern[str] | Literal["usual"]
USUAL: Literal["usual"] = "usual"
"""The names of ``conformance/secrets.yaml``."""

TOLD = frozenset({Log, Error, Malformed})
"""What is for people: what looks like a secret is hidden in it."""
_PROTOCOL_FIELDS = frozenset({"id", "anchors", "stream", "task", "comp", "need_task_ids", "pid", "pidDir"})
"""Fields of messages that are never changed: the protocol hangs on them."""
_COMMANDS = wire.COMMANDS | {"emit", "ack", "fail", "log", "error", "sync", "metrics"}
_FIELDS = frozenset(
    {"id", "rule", "kind", "type", "verdict", "level", "storm", "version", "fingerprint", "case", "hash", "channel"}
)
"""Fields of results that are never changed: reports are made by them."""
_LONGEST_NUMBER = 400
"""Digits of a number that may be a secret: Python reads none of thousands."""
_NAME = re.compile(rb"[ \t\r\n]*+,?[ \t\r\n]*+(%b)[ \t\r\n]*+:[ \t\r\n]*+" % STRING.pattern, re.DOTALL)
"""The name of a message's next field, up to its value."""
_decode_outline = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_PAIR = re.compile(rb'("((?:[^"\\]|\\.)*)"\s*:\s*)("(?:[^"\\]|\\.)*")')


class Redactor:
    """Hides the secrets of one conversation. It learns them from settings, commands, and the handshake.

    `settings`: conf and environment. `secret_keys`: the names of secrets in them. `words`: of the component's command.
    `idle`: true if there is nothing known to hide, and nothing more to learn.
    """

    def __init__(self, settings: Mapping[str, Any], secret_keys: Names = USUAL, words: Sequence[str] = ()) -> None:
        self._names = None if secret_keys == USUAL else secret_keys
        self._scrubber = SecretScrubber()
        self._handshaken = False
        self._stderr = ChunkedText()
        self._pieces_said, self._key_said = b"", KeyBlock()
        self.idle = False
        for found in (redacted(settings, self._names)[1], in_words(words), GIVEN.found):
            self._learn(found)

    @property
    def knows(self) -> bool:
        """True if there is something to hide."""
        return bool(self._scrubber)

    def passes(self, data: bytes) -> bool:
        """True if there is nothing to hide in frames, given as one text."""
        return self._handshaken and self._scrubber.misses(data)

    def misses(self, data: bytes) -> bool:
        """True if nothing that is known stands in `data`, and nothing has to be looked for by a pattern."""
        return self._scrubber.misses(data)

    def leaves(self, event: events.Event) -> bool:
        """True if nothing can be secret in an event: a frame that tells people nothing, where no secret is known."""
        return self.idle and event.channel in FRAMES and event.body.__class__ not in TOLD

    def _learn(self, found: Found) -> None:
        if self._scrubber.learn(found):
            self.idle = False

    # --- transcripts --------------------------------------------------------------------------------------------

    def header(self, header: Header) -> Header:
        """`header` without secrets, with the keys that were hidden."""
        conf, found = redacted(header.profile.conf, self._names)
        keys: set[str] = set(found)
        clean: Header = msgspec.structs.replace(
            header,
            profile=msgspec.structs.replace(header.profile, conf=self._scrubber.clean(conf, keys)),
            argv=self.words(header.argv),
            snapshot=self._scrubber.clean(header.snapshot, set()),
            redacted=tuple(sorted({*header.redacted, *keys} if keys else header.redacted)),
        )
        return clean

    def event(self, event: events.Event) -> tuple[events.Event, tuple[str, ...]]:
        """`event` without secrets, and the keys that were hidden in it: the same event and () if there were none."""
        keys: set[str] = set()
        if event.channel in FRAMES:
            raw = event.raw
            if event.channel == "in" and not self._handshaken:
                raw = self._handshake(event, keys)
            changed = msgspec.structs.replace(event, raw=self._frame(raw, event.body, keys)) if event.raw else event
        elif event.channel == "err":
            changed = msgspec.structs.replace(event, raw=self.chunk(event.raw, self._stderr, keys))
        else:
            changed = self._fact(event, keys)
        return (changed, tuple(sorted(keys))) if keys else (event, ())

    def _fact(self, event: events.Event, keys: set[str]) -> events.Event:
        body = event.body
        if isinstance(body, events.Started):
            words = self.words(body.argv, keys)
            return msgspec.structs.replace(event, body=msgspec.structs.replace(body, argv=words)) if keys else event
        if not self._scrubber:
            return event
        told: set[str] = set()
        text = self._scrubber.scrub(encode(body), told)
        if told:
            try:
                body = decode_fact(text)
            except BAD:
                # A secret that is one of our own words.
                body = self.struct(body)
            event = msgspec.structs.replace(event, body=body)
        keys |= told
        return event

    def _handshake(self, event: events.Event, keys: set[str]) -> bytes:
        self._handshaken, self.idle = True, not self._scrubber
        if isinstance(event.body, Handshake):
            conf, found = redacted(event.body.conf, self._names)
            self._learn(found)
            if conf == event.body.conf:
                return event.raw
            keys |= set(found)
            return _rewritten(event.raw, {"conf": conf}) or self._unread(event.raw, keys)
        return self._unread(event.raw, keys) if isinstance(event.body, Malformed) else event.raw

    def _unread(self, raw: bytes, keys: set[str]) -> bytes:
        """A handshake that is no strict JSON: whatever looks like a secret key and its value, or like a secret."""
        found: Found = {}

        def replace(match: re.Match[bytes]) -> bytes:
            """A key and its value, hidden if the key looks like that of a secret."""
            key, value = match[2].decode("utf-8", "replace"), _unquoted(match[3])
            clean = redacted({key: value}, self._names)
            for name, secrets in clean[1].items():
                found.setdefault(name, []).extend(secrets)
            return match[0] if clean[0][key] == value else match[1] + encode(clean[0][key])

        hidden = _PAIR.sub(replace, raw)
        self._learn(found)
        keys |= set(found)
        return hidden

    def _frame(self, raw: bytes, body: object, keys: set[str]) -> bytes:
        """A message without secrets; its ids, tasks, anchors and streams are what they were."""
        said = body.msg or "" if isinstance(body, Log | Error) else ""
        told = self._said(hide(self._key_said.line(said), "text"), keys) if said else ""
        if isinstance(body, Malformed) or told != said or not self._scrubber.misses(raw):
            # A declared pattern may fit an id, which stays.
            if (
                len(raw) > LARGEST_DECODED
                and isinstance(body, Emit | TupleMsg | Malformed)
                and not self._scrubber.patterns
            ):
                is_json = not isinstance(body, Malformed) or body.strict
                return self._large_message(raw, keys) if is_json else self._scrubber.told(raw, keys)
            try:
                fields = msgspec.json.decode(frame_text(raw))
                return self._message(raw, fields, told, keys) if isinstance(fields, dict) else raw
            except BAD:
                return self._scrubber.told(raw, keys)
        return raw

    def _message(self, raw: bytes, fields: dict[str, Any], told: str, keys: set[str]) -> bytes:
        """A message of these fields; `told`: what it tells people, with what looks like a secret hidden."""
        found: set[str] = set()
        command = fields.get("command")
        kept = _PROTOCOL_FIELDS | {"command"} if isinstance(command, str) and command in _COMMANDS else _PROTOCOL_FIELDS
        clean = {key: value if key in kept else self._scrubber.clean(value, found) for key, value in fields.items()}
        if told and told != fields.get("msg"):
            clean["msg"] = self._scrubber.clean(told, found)
            found.add("msg")
        keys |= found
        if not found:
            return raw
        simple = self._scrubber.scrub(raw, set())
        try:
            # As it was written, but for the secrets, where that says the same.
            if msgspec.json.decode(frame_text(simple)) == clean:
                return simple
        except BAD:
            pass
        return _rewritten(raw, clean) or simple

    def _large_message(self, raw: bytes, keys: set[str]) -> bytes:
        """A large message without secrets: what is no id, task, anchor or stream, nor the name of a field."""
        try:
            fields = _decode_outline(frame_text(raw))
        except BAD:
            return self._large(memoryview(raw), keys)
        shown: list[bytes | memoryview] = []
        begin = done = raw.find(b"{") + 1
        view = memoryview(raw)
        for _ in fields:
            named = _NAME.match(raw, done)
            name = msgspec.json.decode(named[1]) if named else ""
            value = memoryview(fields.get(name, b""))
            if not named or view[named.end() : named.end() + len(value)] != value:
                # A name that stands twice.
                return self._large(view, keys)
            kept = name in _PROTOCOL_FIELDS or name == "command"
            shown += [view[done : named.end()], value if kept else self._large(value, keys)]
            done = named.end() + len(value)
        return b"".join([view[:begin], *shown, view[done:]])

    def _large(self, raw: memoryview, keys: set[str]) -> bytes:
        """A large message without secrets, token by token: as objects it takes up to thirty times its size."""
        parts = pieces(raw)
        hide_token = partial(self._token, keys)
        return b"".join(
            part if self._scrubber.misses(part) else STRING_OR_NUMBER.sub(hide_token, part) for part in parts
        )

    def _token(self, keys: set[str], found: re.Match[bytes]) -> bytes:
        token = found[0]
        if token[:1] == b'"':
            return self._scrubber.scrub(token, keys)
        if len(token) > _LONGEST_NUMBER or not token.lstrip(b"-").isdigit():
            return token
        hidden = self._scrubber.clean(int(token), keys)
        return token if hidden == int(token) else encode(hidden)

    def chunk(self, raw: bytes, joined: ChunkedText, keys: set[str] | None = None) -> bytes:
        """A chunk of the text `joined` without secrets, nor a piece of one that other chunks hold as well."""
        return self._scrubber.chunk(raw, joined, set() if keys is None else keys)

    def _said(self, said: str, keys: set[str]) -> str:
        """A text of the log, hidden if it is a piece of a secret that the one before it has begun."""
        raw = said.encode("utf-8", "surrogatepass")
        before, self._pieces_said = self._pieces_said, b""
        if not self._scrubber.may_go_on(raw):
            return said
        joined = (before + raw)[-self._scrubber.longest :]
        self._pieces_said = joined
        found: set[str] = set()
        if self._scrubber.begun(joined, found) <= len(raw):
            return said
        keys |= found
        return HIDDEN

    # --- texts and values ---------------------------------------------------------------------------------------

    def words(self, words: Sequence[str], keys: set[str] | None = None) -> tuple[str, ...]:
        """The words of a command without secrets."""
        keys = set() if keys is None else keys
        told = keys
        return tuple(
            self._scrubber.clean(word, keys) for word in hide_words(words, lambda key, _: told.add(key or "argv"))
        )

    def text(self, text: bytes) -> bytes:
        """`text`, in UTF-8, without secrets: for reports, which quote what a component printed.

        Nor with what is left of one where something was left out.
        """
        return self._scrubber.without_pieces(self._scrubber.told(text, set()))

    def line(self, text: str) -> str:
        """The same for a text in memory."""
        return self.text(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def known_in(self, text: str) -> str:
        """`text` without the secrets that are known; what only looks like one stays."""
        if not self._scrubber:
            return text
        clean = self._scrubber.without_pieces(self._scrubber.scrub(text.encode("utf-8", "surrogatepass"), set()))
        return self._scrubber.by_pattern(clean.decode("utf-8", "surrogatepass"), set())

    def clean(self, value: Any) -> Any:
        """A value of JSON without the secrets that are known."""
        return self._scrubber.clean(value, set())

    def value(self, value: Any) -> Any:
        """A value of JSON without secrets, as of a setting."""
        return self._scrubber.clean(hide_words([value])[0], set())

    def struct(self, value: T) -> T:
        """A result without secrets: the texts in it, but for our own words, and those by which reports are made."""
        plain = msgspec.to_builtins(value)
        shape: Any = type(value)
        clean = self._fields(plain, {word: word for word in _own_words(shape)})
        return value if clean == plain else msgspec.convert(clean, shape)

    def _fields(self, value: Any, done: dict[str, str]) -> Any:
        """`value` without secrets. `done`: texts met before: thousands of findings say the same few sentences."""
        if isinstance(value, str):
            if value not in done:
                done[value] = self.line(value)
            return done[value]
        if isinstance(value, dict):
            return {key: item if key in _FIELDS else self._fields(item, done) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._fields(item, done) for item in value]
        return value


def everywhere() -> Redactor:
    """The redactor of what is known to be secret everywhere in this process."""
    return _everywhere(GIVEN.changes)


@lru_cache(maxsize=1)
def _everywhere(changes: int) -> Redactor:
    del changes
    return Redactor({})


@lru_cache
def _own_words(shape: Any) -> frozenset[str]:
    """Words of which one must stand in some field of such a value: a secret may equal one, and gives away nothing."""
    parts: list[Any] = [msgspec.json.schema(shape)]
    found: set[str] = set()
    for part in parts:
        if isinstance(part, dict):
            found |= {word for word in part.get("enum", ()) if isinstance(word, str)}
            parts += part.values()
        elif isinstance(part, list):
            parts += part
    return frozenset(found)


def _rewritten(raw: bytes, changes: dict[str, Any]) -> bytes | None:
    """A message with other fields, its line ends as they were; None if it is not strict JSON."""
    try:
        value = msgspec.json.decode(frame_text(raw))
    except BAD:
        return None
    begin, end = raw.index(b"{"), raw.rindex(b"}") + 1
    return raw[:begin] + wire.frame({**value, **changes})[: -len(TERMINATOR)] + raw[end:]


def _unquoted(text: bytes) -> str:
    """The string that is written so, as far as it is one of JSON."""
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1].decode("utf-8", "replace")


def mark(event: events.Event, keys: tuple[str, ...]) -> events.Event:
    """The note that the frame of `event` was changed: it bears the same `seq`, so that no other number is moved."""
    return events.Event(event.seq, event.t, "control", events.Redacted(event.seq, keys))
