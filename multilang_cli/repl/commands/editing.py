"""The command that opens a message again at the prompt, to be changed and sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from multilang_cli.protocol.words.large import plain
from multilang_cli.protocol.words.messages import DEFAULT_STREAM, Handshake, SpoutCommand, TaskIds, TupleMsg
from multilang_cli.repl import parsing
from multilang_cli.repl.commands.looking import numbers_of
from multilang_cli.repl.commands.table import CommandTable, Misuse, ReplCommand
from multilang_cli.reports.escape import escape_halves

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.repl.driver import Driver

LONGEST_EDITED = 16_000
"""Characters of a command that is opened: more of it nobody edits in a line."""


def typed(event: Event, source: str = "") -> str:
    """The command that says what `event` is again; the component that `source` names need not be. Raises Misuse."""
    body = event.body
    if event.channel != "in":
        raise Misuse(f"message {event.seq} is not Storm's: only what Storm said can be said again")
    if isinstance(body, Handshake):
        return "restart"
    if isinstance(body, TaskIds):
        return f"taskids {json.dumps(body.tasks)}"
    if isinstance(body, SpoutCommand):
        id_ = f" {_json(body.id)}" if body.command in {"ack", "fail"} else ""
        return f"{body.command}{id_}"
    if isinstance(body, TupleMsg) and (body.is_heartbeat or body.is_tick):
        return "heartbeat" if body.is_heartbeat else "tick"
    if isinstance(body, TupleMsg):
        stream = "" if body.stream == DEFAULT_STREAM else f" stream={body.stream}"
        return f"tuple {_json(plain(body.values))}{stream}{'' if body.comp == source else f' comp={body.comp}'}"
    return f"raw {parsing.as_escaped(event.raw)}"


def _json(value: object) -> str:
    return escape_halves(json.dumps(value, ensure_ascii=False))


def _edit(driver: Driver, rest: str) -> None:
    life = driver.life
    said = [event.seq for event in life.happened(("in",))]
    if not rest and not said:
        raise Misuse("Storm has said nothing yet that could be said again")
    seq = parsing.number(rest, "edit", least=0, most=2**63) if rest else said[-1]
    if seq not in life.events:
        raise Misuse(f"there is no message {seq} that can be said again; `history` has numbers")
    text = typed(life.events[seq], next(iter(driver.setup.profile.sources), ""))
    if len(text) > LONGEST_EDITED:
        raise Misuse(f"message {seq} has {len(text)} characters; `save` and a file of tuples are for such")
    if driver.waits:
        driver.screen.copied(text)
    else:
        driver.opened = text


COMMANDS: CommandTable[Driver] = {
    "edit": ReplCommand(
        "[NUMBER]",
        "Open a message of Storm's side again, to change and send it.\nNUMBER: as `history` has it; the latest without "
        "one. In a script the command that says it is printed.",
        _edit,
        numbers_of("in"),
    ),
}
"""The command that opens a message."""
