"""Candidates for the next word of a command line, for shells to complete. typer finds the place, we the values."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]  # the only way to have no options added

from multilang_cli.catalogue.locate import data_path
from multilang_cli.cli.app import SETTINGS, accepting
from multilang_cli.cli.commands import COMMANDS, GROUPS, Command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CHOICE = re.compile(r"[a-z-]+(\|[a-z-]+)+")
_VARIABLE = "_MLCHECK_COMPLETE"


def print_candidates(words: Sequence[str]) -> None:
    """Print a line for each word that can take the place of the last of `words`, which follow ``mlcheck``."""
    completion_init()
    *before, last = words or [""]
    line = shlex.join(["mlcheck", *before, last])
    os.environ.update({_VARIABLE: "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(before) + 1)})
    try:
        _app(before)(args=[], prog_name="mlcheck", complete_var=_VARIABLE)
    except SystemExit:
        return


def _app(words: list[str]) -> typer.Typer:
    """All commands as typer has them, but only the one in `words` with its options: no other is imported."""
    app = typer.Typer(add_completion=False, context_settings=SETTINGS)
    app.callback()(_top)
    places = {"": app}
    for group, text in GROUPS.items():
        places[group] = typer.Typer(help=text)
        app.add_typer(places[group], name=group)
    for name, command in COMMANDS.items():
        group, _, last = name.rpartition(" ")
        function = _function(name, command) if words[: name.count(" ") + 1] == name.split() else _nothing
        places[group].command(last, help=command.help, context_settings=SETTINGS)(accepting(function, name))
    return app


def _top(*, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """The options before a command."""
    del version


def _nothing() -> None:
    """A command that is not asked about."""


def _function(name: str, command: Command) -> Callable[..., Any]:
    """The function of a command, its options and arguments told their values."""
    function: Callable[..., Any] = resolve_name(f"multilang_cli.cli.{command.module}:{command.function}")
    for parameter, hint in get_type_hints(function, include_extras=True).items():
        for info in getattr(hint, "__metadata__", ()):
            info.autocompletion = _values(f"{name} {parameter}", info)
    return function


def _values(name: str, info: Any) -> Callable[[str], list[str]] | None:
    """Values for a parameter, by its option, else its name, else its metavar; None where files are as good as any."""
    # In Annotated, the first name of an option stands in `default`.
    known = [VALUES[key] for key in (name, info.default, *(info.param_decls or ())) if key in VALUES]
    if not known and _CHOICE.fullmatch(info.metavar or ""):
        known = [lambda: info.metavar.split("|")]
    if not known:
        return None

    # Behind a = there is a path or a number, of which nothing is known; before a comma, what was chosen already.
    def complete(incomplete: str) -> list[str]:
        """Candidates for a value that was begun, sorted."""
        before, comma, _ = incomplete.rpartition(",")
        taken = before.split(",") if known[0] is _several_versions else []
        lead = f"{before}{comma}" if taken else ""
        return [] if "=" in incomplete else sorted(f"{lead}{value}" for value in set(known[0]()) - set(taken))

    return complete


def _rules() -> list[str]:
    return _stems(data_path("conformance", "rules"))


def _cases() -> list[str]:
    return _stems(data_path("conformance", "cases", "component"))


def _stems(folder: Path) -> list[str]:
    return [path.stem for path in folder.glob("*.yaml")]


def _patterns() -> list[str]:
    """Ids of cases, and what they begin with before each dot."""
    parts = [case.split(".") for case in _cases()]
    return [".".join(words[:count]) for words in parts for count in range(1, len(words) + 1)]


def _versions() -> list[str]:
    from multilang_cli.catalogue.loader import load_versions  # noqa: PLC0415 (each needs its own modules only)

    return [version.id for version in load_versions()]


def _several_versions() -> list[str]:
    from multilang_cli.subject.storms import ALL  # noqa: PLC0415

    return [*_versions(), ALL]


def _words(place: str, form: str = "{}") -> Callable[[], list[str]]:
    """The words of a table or a function, ``room.module:name``, which is loaded once they are asked for."""

    def _found() -> list[str]:
        known = resolve_name(f"multilang_cli.{place}")
        return [form.format(word) for word in (known() if callable(known) else known)]

    return _found


def _components() -> list[str]:
    from multilang_cli.subject.config import find, load  # noqa: PLC0415

    return [component.name for component in load(find(Path.cwd())).components]


def _limits() -> list[str]:
    from multilang_cli.subject.flag_values import BYTES  # noqa: PLC0415
    from multilang_cli.subject.profiles import LIMITS  # noqa: PLC0415

    return [f"{name}=" for name in (*LIMITS, *BYTES)]


def _settles() -> list[str]:
    from multilang_cli.subject.options import SETTLES  # noqa: PLC0415

    return [word.replace("-N", "-10") for word in SETTLES]


VALUES: dict[str, Callable[[], list[str]]] = {
    "--accepts": _words("subject.options:ACCEPTS"),
    "--compare": _words("replay.said:ASPECTS"),
    "--component": _components,
    "--exclude": _patterns,
    "--finding": _rules,
    "--ignore": _words("replay.said:ASPECTS"),
    "--language": _words("scaffold.writing:languages"),
    "--limit": _limits,
    "--report": _words("reports.formats.registry:FORMATS", "{}="),
    "--settles": _settles,
    "--storm": _versions,
    "--storm-required": _several_versions,
    "-k": _patterns,
    "replay then": lambda: ["repl"],
    "run storm": _several_versions,
    "bench reports": lambda: ["html=", "json="],
    "explain name": lambda: [*_rules(), *_stems(data_path("conformance", "causes")), *_cases()],
    "schema show name": _words("catalogue.schemas:names"),
    "verify-storm storm": _versions,
    "verify-storm names": _words("catalogue.oracle:oracle_cases"),
    "schema validate name": _words("catalogue.schemas:names"),
}
"""Where values come from, by command and argument or, where none fits, by option. Choices stand in metavars."""
