"""The testee of this project's own library for Python: does what it is told (see `mlcheck docs testees`)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import plan

from multilang_cli.component.base import ShellComponent
from multilang_cli.component.bolt import BasicBolt, Bolt, Tuple
from multilang_cli.component.spout import Spout

LEVELS = ("trace", "debug", "info", "warn", "error")
MUTANT = os.environ.get("MLCHECK_MUTANT", "")


class Calls(plan.Component, ShellComponent):
    """What bolts and spouts have in common."""

    def do_log(self, level: str | None, message: str) -> None:
        """Log with the number of the level."""
        self.log(message, *([] if level is None else [LEVELS.index(level)]))

    def do_error(self, message: str) -> None:
        """Report an error."""
        self.report_error(message)

    def do_emit(self, values: list[Any], task: int | None = None, *, ids: bool = False, **how: Any) -> list[int] | None:
        """Emit."""
        wanted = ids or MUTANT == "ids-always"
        return self.emit(values, direct_task=task, need_task_ids=wanted, **how)  # type: ignore[attr-defined]

    def do_print(self, text: str) -> None:
        """Print, a mutant into the protocol."""
        if MUTANT == "print-stdout":
            os.write(self._wire._sink, text.encode() + b"\n")
        else:
            super().do_print(text)


class TesteeBolt(Calls, plan.Bolt, Bolt):
    """Settles as it is told."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing was done yet."""
        self.begin(conf, context)

    def process(self, tup: Tuple) -> None:
        """Do the plan, or echo."""
        self.work(tup)

    def do_see(self, tup: Tuple) -> dict[str, Any]:
        """A tuple as user code sees it."""
        return {"id": tup.id, "component": tup.comp, "stream": tup.stream, "task": tup.task, "values": tup.values}

    def do_ack(self, tup: Tuple) -> None:
        """Ack it."""
        self.ack(tup)

    def do_fail(self, tup: Tuple) -> None:
        """Fail it."""
        self.fail(tup)


class TesteeBasicBolt(TesteeBolt, BasicBolt):
    """Its library anchors and acks."""

    by_itself = True


class TesteeSpout(Calls, plan.Spout, Spout):
    """Does for each command what conf says."""

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Take the plan out of conf."""
        self.begin(conf, context)

    def next_tuple(self) -> None:
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
    {"bolt": TesteeBolt, "basic": TesteeBasicBolt, "spout": TesteeSpout}[sys.argv[1]]().run()
