"""The help of a command: examples first, then its options in panels, the most used one first."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

from multilang_cli.cli.examples import EXAMPLES
from multilang_cli.cli.options.table import Panel

_DEFAULT = re.compile(r"\s*\[default: (.+?)(?:; [^\]]*)?\]$")
_RANGE = re.compile(r"\s*\[[^\]]*x[<>]=?[^\]]*\]$")
_TYPES = {"<int range>": "N", "<float range>": "S", "INTEGER": "N", "FLOAT": "S", " <str>": ""}
_NEEDED = re.compile(r"\{([^{}|]+)\}")
_ALL = "Options"
MOST_IN_ONE_LIST = 10
"""Options of a command that need no panels."""


class PanelledCommand(TyperCommand):
    """A command whose help has panels where it has many options."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line: without brackets what has to be given, in one pair what may be."""
        return [
            _NEEDED.sub(r"\1", word).replace("[[", "[").replace("]]", "]") for word in super().collect_usage_pieces(ctx)
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the examples and the panels."""
        name = ctx.info_name.partition(" ")[2] if ctx.info_name else ""
        if lines := EXAMPLES.get(name, ()):
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in lines))
        params = [(param, record) for param in self.get_params(ctx) if (record := param.get_help_record(ctx))]
        panels: dict[str, list[tuple[str, str]]] = {}
        for param, record in params:
            panel = getattr(param, "rich_help_panel", None) or Panel.OUTPUT
            panels.setdefault(panel if len(params) > MOST_IN_ONE_LIST else _ALL, []).append(plain(*record))
        for title in (_ALL, *Panel):
            if title in panels:
                with formatter.section(title):
                    formatter.write_dl(panels[title])


def plain(option: str, text: str) -> tuple[str, str]:
    """An option and its help without names of types, ranges, and a default that the text tells itself."""
    for name, instead in _TYPES.items():
        option = option.replace(name, instead)
    text = _RANGE.sub("", text) if "[default: " not in text else text
    found = _DEFAULT.search(text)
    if not found:
        return option, text
    text, default = _DEFAULT.sub("", text), found[1].removesuffix(".0")
    return option, text if "efault" in text or default.startswith("no-") else f"{text} Default: {default}."
