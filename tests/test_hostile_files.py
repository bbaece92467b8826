"""Files that would end the process, or be called a fault of mlcheck's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.suite.case import CaseError, read_case
from multilang_cli.suite.documents import DocumentError, parse

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = {
    "brackets": "id: " + "[" * 200_000,
    "closed": "id: " + "[" * 5000 + "]" * 5000,
    "dashes": "- " * 5000 + "x",
    "digits": "id: " + "1" * 5000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_yaml_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CaseError, match=r"case\.yaml"):
        read_case(path)
    with pytest.raises(DocumentError, match=r"case\.yaml"):
        parse(text, ".yaml", "case.yaml")
