"""Origins of settings: the environment, a line of the configuration file, or the default."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.subject import toml_lines
from multilang_cli.subject.config import PYPROJECT, key_path
from multilang_cli.subject.options import redactor_of
from multilang_cli.subject.settings import SETTINGS, Flags, color, run_options
from multilang_cli.transcript.redact import redacted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from multilang_cli.subject.config import Config
    from multilang_cli.subject.options import Component

DEFAULT = "default"


class Setting(NamedTuple):
    """A setting, its value as JSON has it, and its origin: ``MLCHECK_STORM``, ``mlcheck.toml:3`` or ``default``."""

    name: str
    value: Any
    origin: str


def settings_of(config: Config, environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """The settings that hold for every component. Raises ConfigError for a variable that can't be used."""
    origins = _Origins(config)
    options = run_options(Flags(), environ, config)
    names = dict.fromkeys([*SETTINGS, *schemas.load("config")["properties"]])
    found = []
    for name in names:
        if name != "component":
            value = getattr(options, name, config.settings.get(name))
            variable = f"MLCHECK_{name.upper()}"
            by_environment = name in SETTINGS and environ.get(variable)
            found.append(Setting(name, msgspec.to_builtins(value), variable if by_environment else origins.of((name,))))
    chosen = Setting("color", color(None, environ), "MLCHECK_COLOR" if environ.get("MLCHECK_COLOR") else DEFAULT)
    return (*map(_newest, found), chosen)


def settings_of_component(config: Config, component: Component) -> tuple[Setting, ...]:
    """Every key of one ``[[component]]`` of `config`; a line for each key of its tables. Secrets are hidden."""
    origins, index = _Origins(config), config.components.index(component)
    conf, env = redacted(component.conf)[0], redacted(component.env)[0]
    secrets = redactor_of(component)
    command = secrets.words(component.command)
    plain = msgspec.structs.replace(component, command=command, conf=conf, env=env, settles=component.settling)
    shown = {"name": component.name, **msgspec.to_builtins(plain)}
    return tuple(
        Setting(key_path(path), secrets.value(value), origins.of(("component", index, *path)))
        for path, value in _rows(shown)
    )


class _Origins:
    """The lines of the configuration file."""

    def __init__(self, config: Config) -> None:
        self._path = config.path
        self._text = config.path.read_text(encoding="utf-8") if config.path else ""
        self._prefix: toml_lines.Path = ("tool", "mlcheck") if config.path and config.path.name == PYPROJECT else ()
        self._document: Any = tomllib.loads(self._text)

    def of(self, path: toml_lines.Path) -> str:
        """The file and the line of a key; the default if it does not stand there."""
        value = self._document
        for step in (*self._prefix, *path):
            try:
                value = value[step]
            except (KeyError, IndexError):
                return DEFAULT
        line = toml_lines.line_of(self._text, (*self._prefix, *path))
        name = self._path.name if self._path else ""
        return f"{name}:{line}" if line else name


def _rows(shown: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in shown.items():
        if isinstance(value, dict) and value:
            for name, item in value.items():
                yield (key, name), item
        else:
            yield (key,), value


def _newest(setting: Setting) -> Setting:
    """No version named is the newest."""
    if setting.name != "storm" or setting.value:
        return setting
    return setting._replace(value=load_rulebook().newest.id)
