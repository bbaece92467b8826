"""The acker of each Storm version: when its records expire (``Acker``, ``acker.clj``, ``setup-ticks!``). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.acking.acker import TIMEOUT_BUCKET_NUM, Acker
from multilang_cli.acking.rotating import FEWEST_BUCKETS, RotatingMap
from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.topology.tasks import TIMEOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.acking.acker import LatePolicy


def ackers_tick(storm: str) -> bool:
    """False for a Storm that sends its ackers no ticks, as to system components: mended by 1.0.6 and 1.1.2."""
    return not (covers("<1.0.6", storm) or covers(">=1.1.0,<1.1.2", storm))


def rotations(storm: str, tasks: Sequence[int]) -> int:
    """Rotations of pending tuples each message timeout, by a spout's executor with these tasks.

    Up to 0.9 a tick reaches every task, and each rotates the one map: tuples time out the sooner.
    """
    return len(tasks) if covers("<0.10", storm) else 1


def acker_of(storm: str, conf: Mapping[str, Any], late: LatePolicy = "ignore") -> Acker:
    """A new acker of Storm `storm`, such as "2.8.3", in a topology with this conf.

    Before 2.0 a record has two buckets, and every message starts its time again: it is dropped 1 to 2 message timeouts
    after the last message. Since then it has three, and few messages do: it is dropped 2 to 3 after it was made. There
    message timeouts that are switched off keep it for ever, too.
    """
    old = covers("<2.0", storm)
    return Acker(
        pending=RotatingMap.of(FEWEST_BUCKETS if old else TIMEOUT_BUCKET_NUM),
        ticked=ackers_tick(storm) and (old or conf.get(TIMEOUTS) is not False),
        put_again=old,
        late=late,
    )
