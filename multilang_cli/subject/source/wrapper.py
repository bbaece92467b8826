"""Scripts that only start a component, as ``exec python3 "$(dirname "$0")/bolt.py"``: the command they end with."""

from __future__ import annotations

import os
import re
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.causes.languages import language_of
from multilang_cli.subject.source.lines import source_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 100
"""Lines of a script that only starts another program."""
_MOST_SCRIPTS = 3
"""Scripts that start one another."""
_SUBSTITUTED = re.compile(r"\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`|\$\{[^{}]*\}|\$\w+")
"""What a shell fills in: in front of a path it is, as a rule, the script's own folder."""
_ASSIGNED = re.compile(r"\w+=")
_HOLDS_BACK = re.compile(
    r"(?<!\|)\|\s*(?:[ef]?grep|sed|tr|cut|[gm]?awk)\b(?![^|]*(?:--line-buffered|--unbuffered|\s-\w*u\b|fflush))"
)
"""A filter behind the program that writes its output in blocks: the script is what is wrong then."""
_HERE = "\0"


def started_command(argv: Sequence[str], cwd: Path) -> list[str]:
    """The command that `argv` comes to where that is a shell script which ends by starting a program beside it.

    Words that name a file or folder below the script's are whole paths then. `argv` itself, if it is no such script.
    """
    command = tuple(argv)
    for _ in range(_MOST_SCRIPTS):
        started = _started(command, cwd)
        if not started:
            break
        command = started
    return list(command)


@cache
def _started(argv: tuple[str, ...], cwd: Path) -> tuple[str, ...]:
    script = _script_of(argv, cwd)
    if script is None:
        return ()
    try:
        lines = source_lines(script)
    except (OSError, ValueError):
        return ()
    words = _last_command(lines) if len(lines) <= _LONGEST else []
    folder = script.resolve().parent
    found = [_found(word, folder) for word in words]
    return tuple(path or word for path, word in zip(found, words, strict=True)) if any(found) else ()


def _script_of(argv: tuple[str, ...], cwd: Path) -> Path | None:
    """The file of a shell script that is started, by its shell or by itself; None for any other command."""
    if not argv:
        return None
    by_shell = language_of([os.path.basename(argv[0])]) == "shell" and not Path(argv[0]).suffix  # noqa: PTH119
    words = [word for word in argv[1:] if word[:1] != "-"] if by_shell else [argv[0]]
    if not words or (by_shell and "-c" in argv) or ("/" not in words[0] and not by_shell):
        return None
    path = cwd / words[0]
    try:
        first = next(iter(source_lines(path)), "")
    except (OSError, ValueError):
        return None
    is_shell = first.startswith("#!") and language_of(first[2:].split()) == "shell"
    return path if is_shell or (by_shell and not first.startswith("#!")) else None


def _last_command(lines: Sequence[str]) -> list[str]:
    """The words of the last command of a script, without ``exec``, its variables and where it redirects to."""
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    last = next((line.strip() for line in reversed(joined) if line.strip() and line.strip()[0] != "#"), "")
    if _HOLDS_BACK.search(last):
        return []
    try:
        words = shlex.split(_SUBSTITUTED.sub(_HERE, last.rpartition("&&")[2]), comments=True)
    except ValueError:
        return []
    words = words[1:] if words[:1] in (["exec"], ["env"]) else words
    while words and _ASSIGNED.match(words[0]):
        words = words[1:]
    return [word for word in words if word not in {_HERE, "$@"} and not re.match(r"\d*[<>]", word)]


def _found(word: str, folder: Path) -> str:
    """The path of a file or folder below the script's folder that a word names, "" for none."""
    name = word.rpartition(_HERE)[2].lstrip("/") if _HERE in word else word
    path = folder / name
    try:
        # What lies elsewhere is the machine's: a version manager's, where the script is its shim of an interpreter.
        below = name and path.is_relative_to(folder) and path != folder
        return str(path) if below and (path.is_file() or path.is_dir()) else ""
    except (OSError, ValueError):
        return ""
