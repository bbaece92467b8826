"""The options that replay, diff and shrink have in common, and what they choose to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from multilang_cli.cli.recordings.recorded import paths_of
from multilang_cli.replay.recording import load
from multilang_cli.replay.said import ASPECTS, USUAL, ComparisonOptions
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.transcript.format import TranscriptError

if TYPE_CHECKING:
    from multilang_cli.replay.recording import JudgedRecording

Transcript = Annotated[list[str], typer.Argument(metavar="TRANSCRIPT", hidden=True)]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="WHAT",
        help="Not compared: a value by its field or place (FIELD, 0, STREAM.FIELD), or emits, settles, syncs, errors, "
        "malformed, exit, task-ids. Repeatable.",
    ),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="WHAT",
        help="Compared besides: logs, metrics, ids (those a spout gives), order (of emits). Repeatable.",
    ),
]
Key = Annotated[
    list[str] | None,
    typer.Option(
        "--key", metavar="FIELD", help="Emits with the same FIELD are the same, changed or not. FIELD as in --ignore."
    ),
]


def recording_of(command: str, path: str) -> JudgedRecording:
    """The recording in a file, or in a directory that holds the parts of one. Raises CommandError."""
    try:
        return load(*paths_of(command, [path]), name=path)
    except TranscriptError as error:
        raise CommandError(f"{command}: {error}") from None
    except OSError as error:
        raise CommandError(f"{command}: {error.filename}: can't be read: {error.strerror}.") from None


def wanted_of(
    command: str, recording: JudgedRecording, ignore: list[str] | None, compare: list[str] | None, key: list[str] | None
) -> ComparisonOptions:
    """The aspects that are compared. Raises CommandError for a word that is none, and no value of a declared stream."""
    for word in compare or ():
        if word not in ASPECTS:
            raise CommandError(f"{command}: --compare {word[:60]!r} is nothing to compare{did_you_mean(word, ASPECTS)}")
    ignored = frozenset(ignore or ())
    specs = recording.profile.streams
    fields = {name: spec.fields for name, spec in (specs or {}).items() if spec.fields is not None}
    wanted = ComparisonOptions(
        aspects=(USUAL - ignored) | frozenset(compare or ()),
        fields=fields,
        ignored=ignored - frozenset(ASPECTS),
        key=frozenset(key or ()),
    )
    _check(command, "--ignore", wanted.ignored, fields)
    _check(command, "--key", wanted.key, fields)
    return wanted


def _check(command: str, flag: str, names: frozenset[str], fields: dict[str, tuple[str, ...]]) -> None:
    known = {name for stream, own in fields.items() for field in own for name in (field, f"{stream}.{field}")}
    for name in names:
        if name not in known and not name.rpartition(".")[2].isdecimal():
            nothing = "" if known else ": the recording declares none, so a value is named by its place, such as 0"
            hint = did_you_mean(name, [*sorted(known), *ASPECTS]) or nothing
            raise CommandError(f"{command}: {flag} {name[:60]!r} is no field of a declared stream{hint}")
