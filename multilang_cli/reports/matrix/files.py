"""The matrix as files in a folder: the page, the data, which is read back, the table and the badges, small SVGs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.catalogue.texts import TextError, file_text
from multilang_cli.reports.escape import escape_html, escape_json
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.reports.matrix.markdown import BADGES, to_markdown
from multilang_cli.reports.matrix.model import Matrix
from multilang_cli.reports.matrix.page import to_html

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.reports.matrix.model import Library

DATA, TABLE, PAGE = "matrix.json", "matrix.md", "index.html"
GREEN, AMBER, RED, GREY = "#1c7048", "#855600", "#b1261c", "#5c636e"
LABEL = "multilang"
_CHARACTER, _PADDING = 7, 7


def write_matrix(matrix: Matrix, folder: Path, *, brief: bool) -> None:
    """Write them; the page only if it is not to be `brief`. Raises OSError, KitError."""
    texts = texts_of(matrix) | ({} if brief else {PAGE: to_html(matrix)})
    for name, text in texts.items():
        write_whole(folder / name, text.encode("utf-8", "backslashreplace"))


def texts_of(matrix: Matrix) -> dict[str, str]:
    """Data, table and badges by their paths in the folder."""
    plain = json.dumps(msgspec.to_builtins(matrix), ensure_ascii=False, indent=1)
    badges = {f"{BADGES}/{library.id}.svg": badge(matrix, library) for library in matrix.libraries}
    return {DATA: escape_json(plain) + "\n", TABLE: to_markdown(matrix), **badges}


def read_matrix(folder: Path) -> Matrix:
    """The data in a folder. Raises OSError, msgspec.MsgspecError."""
    try:
        return msgspec.json.decode(file_text(folder / DATA, "utf-8"), type=Matrix)
    except RecursionError:
        raise msgspec.DecodeError("nested too deep") from None
    except (TextError, UnicodeDecodeError) as error:
        raise msgspec.DecodeError(str(error)) from None


def badge(matrix: Matrix, library: Library) -> str:
    """The badge of a library: of the cases that it claims, how many it passed."""
    score = matrix.score(library)
    if not library.started or not score.tested:
        return svg(LABEL, "not started", GREY)
    colour = RED if score.failed else AMBER if score.warned else GREEN
    return svg(LABEL, f"{score.passed} of {score.tested}", colour)


def svg(label: str, text: str, colour: str) -> str:
    """The two texts, the second on `colour`."""
    left, right = (_CHARACTER * len(each) + 2 * _PADDING for each in (label, text))
    shown = [escape_html(each) for each in (label, text)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{shown[0]}: {shown[1]}">\n'
        f"<title>{shown[0]}: {shown[1]}</title>\n"
        f'<rect width="{left + right}" height="20" rx="3" fill="{colour}"/>\n'
        f'<path d="M{left} 0H3a3 3 0 0 0-3 3v14a3 3 0 0 0 3 3h{left - 3}z" fill="#3b4048"/>\n'
        '<g fill="#fff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11" text-anchor="middle">\n'
        f'<text x="{left // 2}" y="14">{shown[0]}</text>\n'
        f'<text x="{left + right // 2}" y="14">{shown[1]}</text>\n'
        "</g>\n</svg>\n"
    )
