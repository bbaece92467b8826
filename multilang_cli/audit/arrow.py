"""The tables' columns as Arrow has them: for what runs on executors, where no JVM can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.audit.tables import TableColumn

_PLAIN: dict[str, pa.DataType] = {
    "string": pa.string(),
    "binary": pa.binary(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
}


def arrow_type(spelt: str) -> pa.DataType:
    """The Arrow type of a type as `tables` spells it. Raises KeyError for one that no table has."""
    if spelt == "map<string,string>":
        return pa.map_(pa.string(), pa.string())
    inner = spelt.removeprefix("array<")
    return _PLAIN[spelt] if inner == spelt else pa.list_(arrow_type(inner.removesuffix(">")))


def arrow_schema(columns: Iterable[TableColumn]) -> pa.Schema:
    """These columns as an Arrow schema."""
    return pa.schema([(column.name, arrow_type(column.type)) for column in columns])
