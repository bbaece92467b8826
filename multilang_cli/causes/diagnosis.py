"""From the facts of a conversation to the causes of what is wrong with it, by their signatures as data."""

from __future__ import annotations

import re
from functools import cache
from math import inf
from signal import Signals
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.causes.callers import caller_of
from multilang_cli.causes.complaints import tells_of_trouble
from multilang_cli.causes.early_exits import unflushed
from multilang_cli.causes.facts import AGAIN, is_a_buffer
from multilang_cli.causes.model import Cause
from multilang_cli.causes.tracebacks import last_line, short
from multilang_cli.protocol.words.shortening import head
from multilang_cli.protocol.words.verdicts import FATAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from multilang_cli.causes.facts import Facts
    from multilang_cli.causes.model import KnownCause, Place, Signature
    from multilang_cli.protocol.words.verdicts import Finding, Rule

_ASKED = {
    "": "nothing",
    "heartbeat": "a heartbeat",
    "tick": "a tick",
    "tuple": "a tuple",
    "no-ids": "an empty list of task ids",
}
_SIGNALS = {
    Signals[f"SIG{word}"].value: f"SIG{word}"
    for word in ("INT", "ILL", "ABRT", "BUS", "FPE", "KILL", "SEGV", "PIPE", "ALRM", "TERM")
}
_LAST_RANK = 99
"""The rank of what no known cause explains."""
NO_JSON = "no JSON: "
"""How messages begin of findings whose rules say that already."""
_STEM = 4
"""Characters of a word by which its forms are one."""
_SMALL = frozenset({"from", "than", "that", "which", "with"})

MOST_REST = 60
"""Characters of unfinished output that a sentence shows."""


def diagnose(facts: Facts, known: Iterable[KnownCause], rules: Mapping[str, Rule]) -> tuple[Cause, ...]:
    """The causes that fit, the one that explains most first; each finding is explained by one of them at most.

    `known` is in the order of ranks. At most one cause stands on facts alone; the others each explain a finding. If
    none fits, the gravest finding tells itself, by the rule that was broken.
    """
    found: list[Cause] = []
    left = [finding for finding in facts.findings if finding.level != "note"] or _harmful(facts)
    fatal = _fatal(facts)
    left = [finding for finding in left if fatal is None or finding.seq <= fatal.seq]
    values = _Asked(facts)
    size, broken = facts.seen.size, {finding.rule for finding in left}
    for cause in known:
        for signature in cause.when:
            by_facts = not signature.rules
            if broken.isdisjoint(signature.rules) if signature.rules else found or _is_behind(facts, fatal, cause):
                continue
            fitting = _fits(signature, facts, left) if _holds(signature, values, size) else None
            if fitting is None:
                continue
            explained = {*signature.rules, *cause.folds}
            told = _cause_of(cause, signature, facts, fitting, [f for f in left if f.rule in explained])
            unsure = by_facts and facts.uncertain
            found.append(msgspec.structs.replace(told, certainty="likely") if unsure else told)
            left = [finding for finding in left if finding.rule not in explained]
            broken -= explained
            break
    return tuple(found or _as_broken(facts, left, rules))


class _Asked(dict[str, object]):
    """The values of `FACTS`, each found out when it is asked for: of most conversations few are."""

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._facts = facts

    def __missing__(self, name: str) -> object:
        value = self[name] = FACTS[name](self._facts)
        return value


def _harmful(facts: Facts) -> list[Finding]:
    """Findings that are right by the protocol, and all the same harm on the Storm asked."""
    return [each for each in facts.findings if each.fates.get(facts.known.storm, "survives") != "survives"]


def _fatal(facts: Facts) -> Finding | None:
    """The first finding that ends the Storm asked for: it would not live to see the later ones."""
    deadly = [each for each in facts.findings if each.level == "must" and each.fates.get(facts.known.storm) in FATAL]
    return min(deadly, key=lambda each: each.seq, default=None)


def _is_behind(facts: Facts, fatal: Finding | None, cause: KnownCause) -> bool:
    """True if Storm ended before that which a cause of facts alone explains, and not of the same."""
    return fatal is not None and facts.seq is not None and fatal.seq < facts.seq and fatal.rule not in cause.folds


def _as_broken(facts: Facts, left: Sequence[Finding], rules: Mapping[str, Rule]) -> list[Cause]:
    gravest = min(left, key=lambda finding: finding.level != "must", default=None)
    rule = rules.get(gravest.rule) if gravest else None
    if gravest is None or rule is None:
        return []
    said = gravest.head
    headline = said if _tells(said, rule.title) else f"{rule.title}: {said.removeprefix(NO_JSON)}"
    return [
        Cause(
            id=rule.id,
            certainty="certain",
            rank=_LAST_RANK,
            headline=headline,
            place=facts.known.stood if gravest.seq in facts.seen.silences else None,
            seq=gravest.seq,
            rules=(rule.id,),
            mend=" ".join(rule.mend.split()),
            language=facts.source.language,
        )
    ]


class _Fitting(dict[str, str]):
    """Words for the sentence of a cause: its own, else those of `WORDS`; what is not known is left empty."""

    finding: Finding | None = None
    by_child = False

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._facts = facts

    def __missing__(self, name: str) -> str:
        return WORDS[name](self._facts) if name in WORDS else ""


def _fits(signature: Signature, facts: Facts, left: Sequence[Finding]) -> _Fitting | None:
    """The words of a cause whose patterns fit, where all else of its signature holds; None if one does not."""
    words = _Fitting(facts)
    words.by_child = signature.asks_for("by_child")
    if signature.rules:
        pattern = _pattern(signature.matches)
        of_rule = [finding for finding in left if finding.rule in signature.rules]
        words.finding = next(
            (
                finding
                for finding in of_rule
                if pattern.search(finding.message)
                and signature.repeated in {None, finding.seq in facts.seen.repeated}
                and signature.fills_a_buffer in {None, is_a_buffer(facts.lengths.get(finding.seq, 0) + 1)}
                and signature.of_a_text in {None, facts.seen.texts.has(finding.subject)}
            ),
            None,
        )
        if words.finding is None:
            return None
        words["finding"] = words.finding.message
        words["finding_head"] = words.finding.head
        words["subject"] = words.finding.subject
        words["length"] = str(facts.lengths.get(words.finding.seq, 0))
        words.update({name: text for name, text in _groups(pattern, words.finding.message).items() if text})
    thrown = facts.thrown
    place = thrown.place if thrown else facts.known.stood
    wrote = facts.wrote.get(words.finding.seq, "") if words.finding else ""
    for wanted, text in (
        (signature.wrote, wrote),
        (signature.exception, thrown.text if thrown else ""),
        (signature.code, _code_at(place, facts) if place else ""),
        (signature.stderr, facts.stderr),
        (signature.trace, facts.trace),
        (signature.waits, str(facts.seen.waits)),
        (signature.late_stderr, facts.late_stderr),
    ):
        if not wanted:
            continue
        match = _pattern(wanted).search(text)
        if match is None:
            return None
        words.update({name: short(value) for name, value in match.groupdict().items() if value})
    if not _is_written_so(signature, facts, words):
        return None
    if words["key"] and (near := facts.seen.texts.key_like(words["key"])):
        words["near"] = f", which has {near}"
    return words


def _code_at(place: Place, facts: Facts) -> str:
    """The line of source at a place: as the exception shows it, else as it stands in the file."""
    lines = facts.known.sources.get(place.file, ())
    return place.code or (lines[place.line - 1] if 0 < place.line <= len(lines) else "")


def _is_written_so(signature: Signature, facts: Facts, words: _Fitting) -> bool:
    """True if its source has what it must have, and not what it must lack; the groups of the patterns go to `words`."""
    files = facts.known.sources.values()

    def found_in(wanted: str) -> re.Match[str] | None:
        """The first place of a pattern: in the whole file if it has a line feed in it."""
        texts = ["\n".join(file) for file in files] if "\\n" in wanted else [line for file in files for line in file]
        return next(filter(None, map(_pattern(wanted).search, texts)), None)

    for wanted in filter(None, (signature.source, signature.also)):
        if (found := found_in(wanted)) is None:
            return False
        words.update({name: short(value) for name, value in found.groupdict().items() if value})
    return not (signature.lacks and found_in(signature.lacks))


def _holds(signature: Signature, known: Mapping[str, object], size: int) -> bool:
    """True if everything but patterns and findings fits. `known`: the values of `FACTS`."""
    if size <= signature.over > 0:
        return False
    return all(known[name] in wanted for name, wanted in signature.facts.items())


_EXTRA, _LATE = "sync-extra", "output-after-sync"
_ASKED_FOR_NONE = "its last emit asked for none"
_READS_IDS = re.compile(
    r"(?<![nN]eed)(?<!need_)[tT]ask_?[iI]ds\s*\(|\b(?:read|recv|receive|take|await|wait)\w*[tT]ask_?[iI]ds\b"
)


def _reads_ids(facts: Facts) -> bool:
    """True if its source has a function that reads task ids, going by its name."""
    return any(_READS_IDS.search(line) for lines in facts.known.sources.values() for line in lines)


def _first_of(rule: str, facts: Facts) -> float:
    """The number of the first message that breaks a rule; infinite for none."""
    return min((float(each.seq) for each in facts.findings if each.rule == rule), default=inf)


FACTS: dict[str, Callable[[Facts], object]] = {
    "phase": lambda facts: facts.seen.phase,
    "ended": lambda facts: facts.ended,
    "codes": lambda facts: facts.code,
    "signals": lambda facts: facts.signal,
    "asked": lambda facts: facts.asked,
    "unanswered": lambda facts: facts.unanswered,
    "struck": lambda facts: facts.struck,
    "rest": lambda facts: facts.rest_is,
    "late": lambda facts: facts.late_is,
    "languages": lambda facts: facts.source.language,
    "kind": lambda facts: facts.source.kind,
    "made_up": lambda facts: facts.known.made_up,
    "fed": lambda facts: facts.seen.fed,
    "handled": lambda facts: facts.known.handled,
    "pieced": lambda facts: bool(facts.known.pieced),
    "loses_pieces": lambda facts: facts.loses_pieces,
    "misread": lambda facts: facts.misread,
    "emitted": lambda facts: facts.seen.emitted,
    "own_pid": lambda facts: facts.seen.own_pid,
    "echoed": lambda facts: facts.seen.texts.echoed,
    "framed": lambda facts: facts.seen.texts.framed,
    "unflushed": lambda facts: unflushed(facts.unanswered, "sync", facts.known.sources) is not None,
    "silent_when_idle": lambda facts: facts.seen.silent_when_idle,
    "unasked_is_new": lambda facts: facts.seen.nexts.unasked_is_new,
    "reads_ids_unasked": lambda facts: (
        facts.seen.emitted and _ASKED_FOR_NONE in str(facts.seen.waits) and _reads_ids(facts)
    ),
    "went_on_unasked": lambda facts: facts.seen.emitting.went_on,
    "awaits_unasked": lambda facts: facts.seen.emitting.awaits_unasked,
    "by_child": lambda facts: facts.known.starter is not None,
    "stalled": lambda facts: facts.seen.stalled,
    "of_ids": lambda facts: facts.of_ids,
    "threw": lambda facts: facts.death is not None,
    "printed": lambda facts: facts.printed is not None,
    "behind_ids": lambda facts: facts.seen.behind_ids,
    "swallowed": lambda facts: (
        facts.seen.naive.lost
        and not facts.seen.mislaid.leaves_the_first
        and not facts.seen.unanswered.settles_ticks_alone
    ),
    "swallowed_unasked": lambda facts: facts.seen.hasty.is_all(
        (*facts.seen.mislaid.left_open, *(id_ for _, id_ in facts.seen.unanswered.pending.values()))
    ),
    "swallowed_beats": lambda facts: facts.seen.once.explains(facts.seen.mislaid.left_open),
    "swallowed_behind_ids": lambda facts: facts.seen.twice.explains(facts.seen.mislaid.left_open),
    "before_ids": lambda facts: facts.seen.drops_before_ids,
    "dropped": lambda facts: facts.seen.drops_before_ids and (facts.seen.dropping.went_on or facts.seen.dropping.waits),
    "complained": lambda facts: bool(facts.seen.complaints.of_a_tuple),
    "muttered": lambda facts: tells_of_trouble(last_line(facts.seen.complaints.muttered)),
    "settles_ticks_alone": lambda facts: facts.seen.unanswered.settles_ticks_alone,
    "only_ticks": lambda facts: facts.seen.unanswered.only_ticks,
    "syncs_ticks": lambda facts: facts.seen.unanswered.syncs_ticks,
    "escaped": lambda facts: facts.seen.texts.escaped,
    "failed": lambda facts: facts.seen.complaints.failed_at is not None,
    "failed_last": lambda facts: facts.seen.complaints.failed_last,
    "threw_then": lambda facts: facts.refusal is not None,
    "refused_again": lambda facts: (
        facts.seen.complaints.failed_at in {f.seq for f in facts.findings if f.rule == AGAIN}
    ),
    "refused_twice": lambda facts: facts.seen.complaints.again_at in {f.seq for f in facts.findings if f.rule == AGAIN},
    "said_why": lambda facts: bool(facts.seen.complaints.failed_for.strip()),
    "swallows": lambda facts: bool(facts.seen.naive.swallowed),
    "partly_read": lambda facts: facts.partly_read,
    "clean": lambda facts: not facts.findings,
    "settled_last": lambda facts: facts.seen.unanswered.answered == "tuple",
    "mislays": lambda facts: facts.seen.mislaid.any,
    "for_an_equal": lambda facts: facts.seen.mislaid.for_an_equal,
    "beyond_a_byte": lambda facts: facts.seen.mislaid.beyond_a_byte,
    "in_turn": lambda facts: facts.seen.mislaid.in_turn,
    "goes_on": lambda facts: facts.seen.mislaid.goes_on,
    "has_a_hole": lambda facts: facts.seen.mislaid.has_a_hole,
    "stops": lambda facts: facts.seen.mislaid.stops,
    "loses_each": lambda facts: facts.seen.mislaid.each > 0,
    "leaves_most": lambda facts: facts.seen.mislaid.leaves_most,
    "leaves_the_first": lambda facts: facts.seen.mislaid.leaves_the_first,
    "overwritten": lambda facts: facts.seen.mislaid.overwritten,
    "misses_its_id": lambda facts: facts.thrown is not None and facts.seen.ids.is_missed_by(facts.thrown.text),
    "of_own_id": lambda facts: bool(facts.seen.ids.asked),
    "came_again": lambda facts: facts.seen.ids.came_again,
    "shares_an_id": lambda facts: facts.seen.ids.shared,
    "complained_last": lambda facts: tells_of_trouble(facts.seen.complaints.words),
    "held_behind_unasked": lambda facts: facts.seen.emitting.held_behind_unasked,
    "half_done": lambda facts: facts.seen.mislaid.half_done,
    "lone_end": lambda facts: facts.seen.lone_end,
    "extra_first": lambda facts: _first_of(_EXTRA, facts) < _first_of(_LATE, facts),
    "syncs_beats": lambda facts: "heartbeat" in facts.seen.unanswered.synced_to,
    "answers_ids": lambda facts: facts.seen.unanswered.answers_ids,
    "last_word": lambda facts: facts.is_over and facts.seen.last_word,
    "misplaced": lambda facts: facts.known.misplaced,
    "batches": lambda facts: facts.known.batch > 0,
    "overgrown": lambda facts: bool(facts.known.held),
}
"""What a signature may ask of the facts of a conversation: a word, a number, or whether something is so."""


def _asked(asked: str) -> str:
    return _ASKED.get(asked, f"`{asked}`")


def _rest(facts: Facts) -> str:
    return repr(head(facts.seen.rest or facts.seen.late, MOST_REST))


def _still(facts: Facts) -> str:
    return f"right after its answer to {_ASKED[facts.answered]}" if facts.answered else "while Storm still needs it"


def _own_pending(facts: Facts) -> str:
    pending = facts.seen.ids.pending
    return f"one of {pending} that are pending" if pending > 1 else "the only one that is pending"


WORDS: dict[str, Callable[[Facts], str]] = {
    "how": lambda facts: facts.how,
    "asked": lambda facts: _asked(facts.asked),
    "unanswered": lambda facts: _asked(facts.unanswered),
    "unanswered_or_tuple": lambda facts: _asked(facts.unanswered or "tuple"),
    "still": _still,
    "rest": _rest,
    "late": lambda facts: short(facts.seen.late.strip().partition("\n")[0]),
    "said": lambda facts: (
        f"it wrote {_rest(facts)}, which is no message; " if facts.seen.rest or facts.seen.late else ""
    ),
    "waits": lambda facts: facts.seen.waits.doing or "does nothing that can be seen",
    "code": lambda facts: str(facts.code),
    "size": lambda facts: f"{facts.seen.size:,}",
    "held": lambda facts: facts.known.held,
    "batch": lambda facts: str(facts.known.batch),
    "each": lambda facts: _ordinal(facts.seen.mislaid.each),
    "words": lambda facts: short(facts.seen.complaints.words),
    "own_id": lambda facts: facts.seen.ids.asked,
    "own_pending": _own_pending,
    "signal": lambda facts: str(facts.signal),
    "signal_name": lambda facts: f" ({_SIGNALS[facts.signal]})" if facts.signal in _SIGNALS else "",
    "last_line": lambda facts: last_line(facts.stderr),
    "complaint": lambda facts: short(facts.seen.complaints.of_a_tuple),
    "muttered": lambda facts: last_line(facts.seen.complaints.muttered),
    "refusal": lambda facts: facts.refusal.told if facts.refusal else "",
    "printed": lambda facts: facts.printed.told if facts.printed else "",
    "why": lambda facts: short(facts.seen.complaints.failed_for),
}
"""Words that every sentence may use, each made where a sentence has it."""


def _ordinal(number: int) -> str:
    in_teens = 10 < number % 100 < 14  # noqa: PLR2004 (eleventh to thirteenth)
    return f"{number}{'th' if in_teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _tells(said: str, title: str) -> bool:
    """True if a finding says all that the title of its rule says, be it in other forms of the words."""
    words = [word[:_STEM] for word in _plain(title).split() if len(word) >= _STEM and word not in _SMALL]
    begun = {word[:_STEM] for word in _plain(said).split()}
    return _plain(title) in _plain(said) or (len(words) > 1 and begun.issuperset(words))


def _plain(text: str) -> str:
    """Words without what differs from one way of writing them to another."""
    return re.sub(r"\W+|\b(?:an?|the)\b", " ", text.lower()).strip()


def _cause_of(
    cause: KnownCause, signature: Signature, facts: Facts, words: _Fitting, explained: Sequence[Finding]
) -> Cause:
    by_death = not words.finding or signature.exception or _is_of_the_end(words.finding, facts)
    by_death = by_death and "rest" not in signature.facts
    death = facts.refusal if signature.asks_for("failed") else facts.thrown if by_death else None
    death = facts.printed if signature.asks_for("printed") else death
    language = facts.source.language or (death.language if death else "")
    seq = words.finding.seq if words.finding else facts.seq
    stood = facts.known.stood if seq in facts.seen.silences else facts.known.starter if words.by_child else None
    if signature.late_stderr and facts.late_death is not None:
        stood = facts.late_death.place
    return Cause(
        id=cause.id,
        certainty=signature.certainty or cause.certainty,
        rank=cause.rank,
        headline=" ".join((signature.sentence or cause.sentence).format_map(words).split()),
        since=signature.since,
        place=death.place if death else stood,
        also=caller_of([death.place, *death.callers], facts.known.sources) if death and death.place else None,
        first=death.first if death else "",
        last=death.text if death else "",
        seq=seq,
        rules=tuple(dict.fromkeys(finding.rule for finding in explained)),
        mend=" ".join((signature.mend or cause.mend).format_map(words).split()),
        code=(signature.mend_code or cause.code.get(language, "")).strip("\n"),
        language=language,
    )


def _is_of_the_end(finding: Finding, facts: Facts) -> bool:
    """True if what nobody caught may be what the finding tells of: what was wrong long before is another matter."""
    return facts.ended != "no" and (facts.seq is None or finding.seq >= facts.seq)


def _groups(pattern: re.Pattern[str], text: str) -> dict[str, str | None]:
    match = pattern.search(text)
    return match.groupdict() if match else {}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.MULTILINE)
