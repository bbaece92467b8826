"""The tables of the audit (``conformance/audit-tables.yaml``), which docs and schemas are made of as well."""

from __future__ import annotations

from typing import Any

from multilang_cli.audit.columns import PlacedBy, Table, TableColumn
from multilang_cli.catalogue.loader import plain
from multilang_cli.catalogue.locate import data_path


def _table(name: str, about: str, columns: dict[str, Any], placed_by: tuple[str, str] | None = None) -> Table:
    told = tuple(TableColumn(column, type_, meaning) for column, (type_, meaning) in columns.items())
    return Table(name, about, told, None if placed_by is None else PlacedBy(*placed_by))


TABLES: dict[str, Table] = {
    name: _table(name, **each) for name, each in plain(data_path("conformance", "audit-tables.yaml")).items()
}
"""Every table by its name."""

FILES = TABLES["files"]
CONVERSATIONS = TABLES["conversations"]
EVENTS = TABLES["events"]
QUARANTINE = TABLES["quarantine"]
FINDINGS = TABLES["findings"]
OUTLOOKS = TABLES["outlooks"]
LEDGER = TABLES["ledger"]
MARKS = TABLES["marks"]
ROOTS = TABLES["roots"]
RATES = TABLES["rates"]
REPLAYS = TABLES["replays"]
TIMEOUTS = TABLES["timeouts"]
SILENCES = TABLES["silences"]
RESTARTS = TABLES["restarts"]
KEYS = TABLES["keys"]
DIALECTS = TABLES["dialects"]
QUALITY = TABLES["quality"]
