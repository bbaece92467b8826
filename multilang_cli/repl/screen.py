"""Screen of a session by hand: lines, escaped and cut, without secrets; what one command shows has an end."""

from __future__ import annotations

import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from multilang_cli.reports.escape import chunks, escape, escape_halves, fit
from multilang_cli.workflow import disarmed, in_workflow

if TYPE_CHECKING:
    from collections.abc import Callable

Style = Literal["", "dim", "in", "out", "err", "must", "should", "note", "wrong"]

_CODES: dict[Style, str] = {
    "dim": "2",
    "in": "36",
    "out": "",
    "err": "35",
    "must": "1;31",
    "should": "1;33",
    "note": "1",
    "wrong": "31",
}
LEAST_COLUMNS = 40
"""Columns that a line has at least."""
LONGEST_SENTENCE = 4000
"""Characters of a sentence, which may quote a component."""


class ScreenError(OSError):
    """Stdout can't be written, though there is somebody who reads it: the disk is full."""


class Screen:
    """Writes lines to stdout, whatever stands for it at the time. `clean`: hides secrets in UTF-8 text.

    `closed`: nobody reads it any longer, so nothing more is written.
    """

    def __init__(self, columns: Callable[[], int], *, color: bool) -> None:
        self.color = color
        self.closed = False
        self.clean: Callable[[bytes], bytes] = lambda text: text
        self._columns = columns

    @property
    def columns(self) -> int:
        """Greatest width of a line."""
        return max(LEAST_COLUMNS, self._columns())

    def line(self, text: str = "", style: Style = "", *, lead: str = "", most: int = 1) -> None:
        """A text, escaped, in `most` lines, cut in the middle where it is longer. `lead`: our own words in front."""
        cells = max(LEAST_COLUMNS, self.columns - len(lead))
        shown = fit(self._safe(text), cells * most, ascii_only=self.ascii_only).text
        for number, line in enumerate(chunks(shown, cells)):
            self._write((" " * len(lead) if number else lead) + line.rstrip(), style)

    def copied(self, text: str) -> None:
        """A line to be copied: escaped, never cut."""
        self._write("  " + escape(self._safe(text), ascii_only=self.ascii_only), "")

    def para(self, text: str, style: Style = "") -> None:
        """Our own sentences, wrapped, with what they quote escaped."""
        self.hang(text, style, lead="")

    def hang(self, text: str, style: Style, *, lead: str) -> None:
        """Our own sentences, wrapped, the lines below each other behind `lead`."""
        escaped = fit(self._safe(text), LONGEST_SENTENCE, ascii_only=self.ascii_only).text
        lines = wrap(escaped, max(LEAST_COLUMNS, self.columns - len(lead)), break_on_hyphens=False)
        for number, line in enumerate(lines):
            self._write((" " * len(lead) if number else lead) + line, style)

    def text(self, text: str) -> None:
        """Print text that another page has made harmless already."""
        self._out(text)

    @property
    def ascii_only(self) -> bool:
        """True if stdout can show nothing else."""
        return not (getattr(sys.stdout, "encoding", "") or "ascii").lower().replace("-", "").startswith("utf")

    def _safe(self, text: str) -> str:
        whole = escape_halves(text)
        return self.clean(whole.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")

    def _write(self, text: str, style: Style) -> None:
        text = disarmed(text) if in_workflow() else text
        code = _CODES.get(style, "") if self.color else ""
        self._out(f"\x1b[{code}m{text}\x1b[0m\n" if code else f"{text}\n")

    def _out(self, text: str) -> None:
        """Write; nobody who reads it any longer is no reason to stop. Raises ScreenError."""
        if not self.closed:
            try:
                sys.stdout.write(text)
                sys.stdout.flush()
            except OSError as error:
                self.closed = True
                if not isinstance(error, BrokenPipeError):
                    raise ScreenError(error.errno, error.strerror, "stdout") from None
