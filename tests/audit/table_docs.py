"""The tables in words, for ``docs/audit-tables.md``, and as JSON Schema: made of ``tables``, so they can't differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.audit.tables import TABLES

if TYPE_CHECKING:
    from multilang_cli.audit.columns import Table

_JSON: dict[str, Any] = {
    "string": {"type": "string"},
    "binary": {"type": "string", "contentEncoding": "base64"},
    "bigint": {"type": "integer"},
    "int": {"type": "integer"},
    "double": {"type": "number"},
    "boolean": {"type": "boolean"},
    "timestamp": {"type": "string", "format": "date-time"},
    "map<string,string>": {"type": "object", "additionalProperties": {"type": "string"}},
}


def markdown() -> str:
    """Every table with its columns."""
    return "\n".join(_section(table) for table in TABLES.values())


def schemas() -> dict[str, Any]:
    """A JSON Schema (2020-12) of a row of every table, by its name."""
    return {name: _schema(table) for name, table in TABLES.items()}


def _section(table: Table) -> str:
    rows = "".join(f"| `{column.name}` | {column.type} | {column.meaning} |\n" for column in table.all_columns)
    return f"### {table.name}\n\n{table.about}\n\n| column | type | meaning |\n| --- | --- | --- |\n{rows}"


def _schema(table: Table) -> dict[str, Any]:
    return {
        "description": table.about,
        "type": "object",
        "required": [column.name for column in table.columns],
        "properties": {column.name: {"description": column.meaning, **_of(column.type)} for column in table.columns},
    }


def _of(type_: str) -> dict[str, Any]:
    if type_.startswith("array<"):
        return {"type": ["array", "null"], "items": _of(type_.removeprefix("array<").removesuffix(">"))}
    known: dict[str, Any] = _JSON[type_]
    return {**known, "type": [known["type"], "null"]}
