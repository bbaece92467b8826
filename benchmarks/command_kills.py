"""``python -m benchmarks.command_kills [NAME...]``: mlcheck killed at random moments of each command that keeps a file.

Moments are drawn over what the command takes undisturbed; killed is mlcheck itself, its whole process group, or of a
tap its recorder. Every recording must then be readable to its last whole line, also by ``lint``; what was to be written
whole must be whole or not there; no process may be left after the time that mlcheck has for it, no temporary folder
after its next start, and nobody may have told a traceback. The tables of an audit must be those of its last whole
manifest, and when it is run again those that it makes undisturbed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import pyarrow.parquet as pq

from benchmarks.hostile import BOLT, GONE, MARK, ROOT, TABLE, is_json, orphans
from benchmarks.options import names_of, parser_of
from multilang_cli.audit.store.manifest import FOLDER, newest
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.read import Damaged, entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.audit.store.manifest import StoredPiece

LONGEST = 300.0
"""Seconds that a command may take undisturbed."""
TUPLES = 1000
"""What a tap is given."""
TRIES = 3
"""Kills that may come too late, for one that is counted."""
KEPT = Path("killed-found")
"""Where folders go in which something was wrong."""
HANDSHAKE = {"pidDir": "", "conf": {}, "context": {"taskid": 3, "task->component": {"3": "b"}}}
TRACEBACK = b"Traceback (most recent call last)"
FOREIGN = ("spark-", "pyspark", "blockmgr-", "hsperfdata", "liblz4", "libzstd", "snappy-", "jna", "artifacts-", "tmp")
"""Temporary files of Spark and of what it uses, and those of a host or test in Python: none of ours is named so."""
BESIDE = (".again-", ".taken-", ".mlcheck-", ".o.")
ZIP_END = b"PK\5\6"
"""What stands 22 bytes before the end of an archive."""
RECORDED = {"recorded", "last", "topology"}
"""Folders that recordings are in."""
TWICE = (str(ROOT / "tests" / "mutants" / "bolt.py"), "ack-twice")
HOST = str(ROOT / "tests" / "mutants" / "host.py")
TOPOLOGY = str(ROOT / "examples" / "topologies" / "split-count.yaml")
KINDS = ("mlcheck", "group")
TAPPED = (*KINDS, "recorder")
_SPARK = ("--master", "local[1]", "--spark-conf", "spark.sql.shuffle.partitions=1")


class Command(NamedTuple):
    """Words of mlcheck, or of Python; who is killed, what it is given, and the codes that it may end with.

    `tables`: the folder of an audit, which is run again when it was killed.
    """

    words: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    killed: tuple[str, ...] = KINDS
    stdin: str = ""
    python: bool = False
    tables: str = ""


_TAP = ("tap", "--kind", "bolt", "--record", "recorded")
_BEHIND = ("--", sys.executable, BOLT)
COMMANDS = {
    "run": Command(
        ("run", "-k", "bolt.settle.once", "-k", "handshake.pid-first", "--record-all", "--report", "json=o.json", BOLT)
    ),
    "run, a broken bolt": Command(
        (
            "run",
            "--kind",
            "bolt",
            "-k",
            "bolt.settle.once",
            "-k",
            "handshake.pid-first",
            "-j",
            "2",
            "--",
            sys.executable,
            *TWICE,
        ),
        codes=(1,),
    ),
    "repl": Command(("repl", "--kind", "bolt", "--source", "steps.repl", BOLT)),
    "tap, last messages": Command((*_TAP, "--ring", "500", *_BEHIND), killed=TAPPED, stdin="told"),
    "tap, all": Command((*_TAP, "--record-all", *_BEHIND), killed=TAPPED, stdin="told"),
    "tap, in parts": Command(
        (*_TAP, "--record-all", "--rotate", "64KiB", "--keep", "5", *_BEHIND), killed=TAPPED, stdin="told"
    ),
    "fuzz": Command(("fuzz", "--kind", "bolt", "--save-case", "o.yaml", "--", sys.executable, *TWICE), codes=(1,)),
    "bench": Command(
        ("bench", "--kind", "bolt", "--windows", "1,10", "--seconds", "0.2", "--report", "json=o.json", BOLT)
    ),
    "host": Command(
        ("host", "-k", "host.bolt.tuples", "-k", "host.bolt.values", "--record-all", "--", sys.executable, HOST)
    ),
    "topology run": Command(("topology", "run", "--record", "recorded", "--report", "html=o.html", TOPOLOGY)),
    "topology run, a kill": Command(("topology", "run", "--fault", "kill:split@5", TOPOLOGY), codes=(0, 1, 6)),
    "replay": Command(("replay", "right.ndjson", "--", sys.executable, BOLT)),
    "shrink": Command(("shrink", "twice.ndjson", "-o", "o.ndjson", "--", sys.executable, *TWICE), codes=(0,)),
    "promote": Command(("promote", "twice.ndjson", "-o", "bolt.o.yaml")),
    "diff": Command(("diff", "right.ndjson", "twice.ndjson", "--report", "json=o.json"), codes=(1,)),
    "lint": Command(("lint", "right.ndjson", "--report", "json=o.json", "--report", "html=o.html")),
    "report": Command(("report", "twice.ndjson", "-o", "o.html")),
    "report --bundle": Command(("report", "twice.ndjson", "--bundle", "o.zip")),
    "report --open": Command(("report", "--open", "given.zip", "-o", "opened")),
    "matrix": Command(
        ("matrix", str(ROOT / "conformance/testees/component"), "-o", "matrix", "-k", "handshake.pid-first"),
        codes=(0, 1),
    ),
    "pytest": Command(("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"), python=True),
    "API": Command(("check.py",), python=True),
    "audit run": Command(("audit", "run", "right.ndjson", "-o", "audited", *_SPARK), codes=(0, 1, 6), tables="audited"),
    "audit run, more of it": Command(
        ("audit", "run", "right.ndjson", "twice.ndjson", "-o", "begun", *_SPARK), codes=(0, 1, 6), tables="begun"
    ),
    "audit watch": Command(("audit", "watch", "recordings", "-o", "watched", "--once", *_SPARK)),
    "audit replay": Command(("audit", "replay", "right.ndjson", "-o", "compared", *_SPARK, "--", sys.executable, BOLT)),
}
CHECK = f"from multilang_cli.api import check\ncheck({BOLT!r}, kind='bolt', include=['bolt.settle'])\n"
TESTS = f"""
import sys
def test_it(shell_bolt):
    for _ in range(3):
        bolt = shell_bolt(sys.executable, {BOLT!r})
        assert bolt.send_all([["a b"]] * 200).acked
"""


class Kills(NamedTuple):
    """What is wanted: how many of each command, drawn from what, how many at once, and where the work is done."""

    number: int
    seed: int
    jobs: int
    folder: Path


def main() -> int:
    """Kill as often as the command line says; 1 if anything was counted."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--kills", type=int, default=200, help="of each command")
    parser.add_argument("--seed", type=int, default=1, help="what moments are drawn from")
    parser.add_argument("--jobs", type=int, default=2, help="kills at once")
    names = names_of(parser, COMMANDS)
    chosen = parser.parse_args()
    wrong: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        prepare(Path(folder, "given"))
        for name in names:
            wrong += kill(name, Kills(chosen.kills, chosen.seed, chosen.jobs, Path(folder)))
    return 1 if wrong else 0


def prepare(folder: Path) -> None:
    """Make what commands are given: recordings, a bundle, commands of the REPL, tests."""
    folder.mkdir()
    (folder / "steps.repl").write_text('tuple ["a b"]\nheartbeat\n' * 50, encoding="utf-8")
    (folder / "check.py").write_text(CHECK, encoding="utf-8")
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    tuples = ({"id": str(n), "comp": "s", "stream": "default", "task": 2, "tuple": ["a b"]} for n in range(TUPLES))
    told = (HANDSHAKE, *tuples)
    (folder / "told").write_text("".join(f"{json.dumps(each)}\nend\n" for each in told), encoding="utf-8")
    for name, bolt in {"right": (BOLT,), "twice": TWICE}.items():
        words = ("tap", "--kind", "bolt", "--record-all", "--record", name, "--", sys.executable, *bolt)
        with Started(Command(words, stdin="told"), folder) as tap:
            tap.finished()
        # Its recorder may still write.
        while not (made := list((folder / name).glob("*.ndjson"))) or b'"end"' not in made[0].read_bytes()[-200:]:
            time.sleep(0.05)
        shutil.move(made[0], folder / f"{name}.ndjson")
        shutil.rmtree(folder / name)
    (folder / "recordings").mkdir()
    shutil.copy(folder / "right.ndjson", folder / "recordings")
    with Started(Command(("report", "twice.ndjson", "--bundle", "given.zip")), folder) as report:
        report.finished()
    with Started(COMMANDS["audit run"], folder) as audit:
        audit.finished()
    (folder / "audited").rename(folder / "begun")
    shutil.rmtree(folder / "tmp")


def kill(name: str, wanted: Kills) -> Counter[str]:
    """Count what went wrong with a command that is killed so often; says what was done."""
    command, began = COMMANDS[name], time.monotonic()
    wrong, whole = _undisturbed(command, wanted)
    draw = random.Random(f"{wanted.seed} {name}")
    tries = [(draw.choice(command.killed), draw.uniform(0, whole.took)) for _ in range(wanted.number * TRIES)]
    done: list[Killed] = []
    waiting = iter(tries)
    with ThreadPoolExecutor(wanted.jobs) as pool:
        while len(done) < wanted.number and (batch := list(islice(waiting, wanted.number - len(done)))):
            each = list(pool.map(lambda one: killed(name, one[0], one[1], whole, wanted.folder), batch))
            done += [one for one in each if one.met]
            wrong += sum((one.wrong for one in each), Counter())
    wrong += _linted(wanted.folder)
    slowest = max((one.gone for one in done), default=0.0)
    print(
        f"{name}: {len(done)} kills within {whole.took:.1f} s, {sum(one.recordings for one in done)} recordings,"
        f" all gone after at most {slowest:.1f} s: {dict(wrong) or 'nothing went wrong'}"
        f" ({time.monotonic() - began:.0f} s)",
        flush=True,
    )
    return wrong


class Whole(NamedTuple):
    """A command that nobody disturbed: what it took, what it said, and how many rows its tables have."""

    took: float
    out: bytes
    rows: dict[str, int]


class Killed(NamedTuple):
    """A kill: what went wrong, whether it came before the end, what it left, and seconds until all was gone."""

    wrong: Counter[str]
    met: bool
    recordings: int
    gone: float


class Started:
    """A command in a folder, with temporary files of its own, and what it says in files that outlive it."""

    def __init__(self, command: Command, folder: Path) -> None:
        self.folder, self._command = folder, command
        self.temporary = folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self._run = f"{os.getpid()}-{time.monotonic_ns()}"

    def __enter__(self) -> Self:
        words = self._command.words if self._command.python else ("-m", "multilang_cli", *self._command.words)
        kept = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
        given = self.folder / self._command.stdin if self._command.stdin else Path(os.devnull)
        with (
            given.open("rb") as stdin,
            (self.folder / "out").open("wb") as out,
            (self.folder / "err").open("wb") as err,
        ):
            self.process = subprocess.Popen(
                [sys.executable, *words],
                cwd=self.folder,
                env={**kept, "PYTHONPATH": str(ROOT), "HOME": str(self.folder), "TMPDIR": str(self.temporary)}
                | {MARK: self._run},
                stdin=stdin,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        for pid in orphans(self._run):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def finished(self) -> int:
        """Its exit code."""
        return self.process.wait(LONGEST)

    def kill(self, whom: str, moment: float) -> bool:
        """Kill it, its group or its recorder at that moment: true if it was there."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(moment)
        if self.process.poll() is not None:
            return False
        if whom == "recorder":
            recorders = [pid for pid in orphans(self._run) if _is_recorder(pid, self.process.pid)]
            for pid in recorders:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return bool(recorders)
        (os.killpg if whom == "group" else os.kill)(self.process.pid, signal.SIGKILL)
        return self.process.wait() == -signal.SIGKILL

    def said(self) -> tuple[bytes, bytes]:
        """What it wrote to stdout and stderr so far."""
        return (self.folder / "out").read_bytes(), (self.folder / "err").read_bytes()

    def left(self) -> dict[str, bool]:
        """Give what is still there of processes and temporary files, for so long as mlcheck may take."""
        until = time.monotonic() + GONE
        while True:
            left = {"processes": bool(orphans(self._run)), "temporary files": any(_ours_in(self.temporary))}
            if not any(left.values()) or time.monotonic() > until:
                return left
            time.sleep(0.05)


def _is_recorder(pid: int, tap: int) -> bool:
    """True of a process that a tap has started in a session of its own: no component is that."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[1] == str(tap) and fields[3] == str(pid)
    return False


def _ours_in(folder: Path) -> Iterator[Path]:
    """Give what is among temporary files, but for those of Spark and its Java."""
    return (path for path in folder.iterdir() if not path.name.startswith(FOREIGN))


def _undisturbed(command: Command, wanted: Kills) -> tuple[Counter[str], Whole]:
    """Run a command to its end, with as many at once as are killed: the slowest, and what went wrong."""

    def one(number: int) -> tuple[int, Whole]:
        began = time.monotonic()
        with Started(command, _fresh(wanted.folder, f"whole-{number}")) as started:
            code = started.finished()
            took = time.monotonic() - began
            started.left()
            return code, Whole(took, started.said()[0], rows_in(started.folder, command.tables))

    with ThreadPoolExecutor(wanted.jobs) as pool:
        done = list(pool.map(one, range(wanted.jobs)))
    wrong = Counter(f"undisturbed it gave {code}" for code, _ in done if code not in command.codes)
    for path in wanted.folder.glob("whole-*"):
        shutil.rmtree(path)
    return wrong, max((whole for _, whole in done), key=lambda whole: whole.took)


def _fresh(folder: Path, name: str) -> Path:
    return Path(shutil.copytree(folder / "given", folder / name))


def killed(name: str, whom: str, moment: float, whole: Whole, place: Path) -> Killed:
    """Kill a command at a moment, and count what went wrong."""
    folder = _fresh(place, f"kill-{time.monotonic_ns()}")
    given = {path.relative_to(folder) for path in folder.rglob("*")}
    with Started(COMMANDS[name], folder) as started:
        met, began = started.kill(whom, moment), time.monotonic()
        goes_on = whom == "recorder" or not met
        code = started.finished() if goes_on else 0
        left = started.left()
        gone = time.monotonic() - began
        out, err = started.said()
        if left["temporary files"]:
            with Started(Command(("list", "versions")), folder) as later:
                later.finished()
                left["temporary files"] = any(_ours_in(folder / "tmp"))
    made = [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder) not in given]
    recordings = [path for path in made if path.name.endswith(".ndjson") and RECORDED & set(path.parts)]
    wrong = {
        **left,
        "traceback": any(b"multilang_cli" in said.partition(TRACEBACK)[2] for said in (out, err, *_logs(made))),
        "exit code": goes_on and code not in COMMANDS[name].codes,
        "bytes lost": goes_on and "tap" in name and _behind_pid(out) != _behind_pid(whole.out),
        "torn": any(torn(path) for path in recordings),
        "not whole": any(in_pieces(path) for path in made if path.name.startswith(("o.", "bolt.o."))),
        **_tables_of(COMMANDS[name], folder, whole),
        "files beside": any(_is_beside(path) for path in made),
    }
    counted = Counter(what for what, is_so in wrong.items() if is_so)
    if counted:
        print(f"{name}, {whom} killed after {moment:.3f} s: {', '.join(counted)}; see {folder}", file=sys.stderr)
        shutil.copytree(folder, KEPT / f"{name.replace(' ', '-')}-{folder.name}", symlinks=True)
    for path in (path for path in recordings if path.name != "history.ndjson"):
        kept = place / "recorded" / folder.name
        kept.mkdir(parents=True, exist_ok=True)
        shutil.move(path, kept / path.name)
    shutil.rmtree(folder)
    return Killed(counted, met, len(recordings), gone)


def rows_in(folder: Path, tables: str) -> dict[str, int]:
    """How many rows the tables of an audit have, by its newest manifest; none of an audit that has written none."""
    manifest = newest(None, str(folder / tables)) if tables and (folder / tables / FOLDER).exists() else None  # type: ignore[arg-type]
    pieces = manifest.tables.items() if manifest is not None else ()
    return {name: sum(_rows_of(folder / tables, piece) for piece in some) for name, some in pieces}


def _rows_of(folder: Path, piece: StoredPiece) -> int:
    """Rows of a piece that are not gone: every file of it is read."""
    rows = [
        row for name in piece.files or () for row in pq.ParquetFile(folder / piece.folder / name).read().to_pylist()
    ]
    return sum(row.get(piece.column) not in piece.gone for row in rows)


def _tables_of(command: Command, folder: Path, whole: Whole) -> dict[str, bool]:
    """What is wrong with the tables of an audit that was killed, and with those that it makes when it is run again."""
    if not command.tables:
        return {}
    try:
        rows_in(folder, command.tables)
    except Exception as error:  # noqa: BLE001 (whatever it is, it counts)
        print(f"tables can't be read: {type(error).__name__}: {error}", file=sys.stderr)
        return {"tables that can't be read": True}
    with Started(command, folder) as again:
        code = again.finished()
    same = rows_in(folder, command.tables) == whole.rows
    return {"exit code when it is run again": code not in command.codes, "other tables when it is run again": not same}


def _is_beside(path: Path) -> bool:
    """True of a file that was made beside another until that is whole; not of those that Spark keeps for itself."""
    return "checkpoint" not in path.parts and (path.name.endswith(".tmp") or path.name.startswith(BESIDE))


def _behind_pid(said: bytes) -> bytes:
    return said.partition(b"\nend\n")[2]


def _logs(made: list[Path]) -> Iterator[bytes]:
    return (path.read_bytes() for path in made if path.suffix in {".log", ".txt"})


def torn(path: Path) -> bool:
    """True if a line of a recording but the last can't be read."""
    whole = path.read_bytes().split(b"\n")[:-1]
    try:
        # The history of a topology's run is no conversation.
        found = list(entries(path)) if whole and path.name != "history.ndjson" else []
        lines = [json.loads(line) for line in whole]
    except (ValueError, TranscriptError):
        return True
    return any(isinstance(entry, Damaged) for entry in found) or not all(isinstance(line, dict) for line in lines)


def in_pieces(path: Path) -> bool:
    """True if a file that is written whole or not at all is neither."""
    data = path.read_bytes()
    if path.suffix == ".zip":
        return data[-22:-18] != ZIP_END
    if path.suffix == ".json":
        return not is_json(data)
    return not data.endswith(b"</html>\n" if path.suffix == ".html" else b"\n")


def _linted(folder: Path) -> Counter[str]:
    """Have `lint` judge what kills have left, all of it at once, and remove it."""
    place = folder / "recorded"
    if not place.exists():
        return Counter()
    with Started(Command(("lint", "--json", *sorted(path.name for path in place.iterdir()))), place) as lint:
        code = lint.finished()
        out, err = lint.said()
    shutil.rmtree(place)
    wrong = {"lint's exit code": code not in TABLE, "lint's traceback": TRACEBACK in out + err}
    return Counter(what for what, is_so in wrong.items() if is_so)


if __name__ == "__main__":
    sys.exit(main())
