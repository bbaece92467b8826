"""A tuple that a bolt takes, where it fails the one that is made up: looked for among the shapes that most have."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.suite.probing.asking import asked
from multilang_cli.suite.probing.questions import feed

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.subject.subject import Subject

LOOKED_FOR = 8.0
"""Seconds after which no other shape is tried."""
_SHAPES = (
    *("tn", "tt", "n", "nt", "ttt", "ttn", "tnn", "nn", "ntt", "ntn", "nnn", "tl"),
    *("tttt", "ttnn", "tnnn", "nttt", "ttttt"),
)
"""Values of a tuple: a text, a number, a list of numbers."""
_VALUES: dict[str, Json] = {"t": "some text", "n": 7, "l": [7, 8]}


def taken_tuple(checked: Subject) -> list[Json] | None:
    """The first of the shapes that it settles and does not fail, each in a process of its own; None if there is none.

    Raises LaunchError if it can't be started.
    """
    until = time.monotonic() + LOOKED_FOR
    for shape in _SHAPES:
        values = [_VALUES[each] for each in shape]
        component = msgspec.structs.replace(checked.component, made_up=tuple(values))
        answer = asked(msgspec.structs.replace(checked, component=component), "bolt", feed)
        replies = answer.replies
        if replies.acts_as_a_bolt and not (
            replies.said["fail"] or replies.complaint or replies.irregular or answer.died
        ):
            return values
        if time.monotonic() > until:
            break
    return None
