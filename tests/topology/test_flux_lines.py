"""Where a Flux file is wrong: the line of the very key, and what can't be run at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from multilang_cli.topology.flux import FluxError, FluxFile, read_flux
from tests.flux import SHELL_SPOUT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], FluxFile]:
    def reads(text: str) -> FluxFile:
        (tmp_path / "t.yaml").write_text(text, encoding="utf-8")
        return read_flux(tmp_path / "t.yaml")

    return reads


APART = """name: words
spouts:
  - id: source
    className: org.apache.storm.flux.wrappers.spouts.FluxShellSpout
    constructorArgs:
      - [node, source.js]
      - [sentence]
    parallelism: 1
bolts:
  - id: split
    className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt
    constructorArgs:
      - [ruby, split.rb]
    numTasks: 1
streams:
  - from: source
    to: split
    grouping:
      type: FIELDS
      streamId: default
      args: [sentence]
config:
  topology.workers: 1
  topology.acker.executors: 1
  mlcheck.expect:
    split: [[a]]
"""


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("to: split", "to: splat", "which is no bolt"),
        ("to: split", "to: source", "May not declare inputs for a spout"),
        ("from: source", "from: sauce", "non-existent component [sauce]"),
        ("streamId: default", "streamId: odd", "non-existent stream: [odd]"),
        ("args: [sentence]", "args: [word]", "non-existent fields: [word]"),
        ("type: FIELDS", "type: FIELD", "Unable to find enum value 'FIELD'"),
        ("parallelism: 1", "parallelism: 0", "Parallelism must be positive. That of source is 0."),
        ("parallelism: 1", "parallelism: 20000", "source has 20,000 tasks. mlcheck lays out 10,000 at most"),
        ("numTasks: 1", "numTasks: 2000000000", "split has 2,000,000,000 tasks. mlcheck lays out 10,000 at most"),
        ("topology.workers: 1", "topology.workers: 20000", "topology.workers is 20,000. mlcheck lays out 10,000"),
        ("  mlcheck.expect:", "  mlcheck.expect: [[a]]\n  x:", "mlcheck.expect: it is a mapping, from components to"),
        ("name: words", "nome: words", "Unable to find property 'nome'"),
        ("spouts:", "spouds:", "Unable to find property 'spouds'"),
        ("executors: 1", "executors: 20000", "topology.acker.executors is 20,000. mlcheck lays out 10,000 at most"),
    ],
)
def test_the_line_is_that_of_what_is_wrong(read: Callable[[str], FluxFile], old: str, new: str, error: str) -> None:
    wrong = next(at for at, line in enumerate(APART.splitlines(), 1) if old in line)
    assert read(APART).topology.name == "words"
    with pytest.raises(FluxError) as raised:
        read(APART.replace(old, new))
    assert error in raised.value.sentence
    assert raised.value.place.line == wrong


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ("    sink: [[a]]", "mlcheck.expect: there is no component sink. Known are source, split."),
        ("    split: a", "mlcheck.expect: what split must ack is a list of tuples, each a list of values."),
        ("    split: [a]", "mlcheck.expect: what split must ack is a list of tuples, each a list of values."),
    ],
)
def test_what_can_not_be_expected(read: Callable[[str], FluxFile], values: str, error: str) -> None:
    with pytest.raises(FluxError, match=re.escape(error)) as raised:
        read(APART.replace("    split: [[a]]", values))
    assert raised.value.place.line == APART.splitlines().index("  mlcheck.expect:") + 1


def test_a_queue_needs_its_messages(read: Callable[[str], FluxFile]) -> None:
    text = APART.replace(SHELL_SPOUT, "mlcheck.QueueSpout").replace("      - [node, source.js]\n", "")
    with pytest.raises(
        FluxError, match=r"t\.yaml:3: 'source' has no queue: give the messages, as the list mlcheck\.queue"
    ):
        read(text)
    assert read(text.replace("config:", "config:\n  mlcheck.queue: [a]")).topology.conf["mlcheck.queue"] == ["a"]
