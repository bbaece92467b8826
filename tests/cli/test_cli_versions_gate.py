"""``mlcheck run`` on several Storm versions as a gate: what counts, known failures, several components, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_cli_versions import BOLT_OF, ONCE, by_version, report
from tests.command import BOLT, MUTANT_BOLT, ROOT, mlcheck
from tests.processes import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component


@pytest.mark.parametrize(
    ("required", "code"), [((), 3), (("--storm-required", "1.2"), 0), (("--storm-required", "1.2,2.8"), 3)]
)
def test_the_worst_of_what_is_required_is_the_exit_code(required: tuple[str, ...], code: int, tmp_path: Path) -> None:
    (tmp_path / "bolt.py").write_text(VERSIONED.format(mutant=MUTANT_BOLT))
    ran = mlcheck(*ONCE, "-q", "--storm", "1.2,2.5,2.8", *required, "bolt.py", cwd=tmp_path)
    assert ran.returncode == code, ran.stdout
    parts = by_version(report(tmp_path))
    assert {storm: part["exit_code"] for storm, part in parts.items()} == {"1.2.4": 0, "2.5.0": 1, "2.8.3": 3}
    gating = {storm for storm, part in parts.items() if part["gates"]}
    assert gating == (set(parts) if not required else {"1.2.4", "2.8.3"} if code else {"1.2.4"})
    marked = {line for line in ran.stdout.splitlines() if line.endswith(" (it does not count)")}
    assert {line.split()[1].strip(":") for line in marked} == set(parts) - gating


VERSIONED = """\
import os, sys
from pathlib import Path
count = Path("count")
seen = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (seen + 1))
if seen >= 2:
    sys.exit(9)
os.execv(sys.executable, [sys.executable, "{mutant}", ("none", "ack-twice")[seen]])
"""
"""A bolt that is right when it is first started, acks twice the second time, and never starts again."""


@pytest.mark.parametrize(
    ("line", "code", "verdicts"),
    [
        ("bolt.settle.once  ack-twice", 0, {"1.2.4": "pass", "2.5.0": "xfail"}),
        ("bolt.settle.once  exited", 1, {"1.2.4": "pass", "2.5.0": "fail"}),
        ("handshake.pid-first  exited", 1, {"1.2.4": "stale", "2.5.0": "stale"}),
    ],
)
def test_a_known_failure_counts_on_any_version(line: str, code: int, verdicts: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text(f"{line}\n")
    case = line.split(maxsplit=1)[0]
    bug = "ack-twice" if case == "bolt.settle.once" else "none"
    (tmp_path / "bolt.py").write_text(ON_THE_SECOND.format(mutant=MUTANT_BOLT, bug=bug))
    words = (*BOLT_OF, "-k", case, "-q", "--storm", "1.2,2.5", "--known-failures", "known.txt", "bolt.py")
    ran = mlcheck(*words, cwd=tmp_path)
    assert ran.returncode == code, ran.stdout
    found = {storm: part["subjects"][0]["verdict"] for storm, part in by_version(report(tmp_path)).items()}
    assert found == verdicts


ON_THE_SECOND = """\
import os, sys
from pathlib import Path
seen = Path("count").exists()
Path("count").touch()
os.execv(sys.executable, [sys.executable, "{mutant}", "{bug}" if seen else "none"])
"""
"""A bolt that is right when it is first started, and has a bug from then on."""


def test_what_fails_on_any_version_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(
        f"storm = 'all'\nstorm_required = ['2.8']\njobs = 4\nstrict = true\n[[component]]\nname = 'b'\nkind = 'bolt'\n"
        f"samples = [['a b']]\nknown_failures = 'known.txt'\n"
        f"command = ['{sys.executable}', '{MUTANT_BOLT}', 'decimal-value']\n"
    )
    wrote = mlcheck("run", "-q", "--write-known-failures", "known.txt", "--storm", "2.5,2.8", cwd=tmp_path)
    assert wrote.returncode == 0, wrote.stdout + wrote.stderr
    lines = [line for line in (tmp_path / "known.txt").read_text().splitlines() if line[:1] != "#"]
    assert any(line.startswith("bolt.settle.once  decimal-value") for line in lines)
    assert len({line.split()[0] for line in lines}) == len(lines)
    # The file's storm_required is about the file's storm: it is set aside by the flag.
    again = mlcheck("run", "-q", "-k", "bolt.settle", "--storm", "2.5,2.8", cwd=tmp_path)
    assert again.returncode == 0, again.stdout
    assert "b: Storm 2.5.0: PASS  2 passed" in again.stdout
    assert "b: Storm 2.8.3: PASS  2 known failures" in again.stdout
    # On 2.5 alone the lines are stale.
    alone = mlcheck("run", "-q", "-k", "bolt.settle", "--storm", "2.5", cwd=tmp_path)
    assert alone.returncode == 1


def test_several_components_on_several_versions(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(
        "storm = '1.2,2.8'\nstorm_required = '2.8'\n"
        f"[[component]]\nname = 'good'\nkind = 'bolt'\ncommand = '{BOLT}'\n"
        f"[[component]]\nname = 'gone'\nkind = 'bolt'\ncommand = 'absent.py'\n"
    )
    ran = mlcheck("run", "-k", "end", "--record-all", "--report", "json=r.json", cwd=tmp_path)
    assert ran.returncode == 3
    assert ran.stderr.count("absent.py") == 1
    plain = report(tmp_path)
    assert [
        (part["component"]["name"], part["storm"], part["exit_code"], part["gates"]) for part in plain["parts"]
    ] == [
        ("good", "1.2.4", 0, False),
        ("good", "2.8.3", 0, True),
        ("gone", "1.2.4", 3, False),
        ("gone", "2.8.3", 3, True),
    ]
    assert plain["sentences"] == ["good: runs on 1.2.4 to 2.8.3", "gone: says no first message on 1.2.4 to 2.8.3"]
    folders = tmp_path / ".mlcheck" / "last" / "good"
    assert sorted(path.name for path in folders.iterdir()) == ["1.2.4", "2.8.3"]


def test_each_version_stops_at_its_first_failure(tmp_path: Path) -> None:
    words = (*BOLT_OF, "-q", "-x", "-k", "bolt.settle", "--storm", "1.2,2.8")
    ran = mlcheck(*words, "--", sys.executable, MUTANT_BOLT, "ack-twice", cwd=tmp_path)
    assert ran.returncode == 1
    assert [len(part["subjects"]) for part in report(tmp_path)["parts"]] == [1, 1]


def test_an_interrupt_keeps_the_versions_that_were_played(tmp_path: Path) -> None:
    (tmp_path / "bolt.py").write_text(MUTE_ON_THE_SECOND.format(bolt=BOLT))
    words = (*ONCE, "-q", "--timeout", "60", "--storm", "1.2,2.5,2.8", "bolt.py")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "multilang_cli", *words]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert until((tmp_path / "mute").exists)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    assert child.returncode == 130, out
    plain = report(tmp_path)
    assert {storm: part["exit_code"] for storm, part in by_version(plain).items()} == {"1.2.4": 0, "2.5.0": 130}
    assert plain["sentences"] == ["runs on 1.2.4; not known on 2.5.0: interrupted"]


MUTE_ON_THE_SECOND = """\
import os, sys, time
from pathlib import Path
if Path("begun").exists():
    Path("mute").touch()
    time.sleep(1000)
Path("begun").touch()
os.execv(sys.executable, [sys.executable, "{bolt}"])
"""
