"""``mlcheck list rules|cases|versions``: a line each, its fields parted by spaces."""

from collections.abc import Iterable

from multilang_cli.catalogue.loader import load_rules, load_versions
from multilang_cli.cli.output import write


def rules() -> int:
    """List what the protocol asks and what real Storm punishes: id, level, kind, title."""
    _print((rule.id, rule.level, rule.kind, rule.title) for rule in load_rules().values())
    return 0


def cases() -> int:
    """List the cases that `mlcheck run` plays: id, level, kind, title."""
    from multilang_cli.suite.case import load_cases  # noqa: PLC0415 (slow to import)

    _print((case.id, case.level, case.kind, case.title) for case in load_cases())
    return 0


def versions() -> int:
    """List the Storm versions that can be played, and whether they were verified with the real classes."""
    _print((version.id, "verified" if version.verified else "unverified", version.note) for version in load_versions())
    return 0


def _print(rows: Iterable[tuple[str, ...]]) -> None:
    """Rows in columns, the last of any width."""
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    write("".join("  ".join([*map(str.ljust, line, widths), line[-1]]).rstrip() + "\n" for line in lines))
