"""Sources of a component: its language, where its own files stand, and their lines, read to find what they wrote."""

from __future__ import annotations

import mmap
import os
import re
import shutil
from contextlib import suppress
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.causes.facts import Source
from multilang_cli.causes.languages import is_written_in, language_of, words_of
from multilang_cli.causes.origin import is_of, only_line, only_line_with, origin_of
from multilang_cli.causes.tracebacks import LIBRARIES
from multilang_cli.subject.source.lines import source_lines
from multilang_cli.subject.source.wrapper import started_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from multilang_cli.causes.model import Place
    from multilang_cli.protocol.words.verdicts import Kind

    Lines = dict[str, list[str]]

MOST_FILES = 200
"""Files below a root that are read: a component's own, not a home directory."""
MOST_OF_A_LINE = 1000
"""Characters of a line in which patterns are looked for; nobody writes longer ones by hand."""
PLANTED = "mutants"
"""The name of a testee's file with bugs that can be planted in it; it has one while `MLCHECK_MUTANT` names it."""
_FOREIGN = frozenset({"node_modules", "vendor", "site-packages", "target", "build", "dist", "venv", "__pycache__"})
_WORD = re.compile(r"\w+")
_LOADS = re.compile(
    r"\b(?:import|from|require\w*|include\w*|use|load|source|autoload|package|mod|using|dofile|importlib|fork)\b|"
    r"\bimport_module|__import__|\bdo\s+[\"']|^\s*\.\s"
)
"""Lines that may load another file."""
_GIVES_BACK = re.compile(r"(?:return\b|[\w.$@]+\s*:?=(?!=))(?!.*\b(?:print|puts|echo|say|write|log)\b)")
"""A statement that gives a text back, or keeps it."""
_MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_PATH = re.compile(r"(?:\\ |\S)+")
"""A path in a rule for make, its blanks escaped."""
_MAIN = re.compile(r"func main\(|fn main\(|(?:int|void) main\(|\b(?:void|int|Task(?:<int>)?)\s+Main\s*\(")
_JAVA_SOURCES = ("src", "src/main/java", "src/main/kotlin", "src/main/scala")
_DEPTH = 2
"""Folders below the program's own in which its files are looked for."""
_ELF = b"\x7fELF"
"""What a compiled program begins with."""
_BUILT = {b"\xff Go buildinf:": "go", b"/rustc/": "rust"}
"""What compilers leave in their programs."""
_SOURCES = {
    "go": ".go",
    "rust": ".rs",
    "c": ".c",
    "cpp": ".cpp",
    "ocaml": ".ml",
    "pascal": ".pas",
    "nim": ".nim",
    "d": ".d",
    "haskell": ".hs",
    "crystal": ".cr",
}
"""The end of the names of sources of compiled programs."""
_UNMARKED = ("c", "cpp", "ocaml", "pascal", "nim", "d", "haskell", "crystal")
"""Languages whose compilers leave no mark: a source of the program's name beside it tells."""


def source_of(argv: Sequence[str], cwd: Path, kind: Kind) -> Source:
    """The source of a component: its own files stand below its working directory, and beside its program."""
    argv = started_command(argv, cwd)
    named = language_of(argv)
    if not named or Path(argv[0]).suffix:
        named = _by_shebang(argv[0], cwd) or named
    programs = [cwd / word for word in words_of(argv) if language_of([word]) and "." in Path(word).name]
    if find := _NAMED.get(named):
        programs += find(argv, cwd)
    if named and not programs:
        programs = _without_suffix(argv, cwd)
    program = cwd / argv[0]
    language = named or built_from(program) or _written_beside(program) or _only_source_beside(program)
    if not programs and language in _SOURCES:
        # A compiled program is most often called as its source, or as the folder of it.
        suffix, built = _SOURCES[language], [Path(word) for word in words_of(argv)]
        names = [f"{word}{suffix}" for word in built]
        names += [f"{folder}{word.stem}/main{suffix}" for word in built for folder in ("", "cmd/", "src/bin/")]
        listed = _listed_by_cargo(program) if language == "rust" else []
        programs = listed or [path for name in names if (path := cwd / name).is_file()]
        programs = programs or _only_main(program, suffix)
    beside = [str(each.parent) for each in programs if each.is_file()]
    roots = dict.fromkeys(str(Path(folder).resolve()) for folder in (str(cwd), *beside))
    files = tuple(dict.fromkeys(str(each.resolve()) for each in programs))
    return Source(kind=kind, language=language, roots=tuple(roots), programs=files)


def _without_suffix(argv: Sequence[str], cwd: Path) -> list[Path]:
    """The script that is started, or given to an interpreter, where its name doesn't tell its language."""
    for number, word in enumerate(argv):
        path = cwd / word
        with suppress(OSError, ValueError):
            if "." not in path.name and path.is_file() and (next(iter(source_lines(path)), "")[:2] == "#!" or number):
                return [path]
    return []


def _written_beside(program: Path) -> str:
    # A name that is as long as names may be has none, of which pathlib says so by an error.
    return next((each for each in _UNMARKED if os.path.isfile(f"{program}{_SOURCES[each]}")), "")  # noqa: PTH113


def _only_source_beside(program: Path) -> str:
    """The language of the only program whose source stands in the folder of a compiled one; "" if it can't be told."""
    if not _is_compiled(program):
        return ""
    found = [language for language in _UNMARKED if _only_main(program, _SOURCES[language])]
    return found[0] if len(found) == 1 else ""


def _only_main(program: Path, suffix: str) -> list[Path]:
    """The only file beside a program, or in ``src`` there, that has a main function; none if several have one."""
    mains = []
    for folder in (program.parent, program.parent / "src"):
        with suppress(OSError):
            files = [path for path in sorted(folder.iterdir())[:MOST_FILES] if path.suffix == suffix]
            mains += [path for path in files if any(map(_MAIN.search, source_lines(path)))]
    return mains if len(mains) == 1 else []


def _is_compiled(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            return file.read(len(_ELF)) == _ELF
    except (OSError, ValueError):
        return False


@cache
def _by_shebang(program: str, cwd: Path) -> str:
    """The language that a script without a suffix names in its first line, such as what an installer makes."""
    path = program if "/" in program else shutil.which(program) or program
    try:
        first = next(iter(source_lines(cwd / path)), "")[:MOST_OF_A_LINE]
    except (OSError, ValueError):
        return ""
    return language_of(first[2:].split()) if first.startswith("#!") else ""


def _modules(argv: Sequence[str], cwd: Path) -> list[Path]:
    """The files of the modules behind ``-m``, and of the classes that such a module, or a script, is told to run."""
    words = argv[argv.index("-m") + 1 :] if "-m" in argv else argv[1:]
    named = (name for word in words if word[:1] != "-" for name in (word, word.rpartition(".")[0]))
    paths = (cwd / f"{name.replace('.', '/')}.py" for name in named if _MODULE.fullmatch(name))
    return [path for path in paths if path.is_file()]


def _classes(argv: Sequence[str], cwd: Path) -> list[Path]:
    """The file of the class that Java is told to run: in its class path, or where builds keep sources.

    Kotlin names the class of a file's own functions after it, with Kt at its end; what Clojure runs is a namespace.
    """
    told = (text for flag, text in pairwise(argv) if flag in {"-cp", "-classpath", "--class-path"})
    paths = [cwd / path for path in ":".join(told).split(":") if path]
    folders = [*(cwd / path for path in ("", *_JAVA_SOURCES)), *paths, *(path.parent for path in paths)]
    named = [word.replace(".", "/") for word in argv[1:] if _MODULE.fullmatch(word)]
    names = [f"{stem}{suffix}" for word in named for stem, suffix in _files_of_class(word)]
    return [path for name in names for folder in folders if (path := folder / name).is_file()][:1]


def _files_of_class(name: str) -> list[tuple[str, str]]:
    """The files, without and with their suffix, that a class of that name may be compiled from."""
    return [(name, ".java"), (name.removesuffix("Kt"), ".kt"), (name, ".kt"), (name, ".scala"), (name, ".clj")]


_NAMED = {"python": _modules, "java": _classes}
"""Languages whose programs can be named without their files."""


def _listed_by_cargo(program: Path) -> list[Path]:
    """The sources of a program that Cargo built, as the rule for make beside it lists them; none without one."""
    try:
        rule = " ".join(source_lines(Path(f"{program}.d"))[:1])
    except OSError:
        return []
    words = (word.replace("\\ ", " ") for word in _PATH.findall(rule.partition(": ")[2]))
    return [path for word in words if (path := Path(word)).suffix == ".rs" and path.is_file()]


@cache
def built_from(program: Path) -> str:
    """The language that a compiled program was written in, "" where it does not show."""
    try:
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
            return next((language for mark, language in _BUILT.items() if code.find(mark) >= 0), "")
    except (OSError, ValueError):
        return ""


def with_build_folders(source: Source, stderr: str) -> Source:
    """The source with the folders that a traceback names for its programs: what is compiled may be built elsewhere."""
    if source.language not in _SOURCES:
        return source
    names = "|".join(re.escape(Path(program).name) for program in source.programs)
    found = re.findall(rf"(?m)(?<!\S)(/\S*)/(?:{names}):\d", stderr) if names else []
    return msgspec.structs.replace(source, roots=tuple(dict.fromkeys([*source.roots, *found])))


def origin_in(source: Source, text: str) -> Place | None:
    """The line that `text` came from: that which has most of it, of two the program's own; None if it can't be told."""
    own, beside = _related_lines(source)
    return origin_of(text, {**own, **beside}) or origin_of(text, own) or origin_of(text, beside)


def starter_of(source: Source, text: str, starts: str) -> Place | None:
    """The line that starts the program which wrote `text`: it has words of the text, or no line that writes has any.

    A line that gives such words back writes nothing: it names a file of which the program tells.
    """
    own, beside = _related_lines(source)
    if not starts:
        return None
    if any(is_of(text, sources) for sources in (own, beside)):
        origin = origin_of(text, own)
        if origin is None or not _GIVES_BACK.match(origin.code):
            return origin if origin is not None and re.match(starts, origin.code) else None
    return only_line(starts, own)


def suspect_in(source: Source, pattern: str, *, in_adapter: bool = False) -> Place | None:
    """The only line that has a pattern: of the program itself, else of the files beside it that are its user's own.

    `in_adapter`: else of the adapters beside it.
    """
    own, beside = _related_lines(source)
    found = only_line_with(pattern, own) or only_line_with(pattern, _without_adapters(beside))
    return found if found or not in_adapter else only_line_with(pattern, beside)


def all_lines_of(source: Source) -> Lines:
    """The lines of the component's own files, and of those beside them that they name."""
    own, beside = _related_lines(source)
    return {**own, **beside}


def lines_of(source: Source) -> Lines:
    """The lines of the component's own files: its program's, else all beside it; of a shell also what it sources."""
    own, beside = _related_lines(source)
    return {**own, **beside} if source.language == "shell" else own or beside


def user_lines_of(source: Source) -> Lines:
    """The lines that the authors of the component wrote: its own, and those of files beside it but copied adapters."""
    own, beside = _related_lines(source)
    return {**own, **_without_adapters(beside)} if own else beside


def _without_adapters(files: Lines) -> Lines:
    return {name: lines for name, lines in files.items() if not LIBRARIES.search(name)}


@cache
def _related_lines(source: Source) -> tuple[Lines, Lines]:
    """The lines of the program, and of those files beside it that it names: a folder may hold many programs.

    All files, where it is not known which is the program.
    """
    own, beside = _lines_of(source)
    related: Lines = {}
    others = dict(beside)
    while found := _loaded_by({**own, **related}, others, source):
        related.update(found)
        others = {name: lines for name, lines in others.items() if name not in found}
    return own, related if own else _of_one_program(beside, source)


def _loaded_by(files: Lines, others: Lines, source: Source) -> Lines:
    """Those of the other files that are named where the files load some."""
    # Classes of one Java package know each other, files of one in Go need no name.
    in_class, in_package = source.language == "java", source.language == "go"
    loading = (line for lines in files.values() for line in lines if in_class or _LOADS.search(line))
    words = {word for line in loading for word in _WORD.findall(line)}
    return {
        name: lines
        for name, lines in others.items()
        if Path(name).stem in words or (in_package and not any(map(_MAIN.match, lines)))
    }


def _of_one_program(files: Lines, source: Source) -> Lines:
    """The files of a program that was built: of several those in its folder; none where it can't be told of which."""
    programs = {Path(name).parent for name, lines in files.items() if any(map(_MAIN.search, lines))}
    if len(programs) <= 1:
        return files
    folders = {Path(program).parent for program in source.programs}
    in_its_folder = [each for each in programs if any(Path(root, each) in folders for root in source.roots)]
    return {name: lines for name, lines in files.items() if Path(name).parent in in_its_folder[:1]}


@cache
def _lines_of(source: Source) -> tuple[Lines, Lines]:
    own: Lines = {}
    beside: Lines = {}
    known: set[Path] = set()
    for program in map(Path, source.programs):
        if not is_written_in(program.name, source.language) and "." not in program.name:
            with suppress(OSError):
                own[program.name] = [line[:MOST_OF_A_LINE] for line in source_lines(program)]
    for root in map(Path, source.roots):
        # One root may stand below another.
        found = [path for path in islice(_files(root, source.language), MOST_FILES) if path not in known]
        known.update(found)
        for path in found:
            with suppress(OSError):
                files = own if str(path) in source.programs else beside
                files[str(path.relative_to(root))] = [line[:MOST_OF_A_LINE] for line in source_lines(path)]
    return own, beside


def _files(root: Path, language: str) -> Iterator[Path]:
    planted = bool(os.environ.get("MLCHECK_MUTANT"))
    for folder, folders, files in os.walk(root):
        deep = len(Path(folder).relative_to(root).parts) >= _DEPTH
        folders[:] = [] if deep else sorted(name for name in folders if name[0] != "." and name not in _FOREIGN)
        for name in sorted(files):
            if is_written_in(name, language) and (planted or Path(name).stem.lower() != PLANTED):
                yield Path(folder) / name
