"""Programs that run code of strangers for us: nothing that they start holds or outlives mlcheck."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.driver.supervisor import finish
from tests.command import ROOT
from tests.processes import gone, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component
LEAVES_ONE = """
import os, sys, time
pid = os.fork()
if pid:
    print(pid, flush=True)
else:
    os.setsid()
    time.sleep(1000)
"""
STAYS = """
import os, pathlib, sys, time
path = pathlib.Path(sys.argv[1])
path.with_suffix(".part").write_text(str(os.getpid()))
path.with_suffix(".part").rename(path)
time.sleep(1000)
"""
KILLED = "import sys; from multilang_cli.driver.supervisor import finish; finish(sys.argv[1:], 1000)"


def test_who_holds_its_pipes_is_not_waited_for_and_ended() -> None:
    done = finish([sys.executable, "-c", LEAVES_ONE], 300)
    assert (done.code, done.err) == (0, b"")
    assert gone(int(done.out))


def test_one_that_takes_too_long_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        finish([sys.executable, "-c", LEAVES_ONE.replace("if pid:", "if pid:\n    time.sleep(1000)")], 0.1)


def test_it_goes_with_a_mlcheck_that_is_killed(tmp_path: Path) -> None:
    words = [sys.executable, "-c", STAYS, str(tmp_path / "pid")]
    with subprocess.Popen([sys.executable, "-c", KILLED, *words], cwd=ROOT) as mlcheck:
        assert until((tmp_path / "pid").exists)
        pid = int((tmp_path / "pid").read_text())
        mlcheck.kill()
        mlcheck.wait()
    assert until(lambda: gone(pid))
