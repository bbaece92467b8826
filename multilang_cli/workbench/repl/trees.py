"""Tuple trees of a session by hand, as the ack framework sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multilang_cli.workbench.repl.life import Life
    from multilang_cli.workbench.repl.screen import Screen


def show_trees(life: Life, screen: Screen) -> None:
    """Show each tree."""
    screen.line(f"{life.number}")
