"""Made transcripts as the tables conversations and events, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from multilang_cli.audit import parsing
from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.tables import CONVERSATIONS, EVENTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write_tables(files: Mapping[str, bytes], folder: Path) -> None:
    """``conversations.parquet`` and ``events.parquet`` of these transcripts."""
    headers: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    for name, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            said = parsing.parse(line)
            place = {"file": name, "line": number, "raw": line, "header": line}
            fields = {field: getattr(said, field) for field in said.__struct_fields__}
            if isinstance(said, parsing.HeaderRow):
                headers.append(fields | place | {"closed": False})
            elif isinstance(said, parsing.EndRow):
                headers[-1]["closed"] = True
            elif isinstance(said, parsing.EventRow):
                events.append(fields | place)
    for table, rows in ((CONVERSATIONS, headers), (EVENTS, events)):
        schema = arrow_schema(table.columns)
        columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
        pq.write_table(pa.Table.from_arrays(columns, schema=schema), folder / f"{table.name}.parquet")
