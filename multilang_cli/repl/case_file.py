"""A session by hand as a conformance case: the steps that cases know, and what was fed beside it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.repl.commands.table import Misuse
from multilang_cli.replay.case_files import ID, NoCaseError, step_of, write_case_file
from multilang_cli.reports.formats.registry import write_whole
from multilang_cli.transcript.secrets import without_secrets

if TYPE_CHECKING:
    from multilang_cli.repl.component_run import ComponentRun


class SavedCase(NamedTuple):
    """A case that was written: where, what it leaves out, and the command line that plays it."""

    path: Path
    left_out: tuple[str, ...]
    again: str


def write_case(life: ComponentRun, name: str) -> SavedCase:
    """Write what was done since the last start as the case `name`, in the working directory.

    Raises Misuse for a name that is none, or whose file is there; OSError.
    """
    if not ID.fullmatch(name):
        raise Misuse(f"{name[:60]!r} is no id of a case; expected lower-case words with dots, such as bolt.my-words")
    path, fed = Path(f"{name}.yaml"), Path(f"{name}.tuples.ndjson")
    for each in (path, fed):
        if each.exists():
            raise Misuse(f"{each} is there already; choose another name, nothing is overwritten")
    try:
        write_case_file(path, case_of(life, name))
    except NoCaseError as why:
        raise Misuse(f"the session makes no case: {why}") from None
    setup = life.setup
    secrets = setup.redactor()
    storm = [] if setup.version.id == setup.usual else ["--storm", setup.version.id]
    words = [*setup.again, *storm, "--suite", str(path), "-k", name]
    if life.fed:
        write_whole(fed, "".join(f"{json.dumps(secrets.clean(values))}\n" for values in life.fed).encode())
        words += ["--tuples", str(fed)]
    again = shlex.join([*words, "--", *secrets.words(setup.subject.component.command)])
    return SavedCase(path, tuple(dict.fromkeys(life.left_out)), again)


def case_of(life: ComponentRun, name: str) -> dict[str, Any]:
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
