"""The table quality: what whoever relies on the other tables expects of the recordings, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.store.local_rows import FewRows
from multilang_cli.audit.tables import QUALITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.audit.stages.facts import AuditFacts
    from multilang_cli.audit.store.stored import LedgerCount, LineCount, TreeCount


class Expectation(NamedTuple):
    """Something that should hold of a table, and how often it does not."""

    expectation: str
    about: str
    found: int


def quality(facts: AuditFacts, lines: LineCount, ledger: Iterable[LedgerCount], trees: Iterable[TreeCount]) -> FewRows:
    """The table quality. `lines`: of all files; `ledger`, `trees`: these tables, counted."""
    rows = [(each.expectation, each.about, each.found, not each.found) for each in _all(facts, lines, ledger, trees)]
    return FewRows(rows, QUALITY.ddl)


def _all(
    facts: AuditFacts, lines: LineCount, ledger: Iterable[LedgerCount], trees: Iterable[TreeCount]
) -> Iterator[Expectation]:
    yield Expectation("every line went into a table", "files", lines.lines - lines.told)
    yield Expectation("no line is in quarantine", "quarantine", lines.quarantined)
    parts = [part for each in facts.parts.values() for part in each]
    yield Expectation("every part was closed", "conversations", sum(not part.closed for part in parts))
    yield Expectation("every part says when it began", "conversations", sum(part.started is None for part in parts))
    whole = sum([part.part for part in each] != list(range(1, len(each) + 1)) for each in facts.parts.values())
    yield Expectation("no conversation lacks a part", "conversations", whole)
    missing = sum(span.missing for span in facts.spans.values())
    yield Expectation("no event is missing by its number", "events", missing)
    gaps = sum(span.gap is not None for span in facts.spans.values())
    yield Expectation("no recorder says that something is missing", "events", gaps)
    unseen, unknown = (
        sum(column) for column in zip((0, 0), *((each.unseen, each.unknown) for each in ledger), strict=True)
    )
    yield Expectation("nothing was settled that was never seen", "ledger", unseen)
    yield Expectation("what became of a tuple is known", "ledger", unknown)
    counted = list(trees)
    guessed = sum(each.trees for each in counted if each.confidence != "certain")
    yield Expectation("no tree was guessed", "roots", guessed)
    yield Expectation(
        "no tree is uncertain", "roots", sum(each.trees for each in counted if each.verdict == "uncertain")
    )
