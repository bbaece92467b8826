"""Values of a message that are too large to be Python objects, which take up to thirty times the bytes of their JSON.

They stay JSON, are looked through piece by piece, and are decoded only for whoever asks for one of them.
"""

from __future__ import annotations

import codecs
import json as standard_json
import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST_DECODED = 1024 * 1024
"""Bytes of a message, or of its values, up to which all of it becomes Python objects."""
PIECE = 64 * 1024
"""Bytes of such values that are looked at together, if no string among them is longer."""
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
"""A string of JSON."""
NUMBER = re.compile(rb"-?[0-9][-+.0-9eE]*")
"""A number of JSON, where no string is."""
_TOKEN = re.compile(STRING.pattern + b"|" + NUMBER.pattern + rb"|[ \t\r\n]+", re.DOTALL)
_MAY_BE_INEXACT = re.compile(rb"[0-9.]{16}|[eE]")
# Not possessive: Python 3.11.2 takes for matched what such a group matched in part before it failed.
_WHOLE = re.compile(rb'(?:[^"]++|' + STRING.pattern + rb")*", re.DOTALL)
_REST = re.compile(rb"[-+.0-9eE]*+(?:[ \t\r\n]*+:)?+")
"""Belongs to the end of a piece: digits of a number, the colon behind a key."""
_COMMA, _QUOTE = b',"'
MOST_PARTS = 2**18
"""Keys and values, beside those of a tuple, up to which a large message becomes Python objects."""
_MARKS_OF_PARTS = (b",", b":", b"[", b"{")
_NO_PARTS = bytes(set(range(256)) - {mark[0] for mark in _MARKS_OF_PARTS})
_STEPS = {_COMMA: 0, ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_MARKS = bytes(set(range(256)) - set(_STEPS))
_EMPTY = re.compile(rb"\[[ \t\r\n]*+\]")
_SHALLOW = 100
"""A depth that is no danger, so that one more or less is no matter."""
_FEW = 1000
"""Values up to which it is known where each of them stands."""
_MOST_DIGITS = 400
"""Characters of the longest number that is read: what is longer is no number that a component means."""
_decode_places = msgspec.json.Decoder(list[msgspec.Raw]).decode


def check_utf8(text: bytes) -> None:
    """Raise UnicodeDecodeError for bytes that are no UTF-8; as one text they would take up to four times their size."""
    if text.isascii():
        return
    decode = codecs.getincrementaldecoder("utf-8")().decode
    for at in range(0, len(text), PIECE):
        decode(text[at : at + PIECE])
    decode(b"", final=True)


class LargeValues(Sequence[Any]):
    """The values of a tuple as a sequence: `json` is the array as it was written, valid JSON and UTF-8.

    Its length is counted, and each value decoded when it is asked for; nothing that was decoded is kept.
    """

    __slots__ = ("_length", "json")

    def __init__(self, json: memoryview, length: int = -1) -> None:
        self.json = json
        self._length = length

    def __len__(self) -> int:
        if self._length < 0:
            self._length = _length(self.json)
        return self._length

    def __iter__(self) -> Iterator[Any]:
        places = self._places()
        yield from _decode(self.json) if places is None else map(_decode, places)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: Any) -> Any:
        places = None if isinstance(index, slice) else self._places()
        return _decode(self.json)[index] if places is None else _decode(places[index])

    def _places(self) -> list[msgspec.Raw] | None:
        """Each value as it was written; None if they are many, or hold half of a surrogate pair."""
        try:
            return _decode_places(self.json) if len(self) <= _FEW else None
        except msgspec.DecodeError:
            return None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LargeValues):
            return self.json == other.json or self.compact == other.compact
        return isinstance(other, list) and len(other) == len(self) and list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"[{len(self.json):,} bytes, SHA-256 {sha256(self.json).hexdigest()}]"

    @property
    def compact(self) -> bytes:
        """The array as it would be written if it were decoded: values that are the same have the same."""
        return b"".join(_TOKEN.sub(_rewritten, piece) for piece in pieces(self.json))

    def strings(self) -> Iterator[str]:
        """The values that are strings, of a tuple with few values."""
        yield from (_decode(place) for place in self._places() or () if memoryview(place)[0] == _QUOTE)

    def holders(self) -> set[type]:
        """The kinds of values that hold others, of those that it holds."""
        arrays = objects = 0
        for piece in map(bare, pieces(self.json)):
            arrays += piece.count(b"[")
            objects += piece.count(b"{")
        return {*([list] if arrays > 1 else ()), *([dict] if objects else ())}

    def texts(self) -> Iterator[str]:
        """Every string in the values, keys too, that holds more than ASCII."""
        for piece in pieces(self.json):
            if not piece.isascii() or b"\\u" in piece:
                for found in STRING.finditer(piece):
                    if not found[0].isascii() or b"\\u" in found[0]:
                        text = standard_json.loads(found[0])
                        if not text.isascii():
                            yield text

    def numbers(self) -> Iterator[int | float]:
        """Every number in the values that has an exponent, or digits of which a double may not hold each."""
        for piece in pieces(self.json):
            if _MAY_BE_INEXACT.search(piece):
                texts = (text for text in numbers_in(piece) if _MAY_BE_INEXACT.search(text))
                yield from (standard_json.loads(text) for text in texts if len(text) <= _MOST_DIGITS)


def strings_of(values: Sequence[Any]) -> Iterable[str]:
    """The values of a tuple that are strings."""
    if values.__class__ is LargeValues:
        return values.strings()
    return (each for each in values if isinstance(each, str))


def as_raw(values: object) -> msgspec.Raw:
    """Large values for an encoder of JSON. Raises TypeError for what else it does not know."""
    if isinstance(values, LargeValues):
        return msgspec.Raw(values.json)
    raise TypeError(type(values).__name__)


def plain(values: Sequence[Any]) -> list[Any]:
    """Values as the list that they are, for callers that need all of them at once."""
    return values if isinstance(values, list) else list(values)


def _decode(json: memoryview | msgspec.Raw) -> Any:
    try:
        return standard_json.loads(bytes(json))
    except ValueError:
        # Python reads no integer of thousands of digits.
        return standard_json.loads(bytes(json), parse_int=lambda digits: int(digits[:_MOST_DIGITS]))


def pieces(json: memoryview) -> Iterator[bytes]:
    """Valid JSON in pieces that end in no string, in no number, and not before a colon."""
    at, size = 0, len(json)
    while at < size:
        stop = _found_end(_WHOLE, json, at, at + PIECE)
        if stop == at:
            stop = _found_end(STRING, json, at, size)
        stop = _found_end(_REST, json, stop, size)
        yield bytes(json[at:stop])
        at = stop


def _found_end(pattern: re.Pattern[bytes], json: memoryview, at: int, stop: int) -> int:
    found = pattern.match(json, at, stop)
    return at if found is None else found.end()


def has_too_many_parts(json: bytes) -> bool:
    """True if valid JSON has more than `MOST_PARTS` keys and values, which as objects take up to thirty times it."""
    if sum(map(json.count, _MARKS_OF_PARTS)) <= MOST_PARTS:
        return False
    counts = accumulate(len(bare(piece).translate(None, _NO_PARTS)) for piece in pieces(memoryview(json)))
    return any(count > MOST_PARTS for count in counts)


def bare(piece: bytes) -> bytes:
    """A piece without its strings."""
    return STRING.sub(b"", piece) if b'"' in piece else piece


def numbers_in(piece: bytes) -> list[bytes]:
    """The numbers in a piece, as they are written."""
    return NUMBER.findall(bare(piece))


def _rewritten(found: re.Match[bytes]) -> bytes:
    token = found[0]
    if token.isspace():
        return b""
    if b"\\" not in token if token[:1] == b'"' else token.lstrip(b"-").isdigit():
        return token
    try:
        return msgspec.json.encode(standard_json.loads(token))
    except UnicodeEncodeError:
        return token


class Nesting:
    """The nesting of a JSON array, seen piece by piece.

    `deepest`: 1 if it holds no other, exact where that is beyond `_SHALLOW`; `commas` between its own values.
    """

    def __init__(self) -> None:
        self.deepest = self.commas = 0
        self._depth = 0

    def take(self, piece: bytes) -> None:
        """See the next piece."""
        marks = bare(piece).translate(None, _NO_MARKS)
        if marks.count(b",") == len(marks):
            self.commas += len(marks) if self._depth == 1 else 0
            return
        flat = marks.replace(b"[]", b"").replace(b"{}", b"")
        depths = self._depths(flat)
        self.commas += sum(mark == _COMMA and deep == 1 for mark, deep in zip(flat, depths, strict=False))
        deepest = max(depths)
        if len(flat) < len(marks):
            deepest = deepest + 1 if deepest < _SHALLOW else max(self._depths(marks))
        self.deepest = max(self.deepest, deepest)
        self._depth = depths[-1]

    def _depths(self, marks: bytes) -> list[int]:
        return list(accumulate(map(_STEPS.__getitem__, marks), initial=self._depth))

    def length(self, json: memoryview) -> int:
        """The number of values in the array `json`, all pieces of which were seen."""
        return 0 if _EMPTY.fullmatch(json) else self.commas + 1


def _length(json: memoryview) -> int:
    nesting = Nesting()
    for piece in pieces(json):
        nesting.take(piece)
    return nesting.length(json)
