"""Loads rules and Storm versions (``conformance/``) for the judge, and the example topology that transcripts stand in.

Shipped files are not held to their schemas at each start, which would cost more than all else; a test does that. A file
that can't be loaded is, and the error says what is wrong where.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from packaging.version import Version

from multilang_cli.catalogue import locate, schemas
from multilang_cli.catalogue.once import once
from multilang_cli.catalogue.texts import TextError, file_bytes
from multilang_cli.catalogue.yaml_texts import lines_of, yaml_value
from multilang_cli.causes.model import KnownCause, Signature, TracebackForm
from multilang_cli.causes.tracebacks import Tracebacks
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import Kind, Profile, Rule, StormVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_T = TypeVar("_T")
_Entry = TypeVar("_Entry", Rule, KnownCause)


class CatalogueError(ValueError):
    """A file of the catalogue that can't be used: the message names the file, the line where known, and the key."""


class _Known(msgspec.Struct, frozen=True):
    id: str
    verified: bool
    note: str = ""


class _Versions(msgspec.Struct, frozen=True):
    changes: tuple[dict[str, Any], ...]
    versions: tuple[_Known, ...]


NEVER_RUN = "Never run: it has what changed up to it, as far as sources and the verified versions tell."

_RELEASE = re.compile(r"\d{1,4}(\.\d{1,4}){2}")


def load_worker_log() -> list[dict[str, Any]]:
    """The texts of a worker's log that no rule has, and what tells their causes apart. Raises CatalogueError."""
    entries: list[dict[str, Any]] = _plain(locate.data_path("conformance", "worker-log.yaml"))
    return entries


@once
def load_causes() -> tuple[KnownCause, ...]:
    """The causes that a diagnosis names, by rank. Raises CatalogueError."""
    files = sorted(locate.data_path("conformance", "causes").glob("*.yaml"))
    causes = (_named(path, read_as(path, "cause", KnownCause, _spelt_out)) for path in files)
    return tuple(sorted(causes, key=lambda cause: cause.rank))


def _spelt_out(cause: dict[str, Any]) -> dict[str, Any]:
    """A cause as it is written, with the suspects of each language by itself, and the facts of signatures apart."""
    shared = cause.get("suspects", {}).items()
    suspects = {language: patterns for languages, patterns in shared for language in languages.split(", ")}
    return {**cause, "suspects": suspects, "when": [_apart(signature) for signature in cause["when"]]}


def _apart(signature: dict[str, Any]) -> dict[str, Any]:
    """A signature with the facts that it asks for in a table: the values that fit, by name."""
    fields = {key: each for key, each in signature.items() if key in Signature.__struct_fields__}
    facts = {key: each if isinstance(each, list) else [each] for key, each in signature.items() if key not in fields}
    return {**fields, "facts": facts}


@once
def load_tracebacks() -> Tracebacks:
    """Load the forms in which runtimes write an exception that nobody caught. Raises CatalogueError."""
    path = locate.data_path("conformance", "tracebacks.yaml")
    return Tracebacks(read_as(path, "tracebacks", tuple[TracebackForm, ...]))


@once
def load_rulebook(more: str = "") -> Rulebook:
    """Everything the judge is given: the rules and versions that are shipped. Raises CatalogueError.

    `more`: a Storm version to be judged for as well, such as 2.6.4; nothing happens if it is known, or is none.
    """
    return Rulebook(load_rules(), load_versions(more))


@once
def load_rules() -> dict[str, Rule]:
    """The rules by id, sorted. Not to be changed: they are kept. Raises CatalogueError."""
    folder = locate.data_path("conformance", "rules")
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise CatalogueError(f"{folder}: no rules here")
    return {rule.id: rule for rule in map(read_rule, files)}


@once
def load_versions(more: str = "") -> tuple[StormVersion, ...]:
    """The Storm versions, oldest first, and `more` among them, see `load_rulebook`. Raises CatalogueError."""
    data = read_as(locate.data_path("conformance", "versions.yaml"), "versions", _Versions)
    known = list(data.versions)
    oldest, newest = Version(known[0].id), Version(known[-1].id)
    is_new = _RELEASE.fullmatch(more) and more not in {version.id for version in known}
    # Nobody knows what the next major version changes.
    if is_new and oldest <= Version(more) and Version(more).major <= newest.major:
        known = sorted([*known, _Known(more, verified=False, note=NEVER_RUN)], key=lambda each: Version(each.id))
    return tuple(_whole(version, data.changes) for version in known)


def _whole(known: _Known, changes: tuple[dict[str, Any], ...]) -> StormVersion:
    """A version with what the changes up to it say."""
    traits: dict[str, Any] = {}
    for change in changes:
        if Version(change["since"]) <= Version(known.id):
            traits |= change
    del traits["since"]
    return msgspec.convert({**traits, **msgspec.structs.asdict(known)}, StormVersion)


def read_rule(path: Path) -> Rule:
    """One rule file, whose name is its id. Raises CatalogueError."""
    return _named(path, read_as(path, "rule", Rule))


def _named(path: Path, entry: _Entry) -> _Entry:
    if entry.id != path.stem:
        raise CatalogueError(f"{path}: the id is {entry.id!r}, not the file's name")
    return entry


def example_profile(kind: Kind, changes: Mapping[str, Any] | None = None) -> Profile:
    """The profile of a `kind` in the oracle's topology (``conformance/example-topology.yaml``).

    `changes`: fields that are other than there, as plain values; keys of conf are added to those there. Raises
    CatalogueError if they make no profile.
    """
    path = locate.data_path("conformance", "example-topology.yaml")
    fields: dict[str, Any] = {**_plain(path)[kind], **(changes or {})}
    fields["conf"] = {**_plain(path)[kind]["conf"], **fields["conf"]}
    try:
        return msgspec.convert({"kind": kind, **fields}, Profile, str_keys=True)
    except msgspec.ValidationError as error:
        raise CatalogueError(f"{path}: {error}") from None


def problems(path: Path, schema: str) -> list[str]:
    """Problems of a YAML file with `schema`: sentences with file and line, [] if it does.

    Raises CatalogueError if it is no YAML.
    """
    wrong = schemas.explain(_plain(path), schema)
    lines = lines_of(path.read_bytes()) if wrong else {}
    return [f"{path}:{lines.get(text.split(': ')[0], 1)}: {text}" for text in wrong]


def read_as(path: Path, schema: str, into: type[_T], shaped: Callable[[Any], Any] = lambda value: value) -> _T:
    """The value in a YAML file of a published schema, `shaped` as its type has it. Raises CatalogueError."""
    try:
        return msgspec.convert(shaped(_plain(path)), into)
    except msgspec.ValidationError as error:
        raise CatalogueError("\n".join(problems(path, schema)) or f"{path}: {error}") from None


def plain(path: Path) -> Any:
    """Load a YAML file as JSON could say it. Raises CatalogueError."""
    try:
        return yaml_value(file_bytes(path), str(path))
    except OSError as error:
        raise CatalogueError(f"{path}: {error.strerror}") from None
    except TextError as error:
        raise CatalogueError(str(error)) from None


_plain = once(plain)
