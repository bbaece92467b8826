"""Groups of a report: equal failures, equal fates, cases of one family."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.catalogue.loader import load_causes
from multilang_cli.catalogue.written import cases_by_rule, quoted
from multilang_cli.reports.counting import counted
from multilang_cli.reports.verdict import decisive, effect_in_words, weigh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from multilang_cli.causes.model import Cause, Certainty
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Clause, Fate, Finding, Rule
    from multilang_cli.reports.model import RunResult, SubjectResult, Verdict

SHOWN_FIRST: tuple[Verdict, ...] = ("error", "fail", "stale", "flaky", "warn")
"""Verdicts that a reader must see, the gravest first."""

_BY_CAUSE: tuple[Verdict, ...] = ("error", "fail", "stale", "flaky", "untestable", "warn")

_RARE = 8
"""A trouble of fewer subjects than one in so many of another's comes behind it: that one is met first."""
_SELDOM = 4
"""An account of a trouble that fewer than one in so many of its subjects give, beside one of the most, is chance."""
_SHORT_STORY = 16
"""Events of a short story."""

MOST_NOTES = 5
"""Lines that notes may take."""


class Group(NamedTuple):
    """Subjects with the same trouble: the first stands for all. `finding`: what made the verdict, if a finding did.

    `storms`: the versions on which it was met, where several were played and not all have it.
    """

    verdict: Verdict
    subjects: tuple[SubjectResult, ...]
    finding: Finding | None
    storms: tuple[str, ...] = ()

    @property
    def first(self) -> SubjectResult:
        """The subject that is shown."""
        return self.subjects[0]

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the same trouble, met in another subject or on another version."""
        if self.finding is None:
            return self.verdict, "", self.first.reason
        return self.verdict, "rule", self.finding.fingerprint or self.finding.rule

    @property
    def more(self) -> str:
        """The number of subjects that have it besides the first; "" for none."""
        return f" and {len(self.subjects) - 1} more" if len(self.subjects) > 1 else ""

    @property
    def only_on(self) -> str:
        """The versions on which it was met: `` on Storm 2.8.3``, "" if on all played."""
        return f" on Storm {', '.join(self.storms)}" if self.storms else ""

    @property
    def cause(self) -> str:
        """A sentence on why it went wrong; "" if that is not known."""
        return in_a_sentence(self.first.causes[0]) if self.first.causes else ""

    @property
    def label(self) -> str:
        """The label of the reason."""
        return "Careful" if self.verdict == "warn" else "Wrong"

    @property
    def reason(self) -> str:
        """The reason of the verdict: the subject's own, else what the finding says."""
        return self.first.reason or (self.finding.message if self.finding else "")

    @property
    def beside(self) -> str:
        """The message of the finding; "" if the reason has it."""
        return self.finding.message if self.finding and self.finding.message not in self.reason else ""

    @property
    def expected(self) -> str:
        """The answer that had to come back; "" where the rule that was broken is not what the shown case is about."""
        about = self.finding is None or self.first.id in cases_by_rule().get(self.finding.rule, ())
        return self.first.expected if about else ""

    def rule(self, rulebook: Rulebook) -> Rule | None:
        """The rule that was broken, if one was and the rulebook has it."""
        return rulebook.rules.get(self.finding.rule) if self.finding else None

    def clause(self, rulebook: Rulebook) -> Clause | str | None:
        """The sentence of the protocol that it is about."""
        rule = self.rule(rulebook)
        return (rule.clause if rule else None) or self.first.clause

    @property
    def fates(self) -> tuple[FateGroup, ...]:
        """The fates on each version: about the finding, or how the whole conversation ends if that is all we know."""
        if self.finding is not None:
            return fates_of(self.finding.fates, self.finding.errors)
        ends = {outlook.version: outlook.fate for outlook in self.first.outlook}
        return fates_of(ends, {}) if set(ends.values()) - {"survives"} else ()

    def mend(self, rulebook: Rulebook) -> tuple[str, str]:
        """The advice, and a line of code that does it: of the cause, where it has one, else of the rule."""
        cause, rule = self._advised, self.rule(rulebook)
        if cause is not None:
            return cause.mend, cause.code
        return (first_paragraph(rule.mend), "") if rule else ("", "")

    @property
    def explained(self) -> str:
        """The word that `mlcheck explain` knows more of: the cause, where it has advice, else the rule; "" for none."""
        return self._advised.id if self._advised is not None else self.finding.rule if self.finding else ""

    @property
    def _advised(self) -> Cause | None:
        """The cause, if it says what to do."""
        return next((cause for cause in self.first.causes[:1] if cause.mend), None)

    def told(self, rulebook: Rulebook) -> Iterator[tuple[str, str]]:
        """Each sentence that is told of it with its label, in the order in which they are read."""
        clause = self.clause(rulebook)
        advice, code = self.mend(rulebook)
        found = (
            ("Cause", self.cause),
            (self.label, self.reason or self.first.title),
            ("", self.beside),
            ("Expected", self.expected),
            ("Clause", quoted(clause) if clause else ""),
            *((f"Storm {', '.join(each.versions)}", each.text) for each in self.fates),
            ("Mend", advice),
            ("Code", code),
        )
        yield from ((label, text) for label, text in found if text)


class Note(NamedTuple):
    """A rule of level note that was met and did no harm: what the first finding says, where, and in how many."""

    rule: str
    message: str
    first: str
    subjects: int

    @property
    def where(self) -> str:
        """The subject by its name if it is the only one, else how many they are."""
        return self.first if self.subjects == 1 else f"{counted(self.subjects, 'case')}, as {self.first}"


class FateGroup(NamedTuple):
    """Storm versions that do the same, the newest first, and what they do in words."""

    versions: tuple[str, ...]
    fate: Fate
    error: str

    @property
    def text(self) -> str:
        """The fate in words: ``worker dies: <the text it shows>``."""
        return effect_in_words(self.fate, self.error)


def groups_of(result: RunResult) -> tuple[Group, ...]:
    """The subjects in trouble, equal ones together, the gravest first."""
    found: dict[tuple[str, ...], list[SubjectResult]] = {}
    for subject in result.subjects:
        if subject.verdict in SHOWN_FIRST:
            alone = Group(subject.verdict, (subject,), decisive(subject, result.storm))
            found.setdefault(alone.key, []).append(subject)
    groups = [_group(alike, result.storm) for alike in found.values()]
    return tuple(sorted(groups, key=lambda group: place_of(group.verdict)))


def place_of(verdict: Verdict) -> int:
    """The place of a verdict in the order in which they are shown: the last for one that no reader must see."""
    return SHOWN_FIRST.index(verdict) if verdict in SHOWN_FIRST else len(SHOWN_FIRST)


def told_first(subject: SubjectResult) -> str:
    """The first sentence about a subject: its cause, with the line of the user's own file; else the reason."""
    return in_a_sentence(subject.causes[0]) if subject.causes else subject.reason


def in_a_sentence(cause: Cause) -> str:
    """A cause with the line of the user's own file that it names, or one to look at."""
    where = ""
    if cause.place:
        where = f" ({cause.place.file}:{cause.place.line})"
    elif cause.suspect:
        where = f" (look at {cause.suspect.file}:{cause.suspect.line})"
    return f"{cause.told}{where}"


def first_paragraph(text: str) -> str:
    """The text up to its first empty line."""
    return text.strip().split("\n\n", 1)[0]


class Trouble(NamedTuple):
    """Subjects that went wrong for one cause, whatever their verdicts: the most telling stands for all.

    `verdict`: the gravest of them.
    """

    verdict: Verdict
    cause: Cause
    subjects: tuple[SubjectResult, ...]

    @property
    def first(self) -> SubjectResult:
        """The subject that is shown."""
        return self.subjects[0]

    @property
    def finding(self) -> Finding | None:
        """The finding that the cause explains, None if it stands on facts alone."""
        rules = self.cause.rules
        return next((finding for finding in self.first.findings if finding.rule in rules), None)


def troubles_of(result: RunResult) -> tuple[Trouble, ...]:
    """The causes of what went wrong, the gravest first; those of one type of exception in one place are one.

    Its text may name the value that was met. Where even the type is chance, the place is enough. Subjects that could
    not be judged count, if a cause is known for that.
    """
    explained = [subject for subject in result.subjects if subject.causes and subject.verdict in _BY_CAUSE]
    if not explained:
        return ()  # all causes needn't be read for a pass
    by_place = {known.id for known in load_causes() if known.by_place}
    found: dict[tuple[object, ...], list[SubjectResult]] = {}
    for subject in explained:
        cause = subject.causes[0]
        where = cause.place or (cause.suspect if cause.id in by_place else None)
        place = (where.file, where.line) if where else None
        by_exception = cause.last and not (place and cause.id in by_place)
        told = cause.last.partition(":")[0] if place else cause.last
        mark = (place, told) if by_exception else (cause.id, place)
        found.setdefault(mark, []).append(subject)
    troubles = [_trouble(alike) for alike in found.values()]
    most: dict[int, int] = {}
    for each in troubles:
        grave = _gravity(each.verdict)
        most[grave] = max(most.get(grave, 0), len(each.subjects))
    return tuple(sorted(troubles, key=lambda each: _order(each, most[_gravity(each.verdict)])))


def _gravity(verdict: Verdict) -> int:
    """The gravity of a verdict: what could not be judged is no graver than a warning that far more cases have."""
    return _BY_CAUSE.index("untestable" if verdict == "warn" else verdict)


def _order(trouble: Trouble, most: int) -> tuple[object, ...]:
    """Place in the order of troubles. `most`: subjects of the one as grave that the most have."""
    likely, rare = trouble.cause.certainty == "likely", len(trouble.subjects) * _RARE < most
    verdict = _BY_CAUSE.index(trouble.verdict)
    return _gravity(trouble.verdict), rare, verdict, likely, trouble.cause.rank, -len(trouble.subjects)


def _trouble(alike: list[SubjectResult]) -> Trouble:
    # A short story is told rather than a long one; what differs by a few events differs from run to run.
    often = Counter((subject.causes[0].id, subject.causes[0].certainty) for subject in alike)
    verdict = min((subject.verdict for subject in alike), key=_BY_CAUSE.index)
    alike.sort(key=lambda subject: (subject.verdict != verdict, *_place(subject.causes[0], often)))
    return Trouble(verdict, alike[0].causes[0], tuple(alike))


def _place(cause: Cause, often: Counter[tuple[str, Certainty]]) -> tuple[object, ...]:
    # What is certain in a few of many of them alone is seldom the better account.
    count = often[cause.id, cause.certainty]
    seldom, story = count * _SELDOM < max(often.values()), (cause.seq or 0) // _SHORT_STORY
    return seldom, cause.certainty == "likely", -count, cause.rank, story


def _group(alike: list[SubjectResult], storm: str) -> Group:
    """Equal troubles; the case that is about the rule stands for them, if there is one."""
    finding = decisive(alike[0], storm)
    telling = cases_by_rule().get(finding.rule, ()) if finding else ()
    alike.sort(key=lambda subject: telling.index(subject.id) if subject.id in telling else len(telling))
    return Group(alike[0].verdict, tuple(alike), decisive(alike[0], storm))


def notes_of(*results: RunResult) -> tuple[Note, ...]:
    """Findings that are only worth a note, once a rule, the most frequent first.

    Of several results, cases of one id are one, and what is worth more than a note in any is none.
    """
    found: dict[str, tuple[Finding, dict[str, None]]] = {}
    graver: set[str] = set()
    for storm, subject in ((result.storm, subject) for result in results for subject in result.subjects):
        for finding in subject.findings:
            if weigh(finding, storm) == "pass":
                found.setdefault(finding.rule, (finding, {}))[1][subject.id] = None
            elif len(results) > 1:
                graver.add(finding.rule)
    mild = {rule: each for rule, each in found.items() if rule not in graver}
    notes = [Note(rule, first.message, next(iter(subjects)), len(subjects)) for rule, (first, subjects) in mild.items()]
    return tuple(sorted(notes, key=lambda note: -note.subjects))


def note_lines(notes: tuple[Note, ...]) -> list[str]:
    """A line for each note, `MOST_NOTES` at most: the last says how many more there are."""
    shown = notes if len(notes) <= MOST_NOTES else notes[: MOST_NOTES - 1]
    lines = [f"{note.rule}: {note.message} (in {note.where})" for note in shown]
    if len(shown) < len(notes):
        lines.append(f"and {len(notes) - len(shown)} more: {some_of(note.rule for note in notes[len(shown) :])}")
    return lines


def fates_of(fates: dict[str, Fate], errors: dict[str, str]) -> tuple[FateGroup, ...]:
    """Versions by equal fate and text; both dicts have the oldest version first, the answer the newest."""
    found: dict[tuple[Fate, str], list[str]] = {}
    for version in reversed(fates):
        found.setdefault((fates[version], errors.get(version, "")), []).append(version)
    return tuple(FateGroup(tuple(versions), fate, error) for (fate, error), versions in found.items())


def families(subjects: Iterable[SubjectResult]) -> dict[str, int]:
    """The number of subjects that share all but the last part of their dotted id."""
    found: dict[str, int] = {}
    for subject in subjects:
        family = subject.id.rpartition(".")[0] or subject.id
        found[family] = found.get(family, 0) + 1
    return found


def some_of(ids: Iterable[str], most: int = 6) -> str:
    """The first few of the ids, and how many more there are."""
    known = list(ids)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more
