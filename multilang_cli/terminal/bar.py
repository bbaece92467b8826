"""A bar of progress on a terminal: how far it is, the time that is left, and what goes on. Nothing of it stays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
from rich.table import Column
from rich.text import Text

if TYPE_CHECKING:
    from rich.progress import Task

_REFRESHES = 4
"""How often a second it is drawn."""
_MINUTE, _HOUR = 60, 3600


class Bar:
    """Called with what goes on, printable, how many parts are done, and of how many; of 0 where nobody knows."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._progress = Progress(
            TextColumn("{task.fields[counted]}", markup=False),
            BarColumn(bar_width=20),
            _TimeLeft(),
            TextColumn(
                "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
            ),
            console=self._console,
            expand=True,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            refresh_per_second=_REFRESHES,
        )
        self._task = self._progress.add_task("", total=None, visible=False, counted="")
        self._now = 0, 0

    def __call__(self, text: str, done: int, total: int) -> None:
        """A part begins, or goes on; fewer than before, or another total, is the beginning of something else."""
        counted = f"{min(done + 1, total)}/{total}" if total else ""
        told: dict[str, Any] = {"description": text, "counted": counted, "visible": True}
        if total != self._now[1] or done < self._now[0]:
            self._progress.reset(self._task, total=total or None, completed=done, **told)
        else:
            self._progress.update(self._task, completed=done, **told)
        self._now = done, total

    def say(self, text: str) -> None:
        """A line above the bar, which stays."""
        self._console.print(Text(text), soft_wrap=True)

    def __enter__(self) -> Self:
        """Draw the bar, as soon as there is anything to tell."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
        sys.stderr.flush()


class _TimeLeft(ProgressColumn):
    """The time that is left in words, as soon as it is known."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """About as long as the parts before took each."""
        left = task.time_remaining
        if left is None or not task.total or task.finished:
            return Text("")
        minutes, seconds = divmod(round(left), _MINUTE)
        told = f"{seconds} s" if not minutes else f"{minutes} min" if left < _HOUR else f"{left / _HOUR:.1f} h"
        return Text(f"{told} left")
