"""Why a component went wrong in a conversation of the suite: the facts gathered for ``causes``, and its source read."""

from __future__ import annotations

import mmap
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_causes, load_tracebacks
from multilang_cli.causes.diagnosis import diagnose
from multilang_cli.causes.facts import Source, facts_of
from multilang_cli.causes.languages import language_of
from multilang_cli.host.launch import readable
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import Exit, SubjectResult
from multilang_cli.suite.excerpts import excerpt_of
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.causes.model import Cause, Place
    from multilang_cli.host.session import Session
    from multilang_cli.protocol.verdicts import Finding, Kind
    from multilang_cli.suite.runner import Plan
    from multilang_cli.suite.watch import Watch

SILENCES = frozenset({"handshake-silent", "heartbeat-timeout", "heartbeat-unanswered", "sync-missing"})
"""Rules that are broken by silence."""
LAST_CHANCE = 1.0
"""Seconds in which a silent component has to say what it held back, once its stdin is closed."""
_BUILT = {b"\xff Go buildinf:": "go", b"/rustc/": "rust"}
"""What compilers leave in their programs."""
_LONGEST_LINE = 200
"""Characters of a line of source that are kept."""


def source_of(plan: Plan, kind: Kind) -> Source:
    """Where a component comes from: its own files stand below its working directory, and beside its program."""
    cwd = plan.cwd
    programs = [cwd / word for word in plan.launch.argv if language_of([word]) and "." in Path(word).name]
    beside = [str(program.parent) for program in programs if program.is_file()]
    roots = dict.fromkeys(str(Path(folder).resolve()) for folder in (str(cwd), *beside))
    language = language_of(plan.launch.argv) or built_from(cwd / plan.launch.argv[0])
    return Source(kind=kind, language=language, roots=tuple(roots))


@cache
def built_from(program: Path) -> str:
    """The language that a compiled program was written in, "" where it does not show."""
    try:
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
            return next((language for mark, language in _BUILT.items() if code.find(mark) >= 0), "")
    except (OSError, ValueError):
        return ""


def causes_of(
    plan: Plan,
    session: Session,
    watch: Watch,
    findings: Sequence[Finding],
    *,
    made_up: bool = False,
    handled: bool = False,
) -> tuple[Cause, ...]:
    """The causes of what was found in a conversation."""
    source = source_of(plan, session.profile.kind)
    stderr = decode(session.process.stderr_tail)
    facts = facts_of(
        watch.events.values(),
        findings,
        source,
        load_tracebacks(),
        stderr=stderr,
        made_up=made_up,
        handled=handled,
        pieced=session.pieced,
        sizes=watch.sizes,
    )
    return tuple(with_code(cause, source.roots) for cause in diagnose(facts, load_causes(), plan.rulebook.rules))


def met_by_the_probe(plan: Plan, session: Session, watch: Watch, handled: bool) -> SubjectResult:
    """What was met before any case, asked in a role that may not be its own, as a result to be shown."""
    kind = session.profile.kind
    causes = causes_of(plan, session, watch, session.findings, handled=handled)
    ended = session.exit if not session.ended_by_us else None
    component = plan.component
    clean = Redactor({**component.conf, **component.env}).text
    words = ["mlcheck", "run", "--kind", kind, "--", *component.command]
    return SubjectResult(
        id=f"probe.{kind}",
        title=f"Is it a {kind}?",
        kind="run",
        verdict="fail",
        reason=causes[0].headline if causes else "",
        findings=tuple(session.findings),
        outlook=session.judge.outlook(),
        excerpt=excerpt_of(session.findings, watch.events, clean),
        stderr_tail=decode(session.process.stderr_tail),
        exit=Exit(code=ended.code, signal=ended.signal) if ended is not None else None,
        reproduce=readable(shlex.join(words)),
        causes=causes,
    )


def hear_out(session: Session) -> bool:
    """Of a silent component, hear what it held back; True if its pid file shows that it had read the handshake."""
    if not session.running or not any(finding.rule in SILENCES for finding in session.findings):
        return False
    folder = session.process.pid_dir
    handled = folder.is_dir() and any(file.name.isdecimal() for file in folder.iterdir())
    session.hear_out(LAST_CHANCE)
    return handled


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
