"""A recording of a component that settles one tuple twice, and what shippers of logs make of it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from tests.pages import recorded

if TYPE_CHECKING:
    from pathlib import Path

Shipper = Callable[[list[bytes]], list[bytes]]

TUPLES = 1000
_TUPLE = '> {{"id":"{0}","comp":"sentences","stream":"default","task":2,"tuple":["snow white"]}}\n'
_ACK = '< {{"command":"ack","id":"{0}"}}\n'
TALK = "".join(f"@ {0.5 + n / 1000}\n{_TUPLE.format(n)}{_ACK.format(n)}" for n in range(TUPLES)) + _ACK.format(7)
LINES = 2 * TUPLES + 5
"""Events: a start, a handshake, a pid and one ack too many are among them."""
TUPLE = 103
"""The line of a tuple, the header's being 0."""


def _shuffled(lines: list[bytes], within: int) -> list[bytes]:
    random = Random(7)  # noqa: S311 (no secrets)
    return [
        line
        for at in range(0, len(lines), within)
        for line in random.sample(lines[at : at + within], len(lines[at : at + within]))
    ]


def _moved(lines: list[bytes], place: int, by: int) -> list[bytes]:
    rest = [*lines[:place], *lines[place + 1 :]]
    return [*rest[: place + by], lines[place], *rest[place + by :]]


PUT_RIGHT: dict[str, tuple[Shipper, list[str]]] = {
    "each-twice": (
        lambda lines: [line for line in lines for _ in "ab"],
        [f"{LINES + 2} lines stand twice; each counts once"],
    ),
    "sent-again": (
        lambda lines: [*lines[:40], *lines[:900], *lines[40:]],
        ["900 lines stand twice; each counts once"],
    ),
    "all-again": (
        lambda lines: [*lines, *lines],
        [f"{LINES + 2} lines stand twice; each counts once"],
    ),
    "again-at-the-end": (
        lambda lines: [*lines[:-1], lines[5], lines[-1]],
        ["a line stands twice; it counts once"],
    ),
    "near": (
        lambda lines: [*lines[:50], lines[51], lines[50], *lines[52:]],
        ["a line came behind a later one; it was put in order by its number"],
    ),
    "within-the-window": (
        lambda lines: _moved(lines, TUPLE, 1024),
        ["a line came behind a later one; it was put in order by its number"],
    ),
    "end-first": (lambda lines: [*lines[:-3], lines[-1], *lines[-3:-1]], []),
    "shuffled": (
        lambda lines: [lines[0], *_shuffled(lines[1:-1], 500), lines[-1]],
        ["lines came behind later ones; they were put in order by their numbers"],
    ),
}
"""What puts nothing at risk, with what is told of it."""
LOST: dict[str, tuple[Shipper, list[str]]] = {
    "missing": (
        lambda lines: [*lines[:TUPLE], *lines[TUPLE + 1 :]],
        [f"event {TUPLE - 1} is missing before it"],
    ),
    "far": (
        lambda lines: _moved(lines, TUPLE, 1025),
        [
            f"event {TUPLE - 1} is missing before it",
            "a line came more than 1024 lines behind its place; it is left out, and counts as missing",
        ],
    ),
    "contradicted": (
        lambda lines: [*lines[: TUPLE + 1], lines[TUPLE].replace(b'"id":"', b'"id":"1'), *lines[TUPLE + 1 :]],
        [f"another line of event {TUPLE - 1} says something else: this one is left out"],
    ),
}  # fmt: skip
"""What loses something, with what is told of it."""


def shipped(path: Path, ship: Shipper, conv: str = "t") -> Path:
    """The recording as it came."""
    recorded(path, TALK, conv=conv)
    path.write_bytes(b"".join(ship(path.read_bytes().splitlines(keepends=True))))
    return path
