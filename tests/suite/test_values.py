"""Tuples of our own making keep the types of the sample, but where the shape is about another type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.suite.steps.values import ASCII, DIFFICULT, FLOATS, INTEGERS, LARGE_TEXT, SHAPES, shaped

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=5)
)
SAMPLES = st.lists(SCALARS | st.lists(SCALARS, max_size=2), min_size=1, max_size=4)


def kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return repr(value)
    return "number" if isinstance(value, int | float) else type(value).__name__


@pytest.mark.long
@pytest.mark.parametrize("shape", ["plain", "ascii", "unicode", "large", "integers", "floats"])
@given(sample=SAMPLES)
def test_types_stay(shape: str, sample: list[Any]) -> None:
    before = list(sample)
    for made in shaped(sample, shape):
        assert list(map(kind, made)) == list(map(kind, sample))
    assert sample == before


@pytest.mark.parametrize(
    ("shape", "sample", "made"),
    [
        ("plain", ["a", 1], [["a", 1]]),
        ("unicode", ["a", 1, "b"], [[text, 1, text] for text in DIFFICULT]),
        ("unicode", [1, True], []),
        ("integers", [True, 1, 1.0], [[True, number, 1.0] for number in INTEGERS]),
        ("integers", ["a", 1.5], []),
        ("floats", [1, 2.5, False], [[number, number, False] for number in FLOATS]),
        ("null", ["a", 1], [[None, 1], ["a", None]]),
        ("empty", ["a", 1], [[]]),
        ("arity", [1], [[1, "plain words of ours"], []]),
    ],
)
def test_shapes(shape: str, sample: list[Any], made: list[list[Any]]) -> None:
    assert shaped(sample, shape) == made


def test_a_word_comes_twice_before_another() -> None:
    words = ASCII[1].split()
    assert any(word in words[:at] for at, word in enumerate(words[:-1])), "without twins a list would have no gap"


def test_a_word_is_the_line_that_ends_a_message() -> None:
    assert any("end" in text.split(" ") for text in DIFFICULT), "who reads word by word would not be found"


@pytest.mark.parametrize("texts", [1, 10])
def test_a_large_tuple_is_large_whatever_texts_it_has(texts: int) -> None:
    ((*made, number),) = shaped([*"abcdefghij"[:texts], 1], "large")
    assert (sum(len(str(text)) for text in made), number) == (LARGE_TEXT, 1)
    assert LARGE_TEXT == 10_000_000


def test_nested_values_come_in_every_place() -> None:
    made = shaped(["a", 1], "nested")
    assert {tuple(isinstance(value, list | dict) for value in values) for values in made} == {
        (True, False),
        (False, True),
    }


def test_every_shape_makes_something_of_a_mixed_sample() -> None:
    assert all(shaped(["a", 1, 2.5], shape) for shape in SHAPES)
