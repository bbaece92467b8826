"""Start and end of ``mlcheck promote``: the case of a recording, written to a file."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.replay.case_files import ID, NoCaseError, write_case_file
from multilang_cli.replay.command_line import finding_in, recording_of
from multilang_cli.replay.promoting import promote
from multilang_cli.subject.outputs import write_json
from multilang_cli.terminal.exits import CommandError, ExitCode
from multilang_cli.terminal.output import remark, write


class PromoteFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the command. `finding`: its rule or fingerprint; `output`: the case file."""

    transcript: str
    finding: str = ""
    output: Path | None = None
    as_json: bool = False


def promote_given(flags: PromoteFlags) -> int:
    """Promote what the command line names. Raises CommandError."""
    recording = recording_of("promote", flags.transcript)
    wrong = finding_in("promote", recording, flags.finding)
    path = flags.output or Path(f"{recording.profile.kind}.{wrong.rule}.yaml")
    if not ID.fullmatch(path.stem) or path.suffix != ".yaml":
        name = re.sub(r"[^a-z0-9.-]+", "-", path.stem.lower()).strip("-.")
        expected = f"lower-case words with dots, such as {recording.profile.kind}.{name or wrong.rule}.yaml"
        raise CommandError(f"promote: {path.name[:60]!r}: the name of a case file is its id: {expected}.")
    case = promote(recording, wrong, path.stem, str(path), base_conf(recording.profile.storm))
    try:
        write_case_file(path, case.case)
    except NoCaseError as why:
        raise CommandError(f"promote: {why}") from None
    except OSError as error:
        raise CommandError(f"promote: {path}: can't be written: {error.strerror}.") from None
    if flags.as_json:
        facts = {"output": str(path), "rule": wrong.rule, "steps": len(case.case["steps"])}
        write_json({**facts, "left_out": case.left_out, "next": case.again})
        return ExitCode.CONFORMANT
    for note in case.left_out:
        remark(f"Left out, since no case can say it: {note}")
    write(f"{path}: {wrong.rule}, {len(case.case['steps'])} steps; play it with\n  {case.again}\n")
    return ExitCode.CONFORMANT
