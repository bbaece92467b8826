"""Texts of a worker's log, recognised: the rules that lead to each, on the Storm versions that write it.

The texts are those of the rules' effects, and of ``conformance/worker-log.yaml``. Pure, but for loading that data.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.loader import load_rulebook, load_tracebacks, load_worker_log
from multilang_cli.catalogue.once import once
from multilang_cli.catalogue.oracle import oracle_verdicts
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.messages import Malformed
from multilang_cli.protocol.words.rulebook import covers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.protocol.words.verdicts import Effect, Rule

MOST_TEXT = 1024 * 1024
"""Characters of a text in which something is looked for."""

TELLING_PART = 8
"""Characters from which on a part of a text says which one is meant."""

TELLING_RUN = 4
"""Words in a row from which on they say which text is meant, among other words."""

MOST_PART = 2048
"""Characters of a part of a text that are looked at."""

_PUNCTUATION = ".,:;!?\"'`()[]"
_PLACEHOLDER = re.compile(r"\{\w+\}|\.\.\.")
_CLASS = re.compile(r"(?:[a-z]\w*\.)+[A-Z]\w*: ")
_PACKAGE = re.compile(r"(?:class )?\.\.\.(?=[A-Za-z])")
_OPTIONAL = re.compile(r"class\\ |org\\\.apache\\\.storm\\\.shade\\\.")
_ANYTHING = r".{0,300}?"
_ANY_PACKAGE = r"(?:class\s+)?[\w.$]{0,300}?"
_NUMBER = re.compile(r"[1-9][0-9]*")
_CHARACTER = re.compile(r"\(.{1,4}?\)")
_PROCESS = re.compile(
    r"(?:Command: \[(?P<command>[^\]]*)\], ProcessInfo )?\bpid:\s*(?P<pid>\d+), name:\s*(?P<name>\S+) "
    r"exitCode:\s*(?P<code>-?\d+), errorString:[ \t]*(?P<stderr>.*?)"
    r"(?=\n\s+at |\nCaused by|\n\d{4}-\d\d-\d\d |\n[\w.$]+(?:Exception|Error): [\w.$]+(?:Exception|Error):|"
    r"\n(?:java|org\.apache|backtype)\.[\w.$]+(?:Exception|Error)\b|\Z)",
    re.DOTALL,
)
_STDERR = re.compile(
    r"Serializer Exception:[ \t]*\n(?P<text>.*?)"
    r"(?=\n\s+at (?:[a-z]\w*[./])+[A-Z][\w$]*\.|\nCaused by|\n\d{4}-\d\d-\d\d |\Z)",
    re.DOTALL,
)
"""What the component still had on stderr, as ``ShellProcess.readShellMsg`` puts it behind its exception (0.9.3)."""
_SAID = re.compile(
    r"(?:unable to parse:|Currently read output:)[ \t]*(?P<text>.*?)(?=\n\s+at |\nCaused by|\nSerializer |\Z)",
    re.DOTALL,
)


class LogText(msgspec.Struct, frozen=True, kw_only=True):
    """A text of Storm's, with placeholders, and what it tells.

    `rules`: the rules that lead to it, by id, each with the known versions that write it then, oldest first; none for a
    text that says no more than that something happened. `where`: the class of Storm that writes it.
    """

    text: str
    where: str = ""
    means: str = ""
    look: str = ""
    rules: dict[str, tuple[str, ...]] = {}


class ProcessInfo(msgspec.Struct, frozen=True):
    """Storm's words on a process that it lost (``ShellProcess.getProcessInfoString``, 0.10.0 and later).

    `command`: empty in what ``ShellSpout`` writes. `name`: empty where only its stderr stands in the text. `code`: -1
    where Storm asked before the process was gone. `stderr`: the last line of what it still had to say, or the exception
    in it; `place`: the line of source that threw that.
    """

    command: tuple[str, ...]
    name: str
    code: int
    stderr: str
    place: str = ""


class Recognised(msgspec.Struct, frozen=True):
    """A text of Storm's that was found.

    `found`: as it stands there. `rules`: ids, the likeliest first. `certain`: why the first is the cause, "" if that is
    not known.
    """

    entry: LogText
    found: str
    rules: tuple[str, ...]
    certain: str = ""


class LogIndex:
    """All texts, as they are looked for."""

    def __init__(self, entries: Iterable[LogText]) -> None:
        self.entries = tuple(entries)
        self._patterns = [(entry, pattern_of(entry.text)) for entry in self.entries]

    @cached_property
    def _keys(self) -> re.Pattern[str]:
        keys = {max(_PLACEHOLDER.split(entry.text), key=len).strip() for entry in self.entries}
        return re.compile("|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True)))

    def may_hold(self, line: str) -> bool:
        """Tell quickly whether a line may hold one of the texts; False is certain."""
        return "cannot be cast to" in line or self._keys.search(line) is not None

    def recognise(self, text: str) -> list[Recognised]:
        """The texts of Storm's in `text`: those with a rule first, then as they stand; none within another."""
        text = text[:MOST_TEXT].replace("\r\n", "\n")
        hits = [(match, entry) for entry, pattern in self._patterns for match in pattern.finditer(text)]
        hits.sort(key=lambda hit: (hit[0].start(), -hit[0].end(), -len(hit[1].text)))
        kept: list[tuple[re.Match[str], LogText]] = []
        for match, entry in hits:
            outer = next((at for at, hit in enumerate(kept) if _holds(hit[0], match)), None)
            if outer is not None:
                around, known = kept[outer]
                kept[outer] = around, known if around.span() != match.span() else _with_rules_of(known, entry)
            elif entry not in [known for _, known in kept]:
                kept.append((match, entry))
        kept.sort(key=lambda hit: not hit[1].rules)
        return [_recognised(entry, match[0], text) for match, entry in kept]

    def holding(self, part: str) -> list[Recognised]:
        """The texts that hold `part`, a few words of them, in any case: those with a rule first, then as they stand.

        Where none holds it whole, those that have the longest run of its words: it may have words of the user's own.
        """
        if found := self._unclassed(part[:MOST_PART]):
            return found
        words = " ".join(part[:MOST_PART].casefold().split())
        held = [
            each
            for each in self.entries
            if len(words) >= TELLING_PART and words in " ".join(each.text.casefold().split())
        ]
        held = held or self._sharing(_plain_words(words))
        return [_recognised(each, each.text, each.text) for each in sorted(held, key=lambda each: not each.rules)]

    def _unclassed(self, part: str) -> list[Recognised]:
        """The texts that `part` is without the class of their exception, as people copy them from the end of a line."""
        found = []
        for each in self.entries:
            begin = _CLASS.match(each.text)
            text = each.text[begin.end() :] if begin else ""
            if "..." in text and len(_PLACEHOLDER.split(text)[0]) >= TELLING_PART and begin:
                hit = pattern_of(text).search(part)
                found += [_recognised(each, begin[0] + hit[0], begin[0] + part[hit.start() :])] if hit else []
        return found

    def _sharing(self, words: list[str]) -> list[LogText]:
        """The texts that share the longest run with `words`, if it is telling or a whole text."""
        runs = [(_longest_run(words, known := _plain_words(each.text)), len(known), each) for each in self.entries]
        telling = [(run, each) for run, whole, each in runs if run >= TELLING_RUN or 1 < run == whole]
        longest = max((run for run, _ in telling), default=0)
        return [each for run, each in telling if run == longest]


@once
def load_index() -> LogIndex:
    """The texts of all rules and of ``conformance/worker-log.yaml``. Raises CatalogueError."""
    rulebook = load_rulebook()
    known = [version.id for version in rulebook.versions]
    entries = {each["text"]: each for each in load_worker_log()}
    found: dict[str, dict[str, tuple[str, ...]]] = {text: {} for text in entries}
    for rule, effect in _effects(rulebook.rules.values()):
        rules = found.setdefault(effect.error, {})
        versions = {*rules.get(rule.id, ()), *(version for version in known if covers(effect.versions, version))}
        rules[rule.id] = tuple(version for version in known if version in versions)
    for text, each in entries.items():
        found[text] |= {rule: () for rule in each.get("rules", ()) if rule not in found[text]}
    plain = [{**entries.get(text, {"text": text}), "rules": rules} for text, rules in found.items()]
    return LogIndex(msgspec.convert(plain, list[LogText]))


def _holds(outer: re.Match[str], inner: re.Match[str]) -> bool:
    return outer.start() <= inner.start() and inner.end() <= outer.end()


def _with_rules_of(entry: LogText, other: LogText) -> LogText:
    """An entry that also has what a less precise one for the same text says."""
    return msgspec.structs.replace(
        entry,
        where=entry.where or other.where,
        means=entry.means or other.means,
        look=entry.look or other.look,
        rules={**other.rules, **entry.rules},
    )


def _effects(rules: Iterable[Rule]) -> list[tuple[Rule, Effect]]:
    return [(rule, effect) for rule in rules for effect in rule.effects if effect.error]


def pattern_of(text: str) -> re.Pattern[str]:
    """The pattern of a text with placeholders, as any JVM writes it: old ones write casts without `class`."""
    names = [_pattern_of_words(part) for part in _PACKAGE.split(" ".join(text.split()))]
    return re.compile(_ANY_PACKAGE.join(names), re.DOTALL)


def _plain_words(text: str) -> list[str]:
    """The words of a text, without case, placeholders and the punctuation around them."""
    words = (word.strip(_PUNCTUATION) for word in _PLACEHOLDER.sub(" ", text).casefold().split())
    return [word for word in words if word]


def _longest_run(words: list[str], others: list[str]) -> int:
    return SequenceMatcher(None, words, others, autojunk=False).find_longest_match().size


def _pattern_of_words(text: str) -> str:
    pieces = [re.escape(piece) for piece in _PLACEHOLDER.split(text)]
    plain = [_OPTIONAL.sub(lambda match: f"(?:{match[0]})?", piece) for piece in pieces]
    return _ANYTHING.join(piece.replace(r"\ ", r"\s+") for piece in plain)


def process_of(text: str) -> ProcessInfo | None:
    """Find what a text says of the process that was lost; None if it says nothing."""
    text = text[:MOST_TEXT].replace("\r\n", "\n")
    match, behind = _PROCESS.search(text), _STDERR.search(text)
    stderr = (match["stderr"].strip() if match else "") or (behind["text"].strip() if behind else "")
    if match is None and not stderr:
        return None
    said, place = _last_words(stderr)
    if match is None:
        return ProcessInfo((), "", -1, said, place)
    words = tuple(word.strip() for word in (match["command"] or "").split(", ") if word.strip())
    return ProcessInfo(words, match["name"], int(match["code"]), said, place)


def _last_words(stderr: str) -> tuple[str, str]:
    """The exception that a process ended with and its place; else its last line."""
    death = load_tracebacks().death_in(stderr)
    if death is None:
        return stderr.rpartition("\n")[2].strip(), ""
    return death.told, f"{death.place.file}:{death.place.line}" if death.place else ""


def said_in(text: str) -> bytes:
    """The component's output, where Storm shows it; b"" if it does not."""
    match = _SAID.search(text)
    return match["text"].strip("\n").encode("utf-8", "surrogatepass") if match else b""


def _recognised(entry: LogText, found: str, text: str) -> Recognised:
    at = text.find(found)
    said = said_in(text[at:])
    if said and (rule := _wrong_with(said, ended="Currently read" not in found)):
        return Recognised(entry, found, (rule, *(each for each in entry.rules if each != rule)), "by the text it shows")
    seen = _recorded(entry, text[at : at + 200])
    ranked = sorted(entry.rules, key=lambda rule: -seen[rule])
    return Recognised(entry, found, tuple(ranked), "the only cause known" if len(ranked) == 1 else "")


def _wrong_with(said: bytes, *, ended: bool) -> str:
    """The rule that these bytes break as a message; "" if that is none. Not `ended`: no line ``end`` came."""
    if not ended:
        return "message-cut"
    for frame in Framer().feed(said + b"\nend\n"):
        body = read_frame(frame)
        if isinstance(body, Malformed):
            return body.kind
    return ""


def _recorded(entry: LogText, text: str) -> Counter[str]:
    """Count by rule how often real Storm was seen to write `text`; to the letter counts most."""
    pattern, rules = pattern_of(entry.text), load_rulebook().rules
    line = _alike(text)
    likeness: Counter[str] = Counter()
    for rule in entry.rules:
        scripts = {name for effect in rules[rule].effects if effect.error == entry.text for name in effect.confirmed_by}
        verdicts = [verdict for name in scripts for verdict in oracle_verdicts().get(name, {}).values()]
        for error in (error for verdict in verdicts for error in verdict.get("error", ())):
            if match := pattern.search(error):
                recorded = _alike(error[match.start() :])
                likeness[rule] += (
                    100 if recorded == line else _CHARACTER.sub(_kind, recorded) == _CHARACTER.sub(_kind, line)
                )
    return likeness


def _kind(character: re.Match[str]) -> str:
    return "(a)" if character[0][1].isalpha() else "(1)" if character[0][1].isdigit() else character[0]


def _alike(text: str) -> str:
    """The first line of a text of Storm's, without its numbers but 0: a first character is another matter."""
    return _NUMBER.sub("N", text.split("\n", 1)[0].strip())
