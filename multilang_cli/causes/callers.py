"""The lines that call a helper: what is wrong with a message is decided there, and not where all are written. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from multilang_cli.causes.model import Place
from multilang_cli.causes.origin import COMMENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_CALLERS = 2
"""Lines that are told at most: with more, the helper's own line says more."""
_DEFINES = re.compile(
    r"""\s*(?:(?:async|static|local|export|default|public|private|protected|final|void|pub)\s+)*
    (?:(?:def|function|func|sub|fn|proc)\s+(?:\([^)]*\)\s*)?(?:\w+[.:])*(?P<named>\w+)
    |(?:const|let|var|my)\s+\$?(?P<bound>\w+)\s*=\s*(?:async\s*)?(?:function\b|sub\b|\([^)]*\)\s*=>|\w+\s*=>)
    |(?P<assigned>[A-Za-z_.]\w*)\s*(?:<-|=)\s*function\b
    |(?!(?:return|else|new|throw|await|case)\b)(?:[A-Za-z_][\w:<>\[\]]*[\s*&]+)?
    (?!(?:if|for|while|switch|catch|elif|elsif|foreach|until|unless)\b)(?P<method>\w+)\s*\([^;()]*\)\s*\{)""",
    re.VERBOSE,
)
_ENDS = re.compile(r"\s*(?:\}[);,]*|end)\s*$")
_BRANCHES = re.compile(r"\s*(?:\}\s*)?(?:else|elif|elsif|elseif|case|when|default)\b|\s*[\w\"'|*]+\s*(?:=>|->|\))")
"""A line that begins one branch of a choice."""
_SENDS = r"send|write|say|put|out|tell|reply|give|respond|answer|deliver|transmit|publish|forward"
"""Words in the names of functions that write any message."""
_WRITTEN = "emit|ack|log"
"""Commands after which such functions are called."""
_HUMPS = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_BARE = frozenset({"ruby", "shell", "perl", "tcl"})
"""Languages in which a call needs no parentheses."""
_STORMS_OWN = re.compile(r"tick|heart_?beat", re.IGNORECASE)


def callers_of(
    place: Place,
    command: str,
    sources: Mapping[str, Sequence[str]],
    language: str,
    stream: str = "",
    *,
    beside: Mapping[str, Sequence[str]] | None = None,
    within: str = "",
) -> list[Place]:
    """The lines that call the helper in which `place` writes a `command`; none if it is no helper, or too many do.

    `stream`: that of the message; who names it wrote it. What answers heartbeats and ticks is not meant. `beside`: more
    files, of which one may have the helper; those who call it there are helpers as well. `within`: a command that it
    was written for; of too many callers those count whose function has that name.
    """
    lines = sources.get(place.file) or (beside or {}).get(place.file, ())
    name, begin, end = function_around(lines, place.line - 1)
    if not _is_helper(name, command):
        return []
    calls = [
        Place(file, number + 1, line.strip())
        for file, each in sources.items()
        for number, line in _calling(name, each, language)
        if not (file == place.file and begin <= number < end)
        and not any(map(_STORMS_OWN.search, each[max(0, number - 1) : number + 1]))
    ]
    naming = [call for call in calls if stream and re.search(rf"""["'`:]{re.escape(stream)}\b""", call.code)]
    found = naming or calls
    if len(found) > MOST_CALLERS and within:
        of_it = [call for call in found if _is_of(function_around(sources[call.file], call.line - 1)[0], within)]
        found = of_it or [call for call in found if _is_run_for(within, sources[call.file], call.line - 1)]
    return found if len(found) <= MOST_CALLERS else []


def _is_run_for(command: str, lines: Sequence[str], at: int) -> bool:
    """True if a line stands in the branch of a choice that looks for a command, or behind that choice, for all."""
    _, begin, _ = function_around(lines, at)
    deep = indent_of(lines[at])
    for number in range(at, begin - 1, -1):
        line = lines[number]
        if any(re.search(pattern, line) for pattern in looks_for(command)):
            behind = indent_of(line) >= deep and not _BRANCHES.match(lines[at])
            return number == at or behind or at < end_of_block(lines, number)
    return False


def looks_for(command: str) -> tuple[str, str]:
    """Patterns of lines that look for a command by its name: branches of a choice among several, and any."""
    return (
        rf"^\s*(?:case|when)\s.{{0,40}}[\"'`:]{command}\b|^\s*(?:\w+\()?\"{command}\"\)*\s*(?:\||=>)",
        rf"(?:\b(?:when|case|eq|elif|elsif|if)\b|==|=>|\{{).{{0,40}}[\"'`:]{command}\b(?!\W{{0,3}}\])",
    )


def caller_of(frames: Sequence[Place], sources: Mapping[str, Sequence[str]]) -> Place | None:
    """The frame that called the first of `frames`, the nearest; where helpers write messages, who called those.

    What can't be written was made where they are called.
    """
    called, *behind = frames
    if not _is_helper(_name_around(called, sources), _WRITTEN):
        return next(iter(behind), None)
    return next((each for each in behind if not _is_helper(_name_around(each, sources), _WRITTEN)), None)


def _name_around(place: Place, sources: Mapping[str, Sequence[str]]) -> str:
    return function_around(sources.get(place.file, ()), place.line - 1)[0]


def _is_helper(name: str, commands: str) -> bool:
    """True if a function's name says that it writes messages: of these `commands`, or any."""
    words = "_".join(_HUMPS.split(name)).lower()
    return re.search(rf"(?:^|_)(?:{commands}|{_SENDS})(?:_|\d*$)", words) is not None


def _is_of(name: str, command: str) -> bool:
    """True if a function's name is that of a command, maybe with what such names begin with."""
    words = "_".join(_HUMPS.split(name)).lower()
    return re.fullmatch(rf"_*(?:(?:on|handle|do|process|spout)_?)?{command}(?:_?tuple)?", words) is not None


def handler_named(command: str, sources: Mapping[str, Sequence[str]]) -> Place | None:
    """The only function that has the name of a command of Storm's, as ``on_ack``; None for several: of a library's too.

    One of a single line hides nothing.
    """
    found = [
        Place(file, number + 1, line.strip())
        for file, lines in sources.items()
        for number, line in enumerate(lines)
        if _is_of(name_in(line), command) and end_of_block(lines, number) > number + 1
    ]
    return found[0] if len(found) == 1 else None


def _calling(name: str, lines: Sequence[str], language: str) -> Iterator[tuple[int, str]]:
    call = rf"(?<![\w\"'`]){name}\s*\("
    if language in _BARE:
        begins = r"(?:^|[;&|(]|\{(?=\s)|\b(?:then|else|return|do|and|or)\b|->|\bself\.)\s*"
        call += rf"|{begins}{name}(?:[ \t]+[\w\"'$@:{{\[]|\s*(?:;|&&|\|\||\}}|$))"
    pattern = re.compile(call)
    for number, line in enumerate(lines):
        if pattern.search(line) and not COMMENT.match(line) and name_in(line) != name:
            yield number, line


def name_in(line: str) -> str:
    """The name of the function that begins in a line, "" for none."""
    found = _DEFINES.match(line)
    return next(filter(None, found.groups()), "") if found else ""


def function_around(lines: Sequence[str], at: int) -> tuple[str, int, int]:
    """The name of the function that a line stands in, and where that begins and ends; no name if it is in none."""
    if not 0 <= at < len(lines):
        return "", 0, 0
    indent = indent_of(lines[at])
    for number in range(at, -1, -1):
        line = lines[number]
        if not line.strip() or (number != at and indent_of(line) >= indent):
            continue
        if name := name_in(line):
            return name, number, end_of_block(lines, number)
        if number != at and (_ENDS.match(line) or indent_of(line) == 0):
            break
        indent = min(indent, indent_of(line))
    return "", 0, 0


def end_of_block(lines: Sequence[str], begin: int) -> int:
    """The first line behind a function's, or a branch's: it stands no deeper."""
    indent = indent_of(lines[begin])
    behind = (n for n in range(begin + 1, len(lines)) if lines[n].strip() and indent_of(lines[n]) <= indent)
    return next(behind, len(lines))


def end_of_block_around(lines: Sequence[str], at: int) -> int:
    """The first line behind the block that a line stands in: that of its function, else the outermost."""
    _, _, over = function_around(lines, at)
    if over:
        return over
    begin = next((n for n in range(at, -1, -1) if lines[n].strip() and not indent_of(lines[n])), None)
    return 0 if begin is None else end_of_block(lines, begin)


def indent_of(line: str) -> int:
    """The characters that a line is indented by."""
    return len(line) - len(line.lstrip())
