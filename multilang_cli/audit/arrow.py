"""The tables' columns as Arrow has them: for what runs on executors, where no JVM can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.audit.columns import TableColumn

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


def batch_of(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """A batch of rows; what one does not have is null in it."""
    return pa.RecordBatch.from_arrays([_array(rows, field) for field in schema], schema=schema)


def _array(rows: list[dict[str, Any]], field: pa.Field) -> pa.Array:
    values = [row.get(field.name) for row in rows]
    if pa.types.is_map(field.type):
        values = [None if value is None else list(value.items()) for value in values]
    return pa.array(values, field.type)
