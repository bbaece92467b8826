"""``org.apache.storm.flux.wrappers.bolts.LogInfoBolt``: every tuple into the worker's log, at level info."""

from __future__ import annotations

import json

from multilang_cli.component.bolt import BasicBolt, Tuple

INFO = 2


class LogInfoBolt(BasicBolt):
    """Logs and acks. Storm's tuple ids are not told to a shell component, so none is shown."""

    def process(self, tup: Tuple) -> None:
        """Log a tuple much as ``TupleImpl.toString`` shows it."""
        values = ", ".join(each if isinstance(each, str) else json.dumps(each) for each in tup.values)
        self.log(f"source: {tup.comp}:{tup.task}, stream: {tup.stream}, id: {{}}, [{values}]", INFO)


if __name__ == "__main__":
    LogInfoBolt().run()
