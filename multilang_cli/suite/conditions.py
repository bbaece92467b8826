"""Conditions that only some cases make, told in the first sentence of what went wrong in none but those. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_causes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.causes.model import Cause, Signature
    from multilang_cli.reports.model import SubjectResult
    from multilang_cli.suite.cases.case import Case


def _is_about_one(signature: Signature) -> bool:
    """True if the cause tells by itself under which condition it comes."""
    return bool(signature.asks_for("pieced") or signature.over or signature.fills_a_buffer)


def with_conditions(subjects: Sequence[SubjectResult], cases: Iterable[Case]) -> list[SubjectResult]:
    """The subjects, their first causes with the condition of the case where all that have the cause have one.

    A cause that is about the condition by itself says it already; one that comes by chance has none.
    """
    under = {case.id: case.under for case in cases if case.under}
    known_causes = load_causes()
    says_so = {known.id for known in known_causes if any(_is_about_one(each) for each in known.when)}
    says_so.update(known.id for known in known_causes if known.by_chance)
    plain = {_key(each.causes[0]) for each in subjects if each.causes and each.id not in under}
    if not any(each.verdict == "pass" for each in subjects):
        return list(subjects)

    met: dict[tuple[object, ...], set[str]] = {}
    for subject in subjects:
        if subject.causes and subject.id in under:
            met.setdefault(_key(subject.causes[0]), set()).add(under[subject.id])

    def told(subject: SubjectResult) -> SubjectResult:
        """The subject with the condition of its case."""
        if subject.id not in under or not subject.causes:
            return subject
        first, *others = subject.causes
        condition = _common(met[_key(first)])
        if _key(first) in plain or first.id in says_so or not condition:
            return subject
        headline = f"{first.headline}; only {condition}"
        return msgspec.structs.replace(subject, causes=(msgspec.structs.replace(first, headline=headline), *others))

    return list(map(told, subjects))


def _common(conditions: Iterable[str]) -> str:
    """The condition that several have in common, or one or the other of two; "" if there are more."""
    shortest, *others = sorted(conditions, key=len)
    if all(each.startswith(shortest) for each in others):
        return shortest
    return f"{shortest}, or {others[0]}" if len(others) == 1 else ""


def _key(cause: Cause) -> tuple[object, ...]:
    return cause.id, (cause.place.file, cause.place.line) if cause.place else None
