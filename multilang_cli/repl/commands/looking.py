"""Commands that only look: what is pending, what is wrong, what was said."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from multilang_cli.protocol.wire.framing import frame_text
from multilang_cli.repl import parsing
from multilang_cli.repl.commands.table import CommandTable, Misuse, ReplCommand, command_of
from multilang_cli.repl.show import show_event, show_finding
from multilang_cli.repl.trees import show_trees
from multilang_cli.reports.counting import counted
from multilang_cli.reports.escape import decode
from multilang_cli.reports.grouping import some_of
from multilang_cli.reports.trees import Trees
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.transcript.key_block import KeylessEvents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from multilang_cli.protocol.judge.state import Outstanding
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import Finding
    from multilang_cli.repl.component_run import ComponentRun
    from multilang_cli.repl.driver import Driver

HISTORY = 20
"""Messages that ``history`` shows where nobody says how many."""
OPEN_SHOWN = 20
"""Open tuples and ids that ``pending`` shows."""


def _pending(driver: Driver, _: str) -> None:
    life, screen = driver.life, driver.screen
    for line in pending_lines(life):
        screen.line(line)
    waits, facts = life.session.look()
    screen.para(f"The component {waits}. Facts: {facts}.", "dim")


def pending_lines(life: ComponentRun) -> Iterator[str]:
    """Answers pending on both sides, a line each."""
    session, found = life.session, life.session.judge.outstanding()
    yield from _pending_in_component(life, found)
    if session.pump.stdin.held:
        yield f"pending on Storm's side: task ids of {session.pump.stdin.held} emits (`taskids 4 5`)"
    for id_ in life.pending[:OPEN_SHOWN]:
        yield f"pending: {json.dumps(id_, ensure_ascii=False)} (`ack` or `fail`)"
    if len(life.pending) > OPEN_SHOWN:
        yield f"pending: {len(life.pending) - OPEN_SHOWN} more"
    if session.pump.stdin.unwritten:
        yield f"not yet written: {counted(len(session.pump.stdin.queue), 'message')} behind what is in the pipe"
    if life.alive and not (found.tuples or found.commands or found.heartbeats or found.handshake or life.pending):
        yield "nothing is pending"


def _pending_in_component(life: ComponentRun, found: Outstanding) -> Iterator[str]:
    session = life.session
    if found.handshake:
        yield "pending: its pid"
    for id_, (seq, time) in list(found.tuples.items())[:OPEN_SHOWN]:
        yield f"pending: ack or fail of {id_}, tuple {seq}, {session.now - time:.3f} s old"
    if len(found.tuples) > OPEN_SHOWN:
        yield f"pending: ack or fail of {len(found.tuples) - OPEN_SHOWN} more"
    for command in found.commands:
        yield f"pending: sync of {command.what}, message {command.seq}, {session.now - command.t:.3f} s old"
    for beat in found.heartbeats:
        yield f"pending: sync of the heartbeat {beat.seq}, {session.now - beat.t:.3f} s old"


def _findings(driver: Driver, _: str) -> None:
    alike: dict[str, list[Finding]] = {}
    for finding in driver.life.findings:
        alike.setdefault(finding.fingerprint, []).append(finding)
    for first, *more in alike.values():
        show_finding(driver.screen, first, numbered=True)
        if more:
            numbers = some_of(str(finding.seq) for finding in more)
            driver.screen.hang(f"the same at {numbers}", "dim", lead=" " * 13)
    if not alike:
        driver.screen.line("nothing is wrong so far")


def _explain(driver: Driver, rest: str) -> None:
    rules = driver.setup.rulebook.rules
    if not rest:
        met = list(dict.fromkeys(finding.rule for finding in driver.life.findings))
        if not met:
            raise Misuse("expected a rule: explain ack-twice")
        rest = met[-1]
    if rest not in rules:
        raise Misuse(f"there is no rule {rest[: parsing.SHOWN_OF_INPUT]!r}{did_you_mean(rest, rules, '')}")
    from multilang_cli.reports.explaining.explain import render_rule  # noqa: PLC0415 (slow to import)
    from multilang_cli.reports.page import make_console  # noqa: PLC0415

    screen, page = driver.screen, io.StringIO()
    console = make_console(page, "always" if screen.color else "never", screen.columns)
    render_rule(rules[rest], driver.setup.rulebook, console)
    screen.text(page.getvalue())


def _rules(driver: Driver, _: list[str]) -> Iterable[str]:
    met = [finding.rule for finding in driver.life.findings] if driver.started else []
    return dict.fromkeys([*met, *driver.setup.rulebook.rules])


def _history(driver: Driver, rest: str) -> None:
    count = parsing.number(rest, "how many") if rest else HISTORY
    by_seq = findings_by_seq(driver.life)
    keyless = KeylessEvents()
    for event in [keyless.event(each) for each in driver.life.happened(("in", "out"))][-count:]:
        show_event(driver.screen, event)
        for finding in by_seq.get(event.seq, ()):
            show_finding(driver.screen, finding)


def findings_by_seq(life: ComponentRun) -> dict[int, list[Finding]]:
    """The findings of a life by the number of the event they are about."""
    found: dict[int, list[Finding]] = {}
    for finding in life.findings:
        found.setdefault(finding.seq, []).append(finding)
    return found


def _show(driver: Driver, rest: str) -> None:
    life, screen = driver.life, driver.screen
    seq = parsing.number(rest or "-", "show", least=0, most=2**63)
    event = life.events.get(seq)
    if event is None:
        raise Misuse(f"there is no message {seq} that can be shown; `history` has numbers, {life.path} has all")
    where = f"at byte {event.offset}, {len(event.raw)} bytes" if event.raw else "a fact"
    screen.line(f"{event.seq}  {event.t:.6f} s  {event.channel}, {where}", "note")
    for line in _whole(event):
        screen.line(line, lead="  ")
    for finding in findings_by_seq(life).get(seq, ()):
        show_finding(screen, finding)
        if finding.related:
            screen.line(f"see {', '.join(map(str, finding.related))}", "dim", lead=" " * 13)


def _whole(event: Event) -> list[str]:
    """All that is kept of an event: JSON spread over lines, else its text; a fact as its fields."""
    if event.channel not in {"in", "out", "err"}:
        return [repr(event.body)]
    text = decode(frame_text(event.raw) if event.channel != "err" else event.raw)
    value = parsing.json_or_text(text)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    return text.split("\n")


def numbers_of(*channels: str) -> Callable[[Driver, list[str]], Iterable[str]]:
    """Numbers of the latest messages on some channels, which complete a command."""
    return lambda driver, _: (
        [str(event.seq) for event in driver.life.happened(channels)[-HISTORY:]] if driver.started else []
    )


_numbers = numbers_of("in", "out")


def _tree(driver: Driver, rest: str) -> None:
    life = driver.life
    if life.setup.profile.without_ackers:
        raise Misuse("with no ackers (topology.acker.executors 0) Storm follows no tuple: there are no trees")
    if not show_trees(Trees(life.setup.judged(), life.events.values()), driver.screen, rest):
        raise Misuse(f"there is no tree of {rest[: parsing.SHOWN_OF_INPUT]!r}" if rest else "there is no tree yet")


def _help(driver: Driver, rest: str) -> None:
    screen, kind = driver.screen, driver.setup.profile.kind
    if rest:
        command = command_of(driver.commands, rest)
        screen.line(f"{rest} {command.usage}".strip(), "note")
        for line in command.help.split("\n"):
            screen.hang(line, "", lead="  ")
        return
    usages = {name: f"{name} {command.usage}".strip() for name, command in driver.commands.items()}
    wide = 18
    for name, command in driver.commands.items():
        if command.kind in {"both", kind}:
            brief = command.help.split("\n")[0]
            first = usages[name] if len(usages[name]) <= wide else name
            screen.hang(brief, "", lead=f"{first:{wide}}  ")
    screen.line("help NAME tells more; # begins a comment", "dim")


COMMANDS: CommandTable[Driver] = {
    "pending": ReplCommand("", "Show what is pending, by whom, and what the component is doing.", _pending),
    "findings": ReplCommand("", "Show all that is wrong so far.", _findings),
    "explain": ReplCommand("[RULE]", "Explain a rule; without one, that of the last finding.", _explain, _rules),
    "history": ReplCommand("[COUNT]", "Show the latest messages with their numbers.", _history),
    "show": ReplCommand("NUMBER", "Show one message in full, and what is wrong with it.", _show, _numbers),
    "tree": ReplCommand(
        "[ID|NUMBER]",
        "Show the tuple trees: anchors, settling and ack vals.\nWhat the component emits is acked by its consumer at "
        "once, or, of a spout, when you say `ack` or `fail`. ack val: the acker's after the step; 0 is complete.",
        _tree,
        _numbers,
    ),
    "help": ReplCommand("[NAME]", "Show the commands, or all about one.", _help, lambda driver, _: driver.commands),
}
"""Commands that only look."""
