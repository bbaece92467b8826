from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.driver.launch import INTERPRETERS, LaunchError, resolve
from tests.processes import read_line, start

SHELL_ECHO = "echo from the component\n"


class Place(NamedTuple):
    """A working directory, and the only folder on PATH."""

    cwd: Path
    bin: Path
    env: dict[str, str]

    def file(self, name: str, content: str | bytes, mode: int = 0o644) -> Path:
        return write(self.cwd / name, content, mode)

    def program(self, name: str) -> Path:
        return write(self.bin / name, "#!/bin/sh\n" + SHELL_ECHO, 0o755)


def write(path: Path, content: str | bytes, mode: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("cwd", "bin"):
        (tmp_path / name).mkdir()
    return Place(tmp_path / "cwd", tmp_path / "bin", {"PATH": str(tmp_path / "bin")})


@pytest.mark.parametrize(("suffix", "interpreter"), INTERPRETERS.items())
def test_a_file_alone_goes_by_its_suffix(place: Place, suffix: str, interpreter: str) -> None:
    file, program = place.file("bolt" + suffix, ""), place.program(interpreter)
    launch = resolve(["bolt" + suffix], place.cwd, place.env)
    assert launch.argv == (str(program), str(file))
    assert launch.why == f"by its suffix {suffix}, with {interpreter} at {program}"


@pytest.mark.parametrize("suffix", INTERPRETERS)
def test_a_missing_interpreter_is_named(place: Place, suffix: str) -> None:
    place.file("bolt" + suffix, "")
    with pytest.raises(LaunchError, match=f"there is no {INTERPRETERS[suffix]} on PATH") as error:
        resolve(["bolt" + suffix], place.cwd, place.env)
    assert error.value.reason == "no-interpreter"


def test_python_is_that_of_the_active_environment(place: Place) -> None:
    file, python = place.file("bolt.py", ""), place.program("python3")
    active = write(place.cwd / "venv/bin/python", "#!/bin/sh\n", 0o755)
    env = {**place.env, "VIRTUAL_ENV": str(place.cwd / "venv")}
    launch = resolve(["bolt.py"], place.cwd, env)
    assert launch.argv == (str(active), str(file))
    assert "active virtual environment" in launch.why
    active.unlink()
    assert resolve(["bolt.py"], place.cwd, env).argv[0] == str(python)


def test_python_is_never_that_of_mlcheck(place: Place) -> None:
    place.file("bolt.py", "")
    with pytest.raises(LaunchError, match="no python3 on PATH"):
        resolve(["bolt.py"], place.cwd, place.env)
    python = place.program("python3")
    assert resolve(["bolt.py"], place.cwd, place.env).argv[0] == str(python) != sys.executable


@pytest.mark.component
@pytest.mark.parametrize("name", ["bolt", "bolt.py", "bolt.unknown", "sub/bolt", "-x.sh", "a b.sh"])
def test_an_executable_file_goes_by_its_shebang(place: Place, name: str) -> None:
    file = place.file(name, "#!/bin/sh\n" + SHELL_ECHO, 0o755)
    launch = resolve([name], place.cwd, place.env)
    assert (launch.argv, launch.why) == ((str(file),), "by its shebang")
    with start(*launch.argv, cwd=place.cwd) as process:
        assert read_line(process) == b"from the component\n"


@pytest.mark.component
def test_a_binary_is_executed(place: Place) -> None:
    echo = shutil.which("echo")
    assert echo is not None
    shutil.copy(echo, place.cwd / "component")
    launch = resolve(["component"], place.cwd, place.env)
    assert launch.why == "it is executable"
    with start(*launch.argv, cwd=place.cwd) as process:
        assert read_line(process) == b"\n"


def test_an_executable_script_without_shebang_goes_by_its_suffix(place: Place) -> None:
    file, shell = place.file("bolt.sh", SHELL_ECHO, 0o755), place.program("sh")
    assert resolve(["bolt.sh"], place.cwd, place.env).argv == (str(shell), str(file))


@pytest.mark.parametrize(
    ("first", "shell"),
    [("#!/bin/bash", "bash"), ("#!/usr/bin/env bash", "bash"), ("#!/bin/sh -e", "sh"), ("#!/opt/a", "sh"), ("", "sh")],
)
def test_a_shell_script_goes_by_the_shell_that_it_names_though_it_is_not_executable(
    place: Place, first: str, shell: str
) -> None:
    file = place.file("bolt.sh", f"{first}\n{SHELL_ECHO}")
    wanted = {name: place.program(name) for name in ("sh", "bash")}[shell]
    assert resolve(["bolt.sh"], place.cwd, place.env).argv == (str(wanted), str(file))


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["tool"], "bin/tool"),
        (["tool", "--flag", "x y"], "bin/tool"),
        (["./local", "--flag"], "cwd/local"),
        (["../cwd/local", "--flag"], "cwd/../cwd/local"),
    ],
)
def test_more_words_are_taken_as_they_are(place: Place, words: list[str], path: str) -> None:
    place.program("tool")
    place.file("local", "#!/bin/sh\n", 0o755)
    launch = resolve(words, place.cwd, place.env)
    assert Path(launch.argv[0]) == place.cwd.parent / path
    assert list(launch.argv[1:]) == words[1:]


def test_relative_parts_of_path_are_relative_to_the_working_directory(place: Place) -> None:
    tool = place.file("tools/tool", "#!/bin/sh\n", 0o755)
    assert resolve(["tool", "x"], place.cwd, {"PATH": "tools"}).argv == (str(tool), "x")


def test_a_folder_does_not_hide_a_program(place: Place) -> None:
    tool = place.program("tool")
    (place.cwd / "tool").mkdir()
    assert resolve(["tool"], place.cwd, place.env).argv == (str(tool),)


class Refused(NamedTuple):
    words: tuple[str, ...]
    content: str | bytes | None
    mode: int
    reason: str
    message: str
    hint: str = ""


REFUSED = {
    "missing": Refused(("nothing.py",), None, 0, "missing", "nothing.py is neither a file here nor on PATH."),
    "missing path": Refused(("./nothing", "x"), None, 0, "missing", "./nothing does not exist."),
    "mistyped": Refused(("blot.py",), "", 0o644, "missing", "blot.py is neither", "did you mean bolt.py?"),
    "mistyped program": Refused(("tol", "x"), None, 0, "missing", "tol is neither", "did you mean tool?"),
    "here, not on PATH": Refused(("bolt.py", "x"), "", 0o644, "missing", "bolt.py is neither", "say ./bolt.py"),
    "empty word": Refused(("",), None, 0, "missing", "the command is an empty word."),
    "nul": Refused(("a\0b",), None, 0, "missing", "a\\x00b is neither a file here nor on PATH."),
    "folder": Refused((".",), None, 0, "directory", ". is a directory, not a program."),
    "folder with words": Refused(("../cwd", "x"), None, 0, "directory", "../cwd is a directory, not a program."),
    "unknown suffix": Refused(("bolt.xyz",), "", 0o644, "not-executable", "its suffix .xyz says nothing", "chmod +x"),
    "no suffix": Refused(("bolt",), "", 0o644, "not-executable", "its suffix (none) says nothing", "chmod +x"),
    "not executable": Refused(
        ("./bolt.py", "x"), "", 0o644, "not-executable", "./bolt.py is not executable.", "-- python3 ./bolt.py x"
    ),
    "empty": Refused(("bolt",), "", 0o755, "bad-format", "bolt is empty."),
    "CRLF": Refused(("bolt.py",), "#!/bin/sh\r\necho\r\n", 0o755, "bad-shebang", "ends with CR LF", "LF line ends"),
    "BOM": Refused(("bolt.sh",), b"\xef\xbb\xbf#!/bin/sh\n", 0o755, "bad-shebang", "byte order mark", "without a byte"),
    "names nothing": Refused(
        ("bolt.py",), "#!\n", 0o755, "bad-shebang", "the shebang of bolt.py names no interpreter."
    ),
    "names blanks": Refused(("bolt.py",), "#!  \t\n", 0o755, "bad-shebang", "names no interpreter."),
    "no interpreter": Refused(
        ("bolt",), "#!/no/such -x\n", 0o755, "bad-shebang", "names /no/such, which does not exist."
    ),
    "interpreter that can't": Refused(
        ("bolt",), "#!/etc/passwd\n", 0o755, "bad-shebang", "names /etc/passwd, which is not executable."
    ),
    "env without program": Refused(
        ("bolt",), "#!/usr/bin/env\n", 0o755, "bad-shebang", "gives env no program to start."
    ),
    "env of nothing": Refused(
        ("bolt",), "#!/usr/bin/env nolang\n", 0o755, "bad-shebang", "asks env for 'nolang', which is not on PATH."
    ),
    "env with words": Refused(
        ("bolt",), "#!/usr/bin/env tool -u\n", 0o755, "bad-shebang", "asks env for 'tool -u'", "#!/usr/bin/env -S"
    ),
    "env -S of nothing": Refused(
        ("bolt",), "#!/usr/bin/env -S A=1 nolang -u\n", 0o755, "bad-shebang", "asks env for 'nolang'"
    ),
    "shebang of an argument": Refused(("./bolt", "x"), "#!/no/such\n", 0o755, "bad-shebang", "names /no/such"),
    "escape": Refused(("\x1b[31mred",), None, 0, "missing", "\\x1b[31mred is neither"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="env is handed one word on Linux alone")
@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_started_is_said_in_one_sentence(place: Place, case: Refused) -> None:
    place.program("tool")
    if case.content is not None:
        name = case.words[0] if not case.hint.startswith("did you mean") else "bolt.py"
        place.file(name, case.content, case.mode)
    with pytest.raises(LaunchError) as error:
        resolve(case.words, place.cwd, place.env)
    assert error.value.reason == case.reason
    assert case.message in error.value.message
    assert case.hint in error.value.hint
    assert error.value.message.endswith(".")
    assert error.value.message.isprintable()
    assert error.value.hint.isprintable()


@pytest.mark.parametrize("line", ["#!/usr/bin/env tool", "#!/usr/bin/env -S tool -u", "#! /usr/bin/env -S A=1 tool"])
def test_env_finds_its_program(place: Place, line: str) -> None:
    place.program("tool")
    file = place.file("bolt", line + "\n", 0o755)
    assert resolve(["bolt"], place.cwd, place.env).argv == (str(file),)


def test_the_working_directory_must_be_one(place: Place) -> None:
    with pytest.raises(LaunchError, match=r"the working directory .* is not a directory"):
        resolve(["bolt.py"], place.cwd / "nowhere", place.env)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + ".py", "./" + "x" * 5000])
def test_a_name_too_long_for_a_file_is_missing(name: str, place: Place) -> None:
    with pytest.raises(LaunchError) as error:
        resolve([name], place.cwd, place.env)
    assert error.value.reason == "missing"
    with pytest.raises(LaunchError, match="is not a directory"):
        resolve(["bolt.py"], place.cwd / name, place.env)


@given(st.lists(st.text(max_size=300), min_size=1, max_size=3), st.binary(max_size=40))
def test_anything_else_is_refused_too(tmp_path_factory: pytest.TempPathFactory, words: list[str], head: bytes) -> None:
    cwd = tmp_path_factory.getbasetemp()
    write(cwd / "component", b"#!" + head, 0o755)
    for command in (words, ["component"]):
        assert sentence_or_file(command, cwd)


def sentence_or_file(command: list[str], cwd: Path) -> bool:
    try:
        return Path(resolve(command, cwd, {"PATH": os.devnull}).argv[0]).is_file()
    except LaunchError as error:
        return error.message.isprintable()
