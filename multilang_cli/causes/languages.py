"""The language that a component is written in, by its command line."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SUFFIXES = {
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".rb": "ruby",
    ".pl": "perl",
    ".php": "php",
    ".go": "go",
    ".sh": "shell",
    ".jar": "java",
    ".java": "java",
    ".lua": "lua",
    ".r": "r",
    ".c": "c",
    ".cpp": "cpp",
    ".tcl": "tcl",
    ".awk": "awk",
    ".exs": "elixir",
    ".escript": "erlang",
    ".ml": "ocaml",
    ".scm": "scheme",
    ".exe": "csharp",
    ".dll": "csharp",
    ".lisp": "lisp",
    ".raku": "raku",
    ".pas": "pascal",
    ".nim": "nim",
    ".cr": "crystal",
    ".hs": "haskell",
    ".d": "d",
    ".jl": "julia",
}
_INTERPRETERS = {
    name: language
    for language, names in {
        "python": ("python", "pypy"),
        "javascript": ("node", "nodejs", "deno", "bun", "coffee"),
        "ruby": ("ruby", "jruby"),
        "perl": ("perl",),
        "php": ("php",),
        "java": ("java",),
        "csharp": ("mono", "dotnet"),
        "lua": ("lua", "luajit"),
        "r": ("Rscript",),
        "tcl": ("tclsh",),
        "awk": ("awk", "gawk", "mawk"),
        "elixir": ("elixir",),
        "erlang": ("escript",),
        "ocaml": ("ocaml",),
        "scheme": ("guile",),
        "shell": ("bash", "sh", "dash", "zsh"),
        "lisp": ("sbcl", "ecl", "clisp"),
        "julia": ("julia",),
    }.items()
    for name in names
}
_SHARING = {"swipl": "prolog", "yap": "prolog", "gprolog": "prolog", "raku": "raku", "rakudo": "raku", "perl6": "raku"}
"""Interpreters of scripts that may end as those of another language: ``bolt.pl``."""
_MORE = {
    "perl": (".pm",),
    "javascript": (".ts", ".mts", ".coffee"),
    "csharp": (".cs",),
    "java": (".kt", ".scala", ".clj", ".groovy"),
    "shell": (".bash",),
    "rust": (".rs",),
    "elixir": (".ex",),
    "erlang": (".erl",),
    "c": (".h",),
    "cpp": (".cc", ".cxx", ".h", ".hpp"),
}
"""Suffixes of sources by which no program is started."""
_BUILT = frozenset({".jar", ".exe", ".dll"})
"""Suffixes of programs that are no sources."""
_SCRIPT = 2
"""Where a shell's script stands behind ``-c``."""
_VERSION = re.compile(r"[-\d.]+$")


def is_written_in(file: str, language: str) -> bool:
    """True if a file's name says that it is source of this language; one without a suffix may be a script of it."""
    suffix = posixpath.splitext(file)[1].lower()
    named = _SUFFIXES.get(suffix) == language or suffix in _MORE.get(language, ())
    return named and suffix not in _BUILT


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
