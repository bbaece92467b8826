"""Settings of a run: each with its value and where it comes from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.reports.page import Page
from multilang_cli.subject.config import load_nearest, places
from multilang_cli.subject.origins import settings_of, settings_of_component
from multilang_cli.subject.outputs import console_of, write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import stdout_may_close

if TYPE_CHECKING:
    from multilang_cli.subject.config import Config
    from multilang_cli.subject.origins import Setting

FORMATS = ("pretty", "json")


class ConfigurationFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of ``mlcheck config show``. `layout`: of `FORMATS`."""

    component: str | None = None
    layout: str = FORMATS[0]
    as_json: bool = False
    color: str | None = None


def configuration_given(flags: ConfigurationFlags) -> int:
    """Show the settings that hold here; returns the exit code. Raises CommandError."""
    if flags.layout not in FORMATS:
        raise CommandError(f"--format {flags.layout!r}: it is one of {', '.join(FORMATS)}")
    config = load_nearest()
    chosen = config.components if flags.component is None else (config.component(flags.component),)
    tables = {"settings": settings_of(config, os.environ)}
    components = {each.name: settings_of_component(config, each) for each in chosen}
    if flags.as_json or flags.layout == "json":
        write_json(
            {
                "file": str(config.path) if config.path else None,
                "looked_at": _looked_at(config),
                "settings": [setting._asdict() for setting in tables["settings"]],
                "components": {name: [setting._asdict() for setting in own] for name, own in components.items()},
            }
        )
        return ExitCode.CONFORMANT
    tables |= {f"component {name}": own for name, own in components.items()}
    page = Page(console_of(flags.color))
    with stdout_may_close():
        _print_file(page, config)
        for title, rows in tables.items():
            page.blank()
            _print_table(page, title, rows)
    return ExitCode.CONFORMANT


def _print_file(page: Page, config: Config) -> None:
    """The file that was read; without one, where it was looked for."""
    if config.path:
        page.line(f"Configuration: {config.path}")
        return
    page.line("Configuration: no file; looked for:")
    for place in _looked_at(config):
        page.line(place, indent=2)


def _print_table(page: Page, title: str, rows: tuple[Setting, ...]) -> None:
    """Name, origin and value; only the value is wrapped."""
    names, origins = (max(len(row[column]) for row in rows) for column in (0, 2))
    page.para(title, "bold")
    for name, value, origin in rows:
        lead = f"{name:{names}}  {origin:{origins}}"
        page.para(json.dumps(value, ensure_ascii=False), label=lead, label_style="", indent=2)


def _looked_at(config: Config) -> list[str]:
    """The files that were looked for, up to the one that was found."""
    looked: list[str] = []
    for place in places(Path.cwd()):
        looked.append(str(place))
        if place == config.path:
            break
    return looked
