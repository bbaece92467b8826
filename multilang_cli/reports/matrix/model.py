"""Results of every case with every library, as data: ``schemas/matrix.schema.json`` publishes its shape."""

from __future__ import annotations

from typing import Literal

import msgspec

from multilang_cli.protocol.words.verdicts import Level
from multilang_cli.reports.model import RunVerdict, Tool, Untested, Verdict

SCHEMA_VERSION = "1.0"

GRAVITY: tuple[Verdict, ...] = (
    "error", "fail", "xfail", "flaky", "stale", "untestable", "warn", "pass", "skip"
)  # fmt: skip
"""Verdicts of the parts of a library, the one first that counts for it."""

TROUBLES: tuple[Verdict, ...] = GRAVITY[: GRAVITY.index("pass")]
"""Verdicts that are no pass."""


def failing(verdict: Verdict | None) -> bool | None:
    """True for a verdict that is a failure, None where nothing was tested."""
    return None if verdict in (None, "skip") else verdict in TROUBLES and verdict != "warn"


class _Value(msgspec.Struct, frozen=True, kw_only=True):
    pass


class MatrixCase(_Value, frozen=True, kw_only=True):
    """A case: a row. `part`: for which part of a testee it is, "" for any of its kind."""

    id: str
    title: str
    level: Level
    kind: Literal["bolt", "spout", "both"]
    part: str = ""


class CellTrouble(_Value, frozen=True, kw_only=True):
    """A case that a part of a library did not pass.

    `known`: why it is known to fail, in the words of whoever looked into it, "" if it is new. `page`, `transcript`: the
    conversation, as seen from the folder of the matrix. `reproduce`: the command that shows it again.
    """

    case: str
    verdict: Verdict
    reason: str
    rules: tuple[str, ...] = ()
    known: str = ""
    page: str | None = None
    transcript: str | None = None
    reproduce: str = ""


class Part(_Value, frozen=True, kw_only=True):
    """A part of a testee, such as its bolt or its spout: the verdict of each case, and of the whole run.

    `why`: why no case was played, "" if some were.
    """

    name: str
    verdict: RunVerdict
    exit_code: int
    verdicts: dict[str, Verdict]
    troubles: tuple[CellTrouble, ...] = ()
    untested: tuple[Untested, ...] = ()
    why: str = ""


class PastVersion(_Value, frozen=True, kw_only=True):
    """An earlier version of a library in the same matrix, and what the next one changed in the cases of both.

    `mended`: cases that the next version passes and this one did not; `broken`: the reverse. A warning is no failure.
    """

    version: str
    made_at: str
    storm: str
    tested: int
    passed: int
    failed: int
    mended: tuple[str, ...]
    broken: tuple[str, ...]


class Library(_Value, frozen=True, kw_only=True):
    """A library: a column. `id`: the folder of its testee; `source`: where the library can be had.

    `past`: its versions that were in the matrix before, the oldest first.
    """

    id: str
    name: str
    version: str
    language: str
    source: str = ""
    notes: str = ""
    parts: tuple[Part, ...]
    past: tuple[PastVersion, ...] = ()

    @property
    def started(self) -> bool:
        """True if cases were played with every part."""
        return not any(part.why for part in self.parts)

    def verdict(self, case: str) -> Verdict | None:
        """The verdict on a case: the gravest of its parts, None if it was played with none of them."""
        found = [part.verdicts[case] for part in self.parts if case in part.verdicts]
        return min(found, key=GRAVITY.index, default=None)

    def troubles(self, case: str) -> list[tuple[Part, CellTrouble]]:
        """The parts in which a case went wrong."""
        return [(part, trouble) for part in self.parts for trouble in part.troubles if trouble.case == case]

    def untested(self, case: str) -> str:
        """The reason why a case was not tested."""
        return next((each.reason for part in self.parts for each in part.untested if case in each.ids), "")


class Score(_Value, frozen=True, kw_only=True):
    """Numbers of cases that a library passed, warned of, failed (`known`: the known of these), was not tested by."""

    passed: int
    warned: int
    failed: int
    known: int
    skipped: int

    @property
    def tested(self) -> int:
        """The number of cases that were tested."""
        return self.passed + self.warned + self.failed


class Matrix(_Value, frozen=True, kw_only=True):
    """Everything. `suite`: the hash of the cases; `made_at`: ISO 8601, UTC; `exit_code`: that of the run."""

    schema_version: str = SCHEMA_VERSION
    tool: Tool
    storm: str
    suite: str
    made_at: str
    exit_code: int
    cases: tuple[MatrixCase, ...]
    libraries: tuple[Library, ...]

    def added_to(self, old: Matrix) -> Matrix:
        """The same with those libraries of an `old` one that it has not, their cases, and the past of those it has."""
        mine, cases = {library.id for library in self.libraries}, {case.id for case in self.cases}
        kept = {library.id: library for library in old.libraries}
        libraries = (
            *(old.followed_by(library, kept.get(library.id)) for library in self.libraries),
            *(library for id_, library in kept.items() if id_ not in mine),
        )
        return msgspec.structs.replace(
            self,
            libraries=tuple(sorted(libraries, key=lambda library: library.id)),
            cases=(*self.cases, *(case for case in old.cases if case.id not in cases)),
        )

    def followed_by(self, library: Library, before: Library | None) -> Library:
        """A library with what it was in this matrix, `before`, as its past. The same version again has no new past."""
        if before is None:
            return library
        past = before.past
        if before.version != library.version and before.started and library.started:
            score = self.score(before)
            now = {case.id: failing(library.verdict(case.id)) for case in self.cases}
            then = {case.id: failing(before.verdict(case.id)) for case in self.cases}
            past += (
                PastVersion(
                    version=before.version,
                    made_at=self.made_at,
                    storm=self.storm,
                    tested=score.tested,
                    passed=score.passed,
                    failed=score.failed,
                    mended=tuple(id_ for id_, bad in then.items() if bad and now[id_] is False),
                    broken=tuple(id_ for id_, bad in then.items() if bad is False and now[id_]),
                ),
            )
        return msgspec.structs.replace(library, past=past)

    def score(self, library: Library) -> Score:
        """The cases of a library, counted."""
        verdicts = {case.id: library.verdict(case.id) for case in self.cases}
        found = [verdict for verdict in verdicts.values() if verdict is not None]
        failed = [id_ for id_, verdict in verdicts.items() if verdict in TROUBLES and verdict != "warn"]
        known = sum(all(trouble.known for _, trouble in library.troubles(id_)) for id_ in failed)
        return Score(
            passed=found.count("pass"),
            warned=found.count("warn"),
            failed=len(failed),
            known=known,
            skipped=found.count("skip"),
        )
