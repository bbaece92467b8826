"""Long texts made short enough to be read. A component can make any of them as long as it likes.

Wherever something is left out stands `CUT`: who hides secrets (``transcript.redact``) looks for pieces of them there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Json

CUT = "..."
SHOWN_OF_VALUE = 80
"""Characters of a value that a sentence shows."""


def head(text: str, most: int) -> str:
    """The beginning of a text, at most so many characters of it."""
    return text if len(text) <= most else text[:most] + CUT


def ends(text: str, most: int) -> str:
    """A text, its middle left out if it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}{CUT}{text[-most // 2 :]}"


def bounded(text: str, most: int) -> str:
    """A text for people, of which the middle is left out, and how much that is, if it is longer than `most`.

    Half a surrogate pair, which UTF-8 can't hold, is escaped.
    """
    if len(text) > most:
        last = most // 4
        text = f"{text[: most - last]}{CUT}({len(text) - most:,} characters left out){CUT}{text[-last:]}"
    return text.encode("utf-8", "backslashreplace").decode()


def shown(value: Json) -> str:
    """A JSON value for a sentence, its middle left out if it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()
    return ends(text, SHOWN_OF_VALUE)
