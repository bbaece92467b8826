"""Lists of what there is: a line each, its fields parted by spaces, or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rules, load_versions
from multilang_cli.catalogue.standing import standing_of
from multilang_cli.catalogue.written import load_sentences
from multilang_cli.terminal.exits import ExitCode
from multilang_cli.terminal.output import remark, write
from multilang_cli.terminal.table import in_columns, screen_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.catalogue.written import Sentence

_CASE = ("id", "level", "kind", "title")


class ListFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck list``."""

    as_json: bool = False


class ProtocolFlags(ListFlags, frozen=True, kw_only=True):
    """Those of ``mlcheck list protocol``. `untested`: only sentences that neither a rule nor a case tries."""

    untested: bool = False


class KillsFlags(ListFlags, frozen=True, kw_only=True):
    """Those of ``mlcheck list --kills``. `whole`: all that the soak saw."""

    whole: bool = False


def rules_given(flags: ListFlags) -> int:
    """List the rules."""
    return _print(_CASE, ((rule.id, rule.level, rule.kind, rule.title) for rule in load_rules().values()), flags)


def protocol_given(flags: ProtocolFlags) -> int:
    """List the sentences of the written protocol; of those that nothing tries, what shows them, or why nothing does."""
    placed = {each.sentence: each.number for each in load_sentences().values()}
    told = {each: _shown_by(each) if flags.untested else each.text.strip() for each in placed}
    rows = (
        (each.id, number, each.level, each.binds, told[each])
        for each, number in placed.items()
        if not (flags.untested and (each.rules or each.cases))
    )
    return _print(("id", "section", "level", "binds", "why" if flags.untested else "text"), rows, flags)


def _shown_by(sentence: Sentence) -> str:
    """Evidence for a sentence that no rule judges and no case tries, or the reason why there is none."""
    if sentence.untestable:
        return sentence.untestable
    standing = standing_of(sentence)
    shown = [f"{standing.text} real Storms that were asked"] if standing else []
    return "; ".join([*shown, *(f"shown by {test}" for test in sentence.tests)])


def cases_given(flags: ListFlags) -> int:
    """List the cases of both suites."""
    from multilang_cli.suite.cases.case import load_cases  # noqa: PLC0415 (slow to import)

    found = [*load_cases(), *load_cases("library")]
    return _print(_CASE, ((case.id, case.level, case.testee or case.kind, case.title) for case in found), flags)


def host_cases_given(flags: ListFlags) -> int:
    """List the cases for hosts."""
    from multilang_cli.suite.hosts.case import load_host_cases  # noqa: PLC0415 (slow to import)

    return _print(_CASE, ((case.id, case.level, case.kind, case.title) for case in load_host_cases()), flags)


def versions_given(flags: ListFlags) -> int:
    """List the Storm versions."""
    rows = ((version.id, "verified" if version.verified else "unverified", version.note) for version in load_versions())
    return _print(("id", "standing", "note"), rows, flags)


def schemas_given(flags: ListFlags) -> int:
    """List the published JSON Schemas."""
    rows = ((name, str(schemas.load(name).get("title", ""))) for name in schemas.names())
    return _print(("name", "title"), rows, flags)


def kills_given(flags: KillsFlags) -> int:
    """List the mutants that each case kills, in the order of the cases. Raises CommandError."""
    from multilang_cli.suite.cases import kills as killing  # noqa: PLC0415 (slow to import)
    from multilang_cli.suite.cases.case import load_cases  # noqa: PLC0415

    claims = list(killing.claimed())
    known = {kill.case for kill in claims}
    shown = [kill for kill in killing.seen() if flags.whole or kill.case not in known]
    places = {case.id: place for place, case in enumerate([*load_cases(), *load_cases("library")])}
    # Cases that are gone stand last.
    lines = sorted(
        [*([] if flags.whole else claims), *shown],
        key=lambda kill: (places.get(kill.case, len(places)), kill.home, kill.mutant),
    )
    _print(
        ("case", "testee", "mutant", "rules", "seen"),
        ((kill.case, kill.home, kill.mutant, tuple(kill.rules), kill.seen_on or "claimed") for kill in lines),
        flags,
    )
    soaks = killing.soaked()
    if not soaks:
        remark("What soaks saw is in the repository alone, in conformance/kills.")
    for soak in soaks:
        count = sum(len(mutant.kills) for mutant in soak.mutants.values())
        remark(
            f"{soak.home}: {len(soak.mutants)} mutants, {count} kills, played on {soak.played_on}, Storm {soak.storm}"
        )
    return ExitCode.CONFORMANT


def _print(keys: Sequence[str], rows: Iterable[Sequence[Any]], flags: ListFlags) -> int:
    """Rows in columns, the last of any width; or as objects with these keys."""
    found = list(rows)
    if flags.as_json:
        from multilang_cli.subject.outputs import write_json  # noqa: PLC0415 (slow to import)

        write_json([dict(zip(keys, row, strict=True)) for row in found])
        return ExitCode.CONFORMANT
    write(in_columns(([_cell(cell) for cell in row] for row in found), screen_width()))
    return ExitCode.CONFORMANT


def _cell(cell: Any) -> str:
    return " ".join(cell.split()) if isinstance(cell, str) else ",".join(cell)
