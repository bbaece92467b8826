"""Commands about the process, and about what the next start is told."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import load_rulebook, load_versions
from multilang_cli.driver import reaper
from multilang_cli.protocol.words.events import Signalled
from multilang_cli.repl import parsing
from multilang_cli.repl.commands.table import CommandTable, Misuse, ReplCommand
from multilang_cli.repl.session_config import ENDLESS
from multilang_cli.transcript.redact import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.repl.driver import Driver
    from multilang_cli.repl.session_config import SessionConfig

ENDING = ("TERM", "INT", "HUP", "QUIT", "KILL", "ABRT")
"""Signals after which a component may end, or must."""
OTHERS = ("STOP", "CONT", "USR1", "USR2", "WINCH")
"""What a process says that it catches, or ignores."""


def _eof(driver: Driver, _: str) -> None:
    session, limit = driver.life.session, driver.limit("exit-after-eof")
    driver.life.did("close_stdin")
    if limit < ENDLESS:
        session.close_stdin(limit)
    else:
        session.pump.close_stdin()
        session.wait(lambda: session.exit is not None, limit, "exit-after-eof")


def _signal(driver: Driver, rest: str) -> None:
    name = rest.upper().removeprefix("SIG") or "TERM"
    if name not in (*ENDING, *OTHERS):
        raise Misuse(f"signal: known are {', '.join((*ENDING, *OTHERS))}")
    session, number = driver.life.session, signal.Signals[f"SIG{name}"]
    if name in ENDING or _nobody_catches(session.process.pid, number):
        session.pump.note("process", Signalled(number))
    else:
        driver.screen.line(f"SIG{name} was sent", "dim")
    session.process.signal(number)
    if name == "TERM":
        driver.life.did("terminate")
        session.wait(lambda: session.exit is not None, driver.limit("exit-after-term"), "exit-after-term")
    else:
        driver.life.left_out.append(f"SIG{name}")


def _nobody_catches(pid: int, number: signal.Signals) -> bool:
    """True if a process will die of SIGUSR1 or SIGUSR2, which is then not its own doing."""
    status = reaper.read_proc(f"/proc/{pid}/status")
    handled = reaper.signals_of(status, b"SigCgt") | reaper.signals_of(status, b"SigIgn")
    return number in {signal.SIGUSR1, signal.SIGUSR2} and bool(status) and not handled >> (number - 1) & 1


def _restart(driver: Driver, rest: str) -> None:
    conf = dict(driver.setup.profile.conf)
    for word in parsing.words(rest):
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise Misuse(f"expected KEY=VALUE of conf, not {word[: parsing.SHOWN_OF_INPUT]!r}")
        conf[key] = parsing.json_or_text(value)
    driver.setup = driver.setup.with_conf(conf)
    driver.begin()


def _storm(driver: Driver, rest: str) -> None:
    if not rest:
        driver.screen.line(f"Storm {driver.setup.version.id}; known are {', '.join(_versions(driver, []))}")
        return
    for name in (rest, f"{rest}.0"):
        try:
            rulebook = load_rulebook(name)
            version = rulebook.version(name)
        except KeyError:
            continue
        driver.setup = driver.setup.on(rulebook, version)
        driver.begin()
        return
    raise Misuse(
        f"there is no Storm version {rest[: parsing.SHOWN_OF_INPUT]!r}; known are {', '.join(_versions(driver, []))}"
    )


def _versions(_: Driver, __: list[str]) -> Iterable[str]:
    return [version.id for version in load_versions()]


# --- what the next start is told ----------------------------------------------------------------------------------


def _from_next_start(driver: Driver, setup: SessionConfig) -> None:
    driver.setup = setup
    driver.screen.line("from the next start on: `restart`", "dim")


def _conf(driver: Driver, rest: str) -> None:
    verb, _, more = rest.partition(" ")
    own = dict(driver.setup.profile.conf)
    if verb in {"set", "unset"}:
        _change(own, verb, more.strip())
        _from_next_start(driver, driver.setup.with_conf(own))
        return
    shown = {key: value for key, value in redacted(driver.setup.conf())[0].items() if rest in key}
    if not shown:
        raise Misuse(f"conf has no key with {rest[: parsing.SHOWN_OF_INPUT]!r} in it; `conf set KEY VALUE` adds one")
    for key, value in sorted(shown.items()):
        driver.screen.line(f"{key} = {json.dumps(value, ensure_ascii=False)}", "note" if key in own else "")


def _context(driver: Driver, rest: str) -> None:
    verb, _, more = rest.partition(" ")
    extra = dict(driver.setup.more_context)
    if verb in {"set", "unset"}:
        key = more.strip().partition(" ")[0]
        known = msgspec.structs.replace(driver.setup, more_context={}).context()
        if verb == "set" and key in known and not isinstance(known[key], dict | list):
            raise Misuse(f"{key} is what the profile says; start again with another --task or component")
        _change(extra, verb, more.strip())
        _from_next_start(driver, msgspec.structs.replace(driver.setup, more_context=extra))
        return
    for line in json.dumps(driver.setup.context(), ensure_ascii=False, indent=2).split("\n"):
        driver.screen.line(line)


def _change(mapping: dict[str, Any], verb: str, rest: str) -> None:
    key, _, value = rest.partition(" ")
    if not key or (verb == "set") != bool(value.strip()):
        raise Misuse("expected set KEY VALUE, VALUE JSON or text, or unset KEY")
    if verb == "set":
        mapping[key] = parsing.json_or_text(value.strip())
    elif mapping.pop(key, None) is None:
        raise Misuse(f"{key[: parsing.SHOWN_OF_INPUT]!r} was not set by hand or by a flag, so it can't be unset")


def _conf_words(driver: Driver, before: list[str]) -> Iterable[str]:
    keys = driver.setup.conf()
    return ["set", "unset", *keys] if len(before) == 1 else keys


def _context_words(driver: Driver, before: list[str]) -> Iterable[str]:
    return ("set", "unset") if len(before) == 1 else driver.setup.context()


def _set(driver: Driver, rest: str) -> None:
    plain = parsing.words(rest)
    if not plain:
        for name, (_, tell) in SETTINGS.items():
            value, meaning = tell(driver)
            driver.screen.hang(meaning, "", lead=f"{name:11} {value:9} ")
        return
    name, *values = plain
    if name not in SETTINGS or not values:
        raise Misuse(f"expected set NAME VALUE; names are {', '.join(SETTINGS)}")
    SETTINGS[name][0](driver, values)


def _set_show(driver: Driver, values: list[str]) -> None:
    if values[0] not in SHOWS:
        raise Misuse(f"set show: expected {', '.join(SHOWS)}")
    driver.settings.show = values[0]


def _set_lines(driver: Driver, values: list[str]) -> None:
    driver.settings.lines = parsing.number(values[0], "set lines")


def _set_limit(driver: Driver, values: list[str]) -> None:
    limits = driver.setup.profile.limits
    if len(values) != 2 or values[0] not in limits:  # noqa: PLR2004 (a name and a number)
        raise Misuse(f"expected set limit NAME SECONDS; names are {', '.join(limits)}")
    changed = {**limits, values[0]: parsing.seconds(values[1], "set limit")}
    profile = msgspec.structs.replace(driver.setup.profile, limits=changed)
    driver.setup = msgspec.structs.replace(driver.setup, profile=profile)


def _set_timer(driver: Driver, values: list[str]) -> None:
    timer = parsing.seconds(values[0], "set heartbeats")
    _from_next_start(driver, msgspec.structs.replace(driver.setup, timer=timer))


def _set_ticks(driver: Driver, values: list[str]) -> None:
    _from_next_start(driver, msgspec.structs.replace(driver.setup, ticks=parsing.seconds(values[0], "set ticks")))


def _limits(driver: Driver) -> tuple[str, str]:
    if not driver.setup.limited:
        return "none", "as --no-limits asks"
    limits = driver.setup.profile.limits
    return "seconds", ", ".join(f"{name}={value:g}" for name, value in limits.items())


SHOWS = ("all", "out", "findings", "nothing")
SETTINGS: dict[str, tuple[Callable[[Driver, list[str]], None], Callable[[Driver], tuple[str, str]]]] = {
    "show": (_set_show, lambda driver: (driver.settings.show, f"which messages are shown: {', '.join(SHOWS)}")),
    "lines": (_set_lines, lambda driver: (str(driver.settings.lines), "messages shown for one command")),
    "limit": (_set_limit, _limits),
    "heartbeats": (_set_timer, lambda driver: (f"{driver.setup.timer:g}", "seconds between them, 0: by hand")),
    "ticks": (_set_ticks, lambda driver: (f"{driver.setup.ticks:g}", "seconds between them, 0: by hand")),
}
"""What can be set: how, and what is said of it: the value and its meaning."""


def _set_words(driver: Driver, before: list[str]) -> Iterable[str]:
    if len(before) == 1:
        return SETTINGS
    return {"show": SHOWS, "limit": tuple(driver.setup.profile.limits)}.get(before[0], ())


COMMANDS: CommandTable[Driver] = {
    "eof": ReplCommand("", "Close its stdin and wait for its end, as when a worker dies.", _eof, alive=True),
    "signal": ReplCommand(
        "[NAME]",
        "Send it a signal: TERM, as Storm does, or another.",
        _signal,
        lambda _, __: (*ENDING, *OTHERS),
        alive=True,
    ),
    "restart": ReplCommand(
        "[KEY=VALUE ...]",
        "End it and start it again, with more conf if you like.",
        _restart,
        _conf_words,
    ),
    "storm": ReplCommand("[VERSION]", "Start it again on another Storm.", _storm, _versions),
    "conf": ReplCommand(
        "[PART|set KEY VALUE|unset KEY]",
        "Show conf, or change it for the next start.\nPART: of the keys to show. VALUE: JSON or text.",
        _conf,
        _conf_words,
        json=True,
    ),
    "context": ReplCommand(
        "[set KEY VALUE|unset KEY]",
        "Show the topology context, or add to it for the next start.",
        _context,
        _context_words,
        json=True,
    ),
    "set": ReplCommand(
        "[NAME VALUE]",
        "Show or change how the session is shown and timed.\nNAME: show, lines, limit (and which), heartbeats, ticks; "
        "without one, what they are now.",
        _set,
        _set_words,
    ),
}
"""Commands about the process and the next start."""
