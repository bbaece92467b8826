"""The testee of pystorm: does what a tuple or conf tells it (see `mlcheck docs testees`)."""

from __future__ import annotations

import sys

import pystorm
from calls import Batch, ByHand, ByItself, Words


class Bolt(ByHand, pystorm.Bolt):
    """The bolt."""


class BasicBolt(ByItself, pystorm.Bolt):
    """The bolt whose library settles."""


class BatchBolt(Batch, pystorm.TicklessBatchingBolt):
    """The bolt whose library settles many at once, by the clock."""


class Spout(Words, pystorm.Spout):
    """The spout."""


if __name__ == "__main__":
    {"bolt": Bolt, "basic": BasicBolt, "batch": BatchBolt, "spout": Spout}[sys.argv[1]]().run()
