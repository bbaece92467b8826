"""``mlcheck docs``."""

from typing import Annotated

import typer

from multilang_cli.catalogue.pages import DocsPage, PageMatch, for_terminal, load_pages, search_pages
from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.subject.outputs import console_of
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import stdout_may_close, write

PAGES_NAMED = 12
"""Pages that a search names."""


def docs(
    words: Annotated[list[str] | None, typer.Argument(metavar="WORD", hidden=True)] = None,
    *,
    as_json: Json = False,
    color: Color = None,
) -> int:
    """Show a page of the docs, or find the pages that have a word. They come with mlcheck.

    WORD: the name of a page, or words to look for. Without one, all pages are listed.
    """
    pages, wanted = load_pages(), " ".join(words or ())
    if not wanted and as_json:
        return print_json([_named(page) for page in pages.values()])
    if not wanted:
        _list(list(pages.values()))
        return ExitCode.CONFORMANT
    page = pages.get(wanted) or pages.get(f"tutorials/{wanted}")
    if page is None:
        found = search_pages(wanted, pages)
        if not found:
            raise CommandError(
                f"docs: no page has {wanted[:60]!r}{did_you_mean(wanted, pages)} `mlcheck docs` lists all."
            )
        if len(found) > 1 and as_json:
            return print_json([{**_named(each.page), "headings": each.headings} for each in found])
        if len(found) > 1:
            _show_matches(found)
            return ExitCode.CONFORMANT
        page = found[0].page
    if as_json:
        return print_json({**_named(page), "text": page.text})
    _show(page, color)
    return ExitCode.CONFORMANT


def _named(page: DocsPage) -> dict[str, str]:
    return {"name": page.name, "title": page.title}


def _list(pages: list[DocsPage]) -> None:
    wide = max(len(page.name) for page in pages)
    lines = [f"{page.name:{wide}}  {page.title}\n" for page in pages]
    write("".join([*lines, "\nmlcheck docs NAME shows a page, mlcheck docs WORD finds those that have a word.\n"]))


def _show_matches(found: list[PageMatch]) -> None:
    for match in found[:PAGES_NAMED]:
        write(f"mlcheck docs {match.page.name}\n    {match.page.title}\n")
        for heading in match.headings[:3]:
            write(f"    - {heading}\n")
    if len(found) > PAGES_NAMED:
        write(f"and {len(found) - PAGES_NAMED} more pages; add a word\n")


def _show(page: DocsPage, color: str | None) -> None:
    """Show a page: laid out on a terminal, as plain Markdown elsewhere."""
    console = console_of(color)
    text = for_terminal(page)
    if not console.is_terminal:
        write(text)
        return
    from rich.markdown import Markdown  # noqa: PLC0415 (slow to import)

    with stdout_may_close():
        console.print(Markdown(text), width=min(console.width, 100))
