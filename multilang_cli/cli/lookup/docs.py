"""``mlcheck docs``."""

from typing import Annotated

import typer

from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json
from multilang_cli.cli.options.handled import handled_by


@handled_by("lookup.documentation:docs_given")
def docs(
    words: Annotated[list[str] | None, typer.Argument(metavar="WORD", hidden=True)] = None,
    *,
    as_json: Json = False,
    color: Color = None,
) -> None:
    """Show a page of the docs, or find the pages that have a word. They come with mlcheck.

    WORD: the name of a page, or words to look for. Without one, all pages are listed.
    """
