"""A new component to begin with: a shipped example, with configuration, CI and a README made from ``templates/new``."""

from __future__ import annotations

import json
import os
import string
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from multilang_cli import __version__
from multilang_cli.catalogue.locate import data_path

NAMES = {"bolt": "split_bolt", "spout": "sentence_spout"}
"""The example of each kind, called the same in every language."""

WORKFLOW = ".github/workflows/mlcheck.yml"


class Language(msgspec.Struct, frozen=True):
    """A language of ``templates/new/languages.toml``; ``{name}`` stands for the name of the component.

    `files`: below ``examples``. `command`: words that start it. `build`: a shell line before the first start, or "".
    """

    files: tuple[str, ...]
    command: tuple[str, ...]
    build: str = ""


class Scaffold(msgspec.Struct, frozen=True):
    """What was written: paths relative to the folder, and the shell line that builds the component, or ""."""

    files: tuple[str, ...]
    build: str


class ScaffoldError(Exception):
    """Nothing was written, or not everything: the message names the file and why."""


class _Text(string.Template):
    """Text with ``%%{name}``: neither TOML, YAML, Markdown nor a shell has that."""

    delimiter = "%%"


def languages() -> dict[str, Language]:
    """The languages that there are examples of, by name."""
    plain = tomllib.loads(_read("templates", "new", "languages.toml"))
    return msgspec.convert(plain, dict[str, Language])


def write_component(kind: Literal["bolt", "spout"], language: Language, folder: Path) -> Scaffold:
    """Write a component of `kind` into `folder`, which is made if it is missing.

    Raises ScaffoldError if one of its files is there already, before anything is written, or if one can't be written.
    """
    name = NAMES[kind]
    sources = {Path(file).name: file for file in (each.format(name=name) for each in language.files)}
    texts = {file: _read("examples", source) for file, source in sources.items()}
    texts |= _made(kind, name, language, [file for file in sources if file != "Makefile"])
    for file in texts:
        if os.path.lexists(folder / file):
            raise ScaffoldError(f"{folder / file} is there already, and nothing is overwritten")
    try:
        for file, text in texts.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            with (folder / file).open("x", encoding="utf-8", newline="") as new:
                new.write(text)
    except OSError as error:
        raise ScaffoldError(f"{error.filename}: can't be written: {error.strerror}") from None
    return Scaffold(tuple(texts), language.build.format(name=name))


def _made(kind: str, name: str, language: Language, sources: list[str]) -> dict[str, str]:
    """The files that are made from templates, by path."""
    build = language.build.format(name=name)
    command = json.dumps([word.format(name=name) for word in language.command])
    return {
        "mlcheck.toml": _fill(f"{kind}.toml", name=name, command=command),
        WORKFLOW: _fill("mlcheck.yml", version=__version__, build=f"      - run: {build}\n" if build else ""),
        "README.md": _fill(
            "README.md",
            name=name,
            kind=kind,
            sources=" and ".join(f"`{source}`" for source in sources),
            build=f"{build}\n" if build else "",
        ),
    }


def _fill(template: str, **values: str) -> str:
    return _Text(_read("templates", "new", template)).substitute(values)


def _read(*parts: str) -> str:
    return data_path(*parts).read_bytes().decode()
