"""Names of files: of a kind, or made of what others named, ids of components and topologies."""

from __future__ import annotations

import re

HISTORY = "history.ndjson"
"""The history of a topology's run, which lies in the folder with its transcripts and is none."""

_UNSAFE = re.compile(r"[^\w.\-]")
_LONGEST_NAME = 60


def fit_for_a_file(word: str) -> str:
    """A word as the beginning of a file's name: no path, not hidden, no longer than a name may be."""
    return _UNSAFE.sub("_", word).lstrip(".")[:_LONGEST_NAME] or "_"
