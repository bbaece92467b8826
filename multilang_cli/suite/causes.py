"""Why a component went wrong in a conversation of the suite: the facts gathered for ``causes``, and its source read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_causes, load_tracebacks
from multilang_cli.causes.diagnosis import diagnose
from multilang_cli.causes.facts import Source, facts_of
from multilang_cli.causes.languages import language_of
from multilang_cli.reports.escape import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.causes.model import Cause, Place
    from multilang_cli.host.session import Session
    from multilang_cli.protocol.events import Event
    from multilang_cli.protocol.verdicts import Kind
    from multilang_cli.suite.runner import Plan

_LONGEST_LINE = 200
"""Characters of a line of source that are kept."""


def source_of(plan: Plan, kind: Kind) -> Source:
    """Where a component comes from: its own files stand below its working directory, and beside its program."""
    cwd = plan.cwd
    programs = [cwd / word for word in plan.launch.argv if language_of([word]) and "." in Path(word).name]
    beside = [str(program.parent) for program in programs if program.is_file()]
    roots = dict.fromkeys(str(Path(folder).resolve()) for folder in (str(cwd), *beside))
    return Source(kind=kind, language=language_of(plan.launch.argv), roots=tuple(roots))


def causes_of(
    plan: Plan, session: Session, events: Iterable[Event], *, made_up: bool = False, handled: bool = False
) -> tuple[Cause, ...]:
    """The causes of what was found in a conversation."""
    source = source_of(plan, session.profile.kind)
    stderr = decode(session.process.stderr_tail)
    facts = facts_of(
        events, session.findings, source, load_tracebacks(), stderr=stderr, made_up=made_up, handled=handled
    )
    return tuple(with_code(cause, source.roots) for cause in diagnose(facts, load_causes()))


def with_code(cause: Cause, roots: Sequence[str]) -> Cause:
    """The cause with the line of source that its place names, and the file as its user would write it."""
    place = cause.place
    return cause if place is None else msgspec.structs.replace(cause, place=_read(place, roots))


def _read(place: Place, roots: Sequence[str]) -> Place:
    for root in roots:
        path = Path(root) / place.file
        try:
            lines = path.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
        except OSError:
            continue
        code = place.code
        if not code and 0 < place.line <= len(lines):
            code = lines[place.line - 1].strip()[:_LONGEST_LINE]
        here = Path.cwd()
        file = str(path.relative_to(here)) if path.is_relative_to(here) else place.file
        return msgspec.structs.replace(place, file=file, code=code)
    return place
