"""Sources of a component: its language, and where its own files stand."""

from __future__ import annotations

import mmap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.causes.facts import Source
from multilang_cli.causes.languages import language_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.verdicts import Kind

_BUILT = {b"\xff Go buildinf:": "go", b"/rustc/": "rust"}
"""What compilers leave in their programs."""
_SOURCES = {"go": ".go", "rust": ".rs"}
"""The end of the names of sources of compiled programs."""


def source_of(argv: Sequence[str], cwd: Path, kind: Kind) -> Source:
    """The source of a component: its own files stand below its working directory, and beside its program."""
    programs = [cwd / word for word in words_of(argv) if language_of([word]) and "." in Path(word).name]
    beside = [str(program.parent) for program in programs if program.is_file()]
    roots = dict.fromkeys(str(Path(folder).resolve()) for folder in (str(cwd), *beside))
    language = language_of(argv) or built_from(cwd / argv[0])
    if not programs and language in _SOURCES:
        # A compiled program is most often called as its source, or as the folder of it.
        suffix, built = _SOURCES[language], [Path(word) for word in words_of(argv)]
        names = [f"{word}{suffix}" for word in built]
        names += [f"{folder}{word.stem}/main{suffix}" for word in built for folder in ("", "cmd/", "src/bin/")]
        programs = [program for name in names if (program := cwd / name).is_file()]
    files = tuple(str(program.resolve()) for program in programs)
    return Source(kind=kind, language=language, roots=tuple(roots), programs=files)


@cache
def built_from(program: Path) -> str:
    """The language that a compiled program was written in, "" where it does not show."""
    try:
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
            return next((language for mark, language in _BUILT.items() if code.find(mark) >= 0), "")
    except (OSError, ValueError):
        return ""
