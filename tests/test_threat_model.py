"""The threat model names tests that are there; the soak that it speaks of sees what goes wrong, and finds nothing."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import hostile, readers
from tests.command import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "threat-model.md"
NAMED = sorted(set(re.findall(r"`(tests/(?:\w+/)?test_\w+\.py)(?:::(\w+))?`", PAGE.read_text(encoding="utf-8"))))


def test_it_names_tests_and_is_found() -> None:
    assert len(NAMED) > 15
    assert "(docs/threat-model.md)" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("file", "test"), NAMED, ids=["::".join(each) for each in NAMED])
def test_each_test_that_is_named_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8") if test else (ROOT / file).is_file()


@pytest.mark.long
def test_hostile_files_do_no_harm() -> None:
    readers = {name: hostile.READERS[name] for name in ("mlcheck.toml", "flux")}
    some = {name: reader._replace(texts=dict(list(reader.texts.items())[:2])) for name, reader in readers.items()}
    assert hostile.files(some) == {}


@pytest.mark.parametrize("name", readers.READERS)
def test_a_reader_reads_its_seeds_and_what_is_damaged_or_refuses_it(name: str, tmp_path: Path) -> None:
    attempt, draw = readers.Attempts(readers.READERS[name], tmp_path), random.Random(name)  # noqa: S311
    seeds = list(readers.READERS[name].seeds())[:3]
    assert seeds
    for text in (*seeds, *(readers.damaged(draw.choice(seeds)[:2000], draw, seeds) for _ in range(10))):
        attempt(text)


def test_a_reader_that_neither_reads_nor_refuses_is_seen(tmp_path: Path) -> None:
    reader = readers.READERS["plan"]._replace(refusals=())
    with pytest.raises(readers.Harm, match="FaultError"):
        readers.Attempts(reader, tmp_path)(b"no JSON")
    assert (tmp_path / "last").read_bytes() == b"no JSON"


@pytest.mark.component
def test_hostile_combinations_do_no_harm() -> None:
    assert hostile.combinations(2, seed=4) == {}


@pytest.mark.component
def test_what_goes_wrong_is_seen(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, env={hostile.MARK: "planted"}
    )
    try:
        assert hostile.orphans("planted")
        assert not hostile.orphans("another")
    finally:
        child.communicate()
    reader = hostile.FileReader("f", {"x": "x"}, ("no-such-command",))
    assert hostile.files({"one": reader}) == {}
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(5)\n")
    hostile_env = hostile.played(("--version",), tmp_path, {"PYTHONPATH": str(tmp_path)}, None, 0.0)
    assert hostile_env == {"fault": 1, "exit code": 1}
