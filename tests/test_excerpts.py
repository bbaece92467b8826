"""The few messages that are shown of a conversation."""

from __future__ import annotations

from multilang_cli.protocol.events import Event, Exited
from multilang_cli.protocol.messages import Sync, TupleMsg
from multilang_cli.protocol.verdicts import Finding
from multilang_cli.suite.excerpts import excerpt_of

DATA = TupleMsg("src", ["x"], 2, "default", "1")
BEAT = TupleMsg(None, [], -1, "__heartbeat", "9")


def test_heartbeats_drive_no_message_out_but_the_last_is_shown() -> None:
    bodies = [DATA, BEAT, Sync(), BEAT, Sync(), BEAT, BEAT, Exited(code=1)]
    channels = ["in", "in", "out", "in", "out", "in", "in", "process"]
    events = {n: Event(n, float(n), channels[n], body, b"") for n, body in enumerate(bodies)}  # type: ignore[arg-type]
    found = Finding(rule="exited", level="must", seq=7, offset=0, message="dead", fates={})
    assert [line.seq for line in excerpt_of([found], events)] == [0, 6, 7]
