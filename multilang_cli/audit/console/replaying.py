"""Implementation of ``mlcheck audit replay``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.audit.console.spark import holds_anything, pairs_of, running
from multilang_cli.audit.inputs import find, is_url
from multilang_cli.driver.launch import LaunchError
from multilang_cli.replay.said import ASPECTS, USUAL, ComparisonOptions
from multilang_cli.reports.escape import json_lines
from multilang_cli.subject.declared import not_started
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.recordings import paths_of
from multilang_cli.subject.subject import Subject
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import remark, remark_note, stdout_may_close, write
from multilang_cli.transcript.given import GIVEN
from multilang_cli.transcript.secrets import declare

if TYPE_CHECKING:
    from collections.abc import Sequence

_WHAT = "audit replay"


class AuditReplayFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck audit replay``. `words`: inputs, then the command; `only`: a component's id."""

    words: tuple[str, ...]
    output: Path
    ignore: tuple[str, ...] = ()
    comparing: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    only: str | None = None
    cwd: Path | None = None
    master: str = "local[*]"
    spark_conf: tuple[str, ...] = ()
    spark_log: bool = False


def replay_given(flags: AuditReplayFlags) -> int:
    """Play the recordings and compare; returns the exit code. Raises CommandError."""
    words, output = flags.words, flags.output
    count = next((place for place, word in enumerate(words) if not _is_input(word)), len(words))
    given, argv = words[:count], words[count:]
    if not argv:
        raise CommandError(f"{_WHAT}: which component? mlcheck audit replay INPUT... -- COMMAND.")
    if holds_anything(_WHAT, output):
        raise CommandError(f"{_WHAT}: {output} exists already; choose another with -o.")
    urls, paths = [each for each in given if is_url(each)], [each for each in given if not is_url(each)]
    files = paths_of(_WHAT, paths) if paths else []
    if not given:
        raise _nothing_in(words[:1])
    wanted, subject = _wanted(flags), _subject(argv, flags.cwd or Path.cwd())
    settings = pairs_of(_WHAT, flags.spark_conf)
    with running(_WHAT, flags.master, settings, quiet=not flags.spark_log) as spark:
        from multilang_cli.audit.replaying import Request, run  # noqa: PLC0415 (needs Spark)

        elsewhere = find(urls, spark)
        for note in elsewhere.notes:
            remark(note)
        files += elsewhere.transcripts
        if not files:
            raise _nothing_in(urls)
        found, troubles = run(spark, files, Request(subject, wanted, GIVEN.told()), str(output), flags.only)
    with stdout_may_close():
        write(json_lines(found))
    return ExitCode.NOT_CONFORMANT if found or troubles else ExitCode.CONFORMANT


def _nothing_in(words: Sequence[str]) -> CommandError:
    return CommandError(f"{_WHAT}: there are no transcripts in {', '.join(words)}.", ExitCode.NOTHING_SELECTED)


def _is_input(word: str) -> bool:
    return is_url(word) or Path(word).is_dir() or word.endswith((".ndjson", ".ndjson.gz", ".ndjson.zst"))


def _subject(argv: tuple[str, ...], cwd: Path) -> Subject:
    """The command that every executor plays to. Raises CommandError where it can't be started, as seen from here."""
    declare([os.environ], argv)
    try:
        subject = Subject.of(Component(command=argv, cwd=str(cwd)), RunOptions(), how_to_keep="")
    except LaunchError as error:
        raise not_started(error, _WHAT) from None
    for note in subject.surroundings:
        remark_note(note)
    return subject


def _wanted(flags: AuditReplayFlags) -> ComparisonOptions:
    """The aspects that are compared: names of fields are known only where the recordings are read."""
    ignored = frozenset(flags.ignore)
    for word in flags.comparing:
        if word not in ASPECTS:
            raise CommandError(f"{_WHAT}: --compare {word[:60]!r} is nothing to compare{did_you_mean(word, ASPECTS)}")
    aspects = (USUAL - ignored) | frozenset(flags.comparing)
    return ComparisonOptions(aspects=aspects, ignored=ignored - frozenset(ASPECTS), key=frozenset(flags.key))
