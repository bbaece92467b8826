"""A reader of a page, who types what its blocks say in a folder of their own and compares what is shown.

In a page, a block ``sh`` is typed, a block ``console`` is typed and its output compared (``...`` stands for anything, a
number for any other), a block with ``title="FILE"`` is that file, and a block ``diff`` with a title changes it.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FENCE = re.compile(r"^( *)```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"exit code (\d+)\s*$")
COMMENT = re.compile(r"\s+# .*$")
PROMPT = re.compile(r"^\$ ", re.MULTILINE)
VARIES = (
    (re.compile(r"-?\d[\d,.]*"), "N"),
    (re.compile(r"\bN ([a-z]+?)s?\b"), r"N \1"),
    (re.compile(r"[ ]+"), " "),
    (re.compile(r"\S*/bin/python3"), "python3"),
)
LONGEST = 280
"""Seconds for a line."""


class Step(NamedTuple):
    """A line to type, and what the page shows of it, if anything; `plays` is the line that is typed in its place."""

    line: str
    shown: str | None = None
    plays: str = ""
    code: int | None = None

    @property
    def wanted(self) -> int:
        """Its exit code: what is said, what is shown, or that of the verdict that is shown."""
        if self.code is not None or self.shown is None or "echo" in self.line:
            return self.code or 0
        told = CODE.search(self.shown)
        return int(told[1]) if told else int("FAIL  " in self.shown)


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str
    body: str

    def steps(self) -> Iterator[Step]:
        """What is typed."""
        if self.title:
            return
        if self.language == "sh":
            yield from map(Step, _lines(self.body.replace("\\\n", " ")))
        if self.language == "console":
            for typed in PROMPT.split(self.body)[1:]:
                line, _, shown = typed.partition("\n")
                yield Step(line, shown)


def _lines(text: str) -> Iterator[str]:
    """Lines of a shell, without comments; what stands in quotes may go on in the next one."""
    line = ""
    for part in text.splitlines():
        line += COMMENT.sub("", f"\n{part}" if line else part)
        with suppress(ValueError):
            shlex.split(line)
            yield line
            line = ""


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page."""
    return [Block(language, title, dedent(body)) for _, language, title, body in FENCE.findall(text)]


def steady(text: str) -> str:
    """Text without what differs from run to run."""
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


class Reader:
    """Somebody who does what a page says, in a folder of their own."""

    def __init__(self, home: Path, **more: str) -> None:
        self.home = self.here = home
        # A reader has the commands alone, as by `uv tool install`: their python3 knows nothing of mlcheck.
        own = Path(sys.executable).parent
        (home / ".bin").mkdir()
        for command in own.glob("mlcheck*"):
            (home / ".bin" / command.name).symlink_to(command)
        others = [folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) != own]
        programs = os.pathsep.join([str(home / ".bin"), *others])
        hidden = ("MLCHECK_", "PYTHON", "COLUMNS", "FORCE_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        self.env = {**kept, "PATH": programs, "NO_COLOR": "1", "COLUMNS": "80", **more}

    def type_in(self, line: str) -> tuple[int, str]:
        """The exit code of a line, and what it prints; where it leaves the shell is where the next one begins."""
        script = f'{line}\ncode=$?\npwd > "{self.home}/.here"\nexit $code'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.here,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
        self.here = Path((self.home / ".here").read_text(encoding="utf-8").strip())
        return done.returncode, done.stdout or done.stderr

    def follow(self, block: Block, told: Mapping[str, Step | None] | None = None) -> None:
        """Do what one block says, or what is `told` in place of some of its lines: None for nothing."""
        if block.title:
            self.edit(block)
        for step in block.steps():
            if (instead := (told or {}).get(step.line, step)) is not None:
                self.take(instead._replace(shown=step.shown))

    def take(self, step: Step) -> None:
        """Type a line, and hold its output and exit code against what the page shows."""
        code, said = self.type_in(step.plays or step.line)
        assert code == step.wanted, f"$ {step.line}\nexit code {code}\n{said}"
        if step.shown is not None:
            shown, got = f"{steady(step.shown)}\n", f"{steady(said)}\n"
            assert doctest.OutputChecker().check_output(shown, got, doctest.ELLIPSIS), f"$ {step.line}\n{said}"

    def edit(self, block: Block) -> None:
        """Write or change a file."""
        file = self.here / block.title
        if block.language != "diff":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
            return
        text = file.read_text(encoding="utf-8")
        lines = block.body.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(old) == 1, f"{block.title} does not have, once:\n{old}"
        file.write_text(text.replace(old, new), encoding="utf-8")
