"""``mlcheck run`` as a gate: known failures, what is refused, what is only shown, what is told before it begins."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.command import BOLT, MUTANT_BOLT, ROOT, SPOUT, mlcheck, refusal
from tests.processes import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

ONCE = ("run", "--kind", "bolt", "-k", "bolt.settle.once", "--tuple", '["a b"]', "--report", "json=r.json")


def subjects(folder: Path) -> dict[str, tuple[str, str]]:
    report: dict[str, Any] = json.loads((folder / "r.json").read_text())
    return {each["id"]: (each["verdict"], each["reason"]) for each in report["subjects"]}


@pytest.mark.parametrize(
    ("line", "bug", "code", "expected"),
    [
        ("bolt.settle.once  ack-twice", "ack-twice", 0, ("xfail", "known failure (known.txt:2): ack of")),
        ("bolt.settle.once  exited", "ack-twice", 1, ("fail", "ack-twice is new: known.txt:2 lists exited")),
        ("bolt.settle.once  ack-twice", "none", 1, ("stale", "it passes now: delete line 2 of known.txt")),
        ("bolt.emit  ack-twice", "none", 0, ("pass", "")),
    ],
)
def test_a_known_failure(line: str, bug: str, code: int, expected: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text(f"# ours\n{line}  # why\n")
    ran = mlcheck(*ONCE, "--known-failures", "known.txt", "--", sys.executable, MUTANT_BOLT, bug, cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    found = subjects(tmp_path)
    assert list(found) == ["bolt.settle.once"]
    verdict, reason = found["bolt.settle.once"]
    assert verdict == expected[0]
    assert expected[1] in reason


def test_known_failures_are_written_kept_and_grow_stale(tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(
        "jobs = 4\n[[component]]\nname = 'b'\nkind = 'bolt'\nsamples = [['a b']]\nknown_failures = 'known.txt'\n"
        f"command = ['{sys.executable}', '{MUTANT_BOLT}', 'exits-on-unknown-key']\n"
    )
    (tmp_path / "below").mkdir()
    whole = ("run", "-q", "--component", "b", "--report", "json=r.json")
    (tmp_path / "known.txt").write_text("bolt.no-such  exited\nhandshake.unknown-keys  pid-type  # a note\n")
    wrote = mlcheck(*whole, "--write-known-failures", "../known.txt", cwd=tmp_path / "below")
    assert wrote.returncode == 0, wrote.stdout + wrote.stderr
    assert (tmp_path / "known.txt").read_text().splitlines()[0] == "handshake.unknown-keys  exited  # a note"
    assert "xfail" in {verdict for verdict, _ in subjects(tmp_path / "below").values()}
    with (tmp_path / "known.txt").open("a") as file:
        file.write("bolt.setle.once  exited\n")
    ran = mlcheck(*whole, cwd=tmp_path / "below")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    found = subjects(tmp_path / "below")
    verdict, reason = found["bolt.setle.once"]
    assert verdict == "stale"
    assert "known.txt:2: there is no bolt case 'bolt.setle.once'; did you mean bolt.settle.once?" in reason
    assert found["handshake.unknown-keys"][0] == "xfail"
    part = mlcheck(*whole, "-k", "handshake.unknown-keys", cwd=tmp_path / "below")
    assert part.returncode == 0, part.stdout + part.stderr


def test_nothing_is_written_of_a_run_that_is_not_whole(tmp_path: Path) -> None:
    words = ("run", "-q", "--kind", "bolt", "--write-known-failures", "known.txt", "--report", "json=r.json")
    ran = mlcheck(*words, "--", "sh", "-c", "exit 3", cwd=tmp_path)
    assert ran.returncode == 3
    assert not (tmp_path / "known.txt").exists()
    assert "known.txt was not written" in json.loads((tmp_path / "r.json").read_text())["notes"][-1]


TWO = f"[[component]]\nname = 'a'\ncommand = '{BOLT}'\n[[component]]\nname = 'b'\ncommand = '{BOLT}'\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--write-known-failures", "new.txt", "-k", "bolt", BOLT], "only a whole run tells what fails; leave -k out"),
        (["--write-known-failures", "new.txt", "--exclude", "bolt", BOLT], "leave --exclude out"),
        (["--write-known-failures", "new.txt", "-x", BOLT], "leave -x out"),
        (["--write-known-failures", "new.txt"], "these are 2; add --component NAME"),
        (["--write-known-failures", "absent/new.txt", BOLT], "absent can't be written to"),
        (["--write-known-failures", "bad.txt", BOLT], "bad.txt:1: there is no rule 'nonsense'"),
        (["--known-failures", "bad.txt"], "these are 2; add --component NAME"),
        (["--known-failures", "bad.txt", BOLT], "bad.txt:1: there is no rule 'nonsense'"),
        (
            ["--known-failures", "absent.txt", BOLT],
            "absent.txt: there is no such file of known failures; --write-known-failures absent.txt",
        ),
        (["-k", "@absent.txt", BOLT], "-k @absent.txt: can't be read"),
        (["-j", "0", BOLT], "--jobs: expected a whole number from 1, not 0"),
        (["--retries", "-1", BOLT], "--retries: expected a whole number from 0, not -1"),
        (["--ackers", "many", BOLT], "--ackers: expected a whole number"),
    ],
)
def test_what_is_refused_before_anything_starts(words: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(TWO)
    (tmp_path / "bad.txt").write_text("bolt.settle.once  nonsense\n")
    ran = mlcheck("run", "--report", "json=r.json", *words, cwd=tmp_path)
    assert ran.returncode == 2
    assert message in refusal(ran)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "mlcheck.toml"]


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (["absent.py"], 3, "no-first-message"),
        (["-k", "nonsense", "--kind", "bolt", BOLT], 4, "nothing-selected"),
        (["--cwd", "/nowhere", BOLT], 2, "misuse"),
        (["--", "sh", "-c", "exit 3"], 3, "no-first-message"),
    ],
)
def test_what_can_not_begin_is_reported_too(words: list[str], code: int, verdict: str, tmp_path: Path) -> None:
    ran = mlcheck("run", "--report", "json=r.json", "--report", "junit=r.xml", *words, cwd=tmp_path)
    assert ran.returncode == code
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["exit_code"], report["verdict"], report["complete"]) == (code, verdict, False)
    # Where a process ran there is something to be told of it, beside the refusal.
    assert [subject["id"] for subject in report["subjects"]] == (["probe.bolt"] if "exit 3" in words else [])
    assert report["notes"][0] in ran.stderr if report["subjects"] else report["notes"][0] in refusal(ran)
    assert (tmp_path / "r.xml").exists()


def test_an_interrupt_before_the_first_case_is_reported(tmp_path: Path) -> None:
    (tmp_path / "mute.py").write_text("import sys, time\nopen('begun', 'w').close()\ntime.sleep(1000)\n")
    words = [sys.executable, "-m", "multilang_cli", "run", "--timeout=60", "--report", "json=r.json", "mute.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as child:
        assert until((tmp_path / "begun").exists)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=90)
    assert (child.returncode, err) == (130, "mlcheck: interrupted; there is no case to report.\n")
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "interrupted"


@pytest.mark.parametrize(
    ("words", "code", "shown"),
    [
        (["--kind", "bolt"], 0, "once for each case of a bolt"),
        (["-j", "3"], 0, "twice to ask whether it is a bolt or a spout"),
        (["--kind", "spout"], 0, "What a spout emits is acked and failed"),
        (["--kind", "bolt", "-k", "spout"], 4, ""),
    ],
)
def test_a_dry_run_starts_nothing(words: list[str], code: int, shown: str, tmp_path: Path) -> None:
    bolt = tmp_path / "bolt.py"
    bolt.write_text("open('begun', 'w').close()\n")
    ran = mlcheck("run", "--dry-run", *words, "bolt.py", cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    text = " ".join(ran.stdout.split())
    assert shown in text
    assert ("bolt.py (" in text) == (code == 0)
    assert ("spout.sync.next" in text) == (shown[:5] in {"twice", "What "})
    assert ("bolt.settle.once" in text) == (shown[:5] in {"once ", "twice"})
    assert [path.name for path in tmp_path.iterdir()] == ["bolt.py"]


def test_a_dry_run_as_json(tmp_path: Path) -> None:
    (tmp_path / "bolt.py").write_text("open('begun', 'w').close()\n")
    ran = mlcheck("run", "--dry-run", "--json", "--kind", "bolt", "-k", "bolt.settle.once", "bolt.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    [plan] = json.loads(ran.stdout)
    assert list(plan["cases"]) == ["bolt.settle.once"]
    assert plan["command"][-1].endswith("bolt.py")
    keys = next(line for line in (ROOT / "docs" / "json.md").read_text().splitlines() if "| `run --dry-run` |" in line)
    assert all(f"`{key}`" in keys for key in plan)
    assert [path.name for path in tmp_path.iterdir()] == ["bolt.py"]


def test_a_dry_run_of_what_is_not_there(tmp_path: Path) -> None:
    ran = mlcheck("run", "--dry-run", "absent.py", cwd=tmp_path)
    assert ran.returncode == 3
    assert "absent.py is neither" in refusal(ran)


@pytest.mark.parametrize(
    ("kind", "component", "words", "told"),
    [
        (
            "bolt",
            BOLT,
            ["-k", "end.sigterm", "-k", "end.stdin-closed"],
            "2 cases, a start of the component for each, one after another (-j N: N at once)\n",
        ),
        (
            "bolt",
            BOLT,
            ["-k", "end.sigterm", "-k", "end.stdin-closed", "-j2"],
            "2 cases, a start of the component for each, 2 at once\n",
        ),
        ("bolt", BOLT, ["-k", "end", "-q"], ""),
        ("bolt", BOLT, ["-k", "end.sigterm"], ""),
        ("spout", SPOUT, ["-k", "end.sigterm"], "1 case; what a spout emits is acked and failed, real messages too\n"),
    ],
)
def test_it_says_how_often_it_starts_the_component(
    kind: str, component: str, words: list[str], told: str, tmp_path: Path
) -> None:
    ran = mlcheck("run", "--kind", kind, *words, component, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, told)


def bolt_failing(times: int, folder: Path) -> None:
    """Write bolt.py, which acks twice in so many of its first runs."""
    (folder / "bolt.py").write_text(
        "import os, sys\nbegun = os.path.getsize('begun') if os.path.exists('begun') else 0\n"
        "open('begun', 'a').write('.')\n"
        f"bug = 'ack-twice' if begun < {times} else 'none'\n"
        f"os.execv(sys.executable, [sys.executable, {MUTANT_BOLT!r}, bug])\n"
    )


def test_a_flaky_case_is_red(tmp_path: Path) -> None:
    bolt_failing(1, tmp_path)
    ran = mlcheck(*ONCE, "--retries", "1", "bolt.py", cwd=tmp_path)
    assert ran.returncode == 1
    assert "FAIL  1 flaky" in ran.stdout
    assert subjects(tmp_path)["bolt.settle.once"][0] == "flaky"


@pytest.mark.parametrize(
    ("times", "words", "code", "expected"),
    [
        (0, (), 0, ("pass", "")),
        (2, (), 0, ("xfail", "known to be flaky (known.txt:1): failed 2 of 3 runs: ack of")),
        (2, ("--retries", "1"), 1, ("fail", "known.txt:1 lists it as flaky, but it did not pass in any run")),
        (3, (), 1, ("fail", "known.txt:1 lists it as flaky, but it did not pass in any run")),
    ],
)
def test_a_case_that_is_known_to_be_flaky_passes_in_one_of_its_runs(
    times: int, words: tuple[str, ...], code: int, expected: tuple[str, str], tmp_path: Path
) -> None:
    bolt_failing(times, tmp_path)
    (tmp_path / "known.txt").write_text("bolt.settle.once  flaky ack-twice  # ours\n")
    ran = mlcheck(*ONCE, "--known-failures", "known.txt", *words, "bolt.py", cwd=tmp_path)
    assert ran.returncode == code, ran.stdout + ran.stderr
    verdict, reason = subjects(tmp_path)["bolt.settle.once"]
    assert verdict == expected[0]
    assert expected[1] in reason


def test_ackers_are_told_to_the_component(tmp_path: Path) -> None:
    words = ("run", "--kind", "bolt", "-k", "end.sigterm", "--record-all", "--record", "rec")
    assert mlcheck(*words, "--ackers", "7", BOLT, cwd=tmp_path).returncode == 0
    (transcript,) = (tmp_path / "rec").iterdir()
    assert '"topology.acker.executors":7' in transcript.read_text().replace('": 7', '":7')
