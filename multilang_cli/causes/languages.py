"""The language that a component is written in, by its command line."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Language(NamedTuple):
    """Names that tell a language, parted by spaces.

    `programs`: suffixes of what is started; `interpreters` of it; `sources`: suffixes by which no program is started.
    """

    programs: str = ""
    interpreters: str = ""
    sources: str = ""


_LANGUAGES = {
    "python": _Language(".py", "python pypy"),
    "javascript": _Language(".js .mjs .cjs", "node nodejs deno bun coffee", ".ts .mts .coffee"),
    "ruby": _Language(".rb", "ruby jruby"),
    "perl": _Language(".pl", "perl", ".pm"),
    "php": _Language(".php", "php"),
    "go": _Language(".go"),
    "shell": _Language(".sh", "bash sh dash zsh", ".bash"),
    "java": _Language(".jar .java", "java", ".kt .scala .clj .groovy"),
    "lua": _Language(".lua", "lua luajit"),
    "r": _Language(".r", "Rscript"),
    "c": _Language(".c", "", ".h"),
    "cpp": _Language(".cpp", "", ".cc .cxx .h .hpp"),
    "tcl": _Language(".tcl", "tclsh"),
    "awk": _Language(".awk", "awk gawk mawk"),
    "elixir": _Language(".exs", "elixir", ".ex"),
    "erlang": _Language(".escript", "escript", ".erl"),
    "ocaml": _Language(".ml", "ocaml"),
    "scheme": _Language(".scm", "guile"),
    "csharp": _Language(".exe .dll", "mono dotnet", ".cs"),
    "lisp": _Language(".lisp", "sbcl ecl clisp"),
    "raku": _Language(".raku"),
    "pascal": _Language(".pas"),
    "nim": _Language(".nim"),
    "crystal": _Language(".cr"),
    "haskell": _Language(".hs"),
    "d": _Language(".d"),
    "julia": _Language(".jl", "julia"),
    "rust": _Language("", "", ".rs"),
}
_SUFFIXES = {suffix: name for name, language in _LANGUAGES.items() for suffix in language.programs.split()}
_INTERPRETERS = {each: name for name, language in _LANGUAGES.items() for each in language.interpreters.split()}
_SHARING = {"swipl": "prolog", "yap": "prolog", "gprolog": "prolog", "raku": "raku", "rakudo": "raku", "perl6": "raku"}
"""Interpreters of scripts that may end as those of another language: ``bolt.pl``."""
_BUILT = frozenset({".jar", ".exe", ".dll"})
"""Suffixes of programs that are no sources."""
_SCRIPT = 2
"""Where a shell's script stands behind ``-c``."""
_VERSION = re.compile(r"[-\d.]+$")


def is_written_in(file: str, language: str) -> bool:
    """True if a file's name says that it is source of this language; one without a suffix may be a script of it."""
    suffix = posixpath.splitext(file)[1].lower()
    known = _LANGUAGES.get(language, _Language())
    return suffix in (known.programs + " " + known.sources).split() and suffix not in _BUILT


def words_of(argv: Iterable[str]) -> list[str]:
    """The words of a command; those of what a shell is given as ``-c`` stand before the shell's own."""
    words = list(argv)
    if len(words) > _SCRIPT and words[1] == "-c" and language_of(words[:1]) == "shell":
        return [*words[_SCRIPT].replace(";", " ").split(), *words]
    return words


def language_of(argv: Iterable[str]) -> str:
    """The language of a command, "" where it does not show: by the suffix of a word, else by its interpreter.

    An interpreter whose scripts share another language's suffix comes first.
    """
    words = words_of(argv)
    interpreters = [_VERSION.sub("", posixpath.basename(word)) for word in words]
    for name in interpreters:
        if language := _SHARING.get(name):
            return language
    for word in words:
        if language := _SUFFIXES.get(posixpath.splitext(word)[1].lower()):
            return language
    for name in interpreters:
        if language := _INTERPRETERS.get(name):
            return language
    return ""
