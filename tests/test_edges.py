"""Edges of the system: folders that can't be written, modes of what is written, PYTHONPATH, a stranger's bundle."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import select
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from typing import TYPE_CHECKING

import pytest

from multilang_cli.audit.store.manifest import only_writer
from multilang_cli.kafka.metrics import write_prometheus
from multilang_cli.reports.evidence.bundle import BundleError, unpack
from multilang_cli.tap.run import MUCH_ROOM, room_in, why_not_recorded
from multilang_cli.terminal.fault import report_fault
from multilang_cli.transcript.archives import LEAST_BYTES
from tests.command import BOLT, MUTANT_BOLT, ROOT, mlcheck
from tests.pages import TWICE
from tests.pages import recorded as transcript

if TYPE_CHECKING:
    from pathlib import Path

HANDSHAKE = {"pidDir": "", "conf": {}, "context": {"taskid": 3, "task->component": {"3": "b"}}}
STANDARD = ("json", "types", "queue", "typing", "enum", "select", "struct", "string", "random", "token", "secrets")


def modes(folder: Path) -> set[str]:
    """The modes of a folder and of all that is below it."""
    return {oct(stat.S_IMODE(path.lstat().st_mode)) for path in (folder, *folder.rglob("*"))}


def tapped(folder: Path, record: str) -> subprocess.CompletedProcess[str]:
    """A component under a tap, which is told nothing but the handshake."""
    stdin = json.dumps({**HANDSHAKE, "pidDir": str(folder)}) + "\nend\n"
    return mlcheck("tap", "--record", record, "--kind", "bolt", "--record-all", "--", BOLT, cwd=folder, stdin=stdin)


@pytest.mark.component
def test_recordings_are_their_owners_alone(tmp_path: Path) -> None:
    words = ("run", "--kind", "bolt", "-k", "bolt.settle.once", "--record-all")
    assert mlcheck(*words, BOLT, cwd=tmp_path).returncode == 0
    assert modes(tmp_path / ".mlcheck") == {"0o700", "0o600"}
    assert tapped(tmp_path, "taps").returncode == 0
    until = time.monotonic() + 30
    while not list((tmp_path / "taps").glob("*.ndjson")) and time.monotonic() < until:
        os.sched_yield()
    files = {
        path: oct(stat.S_IMODE(path.stat().st_mode))
        for path in (tmp_path / "taps").glob("*[gn]")
        if path.suffix != ".json"
    }
    assert set(files.values()) == {"0o600"}, files


CRASHES = """
import sys
sys.stdin.readline()
sys.exit("the words of a component")
"""
FLUX = """
name: modes
spouts: [{id: s, className: org.apache.storm.flux.wrappers.spouts.FluxShellSpout,
  constructorArgs: [[%(python)s, %(bolt)s], [word]]}]
bolts: []
streams: []
"""


@pytest.mark.component
def test_all_that_a_topology_leaves_beside_recordings_is_its_owners_alone(tmp_path: Path) -> None:
    """The folder may be shared: it keeps its mode."""
    folder = tmp_path / "shared"
    folder.mkdir(0o755)
    (tmp_path / "bolt.py").write_text(CRASHES)
    (tmp_path / "flux.yaml").write_text(FLUX % {"python": sys.executable, "bolt": tmp_path / "bolt.py"})
    mlcheck("topology", "run", "--record", str(folder), "flux.yaml", cwd=tmp_path)
    files = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in folder.rglob("*") if path.is_file()}
    assert {"result.json", "history.ndjson", "s-2.txt"} <= files.keys()
    assert set(files.values()) == {"0o600"}, files


@pytest.mark.component
def test_a_tap_that_can_record_nothing_says_so_and_passes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = tapped(tmp_path, "file")
    assert ran.returncode == 0
    assert ran.stdout.startswith('{"pid": ')
    assert ran.stderr.count("mlcheck tap: ") == 1
    assert "nothing is recorded: file: File exists" in ran.stderr


def test_a_full_disk_is_told_before_anything_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_not_recorded(tmp_path) == ""
    whole = os.statvfs(tmp_path)
    full = os.statvfs_result([0 if at == 4 else value for at, value in enumerate(whole)])
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    assert why_not_recorded(tmp_path) == "No space left on device"


@pytest.mark.component
@pytest.mark.parametrize("words", [(), ("--record-all",)], ids=["ring", "all"])
def test_a_tap_with_little_room_says_so_before_a_component_ends_at_once(words: tuple[str, ...], tmp_path: Path) -> None:
    """Its stderr is closed behind the component's end, when the recording fails; the log may have no room either."""
    command = [sys.executable, "-m", "multilang_cli", "tap", "--record", "taps", *words, "--", "true"]
    ran = subprocess.run(
        ["bash", "-c", f"ulimit -f 16; exec {shlex.join(command)}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    told = "mlcheck tap: taps: there is room for 16384 bytes alone, and what comes later is lost\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", told)


def test_room_is_that_of_the_disk_and_of_the_limit_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert room_in(tmp_path) == MUCH_ROOM
    whole = os.statvfs(tmp_path)
    almost = os.statvfs_result([3 if at == 4 else value for at, value in enumerate(whole)])
    monkeypatch.setattr(os, "statvfs", lambda _: almost)
    assert room_in(tmp_path) == 3 * whole.f_frsize
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 200))
    assert room_in(tmp_path) == 100


def test_no_duration_is_a_difference_of_times_of_day() -> None:
    """The clock of a machine may be set back: only the age of a file, which has no other time, is told by it."""
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "multilang_cli").rglob("*.py")}
    told = [path.name for path, text in sources.items() if re.search(r"(time\.time|now)\([UTC]*\)\)? - ", text)]
    assert told == ["class_archive.py"]


@pytest.mark.component
@pytest.mark.parametrize("command", ["run", "repl", "fuzz", "host"])
def test_a_record_folder_that_is_a_file_is_misuse(command: str, tmp_path: Path) -> None:
    (tmp_path / ".mlcheck").write_text("")
    kind = () if command == "host" else ("--kind", "bolt")
    ran = mlcheck(command, *kind, BOLT, cwd=tmp_path)
    assert ran.returncode == 2
    assert "can't be written to .mlcheck/last: Not a directory" in ran.stderr


@pytest.mark.component
def test_modules_of_pythonpath_are_not_taken_for_pythons_own(tmp_path: Path) -> None:
    for name in STANDARD:
        (tmp_path / f"{name}.py").write_text('raise SystemExit("shadowed")\n')
    program = f"import sys; sys.path.append({str(ROOT)!r}); from multilang_cli.__main__ import main; sys.exit(main())"
    ran = subprocess.run(
        [sys.executable, "-c", program, "explain", "ack-twice"],
        env={"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]},
        cwd=tmp_path.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


INTERRUPTED = """
import os, signal, sys
import multilang_cli.__main__ as program
program._mind_own_modules = lambda: os.kill(os.getpid(), signal.SIGINT)
sys.exit(program.main())
"""


@pytest.mark.component
def test_an_interrupt_before_any_command_is_known_is_told_in_a_sentence() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "list"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (130, "mlcheck: interrupted.\n")


AT_THE_END = """
import atexit, os, signal, sys
import multilang_cli.__main__ as program
atexit.register(os.kill, os.getpid(), int(sys.argv.pop(1)))
sys.exit(program.main())
"""


@pytest.mark.component
@pytest.mark.parametrize("inspects", ["", "1"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_a_command_that_is_done_cleans_up_shows_no_traceback(number: int, inspects: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", AT_THE_END, str(int(number)), "list", "versions"],
        cwd=ROOT,
        env={**os.environ, "PYTHONINSPECT": inspects},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (130, "")
    assert "2.8.3" in ran.stdout


LOST = """
import os, signal, sys
import multilang_cli.__main__ as program
class Lost:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(name, path, target=None):
        if name == "multilang_cli.cli.dispatch":
            Lost()
sys.meta_path.insert(0, Finder)
sys.exit(program.main())
"""


@pytest.mark.component
def test_an_interrupt_that_python_drops_while_modules_are_imported_is_heeded() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOST, "list", "cases"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (130, "mlcheck: interrupted.\n")


@pytest.mark.component
def test_pythoninspect_does_not_hold_it(tmp_path: Path) -> None:
    ran = mlcheck("list", "versions", cwd=tmp_path, PYTHONINSPECT="1")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "2.8.3" in ran.stdout
    assert mlcheck("nothing", cwd=tmp_path, PYTHONINSPECT="1").returncode == 2


def test_a_bundle_unpacks_to_no_more_than_its_size_allows(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("report.json", "{}")
        bundle.writestr("transcripts/a.ndjson", bytes(LEAST_BYTES))
    with pytest.raises(BundleError, match="unpacks to more than a bundle may hold"):
        unpack(tmp_path / "b.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A recording of a bolt."""
    words = ("run", "--kind", "bolt", "-k", "bolt.settle.once", "--record-all")
    assert mlcheck(*words, BOLT, cwd=tmp_path).returncode == 0
    (found,) = (tmp_path / ".mlcheck" / "last").glob("*.ndjson")
    return found


@pytest.mark.component
def test_a_bundle_and_what_is_unpacked_are_their_owners_alone(recorded: Path, tmp_path: Path) -> None:
    assert mlcheck("report", str(recorded), "--bundle", "b.zip", cwd=tmp_path).returncode == 0
    assert modes(tmp_path / "b.zip") == {"0o600"}
    assert mlcheck("report", "--open", "b.zip", "-o", "out", cwd=tmp_path).returncode == 0
    (tmp_path / "out" / "page.html").unlink()
    assert modes(tmp_path / "out") == {"0o700", "0o600"}


def test_the_tables_of_an_audit_are_their_owners_alone(tmp_path: Path) -> None:
    with only_writer(str(tmp_path / "audit")):
        assert oct(stat.S_IMODE((tmp_path / "audit").stat().st_mode)) == "0o700"


def without_room(*words: str, cwd: Path, room: int = 0) -> subprocess.CompletedProcess[str]:
    """A command that can write no more than a few bytes to any file, as on a full disk."""
    limited = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); "
    limited += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    return subprocess.run(
        [sys.executable, "-c", limited, "-m", "multilang_cli", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.component
@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("replay", "{}", "--record", "again", "--", BOLT), "again/replay-"),
        (("report", "{}", "--bundle", "b.zip"), "b.zip"),
        (("new", "bolt", "--language", "python", "fresh"), "fresh/"),
        (("report", "{}", "-o", "page.html"), "page.html"),
        (("promote", "{}", "-o", "bolt.again.yaml"), "bolt.again.yaml"),
        (("init", "resources"), "mlcheck.toml"),
    ],
    ids=["replay", "bundle", "new", "report", "promote", "init"],
)
def test_a_file_that_can_no_longer_be_written_is_named(words: tuple[str, ...], where: str, tmp_path: Path) -> None:
    recorded = transcript(tmp_path / "twice.ndjson", TWICE)
    (tmp_path / "resources").mkdir()
    shutil.copy(BOLT, tmp_path / "resources")
    ran = without_room(*(word.format(recorded) for word in words), cwd=tmp_path)
    assert ran.returncode == 2
    assert where in ran.stderr
    assert "File too large" in ran.stderr
    assert "None" not in ran.stderr
    assert not (tmp_path / where).is_file()


@pytest.mark.component
def test_a_search_on_a_full_disk_tells_what_it_finds(tmp_path: Path) -> None:
    words = ("fuzz", "--kind", "bolt", "--seed", "1", "--save-case", "c.yaml", "--", sys.executable, MUTANT_BOLT)
    found = without_room(*words, "ack-twice", cwd=tmp_path, room=8)
    assert found.returncode == 2
    assert "FAIL" in found.stdout
    said = " ".join(found.stdout.split())
    assert "transcripts can't be written to .mlcheck/last: File too large (--record DIR)" in said
    assert "what was found can't be kept in .mlcheck/fuzz: File too large (--database DIR)" in said
    assert "Record:" not in found.stdout
    assert found.stderr.splitlines()[-1] == "mlcheck: fuzz: c.yaml: the case can't be written: File too large."


LITTLE_ROOM = """
import json, resource, runpy, sys
read = json.loads
def loads(text, **more):
    resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))
    return read(text, **more)
json.loads = loads
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""A host, and its component, whose files are bounded once it has read what it is to say."""


@pytest.mark.component
def test_a_host_whose_component_can_note_nothing_is_not_blamed(tmp_path: Path) -> None:
    host = str(ROOT / "tests" / "mutants" / "host.py")
    words = ("host", "-k", "host.bolt.tuples", "--patience", "0.3", "--", sys.executable)
    ran = mlcheck(*words, "-c", LITTLE_ROOM, host, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    why = f"can't be noted in {tempfile.gettempdir()}: File too large (TMPDIR)"
    assert ran.stderr.splitlines()[-1] == f"mlcheck: host: what passes between it and its component {why}."


def test_details_of_a_fault_follow_no_link_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".mlcheck").write_text("")
    (tmp_path / f"fault-{os.getpid()}.txt").symlink_to(tmp_path / "target")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert "please report it" not in report_fault(ValueError("odd"), ["run"])
    assert not (tmp_path / "target").exists()


def test_a_fault_is_told_where_there_is_no_place_for_its_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gettempdir() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".mlcheck").write_text("")
    monkeypatch.setattr(tempfile, "gettempdir", gettempdir)
    assert report_fault(ValueError("odd"), ["run"]).endswith("not of your component: ValueError: odd.")


def test_metrics_can_be_read_by_whoever_collects_them(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_prometheus(str(tmp_path), {"topology": "t"}, "numbers 1\n")
    finally:
        os.umask(before)
    assert oct(stat.S_IMODE((tmp_path / "t.prom").stat().st_mode)) == "0o644"


@pytest.mark.component
def test_a_strangers_page_is_made_anew(tmp_path: Path) -> None:
    words = ("run", "--kind", "bolt", "-k", "bolt.settle.once", "--record-all")
    assert mlcheck(*words, BOLT, cwd=tmp_path).returncode == 0
    (recorded,) = (tmp_path / ".mlcheck" / "last").glob("*.ndjson")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as bundle:
        bundle.writestr("report.json", "{}")
        bundle.writestr("page.html", "<script>alert(4711)</script>")
        bundle.write(recorded, f"transcripts/{recorded.name}")
    ran = mlcheck("report", "--open", "b.zip", "-o", "out", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    page = (tmp_path / "out" / "page.html").read_text()
    assert "4711)" not in page
    assert recorded.stem in page


TUPLES = 4000
FEEDER = """
import sys
sys.stdout.write(sys.argv[1] + "\\nend\\n")
for number in range(int(sys.argv[2])):
    sys.stdout.write('{"id":"%d","comp":"s","stream":"default","task":1,"tuple":["%s"]}\\nend\\n' % (number, "x" * 99))
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.component
def test_a_tap_whose_files_can_no_longer_be_written_says_so_and_passes_on(tmp_path: Path) -> None:
    """A bound on the size of files, which a full disk is to a recorder; the log beside them is not written either."""
    shake = json.dumps({**HANDSHAKE, "pidDir": str(tmp_path)})
    feed = [sys.executable, "-c", FEEDER, shake, str(TUPLES)]
    words = "tap --record taps --kind bolt --record-all"
    limited = f"ulimit -f 32; exec {sys.executable} -m multilang_cli {words} -- {sys.executable} -c '{ACKER}'"
    with (
        subprocess.Popen(feed, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as feeder,
        subprocess.Popen(
            ["bash", "-c", limited],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=feeder.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as ran,
    ):
        assert ran.stdout is not None
        assert ran.stderr is not None
        for _ in range(TUPLES):
            assert ran.stdout.readline() == b"acked\n"
        assert b"there is room for 32768 bytes alone" in ran.stderr.readline()
        assert select.select([ran.stderr], [], [], 30)[0]
        assert b"mlcheck tap: recording failed: " in ran.stderr.readline()
        assert feeder.stdin is not None
        feeder.stdin.close()
        assert ran.wait(60) == 0


ACKER = """
import sys
sys.stdin.readline()
sys.stdin.readline()
while sys.stdin.readline():
    sys.stdin.readline()
    print("acked", flush=True)
"""
