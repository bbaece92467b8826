"""``mlcheck docs``."""

from multilang_cli.cli.options.handled import handled_by
from multilang_cli.cli.options.shared import COLOR, JSON
from multilang_cli.cli.options.table import OptionTable, argument

OPTIONS: OptionTable = {"words": argument(list[str] | None, "WORD", None), "as_json": JSON, "color": COLOR}


@handled_by("lookup.documentation:docs_given", options=OPTIONS)
def docs() -> None:
    """Show a page of the docs, or find the pages, sentences, rules, causes and cases that have a word.

    WORD: the name of a page, or words to look for. Without one, all pages are listed.
    """
