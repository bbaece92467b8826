"""The command ``mlcheck`` as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BOLT = str(ROOT / "examples" / "python" / "split_bolt.py")
SPOUT = str(ROOT / "examples" / "python" / "sentence_spout.py")
MUTANT_BOLT = str(ROOT / "tests" / "mutants" / "bolt.py")


def mlcheck(*arguments: str, cwd: Path, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would, without the settings of whoever runs the tests."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MLCHECK_") and name != "COLUMNS"}
    return mlcheck_in({**clean, **env}, *arguments, cwd=cwd, stdin=stdin)


def mlcheck_in(env: dict[str, str], *arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command where nothing is set but `env`, and what it needs to be found and to print plainly."""
    return subprocess.run(
        [sys.executable, "-m", "multilang_cli", *arguments],
        cwd=cwd,
        env={"NO_COLOR": "1", "PYTHONPATH": str(ROOT), **env},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def refusal(ran: subprocess.CompletedProcess[str]) -> str:
    """The one paragraph on stderr; nothing on stdout, and no traceback."""
    assert ran.stdout == ""
    assert ran.stderr.startswith("mlcheck: ")
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.rstrip()[-1] in ".?!"
    return ran.stderr
