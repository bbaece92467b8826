"""Commands that keep a session, do one again, or end it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.repl import parsing
from multilang_cli.repl.case_file import write_case
from multilang_cli.repl.commands.table import CommandTable, Misuse, ReplCommand
from multilang_cli.transcript.read import read
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.repl.driver import Driver

MOST_NESTED = 8
"""How deep scripts may call scripts."""


def _save(driver: Driver, rest: str) -> None:
    plain = parsing.words(rest)
    if plain[:1] == ["case"]:
        if len(plain) != 2:  # noqa: PLR2004 (case and its name)
            raise Misuse("expected the dotted id of the case: save case bolt.my-words")
        _save_case(driver, plain[1])
        return
    if len(plain) != 1:
        raise Misuse("expected a file: save talk.ndjson, or save case bolt.my-words")
    target = Path(plain[0])
    if target.exists():
        raise Misuse(f"{target} is there already; choose another name, nothing is overwritten")
    recorded = read(driver.life.path)
    count = 0
    # What is read back has no secrets any more.
    with TranscriptWriter(target, recorded.header, secret_keys=None) as writer:
        for event in recorded:
            writer.write(event)
            count += 1
    if driver.life.unrecorded:
        why = f"recording ended there: {driver.life.unrecorded}"
        driver.screen.line(f"{target}: only the first {count} events of this start: {why}", "wrong")
        return
    driver.screen.line(f"{target}: {count} events; `mlcheck lint {shlex.quote(str(target))}` judges it again", "dim")


def _save_case(driver: Driver, name: str) -> None:
    saved = write_case(driver.life, name)
    for note in saved.left_out:
        driver.screen.line(f"left out, since no case can say it: {note}", "should")
    driver.screen.line(f"{saved.path} was written; play it with", "dim")
    driver.screen.copied(saved.again)


def _source(driver: Driver, rest: str) -> None:
    plain = parsing.words(rest)
    if len(plain) != 1:
        raise Misuse("expected one file of commands: source steps.repl")
    if driver.depth >= MOST_NESTED:
        raise Misuse(f"{plain[0]}: scripts call scripts more than {MOST_NESTED} deep")
    if not driver.run_script(parsing.text_of(Path(plain[0])), plain[0]):
        raise Misuse(f"{plain[0]} was left there")


def _files(_: Driver, before: list[str]) -> Iterable[str]:
    folder, slash, _name = before[-1].rpartition("/")
    try:
        entries = sorted(Path(f"{folder}{slash}" or ".").iterdir())
    except OSError:
        return ()
    return [f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}" for entry in entries]


def _save_words(driver: Driver, before: list[str]) -> Iterable[str]:
    return ["case", *_files(driver, before)] if len(before) == 1 else [f"{driver.setup.profile.kind}."]


def _quit(driver: Driver, _: str) -> None:
    driver.quitting = True


COMMANDS: CommandTable[Driver] = {
    "save": ReplCommand(
        "FILE|case ID",
        "Save the transcript since the last start, or the session as a case.\n`save case bolt.my-words` writes "
        "bolt.my-words.yaml, and what was fed, for `mlcheck run --suite`.",
        _save,
        _save_words,
    ),
    "source": ReplCommand(
        "FILE", "Do the commands in a file, each when the component has answered the one before.", _source, _files
    ),
    "quit": ReplCommand("", "End the component and the session.", _quit),
}
"""Commands that keep a session, do one again, or end it."""
