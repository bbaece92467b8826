"""Tutorials are followed from first to last command, as a newcomer would: what they show is what happens.

In a page, a block ``sh`` is typed, a block ``console`` is typed and its output compared (``...`` stands for anything, a
number for any other), a block with ``title="FILE"`` is that file, and a block ``diff`` with a title changes it.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(set((ROOT / "docs" / "tutorials").glob("*.md")) - {ROOT / "docs" / "tutorials" / "index.md"})
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"exit code (\d+)\s*$")
VARIES = (
    (re.compile(r"-?\d[\d,.]*"), "N"),
    (re.compile(r"[ ]+"), " "),
    (re.compile(r"\S*/bin/python3"), "python3"),
)

pytestmark = pytest.mark.component


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str
    body: str


def steady(text: str) -> str:
    """Text without what differs from run to run."""
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


class Reader:
    """Somebody who does what a page says, in a folder of their own."""

    def __init__(self, home: Path) -> None:
        self.home = self.here = home
        # A reader has the command alone, as by `uv tool install`: their python3 knows nothing of mlcheck.
        own = Path(sys.executable).parent
        (home / ".bin").mkdir()
        (home / ".bin" / "mlcheck").symlink_to(own / "mlcheck")
        others = [folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) != own]
        programs = os.pathsep.join([str(home / ".bin"), *others])
        hidden = ("MLCHECK_", "PYTHON", "COLUMNS", "FORCE_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        self.env = {**kept, "PATH": programs, "NO_COLOR": "1", "COLUMNS": "80"}

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
            timeout=120,
        )
        self.here = Path((self.home / ".here").read_text(encoding="utf-8").strip())
        return done.returncode, done.stdout or done.stderr

    def follow(self, block: Block) -> None:
        """Do what one block says."""
        if block.title:
            self.edit(block)
        elif block.language == "sh":
            for line in block.body.replace("\\\n", " ").splitlines():
                code, said = self.type_in(line)
                assert code == 0, f"$ {line}\nexit code {code}\n{said}"
        elif block.language == "console":
            for typed in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
                self.compare(*typed.split("\n", 1))

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

    def compare(self, line: str, shown: str) -> None:
        """Type a line, and hold its output and exit code against what the page shows."""
        code, said = self.type_in(line)
        told = None if "echo" in line else CODE.search(shown)
        assert code == (int(told[1]) if told else 0), f"$ {line}\nexit code {code}\n{said}"
        wanted, got = steady(shown), steady(said)
        checker = doctest.OutputChecker()
        assert checker.check_output(f"{wanted}\n", f"{got}\n", doctest.ELLIPSIS), f"$ {line}\n{said}"


def test_every_tutorial_is_followed() -> None:
    assert {page.stem for page in PAGES} == {"bolt", "hang", "incident", "library", "topology"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path) -> None:
    blocks = [Block(*found) for found in FENCE.findall(page.read_text(encoding="utf-8"))]
    assert sum(block.language in {"sh", "console"} for block in blocks) >= 4
    reader = Reader(tmp_path)
    for block in blocks:
        reader.follow(block)
