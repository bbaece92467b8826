"""Bugs for the spout of storm.py's testee. What each breaks is in mutants.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import storm

if TYPE_CHECKING:
    from collections.abc import Callable

    from bugs import Message


def spout_silent(*names: str) -> Callable[[], None]:
    """No sync after these commands."""

    def patch() -> None:
        read, sync = storm.readCommand, storm.sync
        last: list[str] = [""]

        def command() -> Message:
            message = read()
            last[0] = message["command"]
            return message

        storm.readCommand = command
        storm.sync = lambda: None if last[0] in names else sync()

    return patch


def spout_early() -> None:
    """The sync comes before the emits."""
    send = storm.sendMsgToParent
    early: list[bool] = []

    def changed(message: Message) -> None:
        if message.get("command") == "emit" and not early:
            early.append(True)
            send({"command": "sync"})
        if message.get("command") == "sync" and early:
            early.clear()
            return
        send(message)

    storm.sendMsgToParent = changed


def spout_swapped() -> None:
    """Acks reach user code as fails."""
    read = storm.readCommand

    def command() -> Message:
        message = dict(read())
        message["command"] = {"ack": "fail", "fail": "ack"}.get(message["command"], message["command"])
        return message

    storm.readCommand = command


def spout_ids_text() -> None:
    """User code sees message ids as strings."""
    read = storm.readCommand

    def command() -> Message:
        message = dict(read())
        if "id" in message:
            message["id"] = str(message["id"])
        return message

    storm.readCommand = command


def log_late() -> None:
    """A log comes after each sync."""
    sync = storm.sync

    def then_log() -> None:
        sync()
        storm.logInfo("done")

    storm.sync = then_log


def guarded(answer: Callable[[RuntimeError], None]) -> Callable[[], None]:
    """What raises in the user's nextTuple is swallowed, with this answer."""

    def patch() -> None:
        def spout(made: type[Any]) -> None:
            first = made.nextTuple

            def calm(self: Any) -> None:
                try:
                    first(self)
                except RuntimeError as error:
                    answer(error)

            made.nextTuple = calm

        storm.Spout.__init_subclass__ = classmethod(spout)

    return patch


def never_again(error: RuntimeError) -> None:
    """No sync, for good."""
    del error
    storm.sync = list


def initialize_prints() -> None:
    """What raises in the user's initialize is printed."""

    def report(text: str) -> None:
        print(text, flush=True)

    storm.reportError = report


SPOUTS: dict[str, Callable[[], None]] = {
    "silent-ack": spout_silent("ack", "fail"),
    "silent-activate": spout_silent("activate", "deactivate"),
    "sync-early": spout_early,
    "swapped": spout_swapped,
    "ids-text": spout_ids_text,
    "log-late": log_late,
    "raise-silent": guarded(never_again),
    "traceback-printed": initialize_prints,
}
"""Bugs by their names."""
