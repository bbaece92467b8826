"""What mlcheck says of a component beforehand: its JSON report, as a user gets it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.command import mlcheck
from tests.storm.build import STORM

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = re.compile(r"-?\d+")
"""Ids of tuples differ from run to run."""


@dataclass(frozen=True)
class Said:
    """The rules that were broken, with what Storm does about each, and with which error; the exit code."""

    fates: dict[str, str]
    errors: dict[str, str]
    code: int

    def foretold(self, rule: str, texts: tuple[str, ...]) -> bool:
        """True if the error of `rule` stands in one of `texts`, whatever the numbers in it."""
        error = NUMBER.sub("0", self.errors[rule])
        return any(error in NUMBER.sub("0", text) for text in texts)


def judge(kind: str, command: list[str], cwd: Path, record: Path, *options: str) -> Said:
    """Play cases to a component in `cwd`, for the Storm version of the cluster."""
    report = record / "report.json"
    about = ["--kind", kind, "--storm", STORM, "--cwd", str(cwd), "--record", str(record), "--jobs", "2", *options]
    ran = mlcheck("run", *about, "--report", f"json={report}", "--", *command, cwd=record)
    assert report.exists(), ran.stderr
    found: list[Any] = [each for case in json.loads(report.read_text())["subjects"] for each in case["findings"]]
    return Said(
        fates={each["rule"]: each["fates"][STORM] for each in found},
        errors={each["rule"]: each["errors"][STORM] for each in found if STORM in each.get("errors", {})},
        code=ran.returncode,
    )
