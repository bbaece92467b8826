"""Command lines of components: a file alone by its shebang or suffix, more words as they are.

Looks at the file system, starts nothing. Never mlcheck's own interpreter: a component must see its own packages.
"""

from __future__ import annotations

import difflib
import errno
import os
import shlex
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LaunchFault = Literal[
    "missing", "directory", "not-executable", "bad-shebang", "no-interpreter", "bad-format", "bad-cwd", "refused"
]

INTERPRETERS = {
    ".py": "python3",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".rb": "ruby",
    ".pl": "perl",
    ".php": "php",
    ".sh": "sh",
    ".lua": "lua",
}
"""What runs a file of this suffix, looked for on PATH."""
_SHELLS = frozenset({"sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"})
"""Programs whose scripts end with ``.sh``: a shebang says for which, whether or not the system would look at it."""

_SHEBANG_LENGTH = 256
_NAMES_LOOKED_AT = 20_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LaunchError(Exception):
    """A component can't be started. `message`: one sentence that says why; `hint`: what would help, or ""."""

    def __init__(self, reason: LaunchFault, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.hint = hint


class Launch(msgspec.Struct, frozen=True):
    """A program to be started: `argv` for exec, its first word an absolute path; `why`, in words to be printed."""

    argv: tuple[str, ...]
    why: str


def _mode(path: Path) -> int:
    """The mode of `path`, as ``stat`` says; 0 where nothing does, or nothing can: a name may be too long for one."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(_mode(path))


def _is_dir(path: Path) -> bool:
    return stat.S_ISDIR(_mode(path))


def resolve(words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Launch:
    """Find out what to start.

    `words`: the command as the user wrote it, at least one word; files are relative to `cwd`, the component's working
    directory. `env`: the component's environment, for PATH and VIRTUAL_ENV. Raises LaunchError.
    """
    if not _is_dir(cwd):
        raise LaunchError("bad-cwd", f"the working directory {show(cwd)} is not a directory.")
    name = words[0]
    path = cwd / name
    if len(words) == 1 and _is_file(path):
        return _file_alone(path.absolute(), cwd, env)
    program = None if "/" in name else find_program(name, cwd, env)
    if program is not None:
        check_program(program, cwd, env)
        return Launch((str(program), *words[1:]), f"found on PATH as {show(program)}")
    if _is_dir(path) and name:
        raise LaunchError("directory", f"{show(name)} is a directory, not a program.")
    if "/" not in name or not _mode(path):
        raise LaunchError("missing", _missing(name), _similar(name, cwd, env))
    program = path.absolute()
    if not is_executable(program):
        raise LaunchError("not-executable", f"{show(name)} is not executable.", _runnable(program, words))
    check_program(program, cwd, env)
    return Launch((str(program), *words[1:]), "as it was given")


def find_program(name: str, cwd: Path, env: Mapping[str, str]) -> Path | None:
    """Look a name up on the PATH of `env`, whose relative parts are relative to `cwd`."""
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        candidate = (cwd / folder / name).absolute()
        if name and _is_file(candidate) and is_executable(candidate):
            return candidate
    return None


def is_executable(path: Path) -> bool:
    """Tell whether we may execute a file."""
    return os.access(path, os.X_OK)


def show(text: str | Path) -> str:
    """Return a name for a sentence: what can't be printed is escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))


def readable(word: str) -> str:
    """A word of a command line for reports: bytes that are no UTF-8, which file names may have, are escaped."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def check_program(path: Path, cwd: Path, env: Mapping[str, str]) -> None:
    """Raise LaunchError if the system would refuse to execute this file for what stands at its beginning."""
    head = _head(path)
    if head is None:
        return
    if not head:
        raise LaunchError("bad-format", f"{show(path.name)} is empty.")
    if head.startswith(_BYTE_ORDER_MARK + b"#!"):
        sentence = f"the shebang of {show(path.name)} stands behind a byte order mark, so the system does not see it."
        raise LaunchError("bad-shebang", sentence, "save the file as UTF-8 without a byte order mark")
    if head.startswith(b"#!"):
        _check_shebang(path, head, cwd, env)


def refused(program: str, cwd: Path, env: Mapping[str, str], error: OSError | ValueError) -> LaunchError:
    """Say in a sentence why exec failed."""
    name = show(program)
    number = error.errno if isinstance(error, OSError) else None
    if not _is_dir(cwd):
        return LaunchError("bad-cwd", f"the working directory {show(cwd)} is not a directory.")
    try:
        if number in (errno.ENOENT, errno.EACCES, errno.ENOEXEC) and _is_file(cwd / program):
            check_program(cwd / program, cwd, env)
    except LaunchError as better:
        return better
    if number == errno.ENOEXEC:
        hint = "begin it with a shebang such as #!/bin/sh"
        return LaunchError("bad-format", f"{name} has no shebang and is no program of this machine.", hint)
    if number == errno.ENOENT:
        return LaunchError("missing", f"{name} does not exist, or what it needs to be started does not.")
    if number == errno.EACCES:
        return LaunchError("not-executable", f"{name} is not executable.")
    why = os.strerror(number) if number else str(error)
    return LaunchError("refused", f"the system does not start {name}: {why}.")


def _file_alone(path: Path, cwd: Path, env: Mapping[str, str]) -> Launch:
    suffix = path.suffix.lower()
    if is_executable(path):
        head = _head(path)
        if head is None or head.lstrip(_BYTE_ORDER_MARK).startswith(b"#!"):
            check_program(path, cwd, env)
            return Launch((str(path),), "by its shebang" if head else "it is executable")
        if suffix not in INTERPRETERS:
            check_program(path, cwd, env)
            return Launch((str(path),), "it is executable")
    if suffix not in INTERPRETERS:
        sentence = f"{show(path.name)} is not executable, and its suffix {show(suffix) or '(none)'} says nothing."
        raise LaunchError("not-executable", sentence, _runnable(path, [path.name]))
    interpreter, how = _by_suffix(suffix, path, cwd, env)
    return Launch((str(interpreter), str(path)), f"by its suffix {suffix}, with {how}")


def _by_suffix(suffix: str, path: Path, cwd: Path, env: Mapping[str, str]) -> tuple[Path, str]:
    name = _shell_of(path) if suffix == ".sh" else INTERPRETERS[suffix]
    active = env.get("VIRTUAL_ENV", "")
    if suffix == ".py" and active:
        python = (cwd / active / "bin" / "python").absolute()
        if _is_file(python) and is_executable(python):
            return python, f"the python of the active virtual environment, {show(python)}"
    found = find_program(name, cwd, env)
    if found is None:
        sentence = f"{show(path.name)} is started with {name} for its suffix, but there is no {name} on PATH."
        raise LaunchError("no-interpreter", sentence, f"install {name}, or give the whole command after --")
    return found, f"{name} at {show(found)}"


def _shell_of(path: Path) -> str:
    words = (_head(path) or b"").split(b"\n", 1)[0].removeprefix(b"#!").split()
    names = [os.fsdecode(word).rpartition("/")[2] for word in words]
    return next((name for name in names if name in _SHELLS), INTERPRETERS[".sh"])


def _check_shebang(path: Path, head: bytes, cwd: Path, env: Mapping[str, str]) -> None:
    line = head[2:].split(b"\n", 1)[0]
    name = show(path.name)
    if line.endswith(b"\r"):
        sentence = (
            f"the first line of {name} ends with CR LF, so the system looks for an interpreter with a CR in its name."
        )
        raise LaunchError("bad-shebang", sentence, "save the file with LF line ends")
    interpreter, _, argument = os.fsdecode(line.strip(b" \t")).partition(" ")
    if not interpreter:
        raise LaunchError("bad-shebang", f"the shebang of {name} names no interpreter.")
    runs = cwd / interpreter
    if not _is_file(runs):
        raise LaunchError("bad-shebang", f"the shebang of {name} names {show(interpreter)}, which does not exist.")
    if not is_executable(runs):
        raise LaunchError("bad-shebang", f"the shebang of {name} names {show(interpreter)}, which is not executable.")
    if runs.name == "env":
        _check_env(name, argument.strip(), cwd, env)


def _check_env(name: str, argument: str, cwd: Path, env: Mapping[str, str]) -> None:
    """Check the ``env`` idiom. Linux hands env the rest of the line as one word, unless -S has it split."""
    split = argument.startswith("-S") or sys.platform != "linux"
    if split:
        words = [word for word in argument.removeprefix("-S").split() if "=" not in word and word[0] != "-"]
        wanted = words[0] if words else ""
    else:
        wanted = argument
    if not wanted:
        raise LaunchError("bad-shebang", f"the shebang of {name} gives env no program to start.")
    if wanted.startswith("-") or "/" in wanted or find_program(wanted, cwd, env) is not None:
        return
    hint = "write #!/usr/bin/env -S to have the words split" if " " in wanted else ""
    raise LaunchError(
        "bad-shebang", f"the shebang of {name} asks env for {show(wanted)!r}, which is not on PATH.", hint
    )


def _head(path: Path) -> bytes | None:
    """Return the beginning of a file; None if it may be executed, but not read."""
    try:
        with path.open("rb") as file:
            return file.read(_SHEBANG_LENGTH)
    except OSError:
        return None


def _missing(name: str) -> str:
    if not name:
        return "the command is an empty word."
    return f"{show(name)} does not exist." if "/" in name else f"{show(name)} is neither a file here nor on PATH."


def _runnable(path: Path, words: Sequence[str]) -> str:
    """Say how a file that isn't executable could be started."""
    interpreter = INTERPRETERS.get(path.suffix.lower())
    if interpreter is None:
        return f"chmod +x {shlex.quote(words[0])}, or name its interpreter: -- INTERPRETER {shlex.join(words)}"
    return f"name its interpreter: -- {interpreter} {shlex.join(words)}"


def _similar(name: str, cwd: Path, env: Mapping[str, str]) -> str:
    """Return a hint at names that are like this one, "" if there is none."""
    if "/" not in name and _is_file(cwd / name):
        return f"there is a file of that name: say ./{show(name)}"
    folder = (cwd / name).parent
    folders = (
        [folder] if "/" in name else [cwd, *(cwd / part for part in env.get("PATH", os.defpath).split(os.pathsep))]
    )
    names: dict[str, None] = {}
    for place in folders:
        try:
            with os.scandir(place) as found:
                names.update((entry.name, None) for entry in found)
        except OSError:
            continue
    close = difflib.get_close_matches(Path(name).name, list(names)[:_NAMES_LOOKED_AT], n=2, cutoff=0.75)
    return f"did you mean {' or '.join(map(show, close))}?" if close else ""
