"""What sentences of the protocol say that stands in the oracle's recordings, and that no rule judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.oracle import oracle_cases, oracle_verdicts
from multilang_cli.protocol.wire.framing import Framer

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import StormVersion

VERIFIED = [version for version in load_rulebook().versions if version.verified]


@pytest.mark.parametrize("version", VERIFIED, ids=lambda version: version.id)
def test_a_last_end_needs_no_newline(version: StormVersion) -> None:
    raw = oracle_cases()["bolt-end-eof"]["steps"][1]["raw"].encode()
    assert raw.endswith(b"\nend")
    framer = Framer()
    frames = [*framer.feed(raw), framer.close()]
    events = oracle_verdicts()["bolt-end-eof"][version.id]["events"]
    assert [each["t"] for each in events[:2]] == ["ack", "log"]
    assert [frame and frame.fault for frame in frames] == ["", ""]


@pytest.mark.parametrize("version", VERIFIED, ids=lambda version: version.id)
@pytest.mark.parametrize("script", ["bolt-num-int-m2p31", "bolt-num-int-2p31m1"])
def test_an_integer_of_32_bits_has_the_class_of_its_parser(script: str, version: StormVersion) -> None:
    emit = oracle_verdicts()[script][version.id]["events"][0]
    assert emit["types"] == ["String", "Integer" if version.dialect == "smart" else "Long"]


@pytest.mark.parametrize("version", VERIFIED, ids=lambda version: version.id)
def test_a_failed_bolt_goes_on_in_local_mode_until_the_next_tuple_since_2(version: StormVersion) -> None:
    once, later = (
        oracle_verdicts()[script][version.id] for script in ("bolt-local-ack-twice", "bolt-local-next-tuple")
    )
    if version.id.startswith("2."):
        assert [each["t"] for each in once["events"]] == ["ack", "error", "log"]
        assert [each["t"] for each in later["events"]] == ["error", "ack"]
        assert later["how"] == "thrown from execute"
    else:
        assert (once["how"], later["how"]) == ("System.exit(11)", "System.exit(11)")


@pytest.mark.parametrize("version", VERIFIED, ids=lambda version: version.id)
@pytest.mark.parametrize("script", ["bolt-exit1", "spout-exit1"])
def test_stderr_stands_in_the_exception_or_in_the_log(script: str, version: StormVersion) -> None:
    verdict = oracle_verdicts()[script][version.id]
    logged = any(each["t"] == "stderr" and "boom" in each["text"] for each in verdict["events"])
    assert ("boom" in verdict["error"][-1]) is not logged
