"""A badge: two words side by side, as a small SVG that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.reports.escape import escape_html

if TYPE_CHECKING:
    from multilang_cli.reports.matrix.model import Library, Matrix

GREEN, AMBER, RED, GREY = "#1c7048", "#855600", "#b1261c", "#5c636e"
LABEL = "multilang"
_CHARACTER, _PADDING = 7, 7


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
