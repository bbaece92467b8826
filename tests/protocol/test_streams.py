"""A standard stream that whoever started mlcheck has closed changes nothing but what can be shown."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.command import BOLT, MUTANT_BOLT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.component,
    pytest.mark.skipif(sys.platform == "win32", reason="closes descriptors as a shell of Unix does"),
]

CASE = ("run", "--kind", "bolt", "-k", "handshake.pid-first")


def started(how: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """``mlcheck ARGUMENTS`` with redirections (`how`) that close descriptors."""
    command = [sys.executable, "-m", "multilang_cli", *arguments]
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {how}', "sh", *command], cwd=cwd, capture_output=True, check=False, timeout=90
    )


@pytest.mark.parametrize(("how", "shown"), [("<&-", True), (">&-", False), ("2>&-", True), ("<&- >&- 2>&-", False)])
@pytest.mark.parametrize(
    ("component", "code"), [([BOLT], 0), ([MUTANT_BOLT, "log-before-pid"], 1)], ids=["conformant", "not-conformant"]
)
def test_the_verdict_is_the_same(how: str, shown: bool, component: list[str], code: int, tmp_path: Path) -> None:
    ended = started(how, *CASE, "--", sys.executable, *component, cwd=tmp_path)
    assert (ended.returncode, bool(ended.stdout), ended.stderr) == (code, shown, b"")


@pytest.mark.parametrize(
    "arguments", [("list", "rules"), ("explain", "ack-twice"), ("--version",), ("no-such-command",)]
)
def test_what_can_not_be_shown_is_no_fault(arguments: tuple[str, ...], tmp_path: Path) -> None:
    code = 2 if arguments == ("no-such-command",) else 0
    ended = started(">&- 2>&-", *arguments, cwd=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, b"", b"")
