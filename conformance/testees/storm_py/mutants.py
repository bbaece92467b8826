"""Bugs for the testee of storm.py, one at a time: ``MLCHECK_MUTANT=ack-twice``. What each breaks is in mutants.yaml."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import storm
from bolt_mutants import BOLTS, change_messages
from bugs import MESSAGES, Message
from spout_mutants import SPOUTS

if TYPE_CHECKING:
    from collections.abc import Callable

LINGER = 120
"""Seconds that a mutant lives at most where it should have ended."""


def write_otherwise(change: Callable[[str], str]) -> None:
    """Change the text of a message."""
    encode = storm.json_encode
    storm.json_encode = lambda message: change(encode(message))


def held_back() -> None:
    """Each message goes out with the next one only, as with an output that nobody flushes."""
    send, kept = storm.sendMsgToParent, []

    def later(message: Message) -> None:
        kept.append(message)
        if "pid" in message:
            send(kept.pop())
        while len(kept) > 1:
            send(kept.pop(0))

    storm.sendMsgToParent = later


def emits_last() -> None:
    """Emits go out after the next message that is none."""
    send, kept = storm.sendMsgToParent, []

    def later(message: Message) -> None:
        if message.get("command") == "emit":
            kept.append(message)
            return
        send(message)
        while kept:
            send(kept.pop(0))

    storm.sendMsgToParent = later
    storm.readTaskIds = list


def set_up(change: Callable[[list[Any]], list[Any]]) -> Callable[[], None]:
    """User code sees another conf or context."""

    def patch() -> None:
        first = storm.initComponent
        storm.initComponent = lambda: change(first())

    return patch


def no_pid_file() -> None:
    """The pid file is never made."""
    storm.sendpid = lambda _: storm.sendMsgToParent({"pid": os.getpid()})


def late_pid() -> None:
    """It logs before it says its pid."""
    first = storm.sendpid

    def sendpid(folder: str) -> None:
        storm.logInfo("starting")
        first(folder)

    storm.sendpid = sendpid


def direct_waits() -> None:
    """Task ids are waited for after a direct emit too."""
    direct = storm.emitDirect

    def emit(*args: Any, **kwargs: Any) -> None:
        direct(*args, **kwargs)
        storm.readTaskIds()

    storm.emitDirect = emit


def ids_of_before() -> None:
    """User code is given the task ids of the emit before."""
    read, before = storm.readTaskIds, []

    def ids() -> list[int]:
        before.append(read())
        return before[-2] if len(before) > 1 else []

    storm.readTaskIds = ids


def ids_unread() -> None:
    """Task ids are asked for and not waited for: they come as tuples."""
    storm.readTaskIds = list
    storm.readCommand = lambda: storm.pending_commands.popleft() if storm.pending_commands else storm.readMsg()


def ids_drop_others() -> None:
    """What comes while it waits for task ids is lost."""

    def ids() -> list[int]:
        while not isinstance(message := storm.readMsg(), list):
            pass
        return message

    storm.readTaskIds = ids


def ids_until_some() -> None:
    """An empty list of task ids is not taken for the answer."""
    read = storm.readTaskIds

    def ids() -> list[int]:
        while not (found := read()):
            pass
        return found

    storm.readTaskIds = ids


def stderr_to_stdout() -> None:
    """What is written to stderr goes to stdout."""
    sys.stderr = sys.stdout


def latin_1() -> None:
    """Stdin is read in the wrong encoding."""
    sys.stdin.reconfigure(encoding="latin-1")


def outlives() -> None:
    """It stays when stdin is closed."""
    read = storm.readMsg

    def stubborn() -> Any:
        try:
            return read()
        except Exception:
            time.sleep(LINGER)
            raise

    storm.readMsg = stubborn


def outlives_sigterm() -> None:
    """It does not end when it is told to."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def prints() -> None:
    """It prints for debugging."""
    read = storm.readTuple

    def loud() -> storm.Tuple:
        tup = read()
        print("got", tup.id, flush=True)
        return tup

    storm.readTuple = loud


def logs_last() -> None:
    """Logs come after the next ack."""
    send, kept = storm.sendMsgToParent, []

    def later(message: Message) -> None:
        if message.get("command") == "log":
            kept.append(message)
            return
        send(message)
        while kept and message.get("command") == "ack":
            send(kept.pop(0))

    storm.sendMsgToParent = later


def locale_c() -> None:
    """Stdin is read as the locale says."""
    if os.environ.get("LC_ALL") == "C":
        latin_1()


def closes_stdin() -> None:
    """It closes its stdin before it says its pid, and goes on for longer than a dying process would."""
    first, then = storm.sendpid, storm.initComponent

    def sendpid(folder: str) -> None:
        os.close(0)
        first(folder)

    def late() -> list[Any]:
        both = then()
        time.sleep(LINGER)
        return both

    storm.sendpid, storm.initComponent = sendpid, late


def thread_lives() -> None:
    """A thread of its own keeps the process alive."""
    threading.Thread(target=time.sleep, args=(LINGER,)).start()


def unencodable_dropped() -> None:
    """What can't be encoded is dropped, and nobody is told but the log."""
    send = storm.sendMsgToParent

    def forgiving(message: Message) -> None:
        try:
            send(message)
        except TypeError as error:
            storm.logError(str(error))

    storm.sendMsgToParent = forgiving
    storm.readTaskIds = list


OTHERS: dict[str, Callable[[], None]] = {
    "held-back": held_back,
    "emits-last": emits_last,
    "end-space": lambda: write_otherwise(lambda text: text + "\nend "),
    "bom": lambda: write_otherwise(lambda text: "\ufeff" + text),
    "single-quotes": lambda: write_otherwise(lambda text: text.replace('"', "'")),
    "trailing-comma": lambda: write_otherwise(lambda text: text[:-1] + ",}"),
    "not-a-number": lambda: write_otherwise(lambda text: text.replace("0.5", "NaN")),
    "ids-drop-others": ids_drop_others,
    "ids-until-some": ids_until_some,
    "stderr-to-stdout": stderr_to_stdout,
    "conf-wrong-key": set_up(lambda both: [both[0].get("config", {}), both[1]]),
    "context-missing": set_up(lambda both: [both[0], {}]),
    "no-pid-file": no_pid_file,
    "late-pid": late_pid,
    "direct-waits": direct_waits,
    "ids-of-before": ids_of_before,
    "ids-unread": ids_unread,
    "latin-1": latin_1,
    "outlives": outlives,
    "outlives-sigterm": outlives_sigterm,
    "prints": prints,
    "logs-last": logs_last,
    "locale-c": locale_c,
    "closes-stdin": closes_stdin,
    "thread-lives": thread_lives,
    "unencodable-dropped": unencodable_dropped,
    "delete-raw": lambda: write_otherwise(lambda text: text.replace("a\\nb", "a\\n\x7fb")),
    **BOLTS,
    **SPOUTS,
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
