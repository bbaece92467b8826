"""Rules of text in a bolt's emits: characters that were damaged on the way in.

What a component makes of a text is its own affair, and one U+FFFD for a character may be all that its database can
hold. Several for one, or the bytes of UTF-8 as characters of another encoding, come of decoding alone; what Go's fmt
says of a missing argument comes of printing a message as if it were a format.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from multilang_cli.protocol.words.large import LargeValues
from multilang_cli.protocol.words.shortening import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.protocol.judge.context import RuleContext
    from multilang_cli.protocol.judge.state import State
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.messages import Emit, Json, TupleMsg
    from multilang_cli.protocol.words.verdicts import Level

REPLACEMENT = "\ufffd"
"""Stands for bytes that were no character."""
_KEPT_TEXTS = 64
"""Texts beyond ASCII that are remembered, the latest."""
_LONGEST_KEPT_TEXT = 4096
"""Characters of each."""
_AROUND_DAMAGE = 8
"""Characters before and after a damaged place by which its text is found again."""
_BEYOND = re.compile(r"[^\x00-\x7f]+")
_RUN = re.compile(f"{REPLACEMENT}+")
_ENCODINGS = ("latin-1", "cp1252", "cp437")
"""What UTF-8 is mistaken for."""
_BMP = 0xFFFF
_QUESTIONS = re.compile(r"\?+")
_MOST_QUESTIONED = 100
"""Words with question marks that are looked at in a text."""
_LEAST_AROUND = 2
"""Characters that a word must have besides question marks, to be one that was sent."""
_FORMATTED = re.compile(r"%!(\w)\(MISSING\)")
"""What Go's fmt puts in the place of a verb for which it has no argument."""
_VERBS = "% %s %d"
"""Of a text that was sent: C's printf makes a per cent sign of the first two, and a number of the last."""
# As numbers: looking for one in bytes is several times faster than looking for bytes.
_QUESTION, _PER_CENT, _BACKSLASH = b"?%\\"


def _has_question(text: str) -> bool:
    return "?" in text


def remember(state: State, message: TupleMsg) -> None:
    """Keep what a tuple holds of text beyond ASCII."""
    latest = deque((text[:_LONGEST_KEPT_TEXT] for text in _texts(message.values)), _KEPT_TEXTS)
    state.texts += latest
    del state.texts[:-_KEPT_TEXTS]


def check(judge: RuleContext, event: Event, emit: Emit) -> None:
    """Judge the text of an emit by that of the tuples before it."""
    state = judge.state
    if _PER_CENT in event.raw and (said := _formatted(judge, event.raw) or _printed(state.texts, emit.values)):
        why = f"a value holds {shown(said)}, which nothing that was sent holds: its text was taken for a format"
        judge.breach("text-damaged", event, why, subject=emit.stream, stable=f"{emit.stream} format")
        return
    if _QUESTION in event.raw and (asked := _questioned(state.texts, emit.values)):
        said, sent = asked
        why = f"a value holds {shown(said)} where {shown(sent)} was sent: a question mark for what its encoding lacks"
        level: Level | None = None if judge.profile.testee else "note"
        judge.breach("text-damaged", event, why, subject=emit.stream, stable=f"{emit.stream} questioned", level=level)
        return
    for text in _texts(emit.values):
        if REPLACEMENT in text and not state.replaced:
            _replaced(judge, event, emit, text)
            return
        if damaged := _misread(state.texts, text):
            said, sent = damaged
            why = f"a value holds {shown(said)} where {shown(sent)} was sent: its UTF-8 was read in another encoding"
            judge.breach("text-damaged", event, why, subject=emit.stream, stable=emit.stream)
            return


def is_right(state: State, emit: Emit, raw: bytes) -> bool:
    """True if `check` has nothing to say of an emit, whose bytes are `raw`."""
    if _PER_CENT in raw and (b"(MISSING)" in raw or _printed(state.texts, emit.values)):
        return False
    if _QUESTION in raw and _questioned(state.texts, emit.values):
        return False
    if raw.isascii() and (_BACKSLASH not in raw or b"\\u" not in raw):
        return True
    return not any(REPLACEMENT in text or _misread(state.texts, text) for text in _texts(emit.values))


def _replaced(judge: RuleContext, event: Event, emit: Emit, text: str) -> None:
    what = "a value holds U+FFFD, which nothing that was sent holds"
    lost = [_lost(judge.state.texts, text, run) for run in _RUN.finditer(text)]
    if judge.profile.testee or "bytes" in lost:
        why = f"{what}: bytes were decoded that were no whole characters"
        judge.breach("text-damaged", event, why, subject=emit.stream, stable=emit.stream)
    elif "halves" in lost:
        why = f"{what}, one for each half of a surrogate pair"
        judge.breach("lone-surrogate", event, why, subject=emit.stream, stable=emit.stream)
    else:
        why = f"{what}: one for a character, which the component may not be able to hold"
        judge.breach("text-damaged", event, why, subject=emit.stream, stable=f"{emit.stream} replaced", level="note")


def _lost(sent: list[str], text: str, run: re.Match[str]) -> str:
    """The kind of text that became a `run` of U+FFFD in `text`: "bytes" of a character, "halves" of pairs, else ""."""
    size = len(run[0])
    before, after = text[: run.start()].rpartition(REPLACEMENT)[2], text[run.end() :].partition(REPLACEMENT)[0]
    around = f"{re.escape(before[-_AROUND_DAMAGE:])}([^\\x00-\\x7f]{{1,{size}}}){re.escape(after[:_AROUND_DAMAGE])}"
    found = [each[1] for source in sent for each in re.finditer(around, source, re.IGNORECASE)]
    if any(len(each) == size for each in found) or size == 1:
        return ""
    if any(sum(1 + (ord(char) > _BMP) for char in each) == size for each in found):
        return "halves"
    # Where its text is not found again, it is characters only if so many stood together.
    together = any(len(each) >= size for source in sent for each in _BEYOND.findall(source))
    return "bytes" if found or not together else ""


def _formatted(judge: RuleContext, raw: bytes) -> str:
    """The place of a verb that was sent and that a formatter of Go has filled; "" if there is none."""
    if b"(MISSING)" not in raw or "(MISSING)" in repr(judge.profile.samples):
        return ""
    found = _FORMATTED.search(raw.decode(errors="replace"))
    if found is None or any(found[0] in text for text in judge.state.texts):
        return ""
    return found[0] if any(f"%{found[1]}" in text for text in judge.state.texts) else ""


def _printed(sent: list[str], values: Json) -> str:
    """The verbs that were sent, as a printf without arguments fills them; "" if there is nothing of the kind."""
    for text in sent:
        before, verbs, _ = text.partition(_VERBS)
        if verbs:
            filled = re.compile(re.escape(before[-_AROUND_DAMAGE:]) + r"%s -?\d+")
            if found := next((each[0] for said in _strings(values) if (each := filled.search(said))), ""):
                return found
    return ""


def _questioned(sent: list[str], values: Json) -> tuple[str, str] | None:
    """A word in which question marks stand for characters of what was sent, and that word; None if there is none."""
    for text in filter(_has_question, _strings(values)):
        words = (word for word in text[:_LONGEST_KEPT_TEXT].split() if "?" in word)
        for word in islice(words, _MOST_QUESTIONED):
            if len(word.strip("?")) < _LEAST_AROUND or any(word in source for source in sent):
                continue
            pattern = _meant_by(word)
            if found := next((each for source in sent if (each := pattern.search(source))), None):
                return word, found[0]
    return None


def _meant_by(word: str) -> re.Pattern[str]:
    """A pattern of the words that this one may stand for, by whose length the time of a search grows and no quicker.

    A character beyond ASCII may have become a question mark for each of its bytes. Not so in a word that holds another
    such character: its encoding has one for each character; and any number of both could be matched in many ways.
    """
    parts = _QUESTIONS.split(re.escape(word).replace("\\?", "?"))
    runs = _QUESTIONS.findall(word)
    counts = (f"{{1,{len(run)}}}" if word.isascii() else f"{{{len(run)}}}" for run in runs)
    between = (f"[^\\x00-\\x7f]{count}" for count in counts)
    # Beyond ASCII some characters are the upper case of an ASCII one.
    case = re.IGNORECASE | re.ASCII if word.isascii() else re.IGNORECASE
    return re.compile("".join(chain.from_iterable(zip_longest(parts, between, fillvalue=""))), case)


def _misread(sent: list[str], text: str) -> tuple[str, str] | None:
    """Characters of `text` that are bytes of what was sent, and what that was; None if there are none."""
    for said in _BEYOND.findall(text[:_LONGEST_KEPT_TEXT]):
        if any(said in source for source in sent):
            continue
        for encoding in _ENCODINGS:
            try:
                meant = said.encode(encoding).decode()
            except UnicodeError:
                continue
            if any(meant in source for source in sent):
                return said, meant
    return None


def _texts(value: Json) -> Iterator[str]:
    """Every string beyond ASCII in a value, which may be nested however deep."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            # Asked of every string that passes, so without another call.
            if not item.isascii():
                yield item
        elif isinstance(item, list):
            left += reversed(item)
        elif isinstance(item, dict):
            left += [each for pair in reversed(item.items()) for each in reversed(pair)]
        elif isinstance(item, LargeValues):
            yield from item.texts()


def _strings(value: Json) -> Iterator[str]:
    """Every string in a value; of large ones those beyond ASCII."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, LargeValues):
        yield from value.texts()
