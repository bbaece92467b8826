"""Tuples of our own making, from a user's samples: each value keeps the type it has there, or is what a shape says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from multilang_cli.protocol.words.messages import Json

PLAIN = "plain words of ours"
"""Text that has nothing difficult in it."""

ASCII = (PLAIN, 'plain "words" of\\ours / \t and words and others', "plain words\nend\nof ours")
"""Text of our making without a byte beyond ASCII, with words that come twice, of which some make a list with gaps, and
with a line that ends a message where lines are not escaped. Who does not take it does not take text of our making at
all."""

DIFFICULT = tuple(
    f"plain words {text} of ours"
    for text in (
        "snöwhite é",
        "雪 ﷽",
        "\U0001f478 \U0001f478\U0001f3fd",
        "a\u2028b\u2029c\u0085d",
        '</script> {" \\/ \\u0041 \\\\',
        "é at the end of 100 % %s %d",
    )
) + tuple(f"{'ab'[:shift]}{'雪' * 20} plain words of ours" for shift in range(3))
"""The same with what breaks where it is not UTF-8 and JSON all the way: characters beyond ASCII and beyond the BMP,
line separators, what looks like escapes, a brace and a quote that nothing closes (Tcl's lists and xargs stumble over
them), what is a verb to who prints a message as a format, and characters of three bytes at every offset: who cuts a
text after so many bytes cuts one of them."""

INTEGERS = (2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 0)
"""Java's long; beyond 2^53 a double has no place for the last bits."""

FLOATS = (0.5, -1.5, 12345678.9, 1e300, 5e-324)

LARGE_TEXT = 10_000_000
"""Characters of a large tuple, in all of its texts."""

NESTED: tuple[Json, ...] = ([1, [2, None]], {"key": [True, {"deep": "er"}]})


def shaped(values: list[Json], shape: str) -> list[list[Json]]:
    """The tuples that `shape` makes of a sample; none if the sample has nothing that it could change."""
    return list(SHAPES[shape](values))


def _each(values: list[Json], fits: Callable[[Json], bool], others: tuple[Json, ...]) -> Iterator[list[Json]]:
    """All values that fit, replaced by each of the `others` in turn."""
    if any(map(fits, values)):
        yield from ([other if fits(value) else value for value in values] for other in others)


def _one_by_one(values: list[Json], others: tuple[Json, ...]) -> Iterator[list[Json]]:
    """Each value, whatever it is, replaced by each of the `others`."""
    for at in range(len(values)):
        yield from ([*values[:at], other, *values[at + 1 :]] for other in others)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_integer(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Json) -> bool:
    return _is_integer(value) or isinstance(value, float)


SHAPES: dict[str, Callable[[list[Json]], Iterator[list[Json]]]] = {
    "plain": lambda values: iter([values]),
    "ascii": lambda values: _each(values, _is_text, ASCII),
    "unicode": lambda values: _each(values, _is_text, DIFFICULT),
    "large": lambda values: _each(values, _is_text, ("x" * (LARGE_TEXT // max(1, sum(map(_is_text, values)))),)),
    "integers": lambda values: _each(values, _is_integer, INTEGERS),
    "floats": lambda values: _each(values, _is_number, FLOATS),
    "null": lambda values: _one_by_one(values, (None,)),
    "nested": lambda values: _one_by_one(values, NESTED),
    "empty": lambda _: iter([[]]),
    "arity": lambda values: iter([[*values, PLAIN], values[:-1]]),
}
"""Every shape by its name in case files."""
