"""Values of options and arguments, for shells to complete. Each source of them is loaded once it is asked for."""

from __future__ import annotations

import re
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.locate import data_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_CHOICE = re.compile(r"[a-z-]+(\|[a-z-]+)+")


def completer_of(name: str, info: Any) -> Callable[[str], list[str]] | None:
    """Completes a parameter, by its option, else its name, else its metavar; None where files are as good as any."""
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


def _words(place: str, form: str = "{}") -> Callable[[], list[str]]:
    """The words of a table or a function, ``room.module:name``, which is loaded once they are asked for."""

    def _found() -> list[str]:
        known = resolve_name(f"multilang_cli.{place}")
        return [form.format(word) for word in (known() if callable(known) else known)]

    return _found


_sentences = _words("catalogue.written:load_sentences")
_versions = _words("catalogue.loader:load_versions", "{.id}")


def _several_versions() -> list[str]:
    from multilang_cli.subject.storms import ALL  # noqa: PLC0415 (each needs its own modules only)

    return [*_versions(), ALL]


def _components() -> list[str]:
    from multilang_cli.subject.config import load_nearest  # noqa: PLC0415

    return [component.name for component in load_nearest().components]


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
    "explain words": lambda: [*_rules(), *_stems(data_path("conformance", "causes")), *_cases(), *_sentences()],
    "schema show name": _words("catalogue.schemas:names"),
    "verify-storm storm": _versions,
    "verify-storm names": _words("catalogue.oracle:oracle_cases"),
    "schema validate name": _words("catalogue.schemas:names"),
}
"""Where values come from, by command and argument or, where none fits, by option. Choices stand in metavars."""
