"""``mlcheck config show``: every setting, its value and where it comes from."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multilang_cli.cli.app import Color
from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.output import stdout_may_close

if TYPE_CHECKING:
    from multilang_cli.reports.page import Page
    from multilang_cli.subject.config import Config
    from multilang_cli.subject.origins import Setting

FORMATS = ("pretty", "json")


def show(
    *,
    component: Annotated[
        str | None, typer.Option("--component", metavar="NAME", help="Only this [[component]] of mlcheck.toml.")
    ] = None,
    layout: Annotated[str, typer.Option("--format", metavar="pretty|json", help="json is --json.")] = "pretty",
    as_json: Json = False,
    color: Color = None,
) -> int:
    """Show every setting of a run, its value, and where it comes from.

    The origin is a variable of the environment, a line of the configuration file, or default. Flags of `mlcheck run`
    win over all of them. Secrets of conf and env are hidden.
    """
    from multilang_cli.subject import config as config_file  # noqa: PLC0415 (slow to import, and not needed for --help)
    from multilang_cli.subject.origins import settings_of, settings_of_component  # noqa: PLC0415

    if layout not in FORMATS:
        raise CommandError(f"--format {layout!r}: it is one of {', '.join(FORMATS)}")
    try:
        config = config_file.load(config_file.find(Path.cwd()))
        chosen = config.components if component is None else (config.component(component),)
        settings = settings_of(config, os.environ)
        components = {each.name: settings_of_component(config, each) for each in chosen}
    except config_file.ConfigError as error:
        raise CommandError(str(error)) from None
    if as_json or layout == "json":
        return print_json(
            {
                "file": str(config.path) if config.path else None,
                "looked_at": _looked_at(config),
                "settings": [setting._asdict() for setting in settings],
                "components": {name: [setting._asdict() for setting in own] for name, own in components.items()},
            }
        )
    _print(config, settings, components, color)
    return 0


def _print(
    config: "Config", settings: "tuple[Setting, ...]", components: "dict[str, tuple[Setting, ...]]", color: str | None
) -> None:
    from multilang_cli.reports.page import Page  # noqa: PLC0415
    from multilang_cli.subject.outputs import console_of  # noqa: PLC0415 (slow to import)

    page = Page(console_of(color))
    with stdout_may_close():
        if config.path:
            page.line(f"Configuration: {config.path}")
        else:
            page.line("Configuration: no file; looked for:")
            for place in _looked_at(config):
                page.line(place, indent=2)
        page.blank()
        _print_table(page, "settings", settings)
        for name, own in components.items():
            page.blank()
            _print_table(page, f"component {name}", own)


def _print_table(page: "Page", title: str, rows: "tuple[Setting, ...]") -> None:
    """Name, origin and value; only the value is wrapped."""
    names, origins = (max(len(row[column]) for row in rows) for column in (0, 2))
    page.para(title, "bold")
    for name, value, origin in rows:
        lead = f"{name:{names}}  {origin:{origins}}"
        page.para(json.dumps(value, ensure_ascii=False), label=lead, label_style="", indent=2)


def _looked_at(config: "Config") -> list[str]:
    """The files that were looked for, up to the one that was found."""
    from multilang_cli.subject.origins import places  # noqa: PLC0415 (slow to import)

    looked: list[str] = []
    for place in places(Path.cwd()):
        looked.append(str(place))
        if place == config.path:
            break
    return looked
