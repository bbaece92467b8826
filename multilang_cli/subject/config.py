"""The configuration file: ``mlcheck.toml``, or ``[tool.mlcheck]`` of ``pyproject.toml`` (``schemas/config``)."""

from __future__ import annotations

import math
import os
import stat
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from multilang_cli.catalogue.judging import schema_fault
from multilang_cli.catalogue.texts import TextError, file_text, toml_value
from multilang_cli.protocol.words.shortening import ends
from multilang_cli.subject import toml_lines
from multilang_cli.subject.options import Component
from multilang_cli.subject.samples import misdeclared
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.transcript.secrets import declare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import ValidationError

NAME = "mlcheck.toml"
PYPROJECT = "pyproject.toml"
_SHOWN_OF_REASON = 160
_EVERYBODYS = stat.S_ISVTX | stat.S_IWOTH
"""Of the mode of a folder that every user of the machine puts files into, such as /tmp."""


class ConfigError(CommandError):
    """A configuration that can't be used: the message names the file, the line where known, and the key path."""


class Config(msgspec.Struct, frozen=True):
    """A configuration file, its paths made absolute.

    `path`: the file, None if there is none. `settings`: the top-level keys but ``component``.
    """

    path: Path | None = None
    settings: dict[str, Any] = {}
    components: tuple[Component, ...] = ()

    def component(self, name: str) -> Component:
        """The component `name`. Raises ConfigError that names the nearest."""
        for component in self.components:
            if component.name == name:
                return component
        if self.path is None:
            raise ConfigError(f"there is no component {name!r}: no {NAME} was found here or above.")
        hint = did_you_mean(name, [component.name for component in self.components])
        raise ConfigError(f"{self.path}: there is no component {name!r}{hint}")


def find(start: Path) -> Path | None:
    """The nearest configuration file in `start` or above it; not beyond the top of a repository. None if none.

    A ``pyproject.toml`` counts only with a table ``[tool.mlcheck]``. Raises ConfigError if one can't be read.
    """
    for place in places(start):
        if _counts(place) and (place.name == NAME or _section(place, _read(place)[1]) is not None):
            return place
    return None


def places(start: Path) -> Iterator[Path]:
    """Places where a configuration file is looked for, the first that is taken first."""
    for folder in (start, *start.parents):
        yield folder / NAME
        yield folder / PYPROJECT
        if (folder / ".git").exists():
            return


def load_nearest() -> Config:
    """The configuration that counts in the working directory. Raises ConfigError."""
    return load(find(Path.cwd()))


def _counts(path: Path) -> bool:
    """True of a file that is there, unless it lies in everybody's folder and another user put it there.

    What it names is run, so whoever works below /tmp would run what anyone has written to /tmp/mlcheck.toml.
    """
    if not path.is_file():
        return False
    shared = path.parent.stat().st_mode & _EVERYBODYS == _EVERYBODYS
    return not shared or path.lstat().st_uid in (0, os.geteuid())


def load(path: Path | None) -> Config:
    """Read and check the configuration at `path`; an empty one for None. Raises ConfigError."""
    if path is None:
        return Config()
    text, document = _read(path)
    source = _Source(path, text)
    plain = _section(path, document) or {}
    # What is wrong in it is quoted.
    declare([plain])
    source.check(plain)
    folder = path.parent
    names = [table.get("name") or f"component{index}" for index, table in enumerate(plain.get("component", []), 1)]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise source.error(("component", index, "name"), f"two components are named {name!r}.")
    components = tuple(
        source.component(index, table, names[index]) for index, table in enumerate(plain.get("component", []))
    )
    settings = {key: value for key, value in plain.items() if key != "component"}
    for key in ("storm", "storm_required"):
        if isinstance(settings.get(key), list):
            settings[key] = ",".join(settings[key])
    if "record" in settings:
        settings["record"] = str(folder / settings["record"])
    if "suites" in settings:
        settings["suites"] = [str(folder / name) for name in settings["suites"]]
    return Config(path, settings, components)


def declared_secret(path: Path) -> dict[str, list[str]]:
    """The regular expressions of ``[redact]``: those of values are `patterns`, of keys `names`. Raises ConfigError."""
    text, document = _read(path)
    plain = _section(path, document) or {}
    if "redact" not in plain:
        return {}
    _Source(path, text).check({"redact": plain["redact"]})
    found: dict[str, list[str]] = plain["redact"]
    return found


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file_text(path, "utf-8")
        return text, toml_value(text, str(path))
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is no UTF-8; TOML files are UTF-8.") from None
    except TextError as error:
        raise ConfigError(f"{error}.") from None


def _section(path: Path, document: dict[str, Any]) -> dict[str, Any] | None:
    if path.name != PYPROJECT:
        return document
    tool = document.get("tool")
    section = tool.get("mlcheck") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise ConfigError(f"{path}: tool.mlcheck is no table.")
    return section


class _Source:
    """The text of a configuration file, to say where something is wrong in it."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._text = text
        self._prefix: toml_lines.Path = ("tool", "mlcheck") if path.name == PYPROJECT else ()

    def error(self, path: toml_lines.Path, why: str) -> ConfigError:
        """An error at the value that `path` leads to."""
        line = toml_lines.line_of(self._text, (*self._prefix, *path))
        place = f"{self.path}:{line}" if line else str(self.path)
        return ConfigError(f"{place}: {key_path(path)}{': ' if path else ''}{why}")

    def check(self, plain: dict[str, Any]) -> None:
        """Raise ConfigError for the worst that is wrong."""
        from jsonschema.exceptions import relevance  # noqa: PLC0415 (slow to import)

        from multilang_cli.catalogue import schemas  # noqa: PLC0415

        for path, why in _no_json(plain):
            raise self.error(path, why)
        worst = max(schemas.validator("config").iter_errors(plain), key=relevance, default=None)
        if worst is not None:
            raise self._refused(worst)

    def _refused(self, error: ValidationError) -> ConfigError:
        path, schema = tuple(error.absolute_path), cast("dict[str, Any]", error.schema)
        if error.validator == "additionalProperties":
            known = list(schema.get("properties", {}))
            key = next(key for key in cast("dict[str, Any]", error.instance) if key not in known)
            return self.error((*path, key), f"there is no such key{did_you_mean(key, known)}")
        if error.validator == "required":
            present = cast("dict[str, Any]", error.instance)
            missing = next(key for key in schema["required"] if key not in present)
            return self.error(path, f"the key {missing!r} is missing.")
        expected = schema.get("description", "")
        return self.error(
            path, f"{ends(error.message, _SHOWN_OF_REASON)}{f'; expected: {expected}' if expected else ''}."
        )

    def component(self, index: int, table: dict[str, Any], name: str) -> Component:
        """The component of the table number `index`. Raises ConfigError."""
        command = table["command"]
        self._check_streams(index, table.get("streams", {}))
        plain = {
            "kind": "auto",
            **table,
            "name": name,
            "command": [command] if isinstance(command, str) else command,
            "cwd": str((self.path.parent / table.get("cwd", ".")).resolve()),
        }
        if "known_failures" in table:
            plain["known_failures"] = str(self.path.parent / table["known_failures"])
        try:
            component = msgspec.convert(plain, Component)
        except msgspec.ValidationError as error:
            raise self.error(("component", index), f"{error}.") from None
        if wrong := misdeclared(component):
            raise self.error(("component", index, "sources"), wrong)
        return component

    def _check_streams(self, index: int, streams: dict[str, Any]) -> None:
        for name, stream in streams.items():
            fault = schema_fault(stream["schema"]) if "schema" in stream else None
            if fault is not None:
                raise self.error(("component", index, "streams", name, "schema", *fault.path), f"{fault.why}.")


def key_path(path: toml_lines.Path) -> str:
    """A path for people: ``component[0].samples[1]``."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        else:
            plain = step.replace("-", "").replace("_", "").isalnum()
            shown += ("." if shown else "") + (step if plain else f'"{step}"')
    return shown


def _no_json(value: object, path: toml_lines.Path = ()) -> Iterator[tuple[toml_lines.Path, str]]:
    """Refuse what TOML can say and JSON cannot."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _no_json(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _no_json(item, (*path, index))
    elif isinstance(value, date | datetime | time):
        yield path, f"a date or time has no JSON form; write it as a string: {str(value)!r}."
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"{value} is no JSON number."
