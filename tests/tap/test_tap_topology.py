"""A tap in a topology of ``mlcheck topology run``: a death behind it is told, and recorded, as one without it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.command import BOLT, mlcheck

TOPOLOGY = """\
name: incident
config: {{topology.message.timeout.secs: 5, mlcheck.queue: [an apple a day, "four\\tscore"]}}
spouts:
  - {{id: queue, className: mlcheck.QueueSpout, constructorArgs: [[sentence]]}}
bolts:
  - id: split
    className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt
    constructorArgs: [{command}, [word]]
streams:
  - {{from: queue, to: split, grouping: {{type: SHUFFLE}}}}
"""
LINE = '    values = message["tuple"]\n'
DIES = LINE + '    if "\\t" in values[0]:\n        raise KeyError("column 2")\n'
CLOSES = LINE + '    if "\\t" in values[0]:\n        os.close(1)\n        import time\n        time.sleep(60)\n'


@pytest.mark.component
@pytest.mark.parametrize(
    ("lines", "cause"),
    [(DIES, "it dies of a tuple: KeyError: 'column 2'"), (CLOSES, "it closes its stdout and lives on")],
    ids=["dies", "closes its stdout"],
)
def test_what_ends_a_component_behind_a_tap_is_told_and_recorded(lines: str, cause: str, tmp_path: Path) -> None:
    code = Path(BOLT).read_text(encoding="utf-8")
    assert LINE in code
    (tmp_path / "bolt.py").write_text(code.replace(LINE, lines), encoding="utf-8")
    tap = shlex.split(
        f"{sys.executable} -m multilang_cli tap --record {tmp_path / 'tapped'} -- {sys.executable} bolt.py"
    )
    (tmp_path / "topology.yaml").write_text(TOPOLOGY.format(command=json.dumps(tap)), encoding="utf-8")
    ran = mlcheck("topology", "run", "--resources", ".", "--seconds", "8", "topology.yaml", cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"\nFAIL  {cause}\n" in ran.stdout
    if lines is DIES:
        recorded = [*(tmp_path / "tapped").glob("*.ndjson")]
        assert any(cause in mlcheck("lint", str(file), cwd=tmp_path).stdout for file in recorded)
