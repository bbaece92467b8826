"""The file of known failures on disk: read, checked and written. What it means is in ``baseline``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.line_files import read_text
from multilang_cli.suite.verdict.baseline import Baseline, parse, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.model import SubjectResult

READ, WRITE = "--known-failures", "--write-known-failures"


def read(name: str, rulebook: Rulebook) -> Baseline:
    """The known failures in the file `name`. Raises ConfigError that names the file, and the line where it can."""
    if not Path(name).exists():
        raise ConfigError(f"{_shown(name)}: there is no such file of known failures; {WRITE} {_shown(name)} makes it.")
    return parse(read_text(f"{READ} ", name), _shown(name), rulebook.rules)


def check(name: str, rulebook: Rulebook) -> None:
    """See that the file `name` can be written, and that what stands in it can be kept. Raises ConfigError."""
    path = Path(name)
    if path.exists():
        parse(read_text(f"{WRITE} ", name), _shown(name), rulebook.rules)
    target = path if path.exists() else path.absolute().parent
    if not os.access(target, os.W_OK):
        raise ConfigError(f"{WRITE} {name}: {target} can't be written to.")


def write(name: str, subjects: Mapping[str, Iterable[SubjectResult]], rulebook: Rulebook, *, strict: bool) -> Baseline:
    """Write what fails now to the file `name`, whole or not at all, and return it. Raises ConfigError.

    `subjects`: by the Storm version that was played.
    """
    path = Path(name)
    old = read_text(f"{WRITE} ", name) if path.exists() else ""
    titles = {rule.id: rule.title for rule in rulebook.rules.values()}
    text = render(old, subjects, titles, strict=strict)
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise ConfigError(f"{WRITE} {name}: can't be written: {error.strerror}.") from None
    return parse(text, _shown(name), rulebook.rules)


def _shown(name: str) -> str:
    """The file as its user would write it from here."""
    near = os.path.relpath(name)
    return name if near.startswith("..") else near
