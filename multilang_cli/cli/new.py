"""``mlcheck new``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import JSON
from multilang_cli.cli.options.table import OptionTable, argument, text

OPTIONS: OptionTable = {
    "kind": argument(str, "testee|bolt|spout"),
    "directory": argument(str, "DIRECTORY", "."),
    "language": text("--language", "NAME", "c, go, java, javascript, lua, perl, php, python, ruby or rust."),
    "as_json": JSON,
}


@handled_by("scaffold.starting:new_given", options=OPTIONS)
def new() -> None:
    """Write a small working bolt or spout, with mlcheck.toml, a CI workflow and a README.

    Or a testee, to test a library with; it begins with Storm's own library, or with one of ours. In Go, Java, Lua,
    Perl, PHP and Rust the protocol comes as a library in one file, to copy and change.

    DIRECTORY: where to; the working directory by default. It is made if it is missing. No file is overwritten.
    """
