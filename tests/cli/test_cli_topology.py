"""``mlcheck topology run`` as its user meets it."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from multilang_cli.topology.history import EmissionEnded, Emitted, Launched, PhaseBegun
from multilang_cli.topology.history_file import read_history
from multilang_cli.topology.running import FolderError, _alone, prepare
from tests.command import ROOT, mlcheck, refusal
from tests.topologies.runs import HERE, SENTENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.component

WRAPPERS = "org.apache.storm.flux.wrappers"


def shell(name: str, kind: str, script: str, fields: Sequence[str]) -> dict[str, Any]:
    command = [sys.executable, str(HERE / script)]
    return {
        "id": name,
        "className": f"{WRAPPERS}.{kind.lower()}s.FluxShell{kind}",
        "constructorArgs": [command, list(fields)],
    }


@pytest.fixture
def flux(tmp_path: Path) -> Path:
    """The topology split-count, as a Flux file."""
    said = {
        "name": "split-count",
        "config": {"topology.acker.executors": 1, "sentences": SENTENCES},
        "spouts": [shell("sentences", "Spout", "queue_spout.py", ["sentence"])],
        "bolts": [shell("split", "Bolt", "split.py", ["word"]), shell("count", "Bolt", "count.py", ["word", "count"])],
        "streams": [
            {"from": "sentences", "to": "split", "grouping": {"type": "SHUFFLE"}},
            {"from": "split", "to": "count", "grouping": {"type": "FIELDS", "args": ["word"]}},
        ],
    }
    path = tmp_path / "topology.yaml"
    path.write_text(yaml.safe_dump(said), encoding="utf-8")
    return path


LOOSE = """
from multilang_cli.component.bolt import Bolt


class ThirdIsLoose(Bolt):
    seen = 0

    def process(self, tup):
        self.seen += 1
        self.emit(["word"], anchors=[] if self.seen % 3 == 0 else [tup])
        self.ack(tup)


ThirdIsLoose().run()
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("options", "toml", "code"),
    [
        ((), "", 0),
        (("--strict",), "", 1),
        ((), '[topology]\nguarantee = "at-least-once"\n', 1),
        (("--guarantee", "none", "--strict"), "", 0),
        ((), 'strict = true\n[topology]\nunanchored = ["default"]\n', 0),
        (("--conf", 'mlcheck.unanchored=["nowhere"]'), "", 2),
        (("--guarantee", "exactly-once"), "", 2),
    ],
)
def test_a_bolt_that_anchors_nothing_on_each_third_tuple_is_found(
    flux: Path, options: Sequence[str], toml: str, code: int
) -> None:
    (flux.parent / "mlcheck.toml").write_text(toml, encoding="utf-8")
    loose = flux.parent / "loose.py"
    loose.write_text(LOOSE, encoding="utf-8")
    flux.write_text(flux.read_text(encoding="utf-8").replace(str(HERE / "split.py"), str(loose)), encoding="utf-8")
    done = mlcheck("topology", "run", flux.name, "--idle", "0.2", *options, cwd=flux.parent)
    assert done.returncode == code, done.stdout + done.stderr
    warned = "of split on stream default are unanchored" in " ".join(done.stdout.split())
    assert warned == (code == 1 or not (options or toml))


def test_a_list_of_streams_that_is_none_is_shown_how_it_is_written(flux: Path) -> None:
    said = refusal(mlcheck("topology", "run", flux.name, "--conf", "mlcheck.unanchored=[default]", cwd=flux.parent))
    assert said.endswith('it is a list of streams, STREAM or COMPONENT/STREAM, such as ["metrics"].\n')


def test_a_flux_file_is_run_and_a_folder_tells_everything(flux: Path) -> None:
    ran = mlcheck("topology", "run", flux.name, "--idle", "0.2", "--report", "junit=r.xml", cwd=flux.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = {line.split()[0]: line.split() for line in ran.stdout.splitlines() if line.startswith("  ")}
    assert rows["sentences"][1:5] == ["1", "3", "3", "0"]
    assert rows["split"][1:5] == ["1", "15", "3", "3"]
    assert "PASS  17 passed" in ran.stdout
    folder = flux.parent / ".mlcheck" / "topology" / "split-count"
    assert {each.name for each in folder.iterdir()} == {"result.json", "history.ndjson", "transcripts", "stderr"}
    assert sorted(each.name for each in (folder / "transcripts").iterdir()) == [
        "count-2.ndjson",
        "sentences-3.ndjson",
        "split-4.ndjson",
    ]
    result = json.loads((folder / "result.json").read_text())
    assert (result["verdict"], result["exit_code"], result["complete"]) == ("conformant", 0, True)
    assert len([each for each in read_history(folder / "history.ndjson") if isinstance(each, EmissionEnded)]) == 3
    linted = mlcheck("lint", str(folder / "transcripts"), cwd=flux.parent)
    assert linted.returncode == 0, linted.stdout


def test_the_command_line_goes_over_the_file(flux: Path) -> None:
    ran = mlcheck(
        *("topology", "run", flux.name, "--ackers", "0", "--messages", "2", "--storm", "1.2", "--record", "there"),
        *("--no-transcripts", "--report", "json=-", "--conf", "topology.workers=1", "--seed", "7"),
        cwd=flux.parent,
    )
    result = json.loads(ran.stdout)
    assert (result["storm"], result["seed"], result["exit_code"]) == ("1.2.4", 7, 0)
    assert [each["id"] for each in result["subjects"] if each["kind"] in {"task", "run"}] == [
        *("count-1", "sentences-2", "split-3", "run"),
    ]
    assert not list((flux.parent / "there" / "transcripts").iterdir())
    emits = [each for each in read_history(flux.parent / "there" / "history.ndjson") if isinstance(each, Emitted)]
    assert len([each for each in emits if each.task == 2]) == 2
    assert all(each.root is None for each in emits)


def test_a_bolt_that_dies_is_found_and_shown(flux: Path) -> None:
    ran = mlcheck("topology", "run", flux.name, "--conf", "dies=cow", "--seconds", "6", cwd=flux.parent)
    assert ran.returncode == 1
    assert "exit code 7" in ran.stdout
    assert "FAIL" in ran.stdout


def test_what_is_not_settled_at_the_end_is_told_with_who_holds_it(flux: Path) -> None:
    ran = mlcheck(
        *("topology", "run", flux.name, "--conf", "keeps=cow", "--seconds", "4", "--drain", "0.2"),
        *("--fault", "kill:split@99"),
        cwd=flux.parent,
    )
    assert ran.returncode == 6
    said = " ".join(ran.stdout.split())
    assert "not all was settled 0.2 s after the spouts were deactivated; split, task 4: 1 not settled, 0 more" in said
    assert re.search(r"Not known: ends-once: the run ended before emission \d+ of sentences, task 3 did", said)
    assert "the fault kill:split@99 never struck: the run was over before, after 12 deliveries" in said
    assert "of sentences, task 3 (message id 2): never ended" in said
    assert "split, task 4 holds it" in said


def test_what_no_run_has_written_is_not_removed(flux: Path) -> None:
    mine = flux.parent / "mine" / "transcripts" / "split.ndjson"
    mine.parent.mkdir(parents=True)
    mine.write_text("precious\n")
    ran = mlcheck("topology", "run", flux.name, "--record", "mine", cwd=flux.parent)
    assert "transcripts/split.ndjson is of no run of a topology; choose another folder" in refusal(ran)
    assert mine.read_text() == "precious\n"
    mine.unlink()
    for _ in range(2):
        again = mlcheck("topology", "run", flux.name, "--record", "mine", "--idle", "0.2", cwd=flux.parent)
        assert again.returncode == 0, again.stdout + again.stderr


def test_the_id_of_a_component_is_no_path(flux: Path) -> None:
    outside = [flux.parent / f"split-{task}.ndjson" for task in range(1, 6)]
    for file in outside:
        file.write_text("precious\n")
    flux.write_text(flux.read_text().replace("split\n", "../../split\n"))
    ran = mlcheck("topology", "run", flux.name, "--record", "mine", "--idle", "0.2", cwd=flux.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert {file.read_text() for file in outside} == {"precious\n"}
    names = {each["transcript"] for each in json.loads((flux.parent / "mine" / "result.json").read_text())["subjects"]}
    assert all((flux.parent / name).is_file() for name in names - {None})
    assert len(names) == 4


def test_no_secret_stands_in_a_run(flux: Path) -> None:
    flux.write_text(flux.read_text().replace("the cow jumped", "the sesame-street jumped"))
    ran = mlcheck(
        *("topology", "run", flux.name, "--conf", "db.password=sesame-street", "--conf", "keeps=sesame-street"),
        *("--seconds", "4", "--drain", "0.2", "--report", "html=page.html", "--record", "mine"),
        cwd=flux.parent,
    )
    assert ran.returncode == 6
    assert "***" in ran.stdout
    files = [flux.parent / "page.html", *(flux.parent / "mine").rglob("*.*")]
    assert len(files) > 5
    assert [file for file in files if b"sesame-street" in file.read_bytes()] == []
    assert "sesame-street" not in ran.stdout + ran.stderr


def test_losses_that_would_be_silent_are_noted(flux: Path) -> None:
    ran = mlcheck("topology", "run", flux.name, "--conf", "ids=false", "--idle", "0.2", cwd=flux.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Note: 3 of 3 emits of sentences had no message id: losses are silent." in " ".join(ran.stdout.split())


def test_a_topology_that_emits_nothing_is_inconclusive(flux: Path) -> None:
    ran = mlcheck("topology", "run", flux.name, "--conf", "sentences=[]", "--idle", "0.2", "-q", cwd=flux.parent)
    assert ran.returncode == 6
    assert ran.stdout.startswith("INCONCLUSIVE")


@pytest.mark.parametrize(
    ("change", "arguments", "code", "words"),
    [
        (("SHUFFLE", "SHUFFEL"), [], 2, "SHUFFEL"),
        (("to: split", "to: splitt"), [], 2, "splitt"),
        (("args:\n    - word", "args:\n    - wrd"), [], 2, "wrd"),
        (("split.py", "spilt.py"), [], 3, "no complete first message"),
        (("", ""), ["--storm", "77"], 2, "there is no Storm version"),
        (("", ""), ["--property", "x"], 2, "K=V"),
        (("", ""), ["--record", "topology.yaml"], 2, "--record DIR"),
        (("", ""), ["--ackers", "-1"], 2, "ackers"),
    ],
)
def test_bad_input_is_a_sentence(
    flux: Path, change: tuple[str, str], arguments: list[str], code: int, words: str
) -> None:
    flux.write_text(flux.read_text().replace(*change) if change[0] else flux.read_text())
    ran = mlcheck("topology", "run", flux.name, *arguments, cwd=flux.parent)
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr
    if code == 2:
        assert words in refusal(ran)
    else:
        assert words in ran.stdout


def test_a_folder_that_another_run_writes_to_is_left_alone(flux: Path) -> None:
    folder = flux.parent / "run"
    (folder / "transcripts").mkdir(parents=True)
    theirs = folder / "transcripts" / "split-1.ndjson"
    theirs.write_text("theirs")
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        ran = mlcheck("topology", "run", flux.name, "--record", "run", cwd=flux.parent)
    finally:
        os.close(held)
    assert ran.returncode == 2
    assert "another run is being written to run" in refusal(ran)
    assert theirs.read_text() == "theirs"


def test_two_runs_at_once_can_not_have_one_folder(tmp_path: Path) -> None:
    prepare(tmp_path)
    with _alone(tmp_path), pytest.raises(FolderError, match="another run is being written to"), _alone(tmp_path):
        pytest.fail("both have it")


def test_more_processes_than_this_machine_has_files_for(flux: Path) -> None:
    command = f"ulimit -n 80; exec {sys.executable} -m multilang_cli topology run {flux.name}"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    ran = subprocess.run(["sh", "-c", command], cwd=flux.parent, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "its 3 tasks would be 3 processes, with 6 open files each; this shell allows 80 (ulimit -n)." in refusal(ran)


def test_a_command_that_is_not_there(flux: Path) -> None:
    flux.write_text(flux.read_text().replace(sys.executable, "no-such-program"))
    ran = mlcheck("topology", "run", flux.name, cwd=flux.parent)
    assert ran.returncode == 3
    assert "no-such-program" in refusal(ran)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything_and_tells_what_was(flux: Path, number: signal.Signals) -> None:
    flux.write_text(flux.read_text().replace("queue_spout.py", "endless_spout.py"))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "multilang_cli", "topology", "run", flux.name, "--record", "here"]
    with subprocess.Popen(command, cwd=flux.parent, env=env, stdout=subprocess.PIPE, text=True) as process:
        history = flux.parent / "here" / "history.ndjson"
        while not (history.exists() and [each for each in read_history(history) if isinstance(each, PhaseBegun)]):
            assert process.poll() is None
        pids = [each.pid for each in read_history(history) if isinstance(each, Launched) and each.pid]
        process.send_signal(number)
        shown, _ = process.communicate(timeout=90)
    assert process.returncode == 130
    assert "INTERRUPTED" in shown
    assert len(pids) == 3
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    result = json.loads((flux.parent / "here" / "result.json").read_text())
    assert (result["verdict"], result["complete"]) == ("interrupted", False)
    assert [each.name for each in read_history(history) if isinstance(each, PhaseBegun)] == ["run", "end"]


def test_it_needs_no_shell_and_no_jvm(flux: Path) -> None:
    alone = flux.parent / "bin"
    alone.mkdir()
    ran = mlcheck("topology", "run", flux.name, "--idle", "0.2", "-q", cwd=flux.parent, PATH=str(alone))
    assert shutil.which("java", path=str(alone)) is None
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_task_that_dies_tells_its_cause_and_mend(flux: Path) -> None:
    (flux.parent / "count.py").write_text("import no_such_module\n")
    flux.write_text(flux.read_text().replace(str(HERE / "count.py"), str(flux.parent / "count.py")))
    ran = mlcheck("topology", "run", str(flux), cwd=flux.parent)
    said = " ".join(ran.stdout.split())
    assert "it needs the module no_such_module, which is not installed where it runs" in said
    assert "count.py:1 import no_such_module" in said
    assert "Do Install no_such_module for the interpreter that runs it" in said
    assert ran.stdout.splitlines()[-1] == "Next: mlcheck explain module-missing"


def test_a_search_ends_with_a_plan_that_plays_it_again(flux: Path) -> None:
    words = ("topology", "run", flux.name, "--idle", "0.2", "-q", "--conf", "anchored=false")
    ran = mlcheck(*words, "--search", "60", cwd=flux.parent)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert len(ran.stdout.splitlines()) == 1
    folder = flux.parent / ".mlcheck" / "topology" / "split-count"
    plan = json.loads((folder / "fault-plan.json").read_text())
    assert (plan["topology"], len(plan["faults"]), plan["broke"][0]["id"]) == ("split-count", 1, "at-least-once")
    plays = ("--fault", f"@{folder / 'fault-plan.json'}", "--report", "json=-")
    again = mlcheck(*words, *plays, cwd=flux.parent)
    assert again.returncode == 1, again.stdout + again.stderr
    assert any(note.startswith(f"{plan['faults'][0]} struck at ") for note in json.loads(again.stdout)["notes"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--search", "5", "--fault", "kill:split"), "give it without --fault and --seeds"),
        (("--fault", "@none.json"), "--fault @none.json: it can't be read"),
        (("--fault", "@plan.json"), "it is a plan for the topology another, and this one is split-count"),
    ],
)
def test_a_search_that_can_not_be_is_a_sentence(flux: Path, options: Sequence[str], words: str) -> None:
    told = {"topology": "another", "storm": "2.8.3", "seed": 0, "faults": ["kill:split@1"]}
    (flux.parent / "plan.json").write_text(json.dumps(told), encoding="utf-8")
    assert words in " ".join(refusal(mlcheck("topology", "run", flux.name, *options, cwd=flux.parent)).split())


QUIET = """
import json, os, sys
def message(): return json.loads("".join(iter(sys.stdin.readline, "end\\n")))
open(message()["pidDir"] + "/" + str(os.getpid()), "w").close()
print(json.dumps({"pid": os.getpid()}) + "\\nend", flush=True)
while message():
    print("broker 10.0.0.1:9092: Connection refused", file=sys.stderr, flush=True)
    print('{"command": "sync"}\\nend', flush=True)
"""


def test_a_spout_that_emitted_nothing_has_its_last_words_shown(flux: Path) -> None:
    (flux.parent / "quiet.py").write_text(QUIET)
    flux.write_text(flux.read_text().replace(str(HERE / "queue_spout.py"), str(flux.parent / "quiet.py")))
    ran = mlcheck("topology", "run", str(flux), "--idle", "0.2", cwd=flux.parent)
    lines = ran.stdout.splitlines()
    at = lines.index("Not known: run: no spout emitted anything")
    assert lines[at + 1].startswith("  the last words of sentences-")
    assert lines[at + 2] == "  | broker 10.0.0.1:9092: Connection refused"


COUNTS_ITS_RUNS = """
import runpy
with open("runs", "a+") as runs:
    runs.seek(0)
    nth = len(runs.read())
    runs.write("x")
if nth == 1: print("garbage", flush=True)
runpy.run_path({script!r}, run_name="__main__")
"""


def test_a_sweep_in_which_all_is_well_calls_no_seed_the_worst(flux: Path) -> None:
    ran = mlcheck("topology", "run", str(flux), "--seed", "5", "--seeds", "2", "--messages", "20", cwd=flux.parent)
    said = " ".join(ran.stdout.split())
    assert "2 of 2 seeds: 2 PASS. This is the first of them: --seed 5 without --seeds plays it again" in said


def test_a_sweep_has_the_verdict_of_its_worst_seed(flux: Path) -> None:
    (flux.parent / "count.py").write_text(COUNTS_ITS_RUNS.format(script=str(HERE / "count.py")))
    flux.write_text(flux.read_text().replace(str(HERE / "count.py"), str(flux.parent / "count.py")))
    kept = flux.parent / "kept"
    words = ("--seed", "5", "--seeds", "3", "--record", str(kept), "--messages", "20")
    ran = mlcheck("topology", "run", str(flux), *words, cwd=flux.parent)
    said = " ".join(ran.stdout.split())
    assert ran.returncode in {1, 3}
    assert "3 of 3 seeds: 2 PASS, 1 " in said
    assert "This is the worst: --seed 6 without --seeds plays it again" in said
    told = [line.partition(";")[0] for line in ran.stderr.splitlines() if line.startswith("seed ")]
    assert (told[0], told[2]) == ("seed 5: PASS", "seed 7: PASS")
    assert [each.name for each in kept.iterdir()] == ["seed-6"]
    again = mlcheck("topology", "run", str(flux), *words, cwd=flux.parent)
    assert (again.returncode, [each.name for each in kept.iterdir()]) == (0, ["seed-5"])
