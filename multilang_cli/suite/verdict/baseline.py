"""Known failures: cases that are listed in a file with the rules they break. They still run; what changes is red. Pure.

A line is ``CASE-ID  [flaky ]rule[, rule]  # a sentence for people``; blank lines and comments are for people alone.
Where a rule can be broken by one of a few things, such as a command that is not answered, it stands as
``rule(subject)``. A case that is listed as flaky is played again when it fails, and has to pass in one of its runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.storm.outlooks import fingerprint
from multilang_cli.reports.model import SubjectResult, Verdict
from multilang_cli.reports.verdict import weigh
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.line_files import parted
from multilang_cli.suite.cases.selection import nearest
from multilang_cli.terminal.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from multilang_cli.protocol.words.verdicts import Finding

EXPECTATION = "expectation"
"""Stands for a rule where a case fails though no rule is broken: what had to come back did not."""

FILE_HEAD = """\
# Known failures of `mlcheck run`: a case, the rules that it breaks, a sentence for people. These cases still run.
# A line whose case passes makes the run fail until it is deleted, unless `flaky` stands before its rules.
# A rule that is broken and not listed makes it fail too.
"""

FLAKY = "flaky"
"""Stands before the rules of a case that fails in some runs only."""

FLAKY_RETRIES = 2
"""How often a case that is listed as flaky is played again where no ``--retries`` says it."""

_FORM = "expected: CASE-ID  [flaky ]rule[, rule(subject)]  # why"
_LINE = re.compile(r"(?P<id>\S+)(?:\s+(?P<flaky>flaky\s))?(?:\s*(?P<rules>.+))?")


_RULE = re.compile(r"[\w-]+(\([^\s,()#]+\))?")


def rule_of(name: str) -> str:
    """The rule of a name that may have a subject: ``sync-missing`` of ``sync-missing(next)``."""
    return name.partition("(")[0]


def name_of(finding: Finding) -> str:
    """The name under which a finding is listed: with its subject if that is always the same and fits into a line."""
    steady = finding.subject and finding.fingerprint == fingerprint(finding.rule, "", finding.subject)
    name = f"{finding.rule}({finding.subject})"
    return name if steady and _RULE.fullmatch(name) else finding.rule


class BaselineError(ConfigError):
    """A file of known failures that can't be used: the message names the file and the line."""


class Entry(msgspec.Struct, frozen=True):
    """A line: the case `id`, the `rules` it may break, the comment for people, and where it stands, from 1.

    `flaky`: the case may pass or fail, but has to pass in one of its runs.
    """

    id: str
    rules: tuple[str, ...]
    comment: str = ""
    line: int = 0
    flaky: bool = False

    def lists(self, name: str) -> bool:
        """True if the line is about this: by its name, or by its rule whatever the subject."""
        return name in self.rules or rule_of(name) in self.rules


class Baseline(msgspec.Struct, frozen=True):
    """A file of known failures: its `name` for people, its entries by the id of their case."""

    name: str
    entries: dict[str, Entry] = {}

    def is_flaky(self, case: str) -> bool:
        """True if the case is listed as flaky."""
        entry = self.entries.get(case)
        return entry is not None and entry.flaky

    def at(self, entry: Entry) -> str:
        """The place of an entry: ``known-failures.txt:3``."""
        return f"{self.name}:{entry.line}"


def parse(text: str, name: str, rules: Collection[str]) -> Baseline:
    """Read a file of known failures. `rules`: the ids of all rules. Raises BaselineError."""
    entries: dict[str, Entry] = {}
    for number, line in enumerate(text.splitlines(), 1):
        said, comment = parted(line)
        if found := _LINE.fullmatch(said):
            listed = _rules(found["rules"] or "", f"{name}:{number}", rules)
            entry = Entry(found["id"], listed, comment, number, bool(found["flaky"]))
            if entry.id in entries:
                first = entries[entry.id].line
                raise BaselineError(f"{name}:{number}: {entry.id} stands in line {first} too; one line for each case.")
            entries[entry.id] = entry
    return Baseline(name, entries)


def _rules(text: str, place: str, known: Collection[str]) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not _RULE.fullmatch(name):
            raise BaselineError(f"{place}: {'a rule is missing' if not name else f'{name!r} is no rule'}; {_FORM}.")
        rule = rule_of(name)
        if rule != EXPECTATION and rule not in known:
            raise BaselineError(f"{place}: there is no rule {rule!r}{did_you_mean(rule, [*known, EXPECTATION])}")
    return tuple(dict.fromkeys(names))


def broken(subject: SubjectResult, storm: str) -> dict[str, Verdict]:
    """The rules that a case breaks on the Storm version played, each with what it makes of the case: fail or warn.

    `EXPECTATION` where no rule accounts for the verdict; nothing for a case that passes.
    """
    if subject.verdict not in {"fail", "flaky", "warn"}:
        return {}
    most: Verdict = "warn" if subject.verdict == "warn" else "fail"
    found: dict[str, Verdict] = {}
    for finding in subject.findings:
        weight = weigh(finding, storm)
        name = name_of(finding)
        if weight != "pass" and found.get(name) != "fail":
            # A case may make less of a finding than its rule does, but never more.
            found[name] = weight if most == "fail" else "warn"
    if most not in found.values():
        found[EXPECTATION] = most
    return found


def apply(baseline: Baseline, subject: SubjectResult, *, strict: bool, storm: str) -> SubjectResult:
    """The case as it counts once known failures are known; as it is if it is not listed, or could not be judged.

    xfail if it breaks only listed rules; fail (warn, flaky) if it breaks another; stale if it breaks none of them.
    One that is listed as flaky may pass, and fails if it did not pass in any run.
    """
    entry = baseline.entries.get(subject.id)
    if entry is None:
        return subject
    at = baseline.at(entry)
    if subject.same_cause and not entry.flaky:
        return _known(subject, at)
    if subject.verdict in {"untestable", "error"}:
        return subject
    if subject.verdict == "skip":
        return _stale(subject, f"{at} lists it, but it was not tested: {subject.reason}; delete the line")
    wrong = broken(subject, storm)
    red = [rule for rule, weight in wrong.items() if strict or weight == "fail"]
    new = [name for name in red if not entry.lists(name)]
    known = [name for name in wrong if entry.lists(name)]
    if entry.flaky and not red:
        return subject
    if not known and (not new or subject.verdict == "warn"):
        tail = f" (it gives a warning: {subject.reason})" if subject.verdict == "warn" else ""
        return _stale(subject, f"it passes now{tail}: delete line {entry.line} of {baseline.name}")
    if new:
        return _newly_broken(subject, entry, at, {rule: wrong[rule] for rule in new})
    if not red:
        return subject
    gone = [name for name in entry.rules if not wrong.keys() & {name} and name not in map(rule_of, wrong)]
    tail = f"; no longer by {', '.join(gone)}" if gone else ""
    return _known_to_be_flaky(subject, at) if entry.flaky else _known(subject, at, tail)


def _known_to_be_flaky(subject: SubjectResult, at: str) -> SubjectResult:
    """A case that breaks listed rules only; its verdict is flaky if it passed in another run."""
    if subject.verdict == "fail":
        reason = f"{subject.reason}; {at} lists it as flaky, but it did not pass in any run"
        return msgspec.structs.replace(subject, reason=reason)
    return _known(subject, at, known_as="known to be flaky")


def _known(subject: SubjectResult, at: str, tail: str = "", known_as: str = "known failure") -> SubjectResult:
    return msgspec.structs.replace(subject, verdict="xfail", reason=f"{known_as} ({at}): {subject.reason}{tail}")


def _stale(subject: SubjectResult, reason: str) -> SubjectResult:
    return msgspec.structs.replace(subject, verdict="stale", reason=reason)


def _newly_broken(subject: SubjectResult, entry: Entry, at: str, new: Mapping[str, Verdict]) -> SubjectResult:
    """The case with what is new first: that is what its reader must see."""
    findings = sorted(subject.findings, key=lambda finding: name_of(finding) not in new)
    worst: Verdict = "fail" if "fail" in new.values() else "warn"
    first = next((finding.message for finding in findings if name_of(finding) in new), subject.reason)
    reason = f"{first}; {', '.join(new)} is new: {at} lists {', '.join(entry.rules)}"
    verdict = "flaky" if subject.verdict == "flaky" and worst == "fail" else worst
    return msgspec.structs.replace(subject, verdict=verdict, reason=reason, findings=tuple(findings))


def without_a_case(baseline: Baseline, ids: Collection[str], kind: str) -> tuple[SubjectResult, ...]:
    """A stale subject for each line whose case does not exist; `ids`: those of all cases for a `kind` of component."""
    return tuple(
        SubjectResult(
            id=entry.id,
            title=f"a line of {baseline.name}",
            kind="run",
            verdict="stale",
            reason=f"{baseline.at(entry)}: there is no {kind} case {entry.id!r}{nearest(entry.id, ids) or '.'}"
            " Correct the line or delete it",
        )
        for entry in baseline.entries.values()
        if entry.id not in ids
    )


def render(
    old: str, subjects: Mapping[str, Iterable[SubjectResult]], titles: Mapping[str, str], *, strict: bool
) -> str:
    """The text of a file that lists what fails now: the lines of `old` that stay, in order, then the new ones.

    A line's own comment stays or goes with it, all others stay, and so do lines of flaky cases that passed. `subjects`:
    by the Storm version that was played; what fails on any is listed. `titles`: of the rules, to explain new lines
    with. With `strict` warnings are listed too.
    """
    failing: dict[str, tuple[str, ...]] = {}
    always: set[str] = set()
    passed: set[str] = set()
    for storm, subject in ((storm, subject) for storm, played in subjects.items() for subject in played):
        if rules := _listed(subject, storm, strict=strict):
            failing[subject.id] = tuple(sorted({*failing.get(subject.id, ()), *rules}))
            always |= {subject.id} if subject.verdict != "flaky" else set()
        elif subject.verdict in {"pass", "warn"}:
            passed.add(subject.id)
    lines = []
    for line in (old or FILE_HEAD).splitlines():
        said, comment = parted(line)
        id_, *rest = said.split() or [""]
        if not said or (rest[:1] == [FLAKY] and id_ in passed and id_ not in failing):
            lines.append(line)
        elif names := failing.pop(id_, ()):
            lines.append(_line(id_, names, comment or _why(names, titles), flaky=id_ not in always))
    lines += [_line(i, names, _why(names, titles), flaky=i not in always) for i, names in sorted(failing.items())]
    return "\n".join(lines) + "\n"


def _listed(subject: SubjectResult, storm: str, *, strict: bool) -> list[str]:
    wrong = broken(subject, storm)
    if subject.kind not in {"case", "run"} or not (strict or "fail" in wrong.values()):
        return []
    return [rule for rule, weight in wrong.items() if strict or weight == "fail"]


def _line(id_: str, rules: Iterable[str], comment: str, *, flaky: bool) -> str:
    return f"{id_}  {FLAKY + ' ' if flaky else ''}{', '.join(rules)}  # {comment}"


def _why(rules: Iterable[str], titles: Mapping[str, str]) -> str:
    return "; ".join(titles.get(rule_of(rule), "what had to come back did not") for rule in rules)
