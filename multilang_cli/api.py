"""The Python API: check a component, drive one by hand, judge recordings. Documented in docs/api.md.

What stands in ``__all__`` keeps to semantic versioning; everything else in this package may change with any release.
To write a component, use `multilang_cli.component`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.driver.launch import LaunchError
from multilang_cli.judging.linting import judge_transcripts, lint_result
from multilang_cli.reports.model import RunResult
from multilang_cli.subject.options import RunOptions
from multilang_cli.subject.recordings import RecordError
from multilang_cli.suite.cases.case import CaseError
from multilang_cli.suite.cases.selection import SelectionError
from multilang_cli.suite.probe import kind_of
from multilang_cli.suite.runner.suite_run import run_suite
from multilang_cli.testing.declared import DeclarationError, check_list, check_storm, check_words, declare
from multilang_cli.testing.driven import Answer, DrivenBolt, DrivenSpout
from multilang_cli.transcript.format import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from multilang_cli.subject.options import Component

__all__ = ["Answer", "CheckError", "Conversation", "DrivenBolt", "DrivenSpout", "RunResult", "check", "judge"]

Kind = Literal["bolt", "spout", "auto"]


class CheckError(ValueError):
    """Nothing could be judged: one sentence says why, and what to do."""


def check(
    *command: str,
    kind: Kind = "auto",
    storm: str = "",
    samples: Iterable[Sequence[Any]] = (),
    streams: Mapping[str, Sequence[str]] | None = None,
    sources: Mapping[str, Sequence[str]] | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    jobs: int = 1,
    strict: bool = False,
    record: str | os.PathLike[str] = ".mlcheck/last",
    **more: Any,
) -> RunResult:
    """Play the component suite to a component, as ``mlcheck run`` does, and return what was found.

    Args:
        command: the words that start it, never a shell line.
        kind: bolt or spout; auto asks the component.
        storm: the version to play; "" is the newest.
        samples: tuples that a bolt takes, as lists of values.
        streams: fields of its output streams, by stream; what it emits is held to them.
        sources: fields of the streams it reads, by component or ``component:stream``.
        include: patterns of cases: an id, a dotted prefix, a glob, or a rule.
        exclude: patterns of cases that are not played.
        jobs: how many cases are played at once, each with a process of its own.
        strict: take warnings as failures.
        record: the directory for transcripts of cases that fail.
        more: other keys of a ``[[component]]`` in mlcheck.toml: cwd, conf, env, accepts, settles, limits, ...

    Raises:
        CheckError: if it is declared wrongly, does not start, is neither bolt nor spout, or no case is selected.

    """
    options = RunOptions(
        storm=storm,
        include=tuple(include),
        exclude=tuple(exclude),
        jobs=jobs,
        strict=strict,
        record=os.fspath(record),
    )
    try:
        for name, listed in (("include", include), ("exclude", exclude), ("samples", samples)):
            check_list(name, listed)
        given = tuple(samples)
        for sample in given:
            check_list("a sample", sample)
        values = tuple(list(sample) for sample in given)
        component = declare(command, kind, storm, streams=streams, sources=sources, samples=values, **more)
        return run_suite(_decided(component, options), options)
    except (DeclarationError, SelectionError, CaseError, RecordError) as error:
        raise CheckError(str(error)) from None
    except LaunchError as error:
        raise CheckError(f"{error.message}{f' ({error.hint})' if error.hint else ''}") from None


def judge(
    *transcripts: str | os.PathLike[str], storm: str = "", strict: bool = False, coverage: bool = False
) -> RunResult:
    """Judge recorded conversations, as ``mlcheck lint`` does.

    Args:
        transcripts: files that mlcheck recorded (run, tap, repl); several may be the parts of one conversation.
        storm: the version to judge for; "" is the one that was recorded.
        strict: take warnings as failures.
        coverage: say in the result which rules the recordings had occasion to break.

    Raises:
        CheckError: if a file is no transcript, or can't be read.

    """
    if not transcripts:
        raise CheckError("which transcript? They are in .mlcheck/last after a run that failed")
    try:
        check_words("a transcript is a path, and each is an argument of its own", transcripts)
        check_storm(storm)
        paths = [os.fspath(path) for path in transcripts]
        found = judge_transcripts(paths, load_rulebook(storm), storm, coverage=coverage)
    except OSError as error:
        raise CheckError(f"{error.filename}: can't be read: {error.strerror}") from None
    except (DeclarationError, TranscriptError) as error:
        raise CheckError(str(error)) from None
    return lint_result(found, strict=strict)


class HeldConversation:
    """A conversation with a component that you hold yourself, in Storm's place, one message at a time.

    `bolt` and `spout` start one and do the handshake; use what they return in a ``with`` statement, which ends it. The
    judge listens: `findings` and `causes` are what it found so far.
    """

    @staticmethod
    def bolt(
        *command: str,
        storm: str = "",
        streams: Mapping[str, Sequence[str]] | None = None,
        sources: Mapping[str, Sequence[str]] | None = None,
        **more: Any,
    ) -> DrivenBolt:
        """Start a bolt. The arguments are those of `check`. Raises CheckError if it is not started."""
        return DrivenBolt(_declared(command, "bolt", storm, streams=streams, sources=sources, **more), storm)

    @staticmethod
    def spout(
        *command: str, storm: str = "", streams: Mapping[str, Sequence[str]] | None = None, **more: Any
    ) -> DrivenSpout:
        """Start a spout, and activate it. The arguments are those of `check`. Raises CheckError likewise."""
        return DrivenSpout(_declared(command, "spout", storm, streams=streams, **more), storm)


Conversation = HeldConversation
"""The name for users; inside, `protocol.conversation.Conversation` is the judge of one."""


def _declared(command: Sequence[str], kind: Literal["bolt", "spout"], storm: str, **more: Any) -> Component:
    try:
        return declare(command, kind, storm, **more)
    except DeclarationError as error:
        raise CheckError(str(error)) from None


def _decided(component: Component, options: RunOptions) -> Component:
    """The component with its kind. Raises CheckError if it shows none."""
    if component.kind != "auto":
        return component
    probe = kind_of(component, options)
    if probe.kind is None:
        raise CheckError(f"can't tell whether it is a bolt or a spout: {probe.seen or probe.how}; say kind=")
    return msgspec.structs.replace(component, kind=probe.kind)
