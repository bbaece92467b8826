"""Bugs for the testees of pystorm and streamparse, one at a time. What each breaks is in their mutants.yaml."""

from __future__ import annotations

import logging
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pystorm
from bugs import MESSAGES, Message
from pystorm.component import Component, StormHandler

if TYPE_CHECKING:
    from collections.abc import Callable

LINGER = 120
"""Seconds that a mutant lives at most where it should have ended."""


def change_messages(change: Callable[[Message], list[Message]]) -> None:
    """Change what is sent."""
    send = Component.send_message

    def changed(self: Component, message: Message) -> None:
        for each in change(message):
            send(self, each)

    Component.send_message = changed


def instead(owner: type[Any], **methods: Callable[..., Any]) -> Callable[[], None]:
    """Other methods, each given the one it takes the place of."""

    def patch() -> None:
        for name, method in methods.items():
            first = getattr(owner, name)
            setattr(owner, name, lambda *args, _first=first, _method=method: _method(_first, *args))

    return patch


def raised_before(_: Any, bolt: pystorm.Bolt, exc: Exception) -> None:
    """The tuple before the one that raised is failed."""
    bolt.raise_exception(exc, bolt.before[-2])
    bolt.fail(bolt.before[-2])


def remembered(first: Callable[..., Any], bolt: pystorm.Bolt) -> pystorm.Tuple:
    """What was read is remembered."""
    tup = first(bolt)
    bolt.__dict__.setdefault("before", [tup]).append(tup)
    return tup


def acked_all_the_same(first: Callable[..., Any], bolt: pystorm.Bolt, exc: Exception) -> None:
    """What raised is acked."""
    bolt.fail = bolt.ack
    first(bolt, exc)


def kept(first: Callable[..., Any], bolt: pystorm.BatchingBolt) -> None:
    """A batch is kept when it is done."""
    batches = {key: list(batch) for key, batch in bolt._batches.items()}
    first(bolt)
    bolt._batches.update(batches)


def last_only(first: Callable[..., Any], bolt: pystorm.BatchingBolt) -> None:
    """Only the last tuple of a batch is acked."""
    ack = pystorm.Bolt.ack
    last = {batch[-1].id for batch in bolt._batches.values() if batch}
    bolt.ack = lambda tup: ack(bolt, tup) if tup.id in last else None
    first(bolt)
    del bolt.ack


def acked_twice(first: Callable[..., Any], bolt: pystorm.BatchingBolt) -> None:
    """The user's code acks a batch as well as the library."""
    tuples = [tup for batch in bolt._batches.values() for tup in batch]
    first(bolt)
    for tup in tuples:
        bolt.ack(tup)


def tick_twice(first: Callable[..., Any], bolt: pystorm.Bolt, tup: pystorm.Tuple) -> None:
    """A tick is acked once more."""
    first(bolt, tup)
    if bolt.is_tick(tup):
        first(bolt, tup)


def tick_never(first: Callable[..., Any], bolt: pystorm.Bolt, tup: pystorm.Tuple) -> None:
    """A tick is not acked."""
    if not bolt.is_tick(tup):
        first(bolt, tup)


def ids_at_once(_: Any, component: Component) -> list[int]:
    """Task ids are not waited for, and taken when somebody wants them later."""
    return component._pending_task_ids.popleft() if component._pending_task_ids else []


def thread_lives() -> None:
    """A thread keeps the process alive: it is ended as a program that has none."""
    threading.Thread(target=time.sleep, args=(LINGER,)).start()
    Component._exit = lambda _, code: sys.exit(code)


def old_spout(first: Callable[..., Any], spout: pystorm.Spout) -> Message:
    """Activate and deactivate are not known, and not answered."""
    while (command := first(spout))["command"] in {"activate", "deactivate"}:
        spout.logger.error("Received invalid command from Storm: %r", command)
    return command


def level_number(_: Any, handler: StormHandler, record: logging.LogRecord) -> None:
    """The logger's levels go out with Python's numbers."""
    handler.serializer.send_message({"command": "log", "msg": handler.format(record), "level": record.levelno})


def warnings_only(first: Callable[..., Any], handler: StormHandler, record: logging.LogRecord) -> None:
    """What is less than a warning is not logged."""
    if record.levelno >= logging.WARNING:
        first(handler, record)


def no_pid_file(_: Any, component: Component) -> tuple[Any, Any]:
    """The pid file is never made."""
    hello = component.read_message()
    component.send_message({"pid": component.pid})
    return hello["conf"], hello["context"]


def wrong_key(_: Any, component: Component) -> tuple[Any, Any]:
    """The configuration is looked for under another key."""
    hello = component.read_message()
    Path(hello["pidDir"], str(component.pid)).touch()
    component.send_message({"pid": component.pid})
    return hello.get("config", {}), hello["context"]


OTHERS: dict[str, Callable[[], None]] = {
    "fails-before": instead(pystorm.Bolt, read_tuple=remembered, _handle_run_exception=raised_before),
    "raise-acked": instead(pystorm.Bolt, _handle_run_exception=acked_all_the_same),
    "batch-raise-acked": instead(pystorm.BatchingBolt, _handle_run_exception=acked_all_the_same),
    "batch-acked-twice": instead(pystorm.BatchingBolt, process_batches=acked_twice),
    "batch-last-only": instead(pystorm.BatchingBolt, process_batches=last_only),
    "batch-kept": instead(pystorm.BatchingBolt, process_batches=kept),
    "beats-acked": instead(Component, is_heartbeat=lambda *_: False),
    "ticks-twice": instead(pystorm.Bolt, ack=tick_twice),
    "ticks-unacked": instead(pystorm.Bolt, ack=tick_never),
    "ids-at-once": instead(Component, read_task_ids=ids_at_once),
    "old-spout": instead(pystorm.Spout, read_command=old_spout),
    "no-pid-file": instead(Component, read_handshake=no_pid_file),
    "conf-wrong-key": instead(Component, read_handshake=wrong_key),
    "logger-number": instead(StormHandler, emit=level_number),
    "logger-filters": instead(StormHandler, emit=warnings_only),
    "thread-lives": thread_lives,
}
"""Bugs that are no change of one message."""


def plant(name: str) -> None:
    """Plant the bug of this name, none for "". Ends the process if there is none of that name."""
    if name in MESSAGES:
        change_messages(MESSAGES[name])
    elif name in OTHERS:
        OTHERS[name]()
    elif name:
        sys.exit(f"no such mutant: {name}")
