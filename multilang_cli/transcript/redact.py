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
from multilang_cli.protocol.words.shortening import CUT
from multilang_cli.transcript.format import BAD, FRAMES, Header, decode_fact, encode
from multilang_cli.transcript.given import BY_PATTERN, GIVEN
from multilang_cli.transcript.joined import LONGEST_LINE, ChunkedText
from multilang_cli.transcript.key_block import KeyBlock
from multilang_cli.transcript.secrets import HIDDEN, Found, hide, hide_words, in_words, is_name, redacted, texts_of
from multilang_cli.transcript.spellings import pattern_of, spellings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
_HIDDEN, _CUT = HIDDEN.encode(), CUT.encode()
_LONGEST_NUMBER = 400
"""Digits of a number that may be a secret: Python reads none of thousands."""
_PIECE_OF_SECRET = 3
"""Bytes of a secret's piece beside a cut from which on it is hidden."""
_NAME = re.compile(rb"[ \t\r\n]*+,?[ \t\r\n]*+(%b)[ \t\r\n]*+:[ \t\r\n]*+" % STRING.pattern, re.DOTALL)
"""The name of a message's next field, up to its value."""
_decode_outline = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_CUTS = re.compile(rb"(?=(%b))" % re.escape(_CUT))
_PAIR = re.compile(rb'("((?:[^"\\]|\\.)*)"\s*:\s*)("(?:[^"\\]|\\.)*")')


class Redactor:
    """Hides the secrets of one conversation. It learns them from settings, commands, and the handshake.

    `settings`: conf and environment. `secret_keys`: the names of secrets in them. `words`: of the component's command.
    `idle`: true if there is nothing known to hide, and nothing more to learn.
    """

    def __init__(self, settings: Mapping[str, Any], secret_keys: Names = USUAL, words: Sequence[str] = ()) -> None:
        self._names = None if secret_keys == USUAL else secret_keys
        self._needles: dict[bytes, str] = {}
        self._pattern: re.Pattern[bytes] | None = None
        self._patterns = GIVEN.patterns
        self._handshaken = self._in_lines = False
        self._longest, self._all = 0, b""
        self._stderr = ChunkedText()
        self._pieces_said, self._key_said = b"", KeyBlock()
        self.idle = False
        for found in (redacted(settings, self._names)[1], in_words(words), GIVEN.found):
            self._learn(found)

    @property
    def knows(self) -> bool:
        """True if there is something to hide."""
        return bool(self._needles or self._patterns)

    def passes(self, data: bytes) -> bool:
        """True if there is nothing to hide in frames, given as one text."""
        return self._handshaken and self.misses(data)

    def misses(self, data: bytes) -> bool:
        """True if nothing that is known stands in `data`, and nothing has to be looked for by a pattern."""
        return not self._patterns and not self._found_in(data)

    def leaves(self, event: events.Event) -> bool:
        """True if nothing can be secret in an event: a frame that tells people nothing, where no secret is known."""
        return self.idle and event.channel in FRAMES and event.body.__class__ not in TOLD

    # --- transcripts --------------------------------------------------------------------------------------------

    def header(self, header: Header) -> Header:
        """`header` without secrets, with the keys that were hidden."""
        conf, found = redacted(header.profile.conf, self._names)
        keys: set[str] = set(found)
        clean: Header = msgspec.structs.replace(
            header,
            profile=msgspec.structs.replace(header.profile, conf=self._clean(conf, keys)),
            argv=self.words(header.argv),
            snapshot=self._clean(header.snapshot, set()),
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
        if not self.knows:
            return event
        told: set[str] = set()
        text = self._scrub(encode(body), told)
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
        self._handshaken, self.idle = True, not self.knows
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
        if isinstance(body, Malformed) or told != said or self._patterns or self._found_in(raw):
            # A declared pattern may fit an id, which stays.
            if len(raw) > LARGEST_DECODED and isinstance(body, Emit | TupleMsg | Malformed) and not self._patterns:
                is_json = not isinstance(body, Malformed) or body.strict
                return self._large_message(raw, keys) if is_json else self._told(raw, keys)
            try:
                fields = msgspec.json.decode(frame_text(raw))
                return self._message(raw, fields, told, keys) if isinstance(fields, dict) else raw
            except BAD:
                return self._told(raw, keys)
        return raw

    def _message(self, raw: bytes, fields: dict[str, Any], told: str, keys: set[str]) -> bytes:
        """A message of these fields; `told`: what it tells people, with what looks like a secret hidden."""
        found: set[str] = set()
        command = fields.get("command")
        kept = _PROTOCOL_FIELDS | {"command"} if isinstance(command, str) and command in _COMMANDS else _PROTOCOL_FIELDS
        clean = {key: value if key in kept else self._clean(value, found) for key, value in fields.items()}
        if told and told != fields.get("msg"):
            clean["msg"] = self._clean(told, found)
            found.add("msg")
        keys |= found
        if not found:
            return raw
        simple = self._scrub(raw, set())
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
        return b"".join(part if self.misses(part) else STRING_OR_NUMBER.sub(hide_token, part) for part in parts)

    def _token(self, keys: set[str], found: re.Match[bytes]) -> bytes:
        token = found[0]
        if token[:1] == b'"':
            return self._scrub(token, keys)
        if len(token) > _LONGEST_NUMBER or not token.lstrip(b"-").isdigit():
            return token
        hidden = self._clean(int(token), keys)
        return token if hidden == int(token) else encode(hidden)

    def _found_in(self, raw: bytes) -> bool:
        return self._pattern is not None and self._pattern.search(raw) is not None

    def _told(self, raw: bytes, keys: set[str]) -> bytes:
        """Hide secrets in what a component wrote that is no message."""
        clean = self._scrub(raw, keys)
        text = clean.decode("utf-8", "surrogateescape")
        shown = hide(text, "text", lambda key, _: keys.add(key or "err"))
        shown = self._by_pattern(shown, keys)
        return clean if shown == text else shown.encode("utf-8", "surrogateescape")

    def chunk(self, raw: bytes, joined: ChunkedText, keys: set[str] | None = None) -> bytes:
        """A chunk of the text `joined` without secrets, nor a piece of one that other chunks hold as well."""
        keys = set() if keys is None else keys
        shown, done = b"", 0
        for begin, end in sorted(self._parted(raw, joined, keys)):
            if end > done:
                shown += self._told(raw[done:begin], keys) if begin > done else b""
                shown += b"" if shown.endswith(_HIDDEN) else _HIDDEN
                done = end
        joined.take(raw, max(self._longest, LONGEST_LINE))
        return shown + self._told(raw[done:], keys)

    def _parted(self, raw: bytes, joined: ChunkedText, keys: set[str]) -> Iterator[tuple[int, int]]:
        """The places in a chunk of secrets that begin before it, or that it ends within."""
        before = joined.end
        for begin, end in joined.key.places(raw):
            keys.add("err")
            yield begin, end
        for begin, end, key in joined.shapes(raw, self._patterns):
            keys.add(key)
            yield begin, end
        if self._pattern is None:
            return
        if self._in_lines or not before.endswith(b"\n"):
            for match in self._pattern.finditer(before + raw[: self._longest]):
                if match.start() < len(before) < match.end():
                    keys.add(self._needles[match[0]])
                    yield 0, match.end() - len(before)
        if (self._in_lines or not raw.endswith(b"\n")) and (
            size := self._begun((before + raw)[-self._longest :], keys)
        ):
            yield max(0, len(raw) - size), len(raw)

    def _begun(self, text: bytes, keys: set[str]) -> int:
        """The size of the longest piece of a secret at the end of a text; 0 if there is none."""
        size, key = max(((_ending(text, needle), key) for needle, key in self._needles.items()), default=(0, ""))
        keys |= {key} if size else set()
        return size

    def _said(self, said: str, keys: set[str]) -> str:
        """A text of the log, hidden if it is a piece of a secret that the one before it has begun."""
        raw = said.encode("utf-8", "surrogatepass")
        before, self._pieces_said = self._pieces_said, b""
        if not raw or len(raw) >= self._longest or raw not in self._all:
            return said
        joined = (before + raw)[-self._longest :]
        self._pieces_said = joined
        found: set[str] = set()
        if self._begun(joined, found) <= len(raw):
            return said
        keys |= found
        return HIDDEN

    # --- texts and values ---------------------------------------------------------------------------------------

    def words(self, words: Sequence[str], keys: set[str] | None = None) -> tuple[str, ...]:
        """The words of a command without secrets."""
        keys = set() if keys is None else keys
        told = keys
        return tuple(self._clean(word, keys) for word in hide_words(words, lambda key, _: told.add(key or "argv")))

    def text(self, text: bytes) -> bytes:
        """`text`, in UTF-8, without secrets: for reports, which quote what a component printed.

        Nor with what is left of one where something was left out.
        """
        return self._without_pieces(self._told(text, set()))

    def line(self, text: str) -> str:
        """The same for a text in memory."""
        return self.text(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def known_in(self, text: str) -> str:
        """`text` without the secrets that are known; what only looks like one stays."""
        if not self.knows:
            return text
        clean = self._without_pieces(self._scrub(text.encode("utf-8", "surrogatepass"), set()))
        return self._by_pattern(clean.decode("utf-8", "surrogatepass"), set())

    def clean(self, value: Any) -> Any:
        """A value of JSON without the secrets that are known."""
        return self._clean(value, set())

    def value(self, value: Any) -> Any:
        """A value of JSON without secrets, as of a setting."""
        return self._clean(hide_words([value])[0], set())

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

    def _clean(self, value: Any, keys: set[str]) -> Any:
        """A value of JSON without the secrets known so far."""
        if isinstance(value, str):
            clean = self._scrub(value.encode("utf-8", "surrogatepass"), keys).decode("utf-8", "surrogatepass")
            return self._by_pattern(clean, keys)
        if isinstance(value, dict):
            return {self._clean(key, keys): self._clean(item, keys) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(item, keys) for item in value]
        if isinstance(value, int) and not isinstance(value, bool):
            key = self._needles.get(str(value).encode())
            if self._patterns and any(pattern.fullmatch(str(value)) for pattern in self._patterns):
                key = BY_PATTERN
            keys |= {key} if key else set()
            return HIDDEN if key else value
        return value

    # --- what is known ------------------------------------------------------------------------------------------

    def _learn(self, found: Found) -> None:
        known = len(self._needles)
        for key, values in found.items():
            for value in values:
                for text in texts_of(value):
                    self._needles |= dict.fromkeys(spellings(text), key)
        if len(self._needles) > known:
            self._pattern = pattern_of(self._needles)
            self._longest = max(map(len, self._needles))
            self._all = b"\n".join(self._needles)
            self._in_lines = any(b"\n" in needle for needle in self._needles)
            self.idle = False

    def _scrub(self, text: bytes, keys: set[str]) -> bytes:
        if self._pattern is None or self._pattern.search(text) is None:
            return text
        keys |= {self._needles[match[0]] for match in self._pattern.finditer(text)}
        return self._pattern.sub(_HIDDEN, text)

    def _by_pattern(self, text: str, keys: set[str]) -> str:
        for pattern in self._patterns:
            if pattern.search(text):
                text = pattern.sub(_without_group, text)
                keys.add(BY_PATTERN)
        return text

    def _without_pieces(self, clean: bytes) -> bytes:
        if not self._needles or _CUT not in clean:
            return clean
        shown, done = [], 0
        for begin, end in sorted(self._pieces(clean)):
            if end > done:
                shown += [clean[done:begin], _HIDDEN]
                done = end
        return b"".join(shown) + clean[done:]

    def _pieces(self, text: bytes) -> Iterator[tuple[int, int]]:
        """The places of pieces of secrets beside cuts. A dot before a cut makes it a run of dots, and two cuts."""
        longest = self._longest
        for cut in _CUTS.finditer(text):
            before, after = text[max(0, cut.start() - longest) : cut.start()], text[cut.end(1) : cut.end(1) + longest]
            if size := max(_ending(before, needle) for needle in self._needles):
                yield cut.start() - size, cut.start()
            if size := max(_beginning(after, needle) for needle in self._needles):
                yield cut.end(1), cut.end(1) + size


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


def _without_group(match: re.Match[str]) -> str:
    """Hide what a pattern of the user's matched: all of it, or its first group, if it has one."""
    if not match.re.groups or match[1] is None:
        return HIDDEN
    begin, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:begin] + HIDDEN + match[0][end:]


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


def _beginning(text: bytes, secret: bytes) -> int:
    """The number of bytes at the beginning of a text that are the end of a secret; 0 for few, which tell nothing."""
    at = text.rfind(secret[-_PIECE_OF_SECRET:], 0, len(secret))
    while at >= 0:
        if secret.endswith(text[: at + _PIECE_OF_SECRET]):
            return at + _PIECE_OF_SECRET
        at = text.rfind(secret[-_PIECE_OF_SECRET:], 0, at + _PIECE_OF_SECRET - 1)
    return 0


def _ending(text: bytes, secret: bytes) -> int:
    """The number of bytes at the end of a text that are the beginning of a secret; 0 for few."""
    at = text.find(secret[:_PIECE_OF_SECRET], max(0, len(text) - len(secret)))
    while at >= 0:
        if secret.startswith(text[at:]):
            return len(text) - at
        at = text.find(secret[:_PIECE_OF_SECRET], at + 1)
    return 0


def mark(event: events.Event, keys: tuple[str, ...]) -> events.Event:
    """The note that the frame of `event` was changed: it bears the same `seq`, so that no other number is moved."""
    return events.Event(event.seq, event.t, "control", events.Redacted(event.seq, keys))
