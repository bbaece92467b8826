"""A tolerant reader for what people write in place of JSON: to name the mistake and to save what was meant.

Never used for regular frames, and never to decide what Storm does: that is ``dialects``. It accepts JSON5, Python's and
JavaScript's ways of printing an object, and remembers each irregularity with its place, by the id of its rule.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from multilang_cli.protocol.words.shortening import head

_SPACE = re.compile(r"\s*")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[^\s,:\[\]{}()\"'=]+")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_FOREIGN_ESCAPES = {"'": "'", "a": "\a", "v": "\v", "0": "\0", "\n": "", "e": "\x1b"}
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}
_PYTHON: dict[str, Any] = {"True": True, "False": False, "None": None}
_NONFINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_MAX_DEPTH = 200
_MAX_DIGITS = 4000


class Irregularity(NamedTuple):
    """One departure from JSON: the rule's id, the offset in characters, and what was seen."""

    kind: str
    at: int
    detail: str


class LenientError(ValueError):
    """Not even leniently an object: `at` is the offset in characters, `kind` the rule."""

    def __init__(self, kind: str, at: int, detail: str) -> None:
        super().__init__(detail)
        self.kind, self.at, self.detail = kind, at, detail


def read_leniently(text: str, at: int = 0) -> tuple[Any, list[Irregularity], int]:
    """One value from `at` on in `text`: the value, the irregularities in order, and where it ended.

    Raises LenientError if no value can be made out.
    """
    reader = _Reader(text, at)
    try:
        value = reader.value(0)
    except LenientError as error:
        if error.kind == "json-too-deep" and reader.seen:
            raise LenientError(*reader.seen[0]) from error
        raise
    return value, reader.seen, reader.at


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.seen: list[Irregularity] = []

    def note(self, kind: str, at: int, detail: str) -> None:
        """Remember that something is not as JSON has it."""
        self.seen.append(Irregularity(kind, at, detail))

    def peek(self) -> str:
        """Skip space and comments; the next character, "" at the end."""
        while True:
            space = _SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return self.text[self.at : self.at + 1]
            self.note("json-comment", self.at, "a comment")
            self.at = comment.end()

    def value(self, depth: int) -> Any:
        """Read any value. Raises LenientError where there is none, or one nested too deep."""
        if depth > _MAX_DEPTH:
            raise LenientError("json-too-deep", self.at, f"nested more than {_MAX_DEPTH} deep")
        first = self.peek()
        if not first:
            raise LenientError("json-truncated", self.at, "the message stops where a value should be")
        if first == "{":
            return self.object(depth)
        if first in "[(":
            return self.array(depth, {"[": "]", "(": ")"}[first])
        if first in "\"'":
            return self.string()
        return self.word()

    def object(self, depth: int) -> dict[str, Any]:
        """Read an object, from its opening brace on; a key that comes twice is noted, and the later value stays."""
        result: dict[str, Any] = {}
        self.at += 1
        opened = self.at
        while self.more("}", opened):
            key = self.key()
            mark = self.peek()
            if mark == "=":
                self.note("json-invalid", self.at, "= in place of :")
                self.at += 2 if self.text.startswith("=>", self.at) else 1
            elif mark == ":":
                self.at += 1
            else:
                kind = "json-invalid" if mark else "json-truncated"
                raise LenientError(kind, self.at, f"no ':' after the key {key!r}")
            if key in result:
                self.note("json-duplicate-key", self.at, f"the key {key!r} twice")
            result[key] = self.value(depth + 1)
        return result

    def array(self, depth: int, closer: str) -> list[Any]:
        """Read an array, or a Python tuple, from its opening bracket on."""
        if closer == ")":
            self.note("python-repr", self.at, "a Python tuple")
        result: list[Any] = []
        self.at += 1
        opened = self.at
        while self.more(closer, opened):
            result.append(self.value(depth + 1))
        return result

    def more(self, closer: str, opened: int) -> bool:
        """Step over commas; False and past the closer at the end of the list that was opened before `opened`."""
        commas = 0
        first = self.at == opened
        while self.peek() == ",":
            comma, self.at = self.at, self.at + 1
            commas += 1
            if commas > 1 or first:
                self.note("json-trailing-comma", comma, "a comma too many")
        mark = self.peek()
        if mark == closer:
            if commas == 1 and not first:
                self.note("json-trailing-comma", self.at, f"a comma before {closer!r}")
            self.at += 1
            return False
        if not mark:
            raise LenientError("json-truncated", self.at, f"the message stops before its closing {closer!r}")
        if not commas and not first:
            raise LenientError("json-invalid", self.at, f"{mark!r} where ',' or {closer!r} should be")
        return True

    def key(self) -> str:
        """Read a key, quoted or not. Raises LenientError where none stands."""
        if self.peek() in "\"'":
            return self.string()
        at = self.at
        word = _WORD.match(self.text, at)
        if word is None:
            raise LenientError("json-invalid", at, f"{self.text[at]!r} where a key should be")
        self.note("json-unquoted-keys", at, f"the key {head(word.group(), 40)!r} without quotes")
        self.at = word.end()
        return word.group()

    def string(self) -> str:
        """Read a string in quotes of either kind. Raises LenientError if it is never closed."""
        quote, start = self.text[self.at], self.at
        if quote == "'":
            self.note("json-single-quotes", start, "single quotes")
        parts: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == quote:
                # Two escaped halves are one character, as in JSON.
                return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            if character == "\\":
                parts.append(self.escape())
                continue
            if character < " ":
                self.note("json-control-character", self.at - 1, f"a raw U+{ord(character):04X} in a string")
            parts.append(character)
        raise LenientError("json-truncated", start, "a string that is never closed")

    def escape(self) -> str:
        """Read what stands behind a backslash, escapes of other languages too."""
        at, mark = self.at - 1, self.text[self.at : self.at + 1]
        self.at += 1
        if mark in _ESCAPES:
            return _ESCAPES[mark]
        width = {"u": 4, "x": 2}.get(mark, 0)
        digits = self.text[self.at : self.at + width]
        if mark == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            self.at += 4
            return chr(int(digits, 16))
        self.note("json-bad-escape", at, f"the escape \\{mark}{digits}")
        if width and re.fullmatch(rf"[0-9a-fA-F]{{{width}}}", digits):
            self.at += width
            return chr(int(digits, 16))
        return _FOREIGN_ESCAPES.get(mark, mark)

    def word(self) -> Any:
        """Read a bare word: a number, true, false, null, or what other languages write for them."""
        at = self.at
        match = _WORD.match(self.text, at)
        if match is None:
            raise LenientError("json-invalid", at, f"{self.text[at]!r} where a value should be")
        word = match.group()
        self.at = match.end()
        if word in _LITERALS:
            return _LITERALS[word]
        if _NUMBER.fullmatch(word):
            return float(word) if re.search(r"[.eE]", word) else self.integer(word, at)
        return self.odd_word(word, at)

    def integer(self, word: str, at: int) -> int:
        """The value of an integer, of its first digits if it is longer than anybody writes."""
        if len(word) > _MAX_DIGITS:
            self.note("integer-too-big", at, f"an integer of {len(word):,} digits does not fit 64 bits")
        return int(word[:_MAX_DIGITS])

    def odd_word(self, word: str, at: int) -> Any:
        """The value of a word that JSON does not have, noted as what it is. Raises LenientError for any other."""
        if word in _PYTHON:
            self.note("python-repr", at, f"Python's {word}")
            return _PYTHON[word]
        if _NONFINITE.fullmatch(word):
            self.note("json-nonfinite", at, f"{word}, which JSON does not have")
            return float(word)
        if word in {"b", "u", "r"} and self.text[self.at : self.at + 1] in {"'", '"'}:
            self.note("python-repr", at, "a Python string prefix")
            return self.string()
        if word.lower() in _LITERALS:
            self.note("json-invalid", at, f"{word} in place of {word.lower()}")
            return _LITERALS[word.lower()]
        if word == "undefined":
            self.note("json-invalid", at, "JavaScript's undefined")
            return None
        if re.match(r"[+-]?[.\d]", word):
            self.note("json-number", at, f"the number {head(word, 40)}")
            return _loose_number(word)
        raise LenientError("json-invalid", at, f"{head(word, 40)!r} is no JSON value")


def _loose_number(word: str) -> int | float | str:
    """A number written as C or people do, else the word itself."""
    for convert in (lambda w: int(w, 10), lambda w: int(w, 0), float):
        try:
            return convert(word[:400])
        except ValueError:
            continue
    return word
