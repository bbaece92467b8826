"""Topologies with a planted bug that only a fault in the right place shows, and the search for that fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from multilang_cli.topology.console.searching import searched
from multilang_cli.topology.console.sweeping import Played
from multilang_cli.topology.model import EXPECTED, QUEUED, Grouping, Subscription, Topology
from tests.command import ROOT
from tests.topologies.runs import ACKERS, TIMEOUT, WORKERS, component, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NUMBERS = 12
TWO_CHILDREN = ("acks_in_between", "anchors_first_child")
"""Bolts that make two tuples of each: the second is 100 more."""


class Planted(NamedTuple):
    """What a spout and a bolt do wrong, and in how many workers: in one, all dies with any of them."""

    spout: str = "NoBug"
    bolt: str = "no_bug"
    workers: int = 1


PLANTED: dict[str, Planted] = {
    "ack before the emit": Planted(bolt="acks_first"),
    "ack between two emits": Planted(bolt="acks_in_between"),
    "acked, and kept in memory for a batch": Planted(bolt="batches_what_it_acked"),
    "no anchors": Planted(bolt="anchors_nothing"),
    "no anchor on a branch": Planted(bolt="anchors_no_fifth"),
    "no anchor for the second child": Planted(bolt="anchors_first_child"),
    "a pair anchored to its first": Planted(bolt="anchors_another", workers=4),
    "a batch anchored to its last": Planted(bolt="anchors_last_of_three", workers=4),
    "a replay taken for a duplicate": Planted(bolt="remembers_before_it_is_done", workers=4),
    "state of acked tuples in memory": Planted(bolt="keeps_its_header_in_memory"),
    "a restart that skips a tuple": Planted(bolt="resumes_one_too_far", workers=4),
    "no anchors after a restart": Planted(bolt="anchors_nothing_when_restarted", workers=4),
    "fails swallowed": Planted("SwallowsFails"),
    "a second fail swallowed": Planted("ReplaysOnce"),
    "replays without an id": Planted("ReplaysWithoutId"),
    "replays without the value": Planted("ReplaysWithoutValue"),
    "confirmed when emitted": Planted("ConfirmsWhatItEmits"),
    "the last two known": Planted("KeepsTwo"),
    "replays only with an ack": Planted("ReplaysWithTheNextAck"),
    "the highest ack committed": Planted("CommitsTheHighestAck", "sets_third_aside"),
    "a batch confirmed with its first ack": Planted("ConfirmsABatchWithItsFirstAck"),
    "no id when busy": Planted("NoIdWhenBusy"),
    "forgotten before the time-out": Planted("ForgetsInTime", workers=4),
}
"""By what is wrong."""


def planted_topology(planted: Planted, state: Path) -> Topology:
    """Numbers of a queue, by way of the bolt to a sink. `state`: a folder for what outlives a process."""
    numbers = list(range(1, NUMBERS + 1))
    two = planted.bolt in TWO_CHILDREN
    parts = [
        component("numbers", "spout", "faulty_spout.py", default=("number",)),
        component("bolt", "bolt", "faulty_bolt.py", default=("number",)),
        component("sink", "bolt", "slow_sink.py"),
    ]
    bugs = (planted.spout, planted.bolt, "")
    return Topology(
        name="planted",
        components={
            each.id: msgspec.structs.replace(each, command=(*each.command, bug))
            for each, bug in zip(parts, bugs, strict=True)
        },
        subscriptions=(
            Subscription(source="numbers", target="bolt", grouping=Grouping("GLOBAL")),
            Subscription(source="bolt", target="sink", grouping=Grouping("GLOBAL")),
        ),
        conf={
            ACKERS: 1,
            TIMEOUT: 1,
            WORKERS: planted.workers,
            QUEUED: numbers,
            EXPECTED: {"sink": [[each] for each in numbers] + [[each + 100] for each in numbers if two]},
            "faulty.folder": str(state),
        },
    )


def search(
    make: Callable[[Path], Topology], folder: Path, seconds: float, seed: int = 0, *, quiet: bool = True
) -> Played:
    """Search the topology that `make` gives for a folder for its state, which is a fresh one for each run."""

    def play(faults: tuple[str, ...], there: Path) -> Played:
        state = there / "state"
        state.mkdir(parents=True)
        ran = run(make(state), there, faults=faults, seed=seed, env={"PYTHONPATH": str(ROOT)})
        return Played(ran.setup, ran.run)

    return searched(seconds, folder, play, strict=False, quiet=quiet)
