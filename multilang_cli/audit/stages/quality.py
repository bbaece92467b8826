"""The table quality: what whoever relies on the other tables expects of the recordings, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.store.local_rows import local_rows
from multilang_cli.audit.summary_tables import QUALITY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from multilang_cli.audit.stages.facts import AuditFacts


class Expectation(NamedTuple):
    """Something that should hold of a table, and how often it does not."""

    expectation: str
    about: str
    found: int


def quality(facts: AuditFacts, files: DataFrame, ledger: DataFrame, roots: DataFrame) -> DataFrame:
    """The table quality. `files`, `ledger`, `roots`: the tables."""
    rows = [(each.expectation, each.about, each.found, not each.found) for each in _all(facts, files, ledger, roots)]
    return local_rows(files.sparkSession, rows, QUALITY.ddl)


def _all(facts: AuditFacts, files: DataFrame, ledger: DataFrame, roots: DataFrame) -> Iterator[Expectation]:
    lines = _first(files, "lines - headers - events - ends - quarantined", "quarantined")
    yield Expectation("every line went into a table", "files", lines[0])
    yield Expectation("no line is in quarantine", "quarantine", lines[1])
    parts = [part for each in facts.parts.values() for part in each]
    yield Expectation("every part was closed", "conversations", sum(not part.closed for part in parts))
    yield Expectation("every part says when it began", "conversations", sum(part.started is None for part in parts))
    whole = sum([part.part for part in each] != list(range(1, len(each) + 1)) for each in facts.parts.values())
    yield Expectation("no conversation lacks a part", "conversations", whole)
    missing = sum(max(0, span.most + 1 - min(span.least, 1) - span.number) for span in facts.spans.values())
    yield Expectation("no event is missing by its number", "events", missing)
    gaps = sum(span.gap is not None for span in facts.spans.values())
    yield Expectation("no recorder says that something is missing", "events", gaps)
    unseen, unknown = _first(ledger, "cast(verdict = 'unseen' as int)", "cast(verdict = 'unknown' as int)")
    yield Expectation("nothing was settled that was never seen", "ledger", unseen)
    yield Expectation("what became of a tuple is known", "ledger", unknown)
    guessed, uncertain = _first(roots, "cast(confidence != 'certain' as int)", "cast(verdict = 'uncertain' as int)")
    yield Expectation("no tree was guessed", "roots", guessed)
    yield Expectation("no tree is uncertain", "roots", uncertain)


def _first(rows: DataFrame, *sums: str) -> tuple[int, ...]:
    [found] = rows.selectExpr(*(f"coalesce(sum({each}), 0)" for each in sums)).collect()
    return tuple(int(value) for value in found)
