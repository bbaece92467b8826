"""The testee of storm.py, Storm's own library for Python: does what it is told (see `mlcheck docs testees`)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))

import mutants
import plan
import storm

mutants.plant(os.environ.get("MLCHECK_MUTANT", ""))

LEVELS = {
    None: storm.log,
    "trace": storm.logTrace,
    "debug": storm.logDebug,
    "info": storm.logInfo,
    "warn": storm.logWarn,
    "error": storm.logError,
}


class Calls(plan.Component):
    """What bolts and spouts have in common."""

    def do_log(self, level: str | None, message: str) -> None:
        """Log with the function for the level."""
        LEVELS[level](message)

    def do_error(self, message: str) -> None:
        """Report an error."""
        storm.reportError(message)

    def do_emit(self, values: list[Any], task: int | None = None, **how: Any) -> list[int] | None:
        """Emit; storm.py always asks for task ids, and can't be told not to."""
        how.pop("ids", None)
        if task is None:
            return storm.emit(values, **how)
        storm.emitDirect(task, values, **how)
        return None


class Bolt(Calls, plan.Bolt, storm.Bolt):
    """Settles as it is told."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing was done yet."""
        self.begin(conf, context)

    def process(self, tup: storm.Tuple) -> None:
        """Do the plan, or echo."""
        self.work(tup)

    def do_ack(self, tup: storm.Tuple) -> None:
        """Ack it."""
        storm.ack(tup)

    def do_fail(self, tup: storm.Tuple) -> None:
        """Fail it."""
        storm.fail(tup)


class BasicBolt(Bolt, storm.BasicBolt):
    """Its library anchors and acks."""

    by_itself = True
    run = storm.BasicBolt.run


class Spout(Calls, plan.Spout, storm.Spout):
    """Does for each command what conf says."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Take the plan out of conf."""
        self.begin(conf, context)

    def nextTuple(self) -> None:
        """One list of the plan; without a plan, one word."""
        self.called("next")

    def ack(self, id: Any) -> None:
        """A tuple is done."""
        self.called("ack", id)

    def fail(self, id: Any) -> None:
        """A tuple failed: without a plan it comes again."""
        self.called("fail", id)

    def activate(self) -> None:
        """The topology is active."""
        self.called("activate")

    def deactivate(self) -> None:
        """The topology is not active."""
        self.called("deactivate")


if __name__ == "__main__":
    {"bolt": Bolt, "basic": BasicBolt, "spout": Spout}[sys.argv[1]]().run()
