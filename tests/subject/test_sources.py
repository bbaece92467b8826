"""The language of a program, and the sources of it that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.subject.sources import source_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("suffix", "language"), [(".c", "c"), (".cpp", "cpp")])
def test_a_program_without_a_mark_is_of_the_source_beside_it(tmp_path: Path, suffix: str, language: str) -> None:
    (tmp_path / "bolt").write_bytes(b"\x7fELF")
    assert source_of(["./bolt"], tmp_path, "bolt").language == ""
    source = tmp_path / f"bolt{suffix}"
    source.write_text("int main(void) { return 0; }\n")
    found = source_of(["./bolt"], tmp_path, "bolt")
    assert (found.language, found.programs) == (language, (str(source.resolve()),))


def test_a_name_as_long_as_names_may_be_has_no_source_beside_it(tmp_path: Path) -> None:
    program = tmp_path / ("b" * 254)
    program.write_bytes(b"\x7fELF")
    assert source_of([f"./{program.name}"], tmp_path, "bolt").language == ""
