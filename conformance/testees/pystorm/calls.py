"""What a plan asks for, by the calls of pystorm's API; streamparse has the same, so its testee uses this too."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import mutants
import plan

if TYPE_CHECKING:
    import pystorm

mutants.plant(os.environ.get("MLCHECK_MUTANT", ""))


class Calls(plan.Component):
    """What bolts and spouts have in common."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing was done yet."""
        self.begin(storm_conf, context)

    def do_log(self, level: str | None, message: str) -> None:
        """Log with the logger, or at a level."""
        if level is None:
            self.logger.info("%s", message)
        else:
            self.log(message, level=level)

    def do_error(self, message: str) -> None:
        """Report an error, as an exception that was caught."""
        try:
            self.do({"do": "raise", "message": message})
        except RuntimeError as error:
            self.raise_exception(error)

    def do_emit(self, values: list[Any], task: int | None = None, *, ids: bool = False, **how: Any) -> list[int] | None:
        """Emit."""
        if "id" in how:
            how["tup_id"] = how.pop("id")
        return self.emit(values, direct_task=task, need_task_ids=ids, **how)


class BoltCalls(Calls, plan.Bolt):
    """What a bolt has besides."""

    def do_see(self, tup: pystorm.Tuple) -> dict[str, Any]:
        """A tuple as user code sees it; its values may be a named tuple."""
        return {**super().do_see(tup), "values": list(tup.values)}

    def do_ack(self, tup: pystorm.Tuple) -> None:
        """Ack it."""
        self.ack(tup)

    def do_fail(self, tup: pystorm.Tuple) -> None:
        """Fail it."""
        self.fail(tup)


class Each(BoltCalls):
    """A bolt that works on one tuple at a time, and sees ticks."""

    def process(self, tup: pystorm.Tuple) -> None:
        """Do the plan, or echo."""
        self.work(tup)

    def process_tick(self, tup: pystorm.Tuple) -> None:
        """Ack it, unless the library does."""
        self.work(tup)


class ByHand(Each):
    """Settles as it is told."""

    auto_ack = False
    auto_anchor = False


class ByItself(Each):
    """Its library anchors and acks."""

    by_itself = True


class Batch(BoltCalls):
    """Its library collects tuples, anchors and acks."""

    by_itself = True
    ticks_between_batches = 0
    secs_between_batches = 0.3

    def process_batch(self, key: Any, tups: list[pystorm.Tuple]) -> None:
        """Do the plans of one batch, in order."""
        del key
        for tup in tups:
            self.work(tup)


class Words(Calls, plan.Spout):
    """Does for each command what conf says."""

    def next_tuple(self) -> None:
        """One list of the plan; without a plan, one word."""
        self.called("next")

    def ack(self, tup_id: Any) -> None:
        """A tuple is done."""
        self.called("ack", tup_id)

    def fail(self, tup_id: Any) -> None:
        """A tuple failed: without a plan it comes again."""
        self.called("fail", tup_id)

    def activate(self) -> None:
        """The topology is active."""
        self.called("activate")

    def deactivate(self) -> None:
        """The topology is not active."""
        self.called("deactivate")
