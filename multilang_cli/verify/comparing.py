"""Comparison of two verdicts of real Storm on the same script, with the differences sorted for people. Pure.

What chance decides is left out: which task a shuffle chose, how many heartbeats there was time for, when Storm looked
at stderr and at the exit code, what was still under way when a script was over.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.oracle import fate_of
from multilang_cli.protocol.words.verdicts import FATES, Fate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from multilang_cli.catalogue.oracle import Call, Case, Verdict

CHANCE = (
    (r"(?s)Serializer Exception:\n.*", "Serializer Exception:"),
    (r"exitCode:-?\d+, errorString: .*", "exitCode:"),
    (r"\.\.\.\(\d+ chars\)$", "..."),
)
"""What chance puts into errors: the stderr that had come by then, whether the process was reaped, how far a pool's
shutdown had got when its state was printed (and so the length of a text that was cut)."""
TIMEOUT = "java.lang.RuntimeException: subprocess heartbeat timeout"
TITLES = {
    "limit_reached": "another wait without end",
    "how": "the worker dies in another way",
    "error": "the worker dies with another error",
    "events": "other calls of the collector",
    "received": "the component is sent something else",
}
"""What differs where the fate is the same, the gravest first."""
GROUP_NAME_LENGTH = 100
"""Characters of an error that its group is called by."""


class ValueDifference(msgspec.Struct, frozen=True):
    """A key of a verdict whose values differ."""

    key: str
    now: Any
    before: Any


class VerdictDifference(msgspec.Struct, frozen=True):
    """A script on which Storm does something else than before. `rules`: those whose fate it shows."""

    case: str
    rules: tuple[str, ...]
    before: Fate
    now: Fate
    parts: tuple[ValueDifference, ...]

    @property
    def title(self) -> str:
        """The change of the fate, else the gravest thing that differs."""
        if self.now != self.before:
            return f"{self.before} -> {self.now}"
        keys = {part.key for part in self.parts}
        return next((title for key, title in TITLES.items() if key in keys), "other")


class DifferenceGroup(msgspec.Struct, frozen=True):
    """Differences of the same title. `errors`: what the worker dies of, how often each, the most frequent first."""

    title: str
    fates: bool
    differences: tuple[VerdictDifference, ...]
    rules: tuple[str, ...]
    errors: tuple[tuple[str, int], ...]


def difference(
    case: Case, meant: Callable[[], list[Call]], now: Verdict, before: Verdict, rules: tuple[str, ...] = ()
) -> VerdictDifference | None:
    """Compare the verdicts on `case`; None if they don't differ. `meant`: gives what `fate_of` wants."""
    barrier, moved = case.get("until_log"), _breaks_beside_an_id(case)
    left, right = stable(now, barrier, moved=moved), stable(before, barrier, moved=moved)
    _cut_to_the_shorter(left, right)
    parts = tuple(
        ValueDifference(key, left.get(key), right.get(key))
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    )
    if not parts:
        return None
    calls = meant()
    return VerdictDifference(case["case"], rules, fate_of(before, calls), fate_of(now, calls), parts)


def groups(differences: Iterable[VerdictDifference]) -> list[DifferenceGroup]:
    """Differences by title: changes of fates first, to the worst; then by how grave; the largest first."""
    by_title: dict[str, list[VerdictDifference]] = {}
    for each in differences:
        by_title.setdefault(each.title, []).append(each)
    return sorted((_group(title, tuple(each)) for title, each in by_title.items()), key=_place)


def _group(title: str, differences: tuple[VerdictDifference, ...]) -> DifferenceGroup:
    fates = differences[0].now != differences[0].before
    rules = tuple(sorted({rule for each in differences for rule in each.rules}))
    errors = Counter(head for each in differences if (head := _error_of(each)))
    return DifferenceGroup(title, fates, differences, rules, tuple(errors.most_common()))


def _error_of(each: VerdictDifference) -> str:
    """The first line of the error that is new, else of the one that is gone."""
    for part in each.parts:
        if part.key == "error":
            said = part.now or part.before or [""]
            return str(said[0]).strip().partition("\n")[0][:GROUP_NAME_LENGTH]
    return ""


def _place(group: DifferenceGroup) -> tuple[bool, int, int, int]:
    first = group.differences[0]
    titles = [*TITLES.values(), group.title]
    gravity = titles.index(group.title)
    return (not group.fates, 0 if not group.fates else -FATES.index(first.now), gravity, -len(group.differences))


def stable(verdict: Verdict, barrier: str | None = None, *, moved: bool = False) -> Verdict:
    """The part of a verdict that is the same each time.

    `barrier`: the log message that ended the script, if any. `moved`: where an error stands in a text is chance.
    """
    kept: Verdict = json.loads(json.dumps(verdict))
    kept["events"] = [event for event in _up_to(barrier, kept["events"]) if event["t"] != "stderr"]
    for event in kept["events"]:
        if "to" in event:
            event["to"] = len(event["to"])
        if event["t"] == "error":
            event["error"] = list(map(_without_chance, event["error"]))
    if TIMEOUT in kept.get("error", ()):
        kept["events"] = _until_timeout(kept["events"])
    if "error" in kept:
        kept["error"] = list(map(_without_chance, kept["error"]))
    if kept.get("how") in ("thrown from prepare", "thrown from open"):
        # What stands before the error is the component's pid, of so many digits.
        kept["error"] = _without_positions(kept["error"])
    for told in [kept, *kept["events"]] if moved else ():
        if "error" in told:
            told["error"] = _without_positions(told["error"])
    received = [len(item) if isinstance(item, list) else item for item in kept["received"]]
    kept["received"] = [item for item, run in groupby(received) for _ in ([0] if item == "heartbeat" else run)]
    return kept


def _without_positions(error: list[str]) -> list[str]:
    return [re.sub(r" position \d+", " position", text) for text in error]


def _breaks_beside_an_id(case: Case) -> bool:
    """True if a message that can't be parsed has the id of a tuple in it, which chance makes longer or shorter."""
    texts = [step["raw"].removesuffix("\nend\n") for step in case["steps"] if "$ID" in step.get("raw", "")]
    return not all(map(_is_json, texts))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _until_timeout(events: list[Call]) -> list[Call]:
    """The events of a script in which Storm gave up, once each: how often it asked before is a matter of its clock."""
    once = [event for event, _ in groupby(events)]
    # Before it gives up it reads stderr: a component that was stuck in it may go on, and a call return.
    while [event["t"] for event in once[-2:]] == ["returned", "error"]:
        del once[-2]
    return once


def _up_to(barrier: str | None, events: list[Call]) -> list[Call]:
    """The events to the barrier: what stands behind it was under way when the script was over."""
    for number, event in enumerate(events):
        if barrier is not None and event.get("msg") == barrier:
            return events[: number + 1]
    return events


def _cut_to_the_shorter(left: Verdict, right: Verdict) -> None:
    """Cut both to the shorter: where a script was over at once, what was sent last may not have been read yet."""
    ours, theirs = left["received"], right["received"]
    short = min(len(ours), len(theirs))
    if all(verdict["verdict"] == "rejected" or _ended_by_log(verdict) for verdict in (left, right)):
        left["received"], right["received"] = ours[:short], theirs[:short]


def _ended_by_log(verdict: Verdict) -> bool:
    return bool(verdict["events"]) and verdict["events"][-1]["t"] == "log"


def _without_chance(text: str) -> str:
    for pattern, instead in CHANCE:
        text = re.sub(pattern, instead, text)
    return text
