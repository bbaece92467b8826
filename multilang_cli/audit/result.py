"""Result of an audit: notes on what it was given, its user's limits, the result that reports are made of."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli import __version__
from multilang_cli.audit.tables import FINDINGS, OUTLOOKS, REPLAYS
from multilang_cli.reports.counting import counted
from multilang_cli.reports.escape import decode
from multilang_cli.reports.model import ComponentReport, RunResult, SubjectResult, Suite, Tool
from multilang_cli.reports.verdict import conclude

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import DataFrame, Row

    from multilang_cli.audit.inputs import AuditPlan
    from multilang_cli.audit.pages.answer import AuditAnswer
    from multilang_cli.audit.stages.facts import AuditFacts
    from multilang_cli.audit.store.stored import StoredTables

MOST_NAMED = 5
"""Things of a kind that a sentence names."""


class Limit(NamedTuple):
    """Something that a user may bound: rows of a table, and what they are."""

    table: str
    where: str
    what: str


LIMITS: dict[str, Limit] = {
    "max_never_acked": Limit(
        "ledger", "kind = 'spout' and verdict = 'never'", "tuples of spouts that were neither acked nor failed"
    ),
    "max_never_settled": Limit(
        "ledger", "kind = 'bolt' and verdict = 'never'", "tuples that a bolt neither acked nor failed"
    ),
    "max_roots_lost": Limit(
        "roots", "verdict in ('never acked', 'lost')", "tuple trees that were never acked, or lost a tuple"
    ),
    "max_settled_twice": Limit("ledger", "verdict = 'twice'", "tuples that were settled more than once"),
    "max_late": Limit("ledger", "verdict = 'late'", "tuples that were settled too late for certain"),
    "max_failed": Limit("ledger", "kind = 'spout' and by = 'fail'", "tuples of spouts that failed"),
    "max_must": Limit("findings", "level = 'must'", "breaches of rules of level must"),
    "max_restarts": Limit("restarts", "true", "restarts of workers"),
    "max_quarantined": Limit("quarantine", "true", "lines that could not be read, or stand in a second copy"),
}
"""What ``[audit]`` of mlcheck.toml may bound, by its key."""


LOOSENING = frozenset({"max_roots_lost", "max_never_acked"})
"""Limits that stand in place of the one that holds unless told otherwise: no tree is lost for certain."""


def result_of(
    known: StoredTables, plan: AuditPlan, folder: str, limits: Mapping[str, int], answer: AuditAnswer | None = None
) -> RunResult:
    """The result of an audit whose tables are `known`; they stand in `folder`. `answer`: what they say, if it is known.

    Unless a limit of roots says otherwise, none may be lost for certain.
    """
    subjects = [_accounted(known, folder)]
    if answer is not None and answer.trees and not LOOSENING & limits.keys():
        subjects.append(_none_lost(known, answer, folder))
    subjects += (_held(known, name, most, folder) for name, most in limits.items())
    result = RunResult(
        tool=Tool(version=__version__),
        suite=Suite(name="audit"),
        component=ComponentReport(command=(), name="recordings"),
        storm=plan.storm,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        subjects=tuple(subjects),
        notes=(*plan.inputs.notes, *notes_of(known, limits)),
        limits={name: float(most) for name, most in limits.items()},
    )
    return conclude(result)


def _none_lost(known: StoredTables, answer: AuditAnswer, folder: str) -> SubjectResult:
    """The limit that holds where nobody set one: nothing may be lost for certain."""
    reason = (
        f"{answer.certain:,} tuple trees were lost or never acked for certain (table roots in {folder}"
        f"{_sent_again(known)}); max_roots_lost in [audit] of mlcheck.toml allows for some"
        if answer.certain
        else ""
    )
    return SubjectResult(
        id="audit.lost",
        title="No tuple was lost for certain",
        kind="limit",
        verdict="fail" if reason else "pass",
        reason=reason,
        expected="no tree that was lost or never acked for certain",
    )


def _sent_again(known: StoredTables) -> str:
    """Count messages that a spout emitted again, "" for none: a tree stays lost, and its message may be done."""
    acked = known.counted(REPLAYS, "acked")
    if not acked:
        return ""
    done = acked.total() - acked[(0,)]
    one = "it was acked at last" if done else "it was never acked"
    told = one if acked.total() == 1 else f"{done:,} of them were acked at last"
    return f"; of the table replays: {counted(acked.total(), 'message')} came again, and {told}"


def _accounted(known: StoredTables, folder: str) -> SubjectResult:
    """Check that there was a line at all, and that every line of every file went somewhere."""
    found = known.lines
    title = "Every line that was read went into a table"
    if found.lines != found.told:
        why = f"of {found.lines} lines only {found.told} went into a table of {folder}: a fault of mlcheck's own"
        return SubjectResult(id="audit.lines", title=title, kind="run", verdict="error", reason=why)
    if not found.events:
        why = "there is no event in what was given"
        return SubjectResult(id="audit.lines", title=title, kind="run", verdict="untestable", reason=why)
    return SubjectResult(id="audit.lines", title=title, kind="run", verdict="pass")


def _held(known: StoredTables, name: str, most: int, folder: str) -> SubjectResult:
    limit = LIMITS[name]
    number = known[limit.table].where(limit.where).count()
    expected = f"at most {most} {limit.what}"
    reason = "" if number <= most else f"{number} {limit.what}; {name} = {most} (table {limit.table} in {folder})"
    return SubjectResult(
        id=f"audit.{name.replace('_', '-')}",
        title=limit.what[0].upper() + limit.what[1:],
        kind="limit",
        verdict="fail" if reason else "pass",
        reason=reason,
        expected=expected,
    )


def notes_of(known: StoredTables, limits: Mapping[str, int]) -> Iterator[str]:
    """Notes on the inputs, and on what was found in them beside the `limits`, that a reader has to know."""
    if known.lines.quarantined:
        for row in _counted(known["quarantine"], "regexp_replace(reason, \"(: | '| [0-9]).*\", '')"):
            are = "is" if row.number == 1 else "are"
            yield f"{counted(row.number, 'line')} {are} in quarantine: {_shown(row.what)}"
    parts = [part for each in known.facts.parts.values() for part in each]
    versions = {part.storm for part in parts if part.storm}
    if len(versions) > 1:
        yield f"the recordings are of several Storm versions: {', '.join(map(_shown, sorted(versions)))}"
    if opened := sum(not part.closed for part in parts):
        told = "1 part of a conversation was" if opened == 1 else f"{opened} parts of conversations were"
        yield f"{told} not closed, or lost what came last on its way"
    yield from _missing(known.facts)
    if "max_must" not in limits:
        yield from _breaches(known)
    fates = known.few(OUTLOOKS, "version", "seq", of={"fate": ("unknown",)})
    for version in sorted({version for version, seq in fates if seq is None}):
        yield f"Storm {_shown(version)!r} is not known here, so its conversations are not judged; give --storm"
    yield from _together(known.facts)


def _missing(facts: AuditFacts) -> Iterator[str]:
    """Notes on what the recordings lack, by their own numbers: what became of tuples there may not be known."""
    lacking = {
        conv for conv, parts in facts.parts.items() if [each.part for each in parts] != [*range(1, len(parts) + 1)]
    }
    if lacking:
        told = "1 conversation lacks" if len(lacking) == 1 else f"{len(lacking)} conversations lack"
        yield f"{told} a part: {_some(lacking)}"
    missing = {conv: span.missing for conv, span in facts.spans.items() if span.missing and conv not in lacking}
    if missing:
        events = counted(sum(missing.values()), "event")
        are = "is" if sum(missing.values()) == 1 else "are"
        yield f"{events} {are} missing by number, of {_some(missing)}: what became of a tuple there may not be known"
    declared = {conv for conv, span in facts.spans.items() if span.gap is not None}
    if declared:
        yield f"the recorder says that something is missing of {_some(declared)}"


def _some(names: Iterable[str]) -> str:
    """The first of the names, and how many more there are."""
    first, *more = sorted(names)
    shown = ", ".join(map(_shown, [first, *more[: MOST_NAMED - 1]]))
    return f"{shown} and {len(more) - MOST_NAMED + 1} more" if len(more) >= MOST_NAMED else shown


def _breaches(known: StoredTables) -> Iterator[str]:
    """Rules of level must that were broken: unless they are bounded, nothing fails for them."""
    counted = known.counted(FINDINGS, "level", "rule")
    rules = Counter({rule: number for (level, rule), number in counted.items() if level == "must"})
    if rules:
        told = [f"{_shown(rule)} {number:,}" for rule, number in rules.most_common(MOST_NAMED)]
        told += [f"{len(rules) - MOST_NAMED} more rules"] if len(rules) > MOST_NAMED else []
        yield (
            f"findings of level must fail nothing here (table findings: {', '.join(told)}): max_must in [audit] of"
            " mlcheck.toml bounds them"
        )


def _together(facts: AuditFacts) -> Iterator[str]:
    """Tasks that several taps recorded at the same time: two topologies of one name, or a tap behind a tap."""
    heard = [
        ((one.topology, one.component, one.task), one.started, conv, one.started + facts.spans[conv].t)
        for conv, (one, *_) in facts.parts.items()
        if one.part == 1 and one.started is not None and conv in facts.spans
    ]
    until: dict[tuple[str, str, int], float] = {}
    named = set()
    for task, started, _, ended in sorted(heard):
        if until.get(task, started) > started:
            named.add(task)
        until[task] = max(until.get(task, ended), ended)
    for _, component, number in sorted(named)[:MOST_NAMED]:
        yield f"task {number} of {_shown(component)!r} was recorded by two taps at the same time; both count"
    if len(named) > MOST_NAMED:
        yield "more tasks were recorded by two taps at the same time"


def _counted(rows: DataFrame, what: str) -> list[Row]:
    return rows.selectExpr(f"{what} as what").groupBy("what").count().selectExpr(
        "what", "count as number"
    ).orderBy("number", ascending=False).limit(20).collect()  # fmt: skip


def _shown(text: str) -> str:
    return decode(text.encode("utf-8", "replace"))[:200]
