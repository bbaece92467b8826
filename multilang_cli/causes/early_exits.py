"""The way out of a handler that passes by its answer: an early return where the sync stands further down. Pure."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from multilang_cli.causes.callers import end_of_block, end_of_block_around, indent_of, looks_for, name_in
from multilang_cli.causes.model import Place
from multilang_cli.causes.origin import COMMENT, only_line_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from multilang_cli.causes.model import GivenBack

    _Block = tuple[str, Sequence[str], int, int]
    """A file, its lines, and where a function or a branch of it begins and ends."""

_NOTHING = r"(?:\s+(?:None|nil|null|undefined|undef|true|false|0|1))?"
_LEAVES = re.compile(
    rf"""(?:^\s*|[{{;:)]\s*|\bthen\s+|\bdo\s+)
    (?:return{_NOTHING}|continue(?:\s+\d)?|(?<=\s)next(?=\s*[;}}]|\s+(?:if|unless)\b|\s*$))
    \s*(?:;|\}}|$|(?:if|unless)\b|\bend\b)""",
    re.VERBOSE,
)
"""A statement that leaves a function or a round of a loop with nothing to give."""


_ENDS = re.compile(
    r"""(?:^\s*|[{;:)]\s*|\bthen\s+|\bdo\s+|\b(?:or|and)\s+)(?:
    (?:break|last|return)(?=\s*(?:;|\}|$|(?:if|unless)\b|\bend\b|\w+\s*;?$))
    |(?:sys\.|os\.|process\.|System\.|Process\.)?_?[eE]xit!?\b|quit\s*\()""",
    re.VERBOSE,
)
"""A statement that ends a loop, a function or the program."""
_OTHERWISE = re.compile(r"\s*(?:[}]?\s*else\b(?!\s*if\b)|default\s*:|_\s*=>|\*\)|otherwise\b)")
"""The branch of all that has none."""
_ASKED = re.compile(r"""['"`:](?:ack|fail)\b""")
_CHAIN = 20
"""Lines between the branch of one command and that of all others."""
_ON_CONDITION = re.compile(r"\b(?:if|unless|when|case|else|elif|elsif|return|catch|rescue|except)\b|\?")
_FLUSHES = re.compile(r"flush|\bendl\b|\$\|", re.IGNORECASE)
_FLUSHES_ITSELF = re.compile(r"auto_?flush|\$\||\bendl\b", re.IGNORECASE)
_WHATEVER_COMES = re.compile(r"\b(?:finally|ensure|defer)\b")
"""What is behind it is done on every way out."""
_CALLS_DEEP = 3
"""Functions called by functions that are looked through for a flush."""


def _writes(answer: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{answer})|(?:send|write|say|reply)_?{answer}", re.IGNORECASE)


def early_exit(handler: Place, answer: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """Find where what `handler` begins is left before it writes `answer`, which is a command, as ``sync``.

    `handler`: the line that looks for a command by its name. What it begins is its branch, and the functions of the
    `sources`, lines by file, that are called there. None if there is no such way out, or more than one.
    """
    found = [
        Place(file, number + 1, lines[number].strip())
        for file, lines, begin, end in _blocks(handler, sources)
        for number in _exits(lines, begin, end, answer)
    ]
    found = found or _past_the_answer(handler, answer, sources.get(handler.file, ()))
    return found[0] if len(found) == 1 else None


def end_in(handler: Place, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """Find the only statement in what `handler` begins that ends its loop or the program; None if it is not alone."""
    found = [
        Place(file, number + 1, lines[number].strip())
        for file, lines, begin, end in _blocks(handler, sources)
        for number in range(begin, max(end, begin + 1))
        if _ENDS.search(lines[number]) and not COMMENT.match(lines[number])
    ]
    return found[0] if len(found) == 1 else None


def default_exit(answer: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """Find where all commands without a branch of their own pass by `answer`; None if nowhere, or in several places.

    Where each branch gives its own, it is the one of all others that gives none.
    """
    found = [
        place
        for file, lines in sources.items()
        for number, line in enumerate(lines)
        if _OTHERWISE.match(line) and any(map(_ASKED.search, lines[max(0, number - _CHAIN) : number]))
        for place in _past_the_answer(Place(file, number + 1), answer, lines) or _mute(file, number, answer, lines)
    ]
    return found[0] if len(found) == 1 else None


def _mute(file: str, number: int, answer: str, lines: Sequence[str]) -> list[Place]:
    """The branch of all others, if it has no `answer` and those before it have."""
    writes = _writes(answer)
    before = sum(writes.search(line) is not None for line in lines[max(0, number - _CHAIN) : number])
    behind = lines[number : end_of_block_around(lines, number)]
    is_mute = before > 1 and not any(map(writes.search, behind))
    return [Place(file, number + 1, lines[number].strip())] if is_mute else []


def keeping_exit(given_back: GivenBack, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """Find the only way out of a function that keeps what was taken: its last call that gives it back stands behind."""
    taken = re.compile(given_back.taken, re.IGNORECASE)
    found = []
    for file, lines in sources.items():
        for number, line in enumerate(lines):
            if name_in(line):
                end = end_of_block(lines, number)
                if any(map(_WHATEVER_COMES.search, lines[number:end])):
                    continue
                begin = next((n for n in range(number, end) if taken.search(lines[n])), number)
                found += [Place(file, n + 1, lines[n].strip()) for n in _exits(lines, begin, end, given_back.back)]
    return found[0] if len(found) == 1 else None


def _past_the_answer(handler: Place, answer: str, lines: Sequence[str]) -> list[Place]:
    """The ways out of a branch that has no `answer`, where the function has one behind it for all of its branches."""
    begin = handler.line - 1
    if begin >= len(lines):
        return []
    end = end_of_block(lines, begin)
    over = end_of_block_around(lines, begin)
    code = ["" if COMMENT.match(line) else line for line in lines[begin:end]]
    writes = _writes(answer)
    if any(map(writes.search, code)) or not any(map(writes.search, lines[end:over])):
        return []
    return [
        Place(handler.file, begin + number + 1, line.strip())
        for number, line in enumerate(code)
        if _LEAVES.search(line)
    ]


def _blocks(handler: Place, sources: Mapping[str, Sequence[str]]) -> Iterator[_Block]:
    """The branch of the handler, and each function that is called in it: its file, where it begins and ends."""
    lines = sources.get(handler.file, ())
    if handler.line > len(lines):
        return
    begin, end = handler.line - 1, end_of_block(lines, handler.line - 1)
    yield handler.file, lines, begin, end
    branch = "\n".join(lines[begin:end])
    for file, each in sources.items():
        for number, line in enumerate(each):
            name = name_in(line)
            inside = file == handler.file and begin <= number < end
            if name and not inside and re.search(rf"(?<![\w\"'`:]){name}\b(?![\"'`])", branch):
                yield file, each, number, end_of_block(each, number)


def _exits(lines: Sequence[str], begin: int, end: int, answer: str) -> Iterator[int]:
    """The lines that leave a block before its last `answer`, if it writes one at all, where none stands before them."""
    code = ["" if COMMENT.match(line) else line for line in lines[begin:end]]
    writes = _writes(answer)
    last = max((number for number, line in enumerate(code) if writes.search(line)), default=0)
    for number in range(1, last):
        if _LEAVES.search(code[number]) and not any(map(writes.search, _done_before(code, number))):
            yield begin + number


def _done_before(code: Sequence[str], at: int) -> Iterator[str]:
    """The lines of a block that are run whenever that at `at` is, and the line itself."""
    yield code[at]
    deep = indent_of(code[at])
    for line in reversed(code[1:at]):
        if line.strip() and indent_of(line) <= deep:
            deep = indent_of(line)
            if not _ON_CONDITION.search(line):
                yield line


def unflushed(command: str, answer: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """Find the only line that writes the `answer` to a command without a flush, in a program that flushes elsewhere."""
    code = {file: ["" if COMMENT.match(line) else line for line in lines] for file, lines in sources.items()}
    flushes = [line for lines in code.values() for line in lines if _FLUSHES.search(line)]
    handler = next(filter(None, (only_line_with(pattern, sources) for pattern in looks_for(command))), None)
    if handler is None or not flushes or any(map(_FLUSHES_ITSELF.search, flushes)):
        return None
    blocks = list(_blocks(handler, code))
    writes = _writes(answer)
    found = [
        (file, number)
        for file, lines, begin, end in blocks
        for number in range(begin, end)
        if writes.search(lines[number]) and not name_in(lines[number])
    ]
    if len(found) != 1:
        return None
    file, number = found[0]
    blocks += _called_from(Place(file, number + 1), code)
    if any(_FLUSHES.search(line) for _, lines, begin, end in blocks for line in lines[begin:end]):
        return None
    return Place(file, number + 1, sources[file][number].strip())


def _called_from(at: Place, sources: Mapping[str, Sequence[str]]) -> Iterator[_Block]:
    """The functions that are called in a line, and those that are called in these, some levels deep."""
    places = [at]
    for _ in range(_CALLS_DEEP):
        called = [block for place in places for block in islice(_blocks(place, sources), 1, None)]
        yield from called
        places = [Place(file, begin + 1) for file, _, begin, _ in called]
