"""The testee of streamparse, whose program starts these classes: does what it is told (see `mlcheck docs testees`)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

sys.path.append(str(Path(__file__).resolve().parents[1] / "pystorm"))

import streamparse
from calls import Batch, ByHand, ByItself, Words


class Bolt(ByHand, streamparse.Bolt):
    """The bolt."""

    outputs: ClassVar = ["value"]


class BasicBolt(ByItself, streamparse.Bolt):
    """The bolt whose library settles."""

    outputs: ClassVar = ["value"]


class BatchBolt(Batch, streamparse.BatchingBolt):
    """The bolt whose library settles many at once, at a tick."""

    outputs: ClassVar = ["value"]


class Spout(Words, streamparse.Spout):
    """The spout."""

    outputs: ClassVar = ["value"]
