"""Commands that keep a session, do one again, or end it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multilang_cli.repl import parsing
from multilang_cli.repl.commands.table import CommandTable, Misuse, ReplCommand
from multilang_cli.replay.case_files import ID, NoCaseError, step_of, write_case_file
from multilang_cli.reports.counting import counted
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.transcript.read import read
from multilang_cli.transcript.secrets import without_secrets
from multilang_cli.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.repl.component_run import ComponentRun
    from multilang_cli.repl.driver import Driver

MOST_NESTED = 8
"""How deep scripts may call scripts."""


def _case_of(life: ComponentRun, name: str) -> dict[str, Any]:
    """The case as plain values (``schemas/case``): handshake with the conf it had, then what was done."""
    setup = life.setup
    handshake: dict[str, Any] = {}
    if conf := without_secrets(setup.profile.conf):
        handshake["conf"] = conf
    if setup.more_context:
        handshake["context"] = setup.more_context
    clean = setup.redactor().clean
    steps = [step_of(operation, clean(arguments)) for operation, arguments in life.steps[1:]]
    return {
        "id": name,
        "title": "does what it did in a session by hand",
        "kind": setup.profile.kind,
        "level": "must",
        "clause": {"text": "Any finding of level must fails the case.", "source": "mlcheck repl"},
        "expected": "nothing that the judge finds wrong",
        "steps": [step_of("handshake", handshake), *steps],
    }


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
        driver.screen.line(f"{target}: only the first {counted(count, 'event')} of this start: {why}", "wrong")
        return
    driver.screen.line(
        f"{target}: {counted(count, 'event')}; `mlcheck lint {shlex.quote(str(target))}` judges it again", "dim"
    )


def _save_case(driver: Driver, name: str) -> None:
    """Write what was done since the last start as the case `name`, in the working directory."""
    if not ID.fullmatch(name):
        raise Misuse(f"{name[:60]!r} is no id of a case; expected lower-case words with dots, such as bolt.my-words")
    path, fed = Path(f"{name}.yaml"), Path(f"{name}.tuples.ndjson")
    for each in (path, fed):
        if each.exists():
            raise Misuse(f"{each} is there already; choose another name, nothing is overwritten")
    life, screen = driver.life, driver.screen
    try:
        write_case_file(path, _case_of(life, name))
    except NoCaseError as why:
        raise Misuse(f"the session makes no case: {why}") from None
    setup = life.setup
    secrets = setup.redactor()
    storm = [] if setup.version.id == setup.usual else ["--storm", setup.version.id]
    words = [*setup.again, *storm, "--suite", str(path), "-k", name]
    if life.fed:
        write_whole(fed, "".join(f"{json.dumps(secrets.clean(values))}\n" for values in life.fed).encode())
        words += ["--tuples", str(fed)]
    for note in dict.fromkeys(life.left_out):
        screen.line(f"left out, since no case can say it: {note}", "should")
    screen.line(f"{path} was written; play it with", "dim")
    screen.copied(shlex.join([*words, "--", *secrets.words(setup.subject.component.command)]))


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
