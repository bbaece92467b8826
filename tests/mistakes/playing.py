"""Plays a component with one classic mistake, and gives what a reader of the screen reads first."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from multilang_cli.reports.formats.console import as_text
from multilang_cli.reports.formats.screen import render_screen
from multilang_cli.reports.formats.trouble import MOST_LINES
from multilang_cli.reports.grouping import troubles_of
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.suite.runner.suite_run import run_suite

HERE = Path(__file__).parent
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "python": (("python3",), ".py"),
    "shell": (("sh",), ".sh"),
    "javascript": (("node",), ".js"),
    "ruby": (("ruby",), ".rb"),
    "perl": (("perl",), ".pl"),
    "php": (("php",), ".php"),
    "go": (("go",), ".go"),
}
"""By language: the program that starts a component, or builds it, and the end of its file's name."""
CASES = {
    "bolt": ("handshake.pid-first", "bolt.settle", "bolt.heartbeat.idle"),
    "spout": ("handshake.pid-first", "spout.sync"),
}
"""Cases that are enough to meet a mistake."""
TIMEOUT = 3.0
COLUMNS = 80
MISTAKES: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "mistakes.yaml").read_text(encoding="utf-8"))


class Seen(NamedTuple):
    """What was shown first. `place`: the line of the user's own file, "" where none was named. `screen`: its lines."""

    cause: str
    headline: str
    exit_code: int
    place: str
    screen: list[str]


def languages() -> list[str]:
    """The languages in which there are mistakes."""
    return [language for language in COMMANDS if (HERE / language / "changes.yaml").exists()]


def changes(language: str) -> dict[str, list[list[str]]]:
    """By mistake, what is replaced by what in the component that is right."""
    found: dict[str, list[list[str]]] = yaml.safe_load((HERE / language / "changes.yaml").read_text(encoding="utf-8"))
    return found


def write(language: str, name: str, folder: Path) -> Path:
    """Write the component with the mistake, or the right one for "". Raises AssertionError if a change fits nothing."""
    kind = MISTAKES.get(name, {}).get("kind", "bolt") if name not in {"bolt", "spout"} else name
    suffix = COMMANDS[language][1]
    text = (HERE / language / f"{kind}{suffix}").read_text(encoding="utf-8")
    for old, new in changes(language).get(name, []):
        assert old in text, (language, name, old)
        text = text.replace(old, new)
    path = folder / f"{kind}{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def command_of(language: str, path: Path) -> tuple[str, ...]:
    """The command that starts the component at `path`; what is compiled is built first."""
    if language != "go":
        return (*COMMANDS[language][0], path.name)
    subprocess.run(["go", "build", "-o", path.stem, path.name], cwd=path.parent, check=True, timeout=120)
    return (f"./{path.stem}",)


def play(language: str, name: str, folder: Path) -> Seen:
    """Run a few cases over the component with a mistake."""
    path = write(language, name, folder)
    wanted = MISTAKES.get(name, {})
    kind = path.stem
    component = Component(
        command=command_of(language, path),
        kind="spout" if kind == "spout" else "bolt",
        cwd=str(folder),
        samples=(["snow white"],) if wanted.get("sample") else (),
        accepts=tuple(wanted.get("accepts", ())),
        streams={"default": StreamDeclaration(("word",))} if wanted.get("streams") else None,
    )
    cases = tuple(wanted.get("cases", CASES[kind]))
    options = RunOptions(record=str(folder / "record"), timeout=TIMEOUT, include=cases)
    result = run_suite(component, options)
    troubles = troubles_of(result)
    if not troubles:
        return Seen("", result.verdict, result.exit_code, "", [])
    cause = troubles[0].cause
    place = f"{cause.place.file}:{cause.place.line}" if cause.place else ""
    screen = as_text(lambda console: render_screen(result, console)).splitlines()
    return Seen(cause.id, cause.headline, result.exit_code, place, screen)


def wrong_with(name: str, seen: Seen) -> str:
    """Why what was shown is not what must be; "" if it is."""
    wanted = MISTAKES[name]
    causes = wanted["cause"] if isinstance(wanted["cause"], list) else [wanted["cause"]]
    if seen.cause not in causes or not re.search(wanted["says"], seen.headline):
        return f"{name}: {seen.cause}: {seen.headline} (wanted {' or '.join(causes)}: {wanted['says']})"
    codes = wanted.get("exit", 1)
    if seen.exit_code not in (codes if isinstance(codes, list) else [codes]):
        return f"{name}: exit code {seen.exit_code}, wanted {codes}"
    if "looks" in wanted and not re.search(rf"^  Look .*{wanted['looks']}", "\n".join(seen.screen), re.MULTILINE):
        return f"{name}: no line to look at with {wanted['looks']}: " + "\n".join(seen.screen)
    if len(seen.screen) > MOST_LINES or any(len(line) > COLUMNS for line in seen.screen):
        return f"{name}: no screen of {MOST_LINES} lines and {COLUMNS} columns: " + "\n".join(seen.screen)
    return ""
