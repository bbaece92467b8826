"""Bytes that a component wrote and that are no whole message: what they are, and what is missing in them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from multilang_cli.protocol.storm.diagnosis import bare_pid

if TYPE_CHECKING:
    from multilang_cli.causes.model import Bytes

_END_WITH_BLANKS = re.compile(r"\n(?:[ \t]+end[ \t]*|end[ \t]+)(?:\n|$)")
_OTHER_END = re.compile(r'[}\]][ \t]*\n(?!(?-i:end)(?:\n|$))[^\w\n"{}]{0,4}end[^\w\n"{}]{0,4}(?:\n|$)', re.IGNORECASE)
"""A line such as END or [end], behind what may be an object."""
_END_ON_THE_LINE = re.compile(r"[}\]][ \t]*end[ \t]*(?:\n|$)")
_UNFINISHED_END = re.compile(r"\nend$")
_REPR = re.compile(r"\s*\{\s*u?'")
_MSGPACK = re.compile(r"^\\x(?:8[0-9a-f]|9[0-9a-f]|d[c-f])")
"""A map or an array, as `escape.decode` shows its first byte."""


def what_they_are(text: str) -> Bytes:
    """Tell what unfinished output is, as `escape.decode` shows its bytes."""
    if not text.strip():
        return ""
    if bare_pid(text.encode("utf-8", "surrogateescape")):
        return "bare-pid"
    if _MSGPACK.match(text):
        return "msgpack"
    if any(form.search(text) for form in (_END_WITH_BLANKS, _END_ON_THE_LINE, _OTHER_END)):
        return "end-with-blanks"
    if _UNFINISHED_END.search(text):
        return "end-unfinished"
    if _REPR.match(text):
        return "python-repr"
    if text.lstrip().startswith("{"):
        return "object-without-end" if _is_object(text) else "cut-object"
    return "text"


def _is_object(text: str) -> bool:
    """True if the text is a whole JSON object, or several."""
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            return False
        if not isinstance(value, dict):
            return False
        rest = rest[end:].strip()
    return True
