"""Rows of a list in columns: a line each where they are piped, no wider than the screen on a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEAST_BESIDE = 32
"""Characters that the last column has at least; with less it stands below the others."""
INDENT = "    "


def screen_width() -> int | None:
    """The columns of the terminal that stdout is; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def in_columns(rows: Iterable[Sequence[str]], columns: int | None) -> str:
    """Lines of `rows`, the last cell of any width. With `columns`, it is wrapped to that width."""
    lines = list(rows)
    if not lines:
        return ""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    before = sum(widths) + 2 * len(widths)
    if columns is None:
        return "".join(f"{_padded(line, widths)}{line[-1]}".rstrip() + "\n" for line in lines)
    if columns - before < LEAST_BESIDE:
        return "".join(_stacked(line, columns) for line in lines)
    return "".join(_wrapped(_padded(line, widths) + line[-1], columns, " " * before) for line in lines)


def _wrapped(text: str, columns: int, indent: str) -> str:
    """A line of text, what is beyond the columns on further ones; a word such as ack-twice is kept whole."""
    wrapper = textwrap.TextWrapper(columns, subsequent_indent=indent, break_on_hyphens=False)
    return f"{wrapper.fill(text.rstrip())}\n"


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"{cell:{width}}  " for cell, width in zip(line, widths, strict=False))


def _stacked(line: Sequence[str], columns: int) -> str:
    """One row as a paragraph; where it has no room in a line, its last cell begins one of its own."""
    whole = "  ".join(line)
    if len(whole) <= columns:
        return f"{whole.rstrip()}\n"
    return _wrapped("  ".join(line[:-1]), columns, INDENT) + _wrapped(INDENT + line[-1], columns, INDENT)
