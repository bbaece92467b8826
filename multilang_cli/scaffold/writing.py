"""A new component, or testee, to begin with: a shipped one, with CI and a README made from ``templates/new``."""

from __future__ import annotations

import json
import os
import shlex
import string
import tomllib
from typing import TYPE_CHECKING

import msgspec
import yaml

from multilang_cli import __version__
from multilang_cli.catalogue.locate import data_path

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"bolt": "split_bolt", "spout": "sentence_spout"}
"""The example of each kind, called the same in every language."""

BUILDERS = {"Makefile", "Cargo.toml", "go.mod", "pom.xml"}
"""Files that say how to build it."""

UNPACK = "../unpack.py"
"""What several testees share; a copy stands beside a new one."""

WORKFLOW = ".github/workflows/mlcheck.yml"


KINDS = (*NAMES, "testee")
"""What can be made."""


class NewTestee(msgspec.Struct, frozen=True):
    """A testee to begin with: its `folder` in ``conformance/testees``, and `files` in there.

    `shared`: what stands above the folder, for several testees; a copy stands beside a new one.
    """

    folder: str
    files: tuple[str, ...]
    shared: tuple[str, ...] = ()


class Language(msgspec.Struct, frozen=True):
    """A language of ``templates/new/languages.toml``; ``{name}`` stands for the name of the component, split_bolt.

    `files`: by where each is written, where it comes from; ``{Name}`` is SplitBolt. `command`: words that start it.
    `build`: a shell line before the first start, or "". `setup`: one that installs the language in CI, or "". `testee`:
    None if there is none.
    """

    files: dict[str, str]
    command: tuple[str, ...]
    build: str = ""
    setup: str = ""
    testee: NewTestee | None = None


class Scaffold(msgspec.Struct, frozen=True):
    """Files that were written: paths relative to the folder, and the shell line that builds the component, or "".

    `library`: the one that a testee begins with, and where it is from; "" of a component.
    """

    files: tuple[str, ...]
    build: str
    library: str = ""


class ScaffoldError(Exception):
    """Nothing was written, or not everything: the message names the file and why."""


class _Text(string.Template):
    """Text with ``%%{name}``: neither TOML, YAML, Markdown nor a shell has that."""

    delimiter = "%%"


def languages() -> dict[str, Language]:
    """The languages that there are examples of, by name."""
    plain = tomllib.loads(_read("templates", "new", "languages.toml"))
    return msgspec.convert(plain, dict[str, Language])


def write_component(kind: str, language: Language, folder: Path) -> Scaffold:
    """Write a component of `kind`, of `NAMES`, into `folder`, which is made if it is missing.

    Raises ScaffoldError if one of its files is there already, before anything is written, or if one can't be written.
    """
    name = NAMES[kind]
    build = _named(language.build, name)
    sources = {_named(to, name): _source(_named(source, name), name) for to, source in language.files.items()}
    command = json.dumps([_named(word, name) for word in language.command])
    texts = sources | {
        "mlcheck.toml": _fill(f"{kind}.toml", name=name, command=command),
        WORKFLOW: _workflow(language.setup, build, ""),
        "README.md": _fill(
            "README.md",
            name=name,
            kind=kind,
            sources=" and ".join(f"`{file}`" for file in sources if file not in BUILDERS),
            build=f"{build}\n" if build else "",
        ),
    }
    _write(texts, folder)
    return Scaffold(tuple(texts), build)


def write_testee(language: Language, folder: Path) -> Scaffold:
    """Write the testee of `language`, which has one, into `folder`, as `write_component` does, and with its errors."""
    if language.testee is None:
        raise ScaffoldError("there is no testee in this language")
    home = ("conformance", "testees")
    names = [*language.testee.files, "testee.yaml", "mutants.yaml"]
    texts = {file: _read(*home, language.testee.folder, file) for file in names}
    texts |= {file: _read(*home, file) for file in language.testee.shared}
    described = yaml.safe_load(texts["testee.yaml"])
    build = [shlex.join(words) for words in described.get("prepare", ())]
    if any(UNPACK in line for line in build):
        texts |= {"unpack.py": _read(*home, "unpack.py")}
        texts["testee.yaml"] = texts["testee.yaml"].replace(UNPACK, "unpack.py")
        build = [line.replace(UNPACK, "unpack.py") for line in build]
    texts[WORKFLOW] = _workflow(language.setup, " && ".join(build), "--testee . ")
    texts["README.md"] = _fill(
        "testee.md",
        language=described["language"],
        library=described["library"]["name"],
        build="".join(f"{line}\n" for line in build),
    )
    _write(texts, folder)
    library = described["library"]
    source = f" ({library['from']})" if library.get("from") else ""
    return Scaffold(tuple(texts), " && ".join(build), f"{library['name']}{source}")


def _write(texts: dict[str, str], folder: Path) -> None:
    for file in texts:
        if os.path.lexists(folder / file):
            raise ScaffoldError(f"{folder / file} is there already, and nothing is overwritten")
    begun: list[Path] = []
    for file, text in texts.items():
        try:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            with (folder / file).open("x", encoding="utf-8", newline="") as new:
                begun.append(folder / file)
                new.write(text)
        except OSError as error:
            for path in begun:
                path.unlink(missing_ok=True)
            where = error.filename or folder / file
            raise ScaffoldError(f"{where}: can't be written: {error.strerror}") from None


def _workflow(setup: str, build: str, what: str) -> str:
    steps = "".join(f"      - run: {line}\n" for line in [setup, *build.split(" && ")] if line)
    return _fill("mlcheck.yml", version=__version__, build=steps, what=what)


def _named(text: str, name: str) -> str:
    return text.format(name=name, Name=name.title().replace("_", ""))


def _source(path: str, name: str) -> str:
    """A file as it is shipped; what is made for `mlcheck new` alone may speak of the name."""
    text = _read(*path.split("/"))
    return _Text(text).substitute(name=name) if path.startswith("templates/") else text


def _fill(template: str, **values: str) -> str:
    return _Text(_read("templates", "new", template)).substitute(values)


def _read(*parts: str) -> str:
    return data_path(*parts).read_bytes().decode()
