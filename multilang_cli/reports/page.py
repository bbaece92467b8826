"""A page of plain lines on a rich console. Everything that goes to the terminal goes through it, escaped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TextIO

from rich.console import Console
from rich.text import Text

from multilang_cli.reports.escape import Shown, chunks, fit, width
from multilang_cli.transcript.redact import everywhere
from multilang_cli.workflow import disarmed, in_workflow

if TYPE_CHECKING:
    from collections.abc import Iterable

ColorChoice = Literal["auto", "always", "never"]

DEFAULT_WIDTH = 80
"""Columns where nobody tells: not a terminal, and no COLUMNS."""
MOST_ROWS = 3
"""Rows that a line of a component may take."""
MOST_CELLS = 4000
"""A paragraph or line that is longer is cut in the middle: some of it may be a component's words."""
_LEAST_WIDTH = 40


def make_console(stream: TextIO, color: ColorChoice = "auto", columns: int | None = None) -> Console:
    """A console that colours only a terminal (or always, or never), heeding NO_COLOR and TERM=dumb.

    `columns`: the width; by default that of the terminal, 80 where there is none.
    """
    terminal = stream.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    colored = color == "always" or (color == "auto" and terminal and not plain)
    if columns is None and not terminal:
        given = os.environ.get("COLUMNS", "")
        columns = int(given) if given.isdecimal() and int(given) else DEFAULT_WIDTH
    return Console(
        file=stream,
        color_system=("auto" if terminal else "standard") if colored else None,
        force_terminal=terminal or colored,
        no_color=not colored,
        width=columns,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


class Page:
    """Lines for people, wrapped to the console and escaped; in ASCII where the console can show nothing else."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._in_workflow = in_workflow()
        self.columns = max(console.width, _LEAST_WIDTH)
        self.ascii_only = not console.encoding.lower().replace("-", "").startswith("utf")

    def blank(self) -> None:
        """An empty line."""
        self._put(Text())

    def line(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """A line that is never wrapped, so that it can be copied: commands, transcripts."""
        self._put(Text(" " * indent + self._safe(text), style=style))

    def lines(self, texts: Iterable[str], style: str = "", *, indent: int = 2, bar: str = "") -> None:
        """Lines of a component, on up to `MOST_ROWS` rows where they are too long: the reason may stand anywhere."""
        cells = self.columns - indent - len(bar)
        for text in texts:
            shown = self.fit(text.expandtabs(4), cells * MOST_ROWS)
            for row in chunks(shown.text, cells):
                self._put(Text.assemble(" " * indent, (bar, "dim"), (row, style)))

    def para(
        self, text: str, style: str = "", *, label: str = "", label_style: str = "bold", indent: int = 0, hang: int = 0
    ) -> None:
        """A paragraph: `label`, then the text, wrapped; the lines after the first hang at column `hang`.

        A label that leaves no room for the text has lines of its own: it may be a name that a stranger gave.
        """
        room = self.columns - _LEAST_WIDTH // 2
        body = Text.assemble((self._safe(text), style))
        lead = " " * indent + self._safe(label)
        if width(lead) + 2 > room:
            for row in chunks(lead.strip(), self.columns - indent):
                self._put(Text(" " * indent + row, style=label_style))
            lead, hang = "", indent + 2
        hang = min(hang or (width(lead) + 2 if label else indent), room)
        first = lead.ljust(hang) if width(lead) < hang else lead + ("  " if label else "")
        for number, wrapped in enumerate(self._wrap(body, self.columns - max(hang, width(first)))):
            prefix = Text(first, style=label_style) if not number else Text(" " * hang)
            self._put(prefix + wrapped)

    def listed(self, texts: Iterable[str], label: str, style: str = "", **how: Any) -> None:
        """Paragraphs of which the first has the label; `how`: as `para` has it."""
        for number, text in enumerate(texts):
            self.para(text, style, label="" if number else label, **how)

    def fit(self, text: str, cells: int, at: int | None = None) -> Shown:
        """A component's text for one line: escaped, cut in the middle if need be."""
        return fit(everywhere().known_in(text), cells, at=at, ascii_only=self.ascii_only)

    def _wrap(self, text: Text, columns: int) -> list[Text]:
        lines = list(text.wrap(self._console, max(columns, _LEAST_WIDTH // 2)))
        return lines or [Text()]

    def _safe(self, text: str) -> str:
        return self.fit(text.replace("\n", " "), MOST_CELLS).text

    def _put(self, text: Text) -> None:
        text.rstrip()
        if self._in_workflow:
            # Wrapping may have put "::" of the component's words at the beginning of a line.
            text.plain = disarmed(text.plain)
        self._console.print(text, soft_wrap=True)
