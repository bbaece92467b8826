"""Each recipe for a library in CI is followed, in a repository that has a library where the page says."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from multilang_cli.scaffold.writing import languages
from multilang_cli.subject.testee import read_testee
from tests.command import ROOT, mlcheck
from tests.following.reader import Reader, blocks_of

if TYPE_CHECKING:
    from pathlib import Path

TESTEES = {name: each.testee for name, each in languages().items() if each.testee}
PAGE = (ROOT / "docs" / "ci-libraries.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
LIBRARIES = {
    "c": {name: f"src/{name}" for name in ("storm.c", "json.c", "storm.h")},
    "go": {"storm/storm.go": "storm.go"},
    "java": {"src/Storm.java": "src/Storm.java", "pom.xml": "pom.xml"},
    "javascript": {"lib/storm.js": "index.js"},
    "lua": {"storm.lua": "src/storm.lua"},
    "perl": {"Storm.pm": "lib/Storm.pm"},
    "php": {"Storm.php": "src/Storm.php"},
    "python": {"lib/storm.py": "storm.py"},
    "ruby": {"lib/storm.rb": "lib/storm.rb"},
    "rust": {"src/storm.rs": "src/storm.rs", "src/json.rs": "src/json.rs"},
}
"""What stands for the user's library, in each language: files of the shipped testee, and where they are put."""
WRITTEN = {
    "go": {"go.mod": "module example.org/storm\n\ngo 1.19\n"},
    "javascript": {"package.json": '{"name": "storm", "version": "1.0.0", "main": "index.js"}\n'},
    "python": {
        "pyproject.toml": '[project]\nname = "storm"\nversion = "1"\n[tool.setuptools]\npy-modules = ["storm"]\n'
    },
    "rust": {
        "Cargo.toml": '[package]\nname = "library"\nversion = "1.0.0"\nedition = "2021"\n',
        "src/lib.rs": "pub mod json;\npub mod storm;\n",
    },
}
"""What makes a package of it."""
CALLED = (
    "<groupId>component</groupId>\n  <artifactId>component<",
    "<groupId>example</groupId>\n  <artifactId>storm<",
)
"""The name in Maven's file of the testee, and of the library."""


def library_in(folder: Path, language: str) -> None:
    """Put a library of this language into `folder`, as its author has it."""
    shipped = folder / "shipped"
    assert mlcheck("new", "testee", "--language", language, "shipped", cwd=folder).returncode == 0
    if any(not (shipped / file).exists() for file in LIBRARIES[language]):
        for words in read_testee(shipped).prepare:
            subprocess.run(words, cwd=shipped, check=True, capture_output=True)
    for source, target in LIBRARIES[language].items():
        text = (shipped / source).read_text(encoding="utf-8").replace(*CALLED)
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        (folder / target).write_text(text, encoding="utf-8")
    for target, text in WRITTEN.get(language, {}).items():
        (folder / target).write_text(text, encoding="utf-8")
    shutil.rmtree(shipped)


def test_every_language_of_testees_has_a_recipe() -> None:
    assert {name.lower() for name in RECIPES} == TESTEES.keys() == LIBRARIES.keys()
    listed = re.findall(r"^\| \[(\w+)\]\(#(\w+)\) \|", PAGE, re.MULTILINE)
    assert [name for name, _ in listed] == [*RECIPES]
    assert all(name.lower() == anchor for name, anchor in listed)


@pytest.mark.component
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_does_what_it_says(name: str, tmp_path: Path) -> None:
    library_in(tmp_path, name.lower())
    reader = Reader(tmp_path)
    blocks = blocks_of(RECIPES[name])
    assert sum(block.language == "sh" for block in blocks) == 2
    for block in blocks:
        reader.follow(block)
    assert not list((tmp_path / "testee").glob("known-failures-*")), "those of another library would excuse this one's"
