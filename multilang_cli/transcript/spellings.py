"""The ways in which a secret may be written, and one pattern that finds them all."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.transcript.format import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEAST_TEXT, LEAST_DIGITS = 8, 6
"""Characters from which on a secret is looked for wherever it may turn up; digits, if it is a number."""

_SYNTAX = '"\\'
"""At the ends of a secret these are not looked for: beside a string, JSON has them as well, and needs its own."""
_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest|negotiate)\s+(\S+)", re.IGNORECASE)
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_LEAST_LINE = 16
"""Characters from which on a line of a secret of several lines is looked for by itself."""
_MOST_LINES = 100
_MOST_BYTES = 256
"""Bytes of a secret that is looked for byte by byte, as digits."""
_WIDTHS = (60, 64, 76)
"""Characters of a line of base64, as Ruby, OpenSSL and all others cut it."""
_GO = {ord(each): f"\\u{ord(each):04x}" for each in "&<>"}
_GSON = {ord(each): f"\\u{ord(each):04x}" for each in "&<>='"}
_CODE = re.compile(r"\\u[0-9a-f]{4}")


def spellings(secret: str) -> Iterator[bytes]:
    """Spellings in which a secret may turn up: as it is, escaped, in base64, in a URL. None of one that is too short.

    Of the value of a header what follows the scheme is secret by itself; of several lines each long one.
    """
    trimmed = secret.strip()
    if (header := _SCHEME.fullmatch(trimmed)) is not None:
        yield from spellings(header[1])
    if trimmed.isascii() and trimmed.isdecimal():
        if len(trimmed) >= LEAST_DIGITS:
            yield trimmed.encode()
        if len(trimmed) >= LEAST_TEXT:
            yield from _in_base64(trimmed.encode())
        return
    if len(secret) < LEAST_TEXT:
        return
    # Whoever reads a secret from a file takes the line's end away.
    whole = trimmed if len(trimmed) >= LEAST_TEXT else secret
    core = whole.strip(_SYNTAX)
    text = core if len(core) >= LEAST_TEXT else whole
    yield from _escaped(text)
    plain = text.encode("utf-8", "replace")
    yield from _in_base64(plain)
    yield from _in_lines_of_base64(plain)
    yield from _in_numbers(plain)
    for quoted in (quote(text, safe="", errors="replace"), quote(text, errors="replace"), quote_plus(text)):
        yield quoted.encode()
        yield re.sub("%..", lambda match: match[0].lower(), quoted).encode()
    for line in _lines_of(text):
        yield from _escaped(line)


def _lines_of(text: str) -> list[str]:
    """The lines of a secret of several that say something of it."""
    lines = [line.strip().strip(_SYNTAX) for line in text.splitlines()[:_MOST_LINES]]
    return [line for line in lines if len(line) >= _LEAST_LINE and not line.startswith("--")] if lines[1:] else []


def _escaped(text: str) -> set[bytes]:
    """As it is, by Storm, by the JSON writers of most languages, in HTML, in a finding's sentence; each in JSON."""
    plain = text.encode("utf-8", "replace")
    said = encode(plain.decode())[1:-1].decode()
    in_ascii = json.dumps(text)[1:-1]
    escaped = {said.translate(_GO), said.translate(_GSON), in_ascii, in_ascii.replace("/", "\\/")}
    escaped |= {_CODE.sub(lambda found: f"\\u{found[0][2:].upper()}", each) for each in escaped}
    marked = html.escape(plain.decode())
    escaped |= {marked, marked.replace("&#x27;", "&#39;").replace("&quot;", "&#34;"), repr(plain)[2:-1]}
    once = {plain, said.encode(), wire.frame(text)[1:-6], ascii(text)[1:-1].encode(), *map(str.encode, escaped)}
    return once | {encode(each.decode())[1:-1] for each in once}


def _in_numbers(plain: bytes) -> Iterator[bytes]:
    """Its bytes in hexadecimal, and as most languages print an array of them."""
    if len(plain) <= _MOST_BYTES:
        yield plain.hex().encode()
        yield plain.hex().upper().encode()
        yield ", ".join(map(str, plain)).encode()
        yield " ".join(map(str, plain)).encode()


def _in_base64(plain: bytes) -> Iterator[bytes]:
    """The certain part of its base64, wherever it begins in what is encoded: three ways, and those for URLs."""
    for before in range(3):
        begin, end = -(-before * 8 // 6), (before + len(plain)) * 8 // 6
        core = b64encode(bytes(before) + plain)[begin:end]
        yield core
        yield core.translate(_URL_SAFE)


def _in_lines_of_base64(plain: bytes) -> Iterator[bytes]:
    """The lines of its base64, where nothing else is encoded and programs cut that: each that says something of it."""
    # What follows it, as the end of a file's last line, changes the last characters.
    whole = b64encode(plain[: len(plain) // 3 * 3])
    for width in _WIDTHS:
        if len(whole) > width:
            lines = (whole[at : at + width] for at in range(0, min(len(whole), width * _MOST_LINES), width))
            yield from (line for line in lines if len(line) >= _LEAST_LINE)


def pattern_of(needles: Iterable[bytes]) -> re.Pattern[bytes] | None:
    """One pattern for all of `needles`, the longest first; None if there are none. Numbers count as whole ones only."""
    by_first: dict[int, list[bytes]] = {}
    for needle in sorted(set(needles), key=len, reverse=True):
        by_first.setdefault(needle[0], []).append(needle)
    if not by_first:
        return None
    # Parted by their first byte, they are tried only where that stands.
    parts = [
        re.escape(bytes([first])) + b"(?:%b)" % b"|".join(_rest(each) for each in alike)
        for first, alike in by_first.items()
    ]
    return re.compile(b"|".join(parts))


def _rest(needle: bytes) -> bytes:
    """The pattern of what follows the first byte."""
    rest = re.escape(needle[1:])
    if needle.isdigit():
        return b"%b(?<![\\w.]%b)(?![\\w]|\\.\\d)" % (rest, needle)
    return rest
