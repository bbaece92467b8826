"""How much memory a component that floods makes us use, against the limit of one message.

``python -m benchmarks.memory WHERE`` is one measured process: it drives the flooding bolt and prints what it took.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys

from benchmarks import sides
from benchmarks.measure import Figure, Result
from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT

MIB = 1024 * 1024
FLOOD = 1024 * MIB
_PATIENCE = 30.0


def run() -> Result:
    """Measure memory."""
    taken = {where: _peak_elsewhere(where) for where in ("nowhere", "stdout", "stderr")}
    limit = DEFAULT_LIMIT / MIB
    figures = tuple(
        Figure(
            what=f"1 GiB on {where}, beyond a quiet bolt",
            value=taken[where][0] - taken["nowhere"][0],
            unit="MiB",
            than="the limit of a message",
            reference=limit,
            better="lower",
            goal=1.0,
        )
        for where in ("stdout", "stderr")
    )
    notes = (
        f"peak of the driving process (ru_maxrss); {taken['nowhere'][0]:.0f} MiB with a quiet bolt",
        *(f"{where}: {taken[where][1] / MIB:.0f} MiB read, then {taken[where][2]}" for where in ("stdout", "stderr")),
    )
    return Result("memory", "placed by the system", figures, notes)


def _peak_elsewhere(where: str) -> tuple[float, int, str]:
    command = [sys.executable, "-m", "benchmarks.memory", where, sides.compiled("flood")]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=sides.HERE.parent)
    peak, read, why = json.loads(done.stdout)
    return float(peak), int(read), str(why)


def measured(where: str, program: str) -> tuple[float, int, str]:
    """Drive the flooding bolt: our peak in MiB, how many bytes were read, and what made us stop."""
    judge = Conversation(sides.profile("bolt"), sides.rulebook())
    with ShellBolt(sides.started([program, where]), judge).session as session:
        if not session.handshake(sides.handshake(session.process, judge), sides.LIMIT):
            raise RuntimeError("the bolt did not answer the handshake")
        process = session.process
        session.wait(lambda: process.stderr_total >= FLOOD or where == "nowhere", _PATIENCE, "output")
        why = session.findings[-1].rule if session.findings else "nothing was found"
        read = process.stdout_total + process.stderr_total
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, read, why


if __name__ == "__main__":
    print(json.dumps(measured(*sys.argv[1:])))
