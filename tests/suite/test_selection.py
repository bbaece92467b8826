from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.patterns import patterns
from multilang_cli.suite.cases.case import load_cases
from multilang_cli.suite.cases.selection import SelectionError, fitting, select

if TYPE_CHECKING:
    from pathlib import Path

HEARTBEAT = {case.id for case in load_cases() if case.id.startswith("bolt.heartbeat.")}


def chosen(include: tuple[str, ...], exclude: tuple[str, ...], kind: str = "bolt") -> set[str]:
    return {case.id for case in select(load_cases(), kind, include, exclude)}


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        (("bolt.heartbeat",), HEARTBEAT),
        (("bolt.heartbeat.*",), HEARTBEAT),
        (("bolt.heartbeat.idle",), {"bolt.heartbeat.idle"}),
        # A rule or a sentence of the protocol stands for the cases that test it, an id of a case for itself.
        (("ack-twice",), {"bolt.settle.once"}),
        (("bolt.ack.once",), {"bolt.settle.once"}),
        (("bolt.tick",), {"bolt.tick"}),
        (("*.stdin-closed", "end.sigterm"), {"end.stdin-closed", "end.sigterm"}),
    ],
)
def test_patterns_are_ids_prefixes_or_globs(include: tuple[str, ...], expected: set[str]) -> None:
    assert chosen(include, ()) == expected


def test_what_is_excluded_is_not_chosen() -> None:
    bolts = {case.id for case in fitting(load_cases(), "bolt")}
    assert len(HEARTBEAT) > 1
    assert chosen((), ()) == bolts
    assert chosen((), ("bolt.heartbeat",)) == bolts - HEARTBEAT
    assert chosen(("bolt.heartbeat",), ("*.idle",)) == HEARTBEAT - {"bolt.heartbeat.idle"}


def test_an_undecided_kind_has_the_cases_of_both() -> None:
    assert chosen((), (), "auto") == chosen((), (), "bolt") | chosen((), (), "spout")
    assert chosen(("bolt.settle.once", "spout.sync.next"), (), "auto") == {"bolt.settle.once", "spout.sync.next"}


@pytest.mark.parametrize(
    ("include", "exclude", "message"),
    [
        (("bolt.hartbeat",), (), "did you mean bolt.heartbeat"),
        (("spout.sync.next",), (), "no bolt case matches"),
        ((), ("nonsense",), "no bolt case matches 'nonsense'"),
        (("message-id-type",), (), "no bolt case is for message-id-type alone: `mlcheck explain message-id-type`"),
        (("spout.commands.unknown",), (), "no bolt case is for spout.commands.unknown"),
        (("ack-twice",), ("bolt.ack.once",), "leaves no case"),
        (("end.sigterm",), ("end",), "leaves no case"),
    ],
)
def test_a_selection_that_says_nothing_is_refused(
    include: tuple[str, ...], exclude: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SelectionError, match=message):
        select(load_cases(), "bolt", include, exclude)


def test_patterns_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    path.write_text("\ufeff# what matters\n\nbolt.settle  # most of all\r\n  end.*\n", encoding="utf-8")
    assert patterns("-k", [f"@{path}", "stderr.flood"]) == ("bolt.settle", "end.*", "stderr.flood")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "-k @{path}: can't be read: No such file"),
        (b"# nothing yet\n\n", "-k @{path}: there is no pattern in it"),
        (b"bolt\xff\n", "-k @{path}: byte 4 is no UTF-8"),
    ],
)
def test_a_bad_file_of_patterns(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "cases.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        patterns("-k", [f"@{path}"])
    assert message.format(path=path) in str(raised.value)
