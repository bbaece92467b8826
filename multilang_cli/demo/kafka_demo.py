"""The Kafka spout shown on a broker of its own: a topic is filled, and a topology counts its words."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from multilang_cli.kafka.console.lag import ANSWER_LIMIT, INSTALL, show_lags
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import remark, write
from multilang_cli.topology.console.running import TopologyFlags, run_given
from multilang_cli.topology.history import Emitted
from multilang_cli.topology.history_file import read_history
from multilang_cli.transcript.naming import HISTORY

IDLE = 60.0
"""Seconds that the demo waits for a spout that emits nothing: the broker is new."""


class DemoFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck kafka demo``. `record`: the folder of the run."""

    messages: int
    partitions: int
    tasks: int
    record: str


def demo_given(flags: DemoFlags) -> int:
    """Run the demo; returns the exit code of the topology. Raises CommandError."""
    try:
        from multilang_cli.kafka.lag import lag_of  # noqa: PLC0415 (an extra)
        from multilang_cli.kafka.local import demo as parts  # noqa: PLC0415
        from multilang_cli.kafka.local.artifacts import UnavailableError  # noqa: PLC0415
        from multilang_cli.kafka.local.broker import LocalKafka  # noqa: PLC0415
    except ImportError:
        raise CommandError(f"kafka demo: the Kafka client is not installed; {INSTALL}") from None

    messages, record = flags.messages, flags.record
    folder = Path(record)
    folder.mkdir(parents=True, exist_ok=True)
    flux = folder / "topology.yaml"
    remark("starting a Kafka broker (the first time Maven fetches 54 MB)")
    try:
        with LocalKafka() as kafka:
            servers = kafka.bootstrap_servers
            parts.fill(servers, flags.partitions, messages)
            parts.write_topology(flux, servers, flags.tasks)
            remark(f"topic {parts.TOPIC} at {servers} has {messages:,} messages; {flux} reads it")
            code = run_given(TopologyFlags(flux=str(flux), record=record, messages=messages, idle=IDLE))
            _show_counts(folder)
            show_lags(lag_of(servers, parts.TOPIC, parts.NAME, {}, ANSWER_LIMIT))
    except UnavailableError as error:
        raise CommandError(f"kafka demo: {error}") from None
    return code


def _show_counts(folder: Path) -> None:
    """The last count of each word that the bolt emitted."""
    counts: dict[str, int] = {}
    for event in read_history(folder / HISTORY):
        if isinstance(event, Emitted) and event.message_id is None:
            word, count = json.loads(event.values)
            counts[word] = max(count, counts.get(word, 0))
    told = ", ".join(f"{word} {count}" for word, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    write(f"\nCounted: {told}\n\n")
