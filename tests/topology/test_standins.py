"""The stand-ins for Storm's Java classes, as the topology of a Flux file starts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dialogue import HEARTBEAT, SYNC, Dialogue, tuple_message
from tests.flux import FLUX, GOOD, SHELL_SPOUT, read_topology

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component


def test_the_counter_counts_words_and_anchors_what_it_emits(tmp_path: Path) -> None:
    command = read_topology(FLUX / "multilang.yaml").components["count"].command
    with Dialogue(command, tmp_path) as counter:
        counter.shake_hands()
        counter.send(tuple_message("1", "snow"), tuple_message("2", "snow"), tuple_message("3", 5), HEARTBEAT)
        said = counter.read_some(7)
        assert [each.get("tuple") for each in said if each["command"] == "emit"] == [["snow", 1], ["snow", 2]]
        assert [each["anchors"] for each in said if each["command"] == "emit"] == [["1"], ["2"]]
        assert [(each["command"], each.get("id")) for each in said if "id" in each] == [
            ("ack", "1"),
            ("ack", "2"),
            ("fail", "3"),
        ]
        assert "a word must be a string, not 5" in said[4]["msg"]
        assert said[-1] == SYNC
        assert counter.finish() == []


def test_the_log_bolt_logs_each_tuple_as_storm_shows_it_and_acks(tmp_path: Path) -> None:
    command = read_topology(FLUX / "multilang.yaml").components["log"].command
    with Dialogue(command, tmp_path) as log:
        log.shake_hands()
        log.send(tuple_message("1", "snow", 7))
        assert log.read() == {"command": "log", "msg": "source: src:2, stream: default, id: {}, [snow, 7]", "level": 2}
        assert log.read() == {"command": "ack", "id": "1"}
        assert log.finish() == []


def test_the_word_spout_emits_untracked_words(tmp_path: Path) -> None:
    text = GOOD.replace(SHELL_SPOUT, "org.apache.storm.testing.TestWordSpout")
    text = text.replace("    constructorArgs: [[node, source.js], [sentence]]\n", "")
    (tmp_path / "t.yaml").write_text(text)
    with Dialogue(read_topology(tmp_path / "t.yaml").components["source"].command, tmp_path) as spout:
        spout.shake_hands()
        spout.send({"command": "next", "id": ""})
        emit = spout.read()
        assert emit["tuple"][0] in ("nathan", "mike", "jackson", "golda", "bertels")
        assert "id" not in emit
        assert spout.read() == SYNC
        assert spout.finish() == []
