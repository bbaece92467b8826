"""Signals and bytes that the tap hands on: whatever becomes of one, the tap is not hurt."""

from __future__ import annotations

import errno
import os
import select
import signal

import pytest

from multilang_cli.tap import feed
from multilang_cli.tap.forward import Forwarder
from multilang_cli.tap.lane import Lane
from multilang_cli.tap.queue import RecordQueue


@pytest.mark.parametrize("number", [errno.EPERM, errno.ESRCH], ids=errno.errorcode.get)
def test_a_component_that_no_signal_reaches_hurts_no_tap(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise OSError(number, os.strerror(number))

    wakeup = signal.set_wakeup_fd(-1)
    try:
        forwarder = Forwarder(RecordQueue(None))
        monkeypatch.setattr(os, "kill", refuse)
        forwarder.on_signal(4711, signal.SIGTERM)
    finally:
        signal.set_wakeup_fd(wakeup)


def test_a_lane_whose_held_bytes_can_not_be_written_holds_nothing_any_more() -> None:
    """The tap waits for as long as a lane holds something: it would never end."""
    source, written = os.pipe()
    sink = os.open("/dev/full", os.O_WRONLY)
    lane = Lane(feed.OUT, source, sink, select.poll(), own=False)
    os.write(written, b"said")
    assert lane.move() == b"said"
    assert lane.blocked
    lane.go_on()
    assert (lane.end, lane.blocked) == ("broken", False)
    os.close(written)
