"""Storm's own clock of silence where mlcheck plays Storm: real components, in one case each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.command import mlcheck
from tests.sessions import PID

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

BOLT = (
    PID
    + r"""
shake()
while True:
    tup = message()
    if tup["stream"] == "__heartbeat": say('{"command":"sync"}\nend\n')
    else: %s
"""
)
STOPS = "os.kill(os.getpid(), 19)"
WORKS = "\n".join(
    ["", *[" " * 8 + line for line in ("time.sleep(30)", 'say(\'{"command":"ack","id":"%s"}\\nend\\n\' % tup["id"])')]]
)
TALKS = "\n".join(
    [
        "",
        *[
            " " * 8 + line
            for line in (
                'for n in range(12): time.sleep(0.25); say(\'{"command":"log","msg":"busy"}\\nend\\n\')',
                'say(\'{"command":"ack","id":"%s"}\\nend\\n\' % tup["id"])',
            )
        ],
    ]
)


@pytest.mark.parametrize(
    ("code", "exit_code", "word"),
    [(STOPS, 1, "subprocess heartbeat timeout"), (WORKS, 1, "subprocess heartbeat timeout"), (TALKS, 0, "PASS")],
    ids=["stops itself", "works in silence", "says that it works"],
)
def test_a_silence_is_judged_in_a_case_that_sends_no_heartbeat(
    tmp_path: Path, code: str, exit_code: int, word: str
) -> None:
    (tmp_path / "bolt.py").write_text(BOLT.replace("%s", code, 1))
    timeout = "topology.subprocess.timeout.secs=1"
    ran = mlcheck(
        "run", "--kind", "bolt", "-k", "end.sigterm", "--conf", timeout,
        "--tuple", '["x"]', "--", "python3", "bolt.py", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == exit_code, ran.stdout + ran.stderr
    assert word in " ".join(ran.stdout.split())


def test_a_limit_that_is_shorter_than_the_silence_ends_as_well(tmp_path: Path) -> None:
    """The limit runs out while Storm's timer may look at any moment: that moment is waited for, and no longer."""
    (tmp_path / "bolt.py").write_text(BOLT.replace("%s", STOPS, 1))
    ran = mlcheck(
        "run", "--kind", "bolt", "-k", "end.sigterm", "--conf", "topology.subprocess.timeout.secs=1",
        "--limit", "settle=1.5", "--tuple", '["x"]', "--", "python3", "bolt.py", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "subprocess heartbeat timeout" in " ".join(ran.stdout.split())


STANDS = r"""
import java.nio.file.*;
import java.util.Scanner;
import java.util.concurrent.Semaphore;

class Bolt {
    public static void main(String[] args) throws Exception {
        Scanner in = new Scanner(System.in).useDelimiter("\nend\n");
        String dir = in.next().replaceAll("(?s).*\"pidDir\" ?: ?\"([^\"]*)\".*", "$1").replace("\\/", "/");
        long pid = ProcessHandle.current().pid();
        Files.createFile(Path.of(dir, Long.toString(pid)));
        System.out.printf("{\"pid\": %d}%nend%n", pid);
        Semaphore slots = new Semaphore(0);
        in.next();
        slots.acquire();
    }
}
"""


def test_a_jvm_that_waits_tells_where(tmp_path: Path) -> None:
    (tmp_path / "Bolt.java").write_text(STANDS)
    ran = mlcheck(
        "run", "--kind", "bolt", "-k", "bolt.heartbeat.idle", "--limit", "heartbeat=1", "--", "java", "Bolt.java",
        cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "it waits for a permit, and all are taken" in ran.stdout
    assert f"Bolt.java:{STANDS.splitlines().index('        slots.acquire();') + 1} " in ran.stdout
    assert "Full thread dump" not in ran.stdout
