"""Sentences of several clauses: what is found, then what explains it. What is quoted in them is kept whole."""

from __future__ import annotations

import re

SEPARATOR = "; "
_QUOTED = r"""(?<![\w\\])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""
_QUOTED_OR_SEPARATOR = re.compile(rf"{_QUOTED}|(?P<separator>{SEPARATOR})", re.DOTALL)


def clauses(sentence: str) -> list[str]:
    """The clauses of a sentence, at least one. `SEPARATOR` between them gives the sentence back."""
    found, at = [], 0
    for match in _QUOTED_OR_SEPARATOR.finditer(sentence):
        if match["separator"]:
            found.append(sentence[at : match.start()])
            at = match.end()
    return [*found, sentence[at:]]
