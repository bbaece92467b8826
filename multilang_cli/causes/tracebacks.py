"""The uncaught exception in what a process wrote last, and the nearest frame of its user's own source. Pure.

How each language writes one is data: ``conformance/tracebacks.yaml``.
"""

from __future__ import annotations

import posixpath
import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.causes.model import Place
from multilang_cli.protocol.words.shortening import head

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.causes.model import TracebackForm

LONGEST_EXCEPTION = 160
"""Characters of an exception that are told."""
SHOWN_WHOLE = 20
"""Lines of stderr that are shown whole."""
FIRST_SHOWN = 5
"""Of more, the first lines that are shown."""

MOST_READ = 256 * 1024
"""Characters in which patterns are looked for, the last."""
MOST_OF_A_LINE = 400
"""Characters of a line, likewise: some patterns take the square of its length. Its middle is left out."""

_AFTERWARDS = "\nDuring handling of the above exception"
"""How Python goes on where an exception led to another."""
_ASKED = re.compile(r"^(?:asyncio\.exceptions\.CancelledError|KeyboardInterrupt)\b", re.MULTILINE)
"""Python's answer to the signal, in a coroutine or else: what stands before it was being handled."""
_HANDLING = "During handling of the above exception, another exception occurred:"
_UNREAD = re.compile(r"(?:SyntaxError|IndentationError|TabError)\b")
"""Exceptions of a file that was not run: the frame named last is that file's."""
_BY_ACCIDENT = re.compile(r"(?:NameError|UnboundLocalError|AttributeError)\b")
"""Exceptions that a handler throws by accident. Any other may come of what is tried where the first was expected."""
_REPORTING = re.compile(r"\b(?:format_exc|print_exc)\(\w")
"""Calls of a handler that throw a TypeError: they take no exception."""
_RAISE = re.compile(r"\braise\b")
_MOST_FRAMES = 200
"""Frames in which the user's own are looked for, the nearest."""
_MOST_METHODS = 8
"""Frames without a line whose methods are looked for."""
_MOST_LINKS = 20
"""Exceptions of a chain that are followed back."""
LIBRARIES = re.compile(r"(?:^|/)[Ss]torm(?:_?(?:multilang|bolt|spout|core))?\.(?:py|rb|js|pl|pm|php|lua|go|coffee)$")
"""Names of the adapters that people copy beside their component: not their own lines, if there are others."""


class Death(NamedTuple):
    """An exception that nobody caught. `first`: the line it begins with; `at`: the line's index in the text.

    `then`: what came of it, as in its handler, "" for nothing. `callers`: the user's own frames that led to
    `place`, the nearest first.
    """

    language: str
    first: str
    text: str
    at: int
    place: Place | None
    then: str = ""
    callers: tuple[Place, ...] = ()

    @property
    def told(self) -> str:
        """The exception in words, with what came of it."""
        return f"{self.text}; and then: {self.then}" if self.then else self.text


class Tracebacks:
    """All known forms. `roots`: folders in which the user's own sources stand, absolute."""

    def __init__(self, forms: Iterable[TracebackForm]) -> None:
        self._forms = tuple(_Form(form) for form in forms)

    def death_in(self, text: str, roots: Sequence[str] = (), language: str = "") -> Death | None:
        """The last exception in `text`; of two readings of it, that of the component's own `language`."""
        text = text.replace("\r\n", "\n")
        unread = text.count("\n", 0, max(0, len(text) - MOST_READ))
        text = bounded(text)
        found = [(match, form) for form in self._forms for match in form.exceptions(text)]
        if not found:
            return None
        ranks = [(match.end("text"), form.form.language == language) for match, form in found]
        top = max(ranks)
        last = [each for each, rank in zip(found, ranks, strict=True) if rank == top]
        match, form = max(last, key=lambda each: each[1].has_frames(text))
        match = form.thrown_last(text, match)
        root = form.root_of(text, match, roots)
        begin, end = form.extent(text, root)
        first = text[begin:].split("\n", 1)[0]
        places = form.places(form.of_one_thread(text[begin:end]), root, roots)
        places = places or form.places(text[begin:end], root, roots)[:1]
        place = next(iter(places), None)
        called_by = tuple(each for each in places if (each.file, each.line) != (places[0].file, places[0].line))
        at = unread + text.count("\n", 0, begin)
        then = short(match["text"]) if root is not match else ""
        return Death(form.form.language, short(first), short(root["text"]), at, place, then, called_by)

    def asked_by(self, language: str) -> str:
        """The name of the signal at which a program of this language says where it stands, "" for none."""
        return next((form.form.asked_by for form in self._forms if form.form.language == language), "")

    def starts(self, language: str) -> str:
        """The pattern of a line of this language that starts a program which writes to the same stdout, "" if none."""
        return next((form.form.starts for form in self._forms if form.form.language == language), "")

    def methods_in(self, text: str, language: str) -> list[str]:
        """Patterns of the lines that the methods of an exception's frames begin with, where these have no lines."""
        form = next((each for each in self._forms if each.form.language == language and each.form.method), None)
        if form is None:
            return []
        found = re.finditer(form.form.method, bounded(text), re.MULTILINE)
        return [form.form.defines.replace("{method}", each["method"]) for each in islice(found, _MOST_METHODS)]

    def standing_in(self, answer: str, roots: Sequence[str], language: str) -> Place | None:
        """The place where it stood, by what it wrote at that signal: what came of it afterwards is left out."""
        asked = _ASKED.search(answer)
        end = answer.find(_AFTERWARDS, asked.end() if asked else 0)
        answer = answer[: end if end >= 0 else None]
        held_up = [
            place for form in self._forms if form.form.language == language for place in form.held_up(answer, roots)
        ]
        death = None if held_up else self.death_in(answer, roots, language)
        return held_up[0] if held_up else death.place if death else None

    def misread_in(self, text: str) -> bool:
        """True if a JSON parser says in `text` that it can't read what it was given."""
        text = bounded(text)
        return any(form.misread.search(text) for form in self._forms)


def _compiled(name: str, flags: int = 0) -> cached_property[re.Pattern[str]]:
    """The pattern of a form by its name, compiled when it is first looked for; found nowhere if there is none."""
    return cached_property(lambda self: re.compile(getattr(self.form, name) or r"(?!)", flags))


class _Form:
    _frame = _compiled("frame", re.MULTILINE)
    _begins = _compiled("begins", re.MULTILINE)
    _thrown = _compiled("thrown", re.MULTILINE)
    _foreign = _compiled("foreign")
    _thread = _compiled("thread", re.MULTILINE)
    _idle = _compiled("idle", re.MULTILINE)
    _held_up = _compiled("held_up", re.MULTILINE)
    _because = _compiled("because")
    _aftermath = _compiled("aftermath")
    misread = _compiled("misread")

    def __init__(self, form: TracebackForm) -> None:
        self.form = form

    @cached_property
    def _exceptions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(each, re.MULTILINE) for each in self.form.exceptions)

    def exceptions(self, text: str) -> list[re.Match[str]]:
        """Every exception of this form."""
        return [match for pattern in self._exceptions for match in pattern.finditer(text)]

    def has_frames(self, text: str) -> bool:
        """True if a frame of this form stands in the text."""
        return self._frame.search(text) is not None

    def of_one_thread(self, text: str) -> str:
        """A traceback without those of other threads, of which none called what is in the first."""
        threads = [each.start() for each in self._thread.finditer(text)]
        return text[: threads[1]] if len(threads) > 1 else text

    def held_up(self, text: str, roots: Sequence[str]) -> list[Place]:
        """Places in the user's own source at which threads are held up while the first one only waits for others."""
        if not self._idle.search(text):
            return []
        found = sorted(self._held_up.finditer(text), key=lambda each: not each["first"])
        stacks = [text[each.start() :] for each in found]
        frames = [
            [self._read(stack, each) for each in self._frame.finditer(self.of_one_thread(stack))] for stack in stacks
        ]
        return [place for each in frames if (place := own(each, roots, self._foreign)) is not None]

    def extent(self, text: str, match: re.Match[str]) -> tuple[int, int]:
        """The begin and the end of an exception's traceback: what comes after the frames is not its own."""
        starts = [each.start() for each in self._begins.finditer(text, 0, match.end())]
        if not starts and self._is_unread(match["text"]):
            starts = [each.start() for each in self._frame.finditer(text, 0, match.end())][-1:]
        begin = max(starts, default=text.rfind("\n", 0, match.start("text")) + 1)
        return begin, len(text) if self.form.innermost == "first" else match.end()

    def thrown_last(self, text: str, match: re.Match[str]) -> re.Match[str]:
        """The exception of which it ended, where those that led to it are written behind it."""
        before = [each for each in self.exceptions(text[: match.start()]) if each.end() <= match.start()]
        for each in sorted(before, key=lambda each: -each.end()) if self.form.causes_follow else ():
            if any(line.strip() == line != "" for line in text[each.end() : match.start()].split("\n")):
                break
            match = each
        return match

    def root_of(self, text: str, match: re.Match[str], roots: Sequence[str]) -> re.Match[str]:
        """The exception in whose handler this one was raised by accident, the first of several; else itself.

        Of a shell, the line right before of which it comes; of a thread that met the end of another, what ended that.
        """
        before = [each for each in self.exceptions(text[: match.start()]) if each.end() <= match.start()]
        before.sort(key=lambda each: each.end("text"))
        if self.form.because:
            return self._cause_right_before(text, match, before)
        if self._aftermath.search(match["text"]):
            return next((each for each in reversed(before) if not self._aftermath.search(each["text"])), match)
        for root in reversed(before[-_MOST_LINKS:]):
            begin, end = self.extent(text, match)
            accident = _BY_ACCIDENT.match(match["text"]) or _REPORTING.search(text, begin, end)
            if not accident or not text[:begin].rstrip().endswith(_HANDLING):
                break
            place = self.place(text[begin:end], match, roots)
            raised = place is not None and _RAISE.search(place.code)
            if raised or self.place(text[slice(*self.extent(text, root))], root, roots) is None:
                break
            match = root
        return match

    def _cause_right_before(self, text: str, match: re.Match[str], before: Sequence[re.Match[str]]) -> re.Match[str]:
        at = match.start()
        for each in reversed(before):
            if text[each.end() : at].strip():
                break
            if self._because.search(each["text"]):
                return each
            at = each.start()
        return match

    def place(self, text: str, match: re.Match[str], roots: Sequence[str]) -> Place | None:
        """The frame nearest to where it happened that stands in the user's own source."""
        return next(iter(self.places(text, match, roots)), None)

    def places(self, text: str, match: re.Match[str], roots: Sequence[str]) -> list[Place]:
        """The frames that stand in the user's own source, the nearest to where it happened first."""
        groups = match.groupdict()
        named = [(groups["file"], int(groups["line"]), "", "")] if groups.get("file") else []
        at = self._thrown_at(text)
        frames = [self._read(text, each) for each in self._frame.finditer(text, at)]
        last = frames[-1:] if self._is_unread(match["text"]) else []
        if last and not self._foreign.search(last[0][0]):
            return own_frames(last, roots, self._foreign)
        ordered = [*named, *(frames if self.form.innermost == "first" else reversed(frames))]
        return own_frames(islice(ordered, _MOST_FRAMES), roots, self._foreign)

    def _is_unread(self, exception: str) -> bool:
        """True if a source could not be read, not a text that it read as JSON: both are a SyntaxError of JavaScript."""
        return _UNREAD.match(exception) is not None and not self.misread.search(exception)

    def _thrown_at(self, text: str) -> int:
        """The place behind which the frames stand that threw: those before are of handlers that threw it again."""
        return max((each.end() for each in self._thrown.finditer(text)), default=0)

    def _read(self, text: str, frame: re.Match[str]) -> tuple[str, int, str, str]:
        code = mark = ""
        if self.form.code_follows:
            lines = text[frame.end() :].split("\n", 3)[1:3]
            if lines and lines[0].startswith("    ") and not self._frame.match(lines[0]):
                code = lines[0].strip()
                pointer = lines[1] if len(lines) > 1 else ""
                indent = len(lines[0]) - len(lines[0].lstrip())
                mark = pointer[indent:] if pointer.strip() and not pointer.strip(" ^~") else ""
        return frame["file"], int(frame["line"]), code, mark


def own(
    frames: Iterable[tuple[str, int, str, str]], roots: Sequence[str], foreign: re.Pattern[str] | None
) -> Place | None:
    """The first of `frames` in a file below one of `roots`, nearest first; an adapter's if there is no other."""
    return next(iter(own_frames(frames, roots, foreign)), None)


def own_frames(
    frames: Iterable[tuple[str, int, str, str]], roots: Sequence[str], foreign: re.Pattern[str] | None
) -> list[Place]:
    """Those of `frames` that stand in files below one of `roots`; those of adapters if there are no others."""
    users: list[Place] = []
    adapters: list[Place] = []
    for file, line, code, mark in frames:
        path = _below(file, roots)
        if path is None or (foreign and foreign.search(file)):
            continue
        of_whom = adapters if LIBRARIES.search(path) else users
        of_whom.append(Place(path, line, code, mark))
    return users or adapters


def _below(file: str, roots: Sequence[str]) -> str | None:
    if not posixpath.isabs(file):
        path = posixpath.normpath(file)
        return None if path.startswith("..") else path
    if not roots:
        return file
    for root in roots:
        if file.startswith(f"{root.rstrip('/')}/"):
            return posixpath.relpath(file, root)
    return None


def bounded(text: str) -> str:
    """The end of a text that a component wrote, as far as patterns may be looked for in it; as many lines as it has."""
    text = text[-MOST_READ:]
    half = MOST_OF_A_LINE // 2
    lines = text.split("\n")
    return "\n".join(line if len(line) <= MOST_OF_A_LINE else f"{line[:half]}...{line[-half:]}" for line in lines)


def short(text: str) -> str:
    """A text cut to what a headline can hold."""
    return head(text.strip(), LONGEST_EXCEPTION)


def last_line(text: str) -> str:
    """The last line that holds anything."""
    lines = text.strip().splitlines()
    return short(lines[-1]) if lines else ""


def with_last_line(how: str, stderr: str) -> str:
    """The end of a process in words, and its last line of stderr where that tells something."""
    said = last_line(stderr)
    # What it prints of each message tells nothing, and is another line in each case.
    return f'{how}, and its last line of stderr is "{said}"' if said and said[:1] not in "{[" else how


def shown_lines(text: str, death: Death | None) -> list[str]:
    """Lines of stderr to be shown: up to `SHOWN_WHOLE` all, else its head and the tail from the last traceback on."""
    lines = text.rstrip().splitlines()
    if len(lines) <= SHOWN_WHOLE:
        return lines
    room = SHOWN_WHOLE - FIRST_SHOWN - 1
    head = lines[: min(FIRST_SHOWN, death.at)] if death is not None else lines[:FIRST_SHOWN]
    begin = max(len(head), death.at) if death is not None else len(lines) - room
    tail = lines[begin:]
    if len(tail) > room:
        half = room // 2
        tail = [*tail[:half], _left_out(len(tail) - 2 * half), *tail[-half:]]
    gap = begin - len(head)
    return [*head, *([_left_out(gap)] if gap > 0 else []), *tail]


def _left_out(count: int) -> str:
    return f"... ({count} lines left out) ..."
