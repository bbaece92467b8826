"""The results of one component on several Storm versions, put together: equal troubles once, and where. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.reports.combined import label_of, parts_of
from multilang_cli.reports.grouping import groups_of, place_of
from multilang_cli.reports.model import Untested

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.reports.grouping import Group
    from multilang_cli.reports.model import RunResult, SubjectResult, Verdict

_SOME_STORM = "Storm \x00"
_PLAIN: frozenset[Verdict | None] = frozenset({"pass", "skip"})


class Bundle(NamedTuple):
    """One component: its label, "" if there is no other, and its results, one a Storm version, the oldest first."""

    label: str
    parts: tuple[RunResult, ...]

    @property
    def storms(self) -> tuple[str, ...]:
        """The versions that were played."""
        return tuple(part.storm for part in self.parts)


class BundleRow(NamedTuple):
    """A case and what became of it on each version; None where it was not played."""

    id: str
    verdicts: tuple[Verdict | None, ...]


def bundles(result: RunResult) -> tuple[Bundle, ...]:
    """The components of a result, each with the versions that it was played on."""
    found: list[list[RunResult]] = []
    for part in parts_of(result):
        last = found[-1] if found else []
        same = any(each.component.name == part.component.name for each in last)
        if same and part.storm not in {each.storm for each in last}:
            last.append(part)
        else:
            found.append([part])
    alone = len(found) == 1
    return tuple(Bundle("" if alone else label_of(parts[0]), tuple(parts)) for parts in found)


def labelled(result: RunResult) -> list[tuple[str, RunResult]]:
    """The parts, each with what tells it from the others: its component, its version where there are several."""
    return [(_label(bundle, part), part) for bundle in bundles(result) for part in bundle.parts]


def _label(bundle: Bundle, part: RunResult) -> str:
    name = label_of(part) if bundle.label or part.component.name or len(bundle.parts) == 1 else ""
    return ", ".join(filter(None, (name, f"Storm {part.storm}" if len(bundle.parts) > 1 else "")))


def groups_in(parts: Sequence[RunResult]) -> tuple[Group, ...]:
    """Troubles on any version, the gravest first; the newest version that has a trouble stands for the others."""
    found: dict[tuple[str, ...], Group] = {}
    storms: dict[tuple[str, ...], list[str]] = {}
    for part in reversed(parts):
        for group in groups_of(part):
            found.setdefault(group.key, group)
            storms.setdefault(group.key, []).insert(0, part.storm)
    groups = [
        group if len(storms[key]) == len(parts) else group._replace(storms=tuple(storms[key]))
        for key, group in found.items()
    ]
    return tuple(sorted(groups, key=lambda group: place_of(group.verdict)))


def rows_of(parts: Sequence[RunResult]) -> tuple[BundleRow, ...]:
    """A row for each case whose verdict differs among the versions, or that neither passed nor was skipped."""
    known = [{subject.id: subject.verdict for subject in part.subjects} for part in parts]
    ids = dict.fromkeys(subject.id for part in parts for subject in part.subjects)
    rows = [BundleRow(id_, tuple(verdicts.get(id_) for verdicts in known)) for id_ in ids]
    return tuple(row for row in rows if len(set(row.verdicts)) > 1 or row.verdicts[0] not in _PLAIN)


def known_failures_in(parts: Iterable[RunResult]) -> tuple[SubjectResult, ...]:
    """The subjects that fail as is known, on any version, each once."""
    found = {subject.id: subject for part in parts for subject in part.subjects if subject.verdict == "xfail"}
    return tuple(found.values())


def passed_in_all(parts: Sequence[RunResult]) -> tuple[SubjectResult, ...]:
    """The subjects that passed on every version."""
    passed = [{subject.id for subject in part.subjects if subject.verdict == "pass"} for part in parts]
    return tuple(subject for subject in parts[-1].subjects if all(subject.id in ids for ids in passed))


def notes_in(parts: Sequence[RunResult]) -> tuple[str, ...]:
    """The notes of all versions, each once, with its versions where it is not about all."""
    found: dict[str, list[str]] = {}
    for part in parts:
        for note in dict.fromkeys(_any_storm(note, part) for note in part.notes):
            found.setdefault(note, []).append(part.storm)
    return tuple(_where(note, storms, parts) for note, storms in found.items())


def untested_in_all(parts: Sequence[RunResult]) -> tuple[Untested, ...]:
    """Cases that were not tested, by reason, with the versions where it is not the same on all."""
    storms: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        for untested in part.untested:
            for id_ in untested.ids:
                storms.setdefault((_any_storm(untested.reason, part), id_), []).append(part.storm)
    ids: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, id_), where in storms.items():
        ids.setdefault((reason, tuple(where)), []).append(id_)
    return tuple(
        Untested(reason=_where(reason, where, parts), ids=tuple(each)) for (reason, where), each in ids.items()
    )


def _any_storm(text: str, part: RunResult) -> str:
    """A sentence about the version played, so that it is the same for all."""
    return text.replace(f"Storm {part.storm}", _SOME_STORM)


def _where(text: str, storms: Sequence[str], parts: Sequence[RunResult]) -> str:
    named = f"Storm {', '.join(storms)}"
    if _SOME_STORM in text:
        return text.replace(_SOME_STORM, named)
    return f"{text} ({named})" if len(storms) < len(parts) else text
