"""The kind of a component that the probe can not tell, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.subject.config import Config
from multilang_cli.subject.declared import Declared, Probe, UnknownKindError, subjects_of
from multilang_cli.subject.options import Component, InputSource, RunOptions
from multilang_cli.subject.settings import Flags

if TYPE_CHECKING:
    from pathlib import Path

WORDS = (InputSource("words", "default", ("text",)),)
SAID = "it said 'https://example.org/?oauth_token=abc123'"


def declared(tmp_path: Path, **input_: object) -> Declared:
    component = Component(command=("sh", "-c", "true"), kind="auto", cwd=tmp_path, **input_)  # type: ignore[arg-type]
    return Declared(component, RunOptions(), Flags(), Config())


@pytest.mark.parametrize("input_", [{"sources": WORDS}, {"samples": (["a b"],)}])
def test_who_declares_an_input_is_a_bolt(input_: dict[str, object], tmp_path: Path) -> None:
    (subject,) = subjects_of([declared(tmp_path, **input_)], lambda *_: Probe(None, "it answers nothing"))
    assert subject.component.kind == "bolt"
    assert "its input is declared" in subject.kind_told


@pytest.mark.parametrize(
    ("input_", "probe"),
    [
        ({}, Probe(None, SAID)),
        ({"sources": WORDS}, Probe(None, SAID, silent=True)),
        ({"sources": WORDS}, Probe(None, SAID, fault=True)),
    ],
)
def test_the_kind_is_not_made_up_and_no_secret_is_told(input_: dict[str, object], probe: Probe, tmp_path: Path) -> None:
    with pytest.raises(UnknownKindError, match="oauth_token=") as raised:
        subjects_of([declared(tmp_path, **input_)], lambda *_: probe)
    assert "abc123" not in str(raised.value)
