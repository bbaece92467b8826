"""``mlcheck list rules|cases|host-cases|protocol|versions|--kills``: a line each, its fields parted by spaces."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from multilang_cli.catalogue.loader import load_rules, load_versions
from multilang_cli.catalogue.written import load_sentences
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import remark, write

_CASE = ("id", "level", "kind", "title")


def rules(*, as_json: Json = False) -> int:
    """List what the protocol asks and what real Storm punishes: id, level, kind, title."""
    return _print(_CASE, ((rule.id, rule.level, rule.kind, rule.title) for rule in load_rules().values()), as_json)


def protocol(*, as_json: Json = False) -> int:
    """List the sentences of the written protocol: id, section, level, whom it binds, text."""
    rows = (
        (placed.sentence.id, placed.number, placed.sentence.level, placed.sentence.binds, placed.sentence.text.strip())
        for placed in load_sentences().values()
    )
    return _print(("id", "section", "level", "binds", "text"), rows, as_json)


def cases(*, as_json: Json = False) -> int:
    """List the cases that `mlcheck run` plays, those of the library suite too: id, level, kind, title.

    The kind is bolt, spout or both; for a library's testee (--testee) it is basic where the library acks by itself.
    """
    from multilang_cli.suite.cases.case import load_cases  # noqa: PLC0415 (slow to import)

    found = [*load_cases(), *load_cases("library")]
    return _print(_CASE, ((case.id, case.level, case.testee or case.kind, case.title) for case in found), as_json)


def host_cases(*, as_json: Json = False) -> int:
    """List the cases that `mlcheck host` plays: id, level, kind of the component, title."""
    from multilang_cli.suite.hosts.case import load_host_cases  # noqa: PLC0415 (slow to import)

    return _print(_CASE, ((case.id, case.level, case.kind, case.title) for case in load_host_cases()), as_json)


def kills(
    *,
    whole: Annotated[
        bool, typer.Option("--whole", help="Everything that the soak saw, not only what is claimed.")
    ] = False,
    as_json: Json = False,
) -> int:
    """List which mutants each case kills: case, testee, mutant, rules, and whether it is claimed or on which day seen.

    A mutant is a component with one planted bug. What its author claims is played in CI; every mutant was played
    against every case in a soak, whose result is stored. Where nothing is claimed of a case, what was seen is shown.
    """
    from multilang_cli.subject.config import ConfigError  # noqa: PLC0415
    from multilang_cli.suite.cases import kills as killing  # noqa: PLC0415 (slow to import)
    from multilang_cli.suite.cases.case import load_cases  # noqa: PLC0415

    try:
        claims = list(killing.claimed())
    except ConfigError as error:
        raise CommandError(str(error)) from None
    known = {kill.case for kill in claims}
    shown = [kill for kill in killing.seen() if whole or kill.case not in known]
    cases = [case.id for suite in ("component", "library") for case in load_cases(suite)]
    lines = sorted(
        [*([] if whole else claims), *shown], key=lambda kill: (_place(cases, kill.case), kill.home, kill.mutant)
    )
    _print(
        ("case", "testee", "mutant", "rules", "seen"),
        ((kill.case, kill.home, kill.mutant, tuple(kill.rules), kill.seen_on or "claimed") for kill in lines),
        as_json,
    )
    for soak in killing.soaked():
        count = sum(len(mutant.kills) for mutant in soak.mutants.values())
        remark(
            f"{soak.home}: {len(soak.mutants)} mutants, {count} kills, played on {soak.played_on}, Storm {soak.storm}"
        )
    return 0


def _place(cases: list[str], case: str) -> int:
    """The place of a case; those that are gone stand last."""
    return cases.index(case) if case in cases else len(cases)


def versions(*, as_json: Json = False) -> int:
    """List the Storm versions that can be played, and whether they were verified with the real classes."""
    rows = ((version.id, "verified" if version.verified else "unverified", version.note) for version in load_versions())
    return _print(("id", "standing", "note"), rows, as_json)


def _print(keys: Sequence[str], rows: Iterable[Sequence[Any]], as_json: bool) -> int:
    """Rows in columns, the last of any width; or as objects with these keys."""
    found = list(rows)
    if as_json:
        return print_json([dict(zip(keys, row, strict=True)) for row in found])
    lines = [[cell if isinstance(cell, str) else ",".join(cell) for cell in row] for row in found]
    if lines:
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
        write("".join("  ".join([*map(str.ljust, line, widths), line[-1]]).rstrip() + "\n" for line in lines))
    return 0
