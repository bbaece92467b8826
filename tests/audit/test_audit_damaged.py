"""Files that anything happened to: no line that is good is lost, none is read twice, and nothing is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.audit.damaged_files import damaged_file, wrong_in

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = range(200, 300)
"""In two of these a damaged line has the number of a good one. ``python -m benchmarks.audit_damaged`` does more."""


def test_no_good_line_of_a_damaged_file_is_lost(tmp_path: Path) -> None:
    wrong = {}
    for seed in SEEDS:
        name, file, text = damaged_file(seed)
        (tmp_path / name).write_bytes(file)
        wrong[seed] = wrong_in(tmp_path / name, text)
    assert {seed: each for seed, each in wrong.items() if each} == {}
