"""Messages to ackers and their answers: one struct for each of Storm's streams (``Acker``)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

ACK_STREAM: Final = "__ack_ack"
FAIL_STREAM: Final = "__ack_fail"
RESET_TIMEOUT_STREAM: Final = "__ack_reset_timeout"


class AckInit(msgspec.Struct, frozen=True, gc=False, tag="__ack_init"):
    """A spout's task has emitted: `val` is the XOR of the edges it made, 0 if the tuple went to nobody."""

    root: int
    val: int
    task: int


class AckAck(msgspec.Struct, frozen=True, gc=False, tag=ACK_STREAM):
    """A bolt has acked: `val` is the tuple's edge, XOR the edges that were made from the tuple."""

    root: int
    val: int


class AckFail(msgspec.Struct, frozen=True, gc=False, tag=FAIL_STREAM):
    """A bolt has failed a tuple of this root."""

    root: int


class AckResetTimeout(msgspec.Struct, frozen=True, gc=False, tag=RESET_TIMEOUT_STREAM):
    """A bolt asks for more time for this root; a shell component has no way to ask."""

    root: int


AckerMessage = AckInit | AckAck | AckFail | AckResetTimeout
"""What an acker is told."""


class Reply(msgspec.Struct, frozen=True, gc=False):
    """An acker's answer to the spout's `task`; `delta`: seconds since the acker first heard of the root."""

    task: int
    stream: Literal["__ack_ack", "__ack_fail", "__ack_reset_timeout"]
    root: int
    delta: float
