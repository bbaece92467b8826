"""Waiting for a component, and saying who waits on whom if it was in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.words.verdicts import together
from multilang_cli.repl import parsing
from multilang_cli.repl.commands.speaking import await_sync
from multilang_cli.repl.commands.table import CommandTable, Misuse, ReplCommand
from multilang_cli.reports.event_sentences import lasted

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.repl.driver import Driver


def _wait(driver: Driver, rest: str) -> None:
    plain = parsing.words(rest)
    what = plain.pop(0) if plain and plain[0] in WAITS else "quiet"
    seconds = parsing.seconds(plain.pop(0), "wait") if plain else None
    if plain:
        raise Misuse(f"expected what to wait for and how long; known are {', '.join(WAITS)}")
    if not driver.waits:
        driver.screen.line(f"waiting for {what}; Ctrl-C ends the wait", "dim")
    began = driver.life.session.now
    if WAITS[what](driver, seconds):
        driver.screen.line(f"{what}, after {lasted(driver.life.session.now - began)}", "dim")
    else:
        _tell_in_vain(driver, what)


def _tell_in_vain(driver: Driver, what: str) -> None:
    """Say why a wait was in vain; who waits on whom was said with the limit that ran out, if one did."""
    session = driver.life.session
    if not driver.life.alive:
        driver.screen.line(f"no {what}: {driver.life.silence}", "wrong")
    elif driver.interrupted or what == "quiet":
        why = "you waited long enough" if driver.interrupted else "it is not quiet"
        driver.screen.para(f"{why}; the component {session.look().waits}.", "wrong")
    else:
        driver.screen.line(f"no {what}", "wrong")


def _wait_quiet(driver: Driver, seconds: float | None) -> bool:
    """Wait until it has read everything and said what it had to say."""
    session = driver.life.session
    driver.life.did("quiet")
    until = session.now + (driver.limit("output", seconds))
    while not driver.interrupted and session.running:
        if session.wait_quiet(min(1.0, max(0.0, until - session.now))):
            return True
        if session.now >= until:
            return False
    return not driver.interrupted


def _wait_settle(driver: Driver, seconds: float | None) -> bool:
    """Wait until every tuple is acked or failed."""
    if driver.setup.profile.kind != "bolt":
        raise Misuse("wait settle: a bolt settles tuples; of a spout, wait for sync")
    driver.life.did("settle")
    bolt, how = driver.life.bolt, driver.setup.profile.settles
    limit = driver.limit("settle", seconds)
    if how in {"unchecked", "on-tick"}:
        driver.screen.line(f"it settles {how}, as declared: a tuple that stays open is no finding", "dim")
        _wait_quiet(driver, limit)
        return not bolt.judge.state.open
    left = 1 if how == "on-next" else together(how) - 1
    return bolt.settle_all(limit, left)


def _wait_heartbeat(driver: Driver, seconds: float | None) -> bool:
    """Wait until every heartbeat is answered."""
    if driver.setup.profile.kind != "bolt":
        raise Misuse("wait heartbeat: only bolts are sent heartbeats")
    return driver.life.bolt.wait_beat(driver.limit("heartbeat", seconds))


def _wait_sync(driver: Driver, seconds: float | None) -> bool:
    """Wait until the command that is out is answered; of a bolt, every heartbeat."""
    if driver.setup.profile.kind == "bolt":
        return _wait_heartbeat(driver, seconds)
    if not driver.life.spout.asked:
        raise Misuse("wait sync: no command is out")
    return await_sync(driver, seconds)


def _wait_pid(driver: Driver, seconds: float | None) -> bool:
    """Wait for its first message."""
    life = driver.life
    return life.session.wait(lambda: life.said_pid, driver.limit("pid", seconds), "pid")


def _wait_emit(driver: Driver, seconds: float | None) -> bool:
    life, before = driver.life, driver.life.emitted
    limit = driver.limit("output", seconds)
    return life.session.wait(lambda: life.emitted > before, limit, "output")


def _wait_exit(driver: Driver, seconds: float | None) -> bool:
    session = driver.life.session
    limit = driver.limit("output", seconds)
    session.wait(lambda: session.exit is not None, limit, "output")
    return session.exit is not None


WAITS: dict[str, Callable[[Driver, float | None], bool]] = {
    "quiet": _wait_quiet,
    "settle": _wait_settle,
    "sync": _wait_sync,
    "heartbeat": _wait_heartbeat,
    "emit": _wait_emit,
    "pid": _wait_pid,
    "exit": _wait_exit,
}
"""What can be waited for."""

COMMANDS: CommandTable[Driver] = {
    "wait": ReplCommand(
        "[WHAT] [SECONDS]",
        f"Wait, and say who waits on whom if it was in vain.\nWHAT: {', '.join(WAITS)}. quiet, the default, is no "
        "judgement, nor are emit and exit; the others are findings if they do not come in time. Ctrl-C ends the wait, "
        "not the session.",
        _wait,
        lambda _, before: WAITS if len(before) == 1 else (),
    ),
}
"""The command that waits."""
