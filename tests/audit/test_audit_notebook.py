"""The notebook of the examples, cell by cell: it works from a clone, on recordings that it makes itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.command import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
NOTEBOOK = json.loads((ROOT / "examples" / "audit.ipynb").read_text(encoding="utf-8"))


def test_the_notebook_runs_as_it_stands(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells)
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in cells:
        text = "".join(cell["source"])
        exec(compile(text, f"examples/audit.ipynb, {cell['id']}", "exec"), names)  # noqa: S102 (our own)
    assert names["spark"].sparkContext.applicationId == spark.sparkContext.applicationId
    trees = {row.verdict: row.trees for row in names["trees"].collect()}
    assert trees == {"completed": 6}
    assert {(row.source, row.component): row.never for row in names["edges"].collect()} == {
        ("queue", "split"): 0,
        ("split", "count"): 0,
    }
    assert names["result"].verdict == "conformant"
    assert "<!doctype html>" in (names["place"] / "audit.html").read_text(encoding="utf-8")
