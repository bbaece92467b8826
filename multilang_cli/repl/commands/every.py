"""Every command of a session by hand, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.repl.commands import editing, keeping, looking, speaking, steering, waiting

if TYPE_CHECKING:
    from multilang_cli.repl.commands.table import CommandTable
    from multilang_cli.repl.driver import Driver

COMMANDS: CommandTable[Driver] = {
    name: command
    for module in (speaking, editing, waiting, steering, looking, keeping)
    for name, command in module.COMMANDS.items()
}
