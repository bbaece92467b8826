"""``mlcheck promote``."""

import re
from pathlib import Path
from typing import Annotated

import typer

from multilang_cli.cli.options.as_json import Json, print_json
from multilang_cli.replay.case_files import ID, NoCaseError, write_case_file
from multilang_cli.replay.command_line import finding_in, recording_of
from multilang_cli.replay.promoting import promote as promoted
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark, write


def promote(
    transcript: Annotated[str, typer.Argument(metavar="TRANSCRIPT", hidden=True)],
    *,
    finding: Annotated[
        str, typer.Option("--finding", metavar="RULE|FINGERPRINT", help="What the case is about. [the first must]")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The case file; its name is the id. [KIND.RULE.yaml]"),
    ] = None,
    as_json: Json = False,
) -> int:
    """Make a conformance case of a recording: what was said in it, and the clause of what was found wrong.

    The case goes with `mlcheck run --suite FILE`: it fails until that is mended. `mlcheck shrink` makes a long
    recording short first.
    """
    recording = recording_of("promote", transcript)
    wrong = finding_in("promote", recording, finding)
    path = output or Path(f"{recording.profile.kind}.{wrong.rule}.yaml")
    if not ID.fullmatch(path.stem) or path.suffix != ".yaml":
        name = re.sub(r"[^a-z0-9.-]+", "-", path.stem.lower()).strip("-.")
        expected = f"lower-case words with dots, such as {recording.profile.kind}.{name or wrong.rule}.yaml"
        raise CommandError(f"promote: {path.name[:60]!r}: the name of a case file is its id: {expected}.")
    case = promoted(recording, wrong, path.stem, str(path))
    try:
        write_case_file(path, case.case)
    except NoCaseError as why:
        raise CommandError(f"promote: {why}") from None
    except OSError as error:
        raise CommandError(f"promote: {path}: can't be written: {error.strerror}.") from None
    if as_json:
        facts = {"output": str(path), "rule": wrong.rule, "steps": len(case.case["steps"])}
        return print_json({**facts, "left_out": case.left_out, "next": case.again})
    for note in case.left_out:
        remark(f"Left out, since no case can say it: {note}")
    write(f"{path}: {wrong.rule}, {len(case.case['steps'])} steps; play it with\n  {case.again}\n")
    return ExitCode.CONFORMANT
