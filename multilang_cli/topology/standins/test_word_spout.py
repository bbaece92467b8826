"""``org.apache.storm.testing.TestWordSpout``: one of five words ten times a second, with no message id: untracked."""

from __future__ import annotations

import random
import time

from multilang_cli.component.spout import Spout

WORDS = ("nathan", "mike", "jackson", "golda", "bertels")
BEFORE_WORD = 0.1
"""Seconds before each word."""


class TestWordSpout(Spout):
    """Emits [word]."""

    def next_tuple(self) -> None:
        """Wait and emit."""
        time.sleep(BEFORE_WORD)
        self.emit([random.choice(WORDS)])  # noqa: S311 (words, not secrets)


if __name__ == "__main__":
    TestWordSpout().run()
