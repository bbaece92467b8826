"""``mlcheck schema list|show|validate``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON
from multilang_cli.cli.options.table import OptionTable, argument

LIST: OptionTable = {"as_json": JSON}
SHOW: OptionTable = {"name": argument(str, "NAME")}
VALIDATE: OptionTable = {**SHOW, "files": argument(list[str], "FILE"), "as_json": JSON}


@handled_by("lookup.listing:schemas_given", options=LIST)
def names() -> None:
    """List the published JSON Schemas: name and title."""


@handled_by("lookup.schema_files:schema_given", options=SHOW)
def show() -> None:
    """Print the schema NAME, such as messages/emit."""


@handled_by("lookup.schema_files:validate_given", options=VALIDATE)
def validate() -> None:
    """Check files against the schema NAME.

    FILE: .json, .yaml or .yml, .toml, or .ndjson or .jsonl with a JSON value a line; - is stdin, read like the last.
    Exit code 1 if a value does not hold to the schema, 2 if a file can't be read.
    """
