"""Lag of a consumer group, asked for by the command line and shown as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.escape import escape
from multilang_cli.subject.outputs import write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.kafka.lag import Lag

INSTALL = "pip install 'multilang-cli[kafka]'"
ANSWER_LIMIT = 10.0
"""Seconds in which a broker has to answer."""


class LagFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck kafka lag``."""

    topic: str
    servers: str
    group: str
    client: tuple[str, ...] = ()
    as_json: bool = False


def lag_given(flags: LagFlags) -> int:
    """Show the lag of each partition; returns the exit code. Raises CommandError."""
    try:
        from multilang_cli.kafka.lag import LagError, lag_of  # noqa: PLC0415 (an extra)
    except ImportError:
        raise CommandError(f"kafka lag: the Kafka client is not installed; {INSTALL}") from None

    settings = dict(map(_pair, flags.client))
    try:
        found = lag_of(flags.servers, flags.topic, flags.group, settings, ANSWER_LIMIT)
    except LagError as error:
        raise CommandError(f"kafka lag: {error}.") from None
    if flags.as_json:
        write_json(found)
    else:
        show_lags(found)
    return ExitCode.CONFORMANT


def show_lags(found: Sequence[Lag]) -> None:
    """Print a table of partitions, and of each the last message that was given up."""
    rows: list[tuple[str, ...]] = [("topic", "partition", "earliest", "committed", "latest", "lag", "lost", "given up")]
    rows += [
        (
            each.topic,
            str(each.partition),
            str(each.earliest),
            _or_dash(each.committed),
            str(each.latest),
            _or_dash(each.lag),
            str(each.lost),
            str(each.given_up.count),
        )
        for each in found
    ]
    if len({each.topic for each in found}) == 1:
        rows = [row[1:] for row in rows]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    write("".join("  ".join(cell.rjust(width) for cell, width in zip(row, wide, strict=True)) + "\n" for row in rows))
    for each in found:
        if each.given_up.count:
            last = f"{each.topic}, partition {each.partition}: the last that was given up is message"
            write(f"{last} {each.given_up.offset}: {escape(each.given_up.why)}\n")


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"kafka lag: --client {text!r} is no setting; expected NAME=VALUE.")
    return name, value
