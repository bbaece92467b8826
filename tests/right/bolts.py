"""Bolts that are right, each in a way of its own: ``bolts.py threads``. No finding is fair on any of them.

They share the smallest loop; how a tuple is settled, and by whom, is what differs. `BOLTS` has them all.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Tuple = dict[str, Any]

_lock = threading.Lock()
once_shaken: list[Callable[[], Any]] = []
"""What a bolt does by itself as soon as the pid is said: whatever it says before that, Storm takes for its pid."""


def read() -> Any:
    """Return the next message; exit at the end of stdin, whatever other threads do."""
    lines = []
    while (line := sys.stdin.buffer.readline()) != b"end\n":
        if not line:
            os._exit(0)
        lines.append(line)
    return json.loads(b"".join(lines))


def send(message: Any) -> None:
    """Write a message whole, whichever thread speaks."""
    data = json.dumps(message).encode() + b"\nend\n"
    with _lock:
        while data:
            data = data[os.write(1, data) :]


def emit(tup: Tuple, *values: Any, **more: Any) -> None:
    """Emit anchored to a tuple."""
    send({"command": "emit", "anchors": [tup["id"]], "tuple": list(values), "need_task_ids": False, **more})


def ack(tup: Tuple) -> None:
    """Ack a tuple."""
    send({"command": "ack", "id": tup["id"]})


def fail(tup: Tuple) -> None:
    """Fail a tuple."""
    send({"command": "fail", "id": tup["id"]})


def shake() -> None:
    """Make the pid file and say the pid."""
    Path(read()["pidDir"], str(os.getpid())).touch()
    send({"pid": os.getpid()})
    for begin in once_shaken:
        begin()


def loop(process: Callable[[Tuple], None]) -> None:
    """Answer heartbeats, hand tuples on, leave all else alone."""
    shake()
    while True:
        message = read()
        if isinstance(message, list) or "command" in message:
            continue
        if message["stream"] == "__heartbeat" and message["task"] == -1:
            send({"command": "sync"})
        else:
            process(message)


def threads() -> None:
    """Four threads work and settle out of order."""
    work: queue.Queue[Tuple] = queue.Queue()

    def worker() -> None:
        while True:
            tup = work.get()
            emit(tup, len(str(tup["tuple"])))
            ack(tup)

    for _ in range(4):
        threading.Thread(target=worker, daemon=True).start()
    loop(work.put)


def timed_batch() -> None:
    """Acks what has come every tenth of a second."""
    waiting: queue.Queue[Tuple] = queue.Queue()

    def flush() -> None:
        while True:
            time.sleep(0.1)
            while not waiting.empty():
                ack(waiting.get())

    threading.Thread(target=flush, daemon=True).start()
    loop(waiting.put)


def batch_of_5() -> None:
    """Settles five tuples together."""
    batch: list[Tuple] = []

    def process(tup: Tuple) -> None:
        batch.append(tup)
        if len(batch) == 5:
            send({"command": "emit", "anchors": [t["id"] for t in batch], "tuple": [5], "need_task_ids": False})
            for each in batch:
                ack(each)
            batch.clear()

    loop(process)


def on_tick() -> None:
    """Counts, and settles what it has counted when a tick comes."""
    counted: list[Tuple] = []

    def process(tup: Tuple) -> None:
        if tup["comp"] == "__system" and tup["stream"] == "__tick":
            for each in counted:
                ack(each)
            counted.clear()
            ack(tup)
        else:
            counted.append(tup)

    loop(process)


def on_third_tick() -> None:
    """Settles what it has, the ticks of it too, on every third tick."""
    kept: list[Tuple] = []

    def process(tup: Tuple) -> None:
        kept.append(tup)
        if sum(each["stream"] == "__tick" for each in kept) == 3:
            for each in kept:
                ack(each)
            kept.clear()

    loop(process)


def on_heartbeat() -> None:
    """Settles what has come whenever Storm asks for a sign of life, as who flushes by a clock of Storm's does."""
    kept: list[Tuple] = []
    shake()
    while True:
        message = read()
        if isinstance(message, dict) and message["stream"] == "__heartbeat":
            send({"command": "sync"})
            for each in kept:
                ack(each)
            kept.clear()
        elif isinstance(message, dict):
            kept.append(message)


def on_next() -> None:
    """Compares each tuple with the one before, and settles that."""
    before: list[Tuple] = []

    def process(tup: Tuple) -> None:
        if before:
            emit(before[0], before[0]["tuple"] == tup["tuple"])
            ack(before.pop())
        before.append(tup)

    loop(process)


def batch_by_value() -> None:
    """Settles three equal tuples together, whatever came between."""
    batches: dict[str, list[Tuple]] = {}

    def process(tup: Tuple) -> None:
        batch = batches.setdefault(json.dumps(tup["tuple"]), [])
        batch.append(tup)
        if len(batch) == 3:
            for each in batch:
                ack(each)
            batch.clear()

    loop(process)


def window_of_3() -> None:
    """Holds the latest three, and acks what they push out."""
    window: list[Tuple] = []

    def process(tup: Tuple) -> None:
        window.append(tup)
        if len(window) > 3:
            ack(window.pop(0))

    loop(process)


def joins() -> None:
    """Holds a tuple until its partner comes: the two kinds come on one stream."""
    waiting: dict[int, list[Tuple]] = {}

    def process(tup: Tuple) -> None:
        if tup["tuple"][0] not in ("a b", "c d"):
            ack(tup)
            return
        kind = int(tup["tuple"][0] == "c d")
        if waiting.get(1 - kind):
            partner = waiting[1 - kind].pop(0)
            for each in (partner, tup):
                ack(each)
        else:
            waiting.setdefault(kind, []).append(tup)

    loop(process)


def filters() -> None:
    """Passes some tuples on and drops the others: all are acked."""

    def process(tup: Tuple) -> None:
        if tup["tuple"][0] != "a b":
            emit(tup, "kept")
        ack(tup)

    loop(process)


def later() -> None:
    """Settles each tuple by a thread of its own, those that came first the last."""

    def process(tup: Tuple) -> None:
        threading.Timer(0.05 if tup["tuple"][0] == "a b" else 0, ack, (tup,)).start()

    loop(process)


def on_late_heartbeat() -> None:
    """Settles what has come on a heartbeat, but not on each: only when its own clock says that it is time."""
    kept: list[Tuple] = []
    flushed = time.monotonic()
    shake()
    while True:
        message = read()
        if not isinstance(message, dict):
            continue
        if message["stream"] != "__heartbeat":
            kept.append(message)
            continue
        if time.monotonic() - flushed > 1.5:
            while kept:
                ack(kept.pop())
            flushed = time.monotonic()
        send({"command": "sync"})


def never() -> None:
    """Keeps every tuple for ever, and says so (settles = unchecked)."""
    loop(lambda _: None)


def fails_all() -> None:
    """Fails every tuple: that settles it."""
    loop(fail)


def picky() -> None:
    """Dies of text that is no sentence of its own: it was promised nothing else."""

    def process(tup: Tuple) -> None:
        if tup["tuple"][0] not in ("a b", "c d"):
            raise ValueError(tup["tuple"][0])
        for _ in range(tup["tuple"][1]):
            emit(tup, "again")
        ack(tup)

    loop(process)


def picky_politely() -> None:
    """Fails text that it does not know, and goes on."""
    loop(lambda tup: ack(tup) if tup["tuple"][0] in ("a b", "c d") else fail(tup))


def talks() -> None:
    """Logs at every level, reports an error, and says much on stderr."""

    def process(tup: Tuple) -> None:
        for level in range(5):
            send({"command": "log", "msg": f"level {level}", "level": level})
        send({"command": "error", "msg": "no error at all"})
        os.write(2, b"talking\n" * 200)
        emit(tup, "word", stream="more")
        ack(tup)

    loop(process)


def syncs_more() -> None:
    """Sends a sync with every ack too: harmless for a bolt."""

    def process(tup: Tuple) -> None:
        ack(tup)
        send({"command": "sync"})

    loop(process)


def syncs_first() -> None:
    """Sends a sync that nobody asked for, before anything else: harmless for a bolt."""
    once_shaken.append(lambda: send({"command": "sync"}))
    loop(ack)


def syncs_by_itself() -> None:
    """Sends a sync now and then, whatever happens."""

    def beat() -> None:
        while True:
            time.sleep(0.7)
            send({"command": "sync"})

    once_shaken.append(threading.Thread(target=beat, daemon=True).start)
    loop(ack)


def shouts() -> None:
    """Spaces, blank lines, CR LF, keys in any order, unknown keys, null fields: all legal."""

    def process(tup: Tuple) -> None:
        text = json.dumps(
            {"more": {"a": 1}, "tuple": ["x"], "anchors": [tup["id"]], "stream": None, "task": None, "command": "emit"},
            indent=2,
        )
        with _lock:
            os.write(1, f"\n\n{text}\r\nend\r\n".encode())
        ack(tup)

    loop(process)


def slow_start() -> None:
    """Takes a second to be ready, as a large runtime does."""
    time.sleep(1)
    loop(ack)


def ponders() -> None:
    """Works for seconds on a text of megabytes, as a parser does that is written in a slow language."""

    def process(tup: Tuple) -> None:
        until = time.process_time() + (4 if len(str(tup["tuple"])) > 1_000_000 else 0)
        while time.process_time() < until:
            pass
        ack(tup)

    loop(process)


def one_byte() -> None:
    """Writes byte by byte."""

    def process(tup: Tuple) -> None:
        with _lock:
            for byte in json.dumps({"command": "ack", "id": tup["id"]}).encode() + b"\nend\n":
                os.write(1, bytes([byte]))

    loop(process)


def acks_then_emits() -> None:
    """Emits without an anchor after the ack: at most once, and legal."""

    def process(tup: Tuple) -> None:
        ack(tup)
        send({"command": "emit", "tuple": ["x"], "need_task_ids": False})

    loop(process)


def polls() -> None:
    """Never blocks: looks at its stdin again and again, and sleeps in between."""
    os.set_blocking(0, False)
    text = b""
    while True:
        try:
            data = os.read(0, 4096)
        except BlockingIOError:
            time.sleep(0.002)
            continue
        if not data:
            return
        *messages, text = (text + data).split(b"\nend\n")
        for message in map(json.loads, messages):
            if "pidDir" in message:
                Path(message["pidDir"], str(os.getpid())).touch()
                send({"pid": os.getpid()})
            elif isinstance(message, dict) and message["stream"] == "__heartbeat":
                send({"command": "sync"})
            elif isinstance(message, dict):
                ack(message)


def forks() -> None:
    """Runs a program for each tuple, which has our stderr."""

    def process(tup: Tuple) -> None:
        if subprocess.run(["true"], check=False, stdin=subprocess.DEVNULL, stdout=2).returncode == 0:
            ack(tup)

    loop(process)


BOLTS: dict[str, Callable[[], None]] = {
    "threads": threads,
    "timed-batch": timed_batch,
    "batch-of-5": batch_of_5,
    "on-tick": on_tick,
    "on-third-tick": on_third_tick,
    "on-heartbeat": on_heartbeat,
    "on-next": on_next,
    "batch-by-value": batch_by_value,
    "window-of-3": window_of_3,
    "joins": joins,
    "filters": filters,
    "later": later,
    "never": never,
    "fails-all": fails_all,
    "picky": picky,
    "picky-politely": picky_politely,
    "talks": talks,
    "syncs-more": syncs_more,
    "syncs-first": syncs_first,
    "syncs-by-itself": syncs_by_itself,
    "shouts": shouts,
    "slow-start": slow_start,
    "one-byte": one_byte,
    "acks-then-emits": acks_then_emits,
    "ponders": ponders,
    "polls": polls,
    "forks": forks,
}

PATIENT: dict[str, Callable[[], None]] = {"on-late-heartbeat": on_late_heartbeat}
"""Those with which a whole run takes minutes."""

if __name__ == "__main__":
    (BOLTS | PATIENT)[sys.argv[1]]()
