"""The line of a bolt's source that emits, which a broken promise is told with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.topology.judging import line_that_emits
from multilang_cli.topology.model import ComponentSpec

if TYPE_CHECKING:
    from pathlib import Path

EMITS = [
    ("split.py", "storm.emit([word])"),
    ("split.py", "        self.emit_many(words, anchors=[tup])"),
    ("split.js", "  self.emit({tuple: [word], anchorTupleId: tup.id}, done);"),
    ("split.rb", "      emit [word]"),
    ("split.pl", "    $self->emit([$word], undef, [$tuple]);"),
    ("split.php", "    $this->emit(array($word));"),
    ("split.go", "\tconn.Emit(contents, stream)"),
    ("split.sh", """printf '{"command":"emit","tuple":["%s"]}\\nend\\n' "$word\""""),
]


def found(folder: Path, name: str, *lines: str) -> str:
    (folder / name).write_text("\n".join(["", *lines, ""]))
    bolt = ComponentSpec(id="split", kind="bolt", command=(name.rpartition(".")[2], name))
    return line_that_emits(bolt, folder)


@pytest.mark.parametrize(("name", "line"), EMITS)
def test_the_only_line_that_emits_is_named(tmp_path: Path, name: str, line: str) -> None:
    assert found(tmp_path, name, line, "# emit([1])" if name.endswith("py") else "").startswith(
        f"{name}:2: {line.strip()[:50]}"
    )


def test_what_stands_in_a_source_moves_no_cursor(tmp_path: Path) -> None:
    assert "\x1b" not in found(tmp_path, "split.py", "emit([word])  # \x1b[2J")


@pytest.mark.parametrize("lines", [("emit([1])", "emit([2])"), ("def emit(values):",), ("emitted = 1",)])
def test_of_several_none_is_named_and_a_definition_is_none(tmp_path: Path, lines: tuple[str, ...]) -> None:
    assert not found(tmp_path, "split.py", *lines)
