"""RunResult as GitHub workflow commands: an annotation for each trouble, the details in groups of the log.

What a component wrote may look like a command of its own: it is changed visibly (``workflow``).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from multilang_cli.reports.bundles import bundles, groups_in, known_failures_in, notes_in, untested_in_all
from multilang_cli.reports.combined import played_on
from multilang_cli.reports.escape import escape, fit
from multilang_cli.reports.failure import stderr_lines
from multilang_cli.reports.formats.console import group_text, next_command, summary_of
from multilang_cli.reports.grouping import note_lines, notes_of, some_of
from multilang_cli.reports.verdict import word_of
from multilang_cli.workflow import disarmed, disarmed_inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.reports.grouping import Group
    from multilang_cli.reports.model import ComponentReport, RunResult

Level = Literal["error", "warning", "notice"]

LEVELS: tuple[Level, ...] = ("error", "warning", "notice")
MOST_ANNOTATIONS = 10
"""Annotations of one level that GitHub shows of a step."""
_TITLE_CELLS = 200
_LINE_CELLS = 1000
_MOST_TITLES = 20
_UNLABELLED = frozenset({"Cause", "Wrong", "Careful"})


class Annotation(NamedTuple):
    """An annotation that GitHub shows beside the code. `file`: empty if it is not known; `line`: 0 likewise."""

    level: Level
    title: str
    lines: tuple[str, ...]
    file: str = ""
    line: int = 0


def to_github(result: RunResult, rulebook: Rulebook) -> str:
    """The text for the log of a step: what was found, the details folded, the summary, the annotations."""
    lines: list[str] = []
    annotations: list[Annotation] = []
    for bundle in bundles(result):
        name = f"{bundle.label}: " if bundle.label else ""
        lines += _log(bundle.parts, rulebook, name)
        annotations += _annotations(bundle.parts, rulebook, name)
    if result.parts:
        lines.append(harmless(f"{word_of(result)}  {summary_of(result)}"))
    lines += [harmless(f"Storm: {sentence}") for sentence in result.sentences]
    command = next_command(result)
    if command:
        lines.append(harmless(f"Next: {command}"))
    for level in LEVELS:
        lines += map(command_of, _at_most([each for each in annotations if each.level == level]))
    return "".join(f"{line}\n" for line in lines)


def command_of(annotation: Annotation) -> str:
    """The workflow command that makes an annotation."""
    at = f"line={annotation.line}," if annotation.line else ""
    file = f"file={_property(annotation.file)},{at}" if annotation.file else ""
    text = "%0A".join(_data(fit(line, _LINE_CELLS).text) for line in annotation.lines)
    return f"::{annotation.level} {file}title={_property(fit(annotation.title, _TITLE_CELLS).text)}::{text}"


def harmless(line: str) -> str:
    """A line for the log, in which the runner finds no command."""
    return disarmed(escape(line))


def file_of(component: ComponentReport, base: Path) -> str:
    """The component's file: the first word of its command that is one below the directory `base`; "" if none is.

    Words are relative to the component's directory, or to `base` where the user gave a whole path; "" if both are
    files. Programs of a virtual environment or a package count as none: their user did not write them.
    """
    for word in component.command:
        found = {_below(base / folder / word, base) for folder in (".", component.cwd)} - {None}
        if found:
            return str(found.pop()) if len(found) == 1 else ""
    return ""


def _below(path: Path, base: Path) -> Path | None:
    """The path of a file relative to where annotations begin, if it is below `base` and its user's own."""
    try:
        whole, base = path.resolve(), base.resolve()
        if not whole.is_relative_to(base) or not whole.is_file():
            return None
    except (OSError, ValueError):
        return None
    folders = whole.relative_to(base).parts[:-1]
    if any(name.startswith(".") or name == "node_modules" for name in folders):
        return None
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or base).resolve()
    found = whole.relative_to(workspace if base.is_relative_to(workspace) else base)
    return found if str(found).isprintable() else None


def _log(parts: Sequence[RunResult], rulebook: Rulebook, name: str) -> Iterator[str]:
    """One component, on one Storm version or several."""
    tool, component = parts[-1].tool, parts[-1].component
    about = fit(" ".join(component.command) or component.name, 400).text
    yield harmless(f"{name}{tool.name} {tool.version}{played_on(parts)}: {about}")
    for note in notes_in(parts):
        yield harmless(f"Note: {fit(note, _LINE_CELLS).text}")
    for group in groups_in(parts):
        yield f"::group::{_data(fit(f'{name}{_headline(group)}', _TITLE_CELLS).text)}"
        yield from map(harmless, group_text(group, rulebook).splitlines())
        yield "::endgroup::"
    for line in note_lines(notes_of(*parts)):
        yield harmless(f"Note: {fit(line, _LINE_CELLS).text}")
    for part in parts:
        where = f"Storm {part.storm}: " if len(parts) > 1 else ""
        yield harmless(f"{word_of(part)}  {name}{where}{summary_of(part)}")


def _annotations(parts: Sequence[RunResult], rulebook: Rulebook, name: str) -> list[Annotation]:
    file = file_of(parts[-1].component, Path.cwd())
    found = []
    for group in groups_in(parts):
        title, own = f"{name}{_headline(group)}", line_of(group, parts[-1].component)
        lines = tuple(_lines(group, rulebook))
        found.append(Annotation(level_of(group, parts), title, lines, *(own or (file, 0))))
    for part in parts:
        if part.gates and part.exit_code and not any(each.level == "error" for each in found):
            found.append(Annotation("error", f"{name}{word_of(part)}", tuple(_run_lines(part)), file))
    untested = untested_in_all(parts)
    if untested:
        lines = tuple(f"{each.reason}: {some_of(each.ids)}" for each in untested)
        found.append(Annotation("notice", f"{name}{sum(len(each.ids) for each in untested)} not tested", lines))
    known = [subject.id for subject in known_failures_in(parts)]
    if known:
        found.append(Annotation("notice", f"{name}known failures", (some_of(known, 20),)))
    return found


def line_of(group: Group, component: ComponentReport) -> tuple[str, int] | None:
    """The user's own file below the working directory, and the line in it, where the cause names one or a suspect."""
    cause = group.first.causes[0] if group.first.causes else None
    place = (cause.place or cause.suspect) if cause else None
    if place is None:
        return None
    found = _below(Path.cwd() / place.file, Path.cwd()) or _below(Path.cwd() / component.cwd / place.file, Path.cwd())
    return None if found is None else (str(found), place.line)


def level_of(group: Group, parts: Sequence[RunResult]) -> Level:
    """The level at which a trouble is told: an error fails the run, so it is on a version that counts."""
    gating = {part.storm for part in parts if part.gates}
    counts = gating & set(group.storms or (part.storm for part in parts))
    return "error" if counts and (group.verdict != "warn" or parts[-1].strict) else "warning"


def _headline(group: Group) -> str:
    what = group.finding.rule if group.finding else group.first.title
    if group.first.causes:
        what = group.first.causes[0].headline
    return f"{group.verdict.upper()} {what} ({group.first.id}{group.more}){group.only_on}"


def _lines(group: Group, rulebook: Rulebook) -> Iterator[str]:
    for label, text in group.told(rulebook):
        if label == "Code":
            yield from text.splitlines()
        elif label in _UNLABELLED:
            yield text
        elif label:
            yield f"{label}: {text}"
    if group.first.reproduce:
        yield f"Again: {group.first.reproduce}"


def _run_lines(result: RunResult) -> Iterator[str]:
    """Lines that no single subject tells: nothing selected, no first message, what could not be decided."""
    yield summary_of(result)
    yield from result.notes
    for untested in result.untested:
        yield f"{untested.reason}: {some_of(untested.ids)}"
    yield from stderr_lines(result.component.stderr_tail)


def _at_most(annotations: list[Annotation]) -> Iterable[Annotation]:
    """As many as GitHub shows; the last says how many more there are."""
    if len(annotations) <= MOST_ANNOTATIONS:
        return annotations
    rest = annotations[MOST_ANNOTATIONS - 1 :]
    lines = ("All are in the log of this step.", *(each.title for each in rest[:_MOST_TITLES]))
    return (*annotations[: MOST_ANNOTATIONS - 1], Annotation(rest[0].level, f"{len(rest)} more like these", lines))


def _data(text: str) -> str:
    return disarmed_inside(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
