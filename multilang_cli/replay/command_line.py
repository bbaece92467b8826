"""Recordings, findings and aspects as the command line names them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from multilang_cli.replay.recording import RecordingReader
from multilang_cli.replay.said import ASPECTS, USUAL, ComparisonOptions
from multilang_cli.subject.recordings import paths_of
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.transcript.format import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.protocol.words.verdicts import Finding, Profile
    from multilang_cli.replay.recording import JudgedRecording

_ORDER = ("must", "should", "note")
_UNSURE = ExitCode.INCONCLUSIVE
_WANTED = "--finding {name!r}: there is no such finding in it; found are {known}."


def recording_of(command: str, path: str) -> JudgedRecording:
    """The recording in a file, or in a directory that holds the parts of one. Raises CommandError."""
    with readable(command):
        return reader_of(command, path).loaded()


def reader_of(command: str, path: str) -> RecordingReader:
    """The same before it is read. Raises OSError, TranscriptError."""
    return RecordingReader(*paths_of(command, [path]), name=path)


@contextmanager
def readable(command: str) -> Iterator[None]:
    """Say why a recording can't be read. Raises CommandError."""
    try:
        yield
    except TranscriptError as error:
        raise CommandError(f"{command}: {error}") from None
    except OSError as error:
        raise CommandError(f"{command}: {error.filename}: can't be read: {error.strerror}.") from None


def finding_in(command: str, recording: JudgedRecording, name: str) -> Finding:
    """The finding that is meant. Raises CommandError."""
    findings = recording.findings()
    if not findings and recording.part_only:
        why = "; ".join(recording.notes) or recording.damage
        raise CommandError(
            f"{command}: {recording.path}: nothing is wrong in what can be played of it: {why}.", _UNSURE
        )
    if not findings:
        raise CommandError(f"{command}: {recording.path}: nothing is wrong in it.", ExitCode.NOTHING_SELECTED)
    found = choose(findings, name)
    if found is None:
        known = dict.fromkeys(f"{finding.rule} ({finding.fingerprint})" for finding in findings)
        raise CommandError(f"{command}: {_WANTED.format(name=name[:60], known=', '.join(known))}")
    return found


def choose(findings: Sequence[Finding], name: str) -> Finding | None:
    """The first finding with the fingerprint or rule `name`; without a name, the first of the gravest level.

    A fingerprint may be cut, from its beginning. None if there is no such finding.
    """
    if name:
        return next((f for f in findings if name == f.rule or f.fingerprint.startswith(name)), None)
    return min(findings, key=lambda finding: (_ORDER.index(finding.level), finding.seq), default=None)


def wanted_of(
    command: str, profile: Profile, ignore: Sequence[str], compare: Sequence[str], key: Sequence[str]
) -> ComparisonOptions:
    """The aspects that are compared. Raises CommandError for a word that is none, and no value of a declared stream."""
    for word in compare:
        if word not in ASPECTS:
            raise CommandError(f"{command}: --compare {word[:60]!r} is nothing to compare{did_you_mean(word, ASPECTS)}")
    ignored = frozenset(ignore)
    specs = profile.streams
    fields = {name: spec.fields for name, spec in (specs or {}).items() if spec.fields is not None}
    wanted = ComparisonOptions(
        aspects=(USUAL - ignored) | frozenset(compare),
        fields=fields,
        ignored=ignored - frozenset(ASPECTS),
        key=frozenset(key),
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
