"""The help of a command: examples first, then its options in panels, the most used one first."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

from multilang_cli.cli.examples import EXAMPLES, MOST_USED, PANELS

_DEFAULT = re.compile(r"\s*\[default: (.+?)(?:; [^\]]*)?\]$")
_RANGE = re.compile(r"\s*\[[^\]]*x[<>]=?[^\]]*\]$")
_TYPES = {"<int range>": "N", "<float range>": "S", "INTEGER": "N", "FLOAT": "S", " <str>": ""}
_NEEDED = re.compile(r"\{([^{}|]+)\}")
_USED, _REST = "Most used", "Options"


class PanelledCommand(TyperCommand):
    """A command whose help has panels (``examples.PANELS``). Without a panel of its own, an option is in the last."""

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
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                flags = frozenset({*param.opts, *param.secondary_opts})
                panels.setdefault(panel_of(name, flags), []).append(plain(*record))
        order = [_USED, *PANELS, _REST]
        for title in sorted(panels, key=order.index):
            with formatter.section(title if len(panels) > 1 else _REST):
                formatter.write_dl(panels[title])


def panel_of(command: str, flags: frozenset[str]) -> str:
    """The panel of an option of a command."""
    used = MOST_USED.get(command, ())
    if flags & set(used):
        return _USED
    # Few options need no panels, and what is most used is told apart only where there are many.
    found = (title for title, members in PANELS.items() if flags & set(members))
    return next(found, _REST) if used else _REST


def plain(option: str, text: str) -> tuple[str, str]:
    """An option and its help without names of types, ranges, and a default that the text tells itself."""
    for name, instead in _TYPES.items():
        option = option.replace(name, instead)
    text = _RANGE.sub("", text) if "[default: " not in text else text
    found = _DEFAULT.search(text)
    if not found:
        return option, text
    text, default = _DEFAULT.sub("", text), found[1]
    told = "efault" in text or f"[{default}]" in text
    negated = f"--no-{default}" in option or default.startswith("no-")
    return option, text if told or (negated and default.startswith("no-")) else f"{text} Default: {default}."
