"""``python -m benchmarks.readers [NAME...]``: damaged files for each reader of files that users hand over.

A reader reads a file or refuses it by an error of its own: anything else, more than 10 seconds or more than 512 MiB is
counted, and its file kept. Seeds are files of the repository, changed at random, each reader in a process of its own;
where atheris is installed, its coverage leads the search.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib
import importlib.util
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import msgspec
import zstandard

from benchmarks.options import names_of, parser_of
from multilang_cli.audit import parsing
from multilang_cli.audit.stages.file_lines import packed
from multilang_cli.audit.store.manifest import FOLDER, ManifestError, newest, trees_before
from multilang_cli.catalogue.feed_file import FeedError
from multilang_cli.catalogue.feed_file import read as read_feed
from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.texts import TextError, toml_value
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.kafka.stores.progress import ProgressError, ProgressOwner, read_state
from multilang_cli.repl.commands.table import Misuse
from multilang_cli.repl.parsing import tuples_of
from multilang_cli.replay.recording import load as load_recording
from multilang_cli.reports.evidence.bundle import BundleError, unpack
from multilang_cli.reports.explaining.worker_log import read_log
from multilang_cli.reports.matrix.files import DATA, read_matrix
from multilang_cli.scaffold.config_file import config_text
from multilang_cli.scaffold.streamparse import components_in
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.config import load as load_config
from multilang_cli.subject.documents import DocumentError, documents
from multilang_cli.subject.flag_values import conf_file
from multilang_cli.subject.testee import read_testee
from multilang_cli.suite.cases.case import CaseError, read_case
from multilang_cli.suite.verdict.known_failures import read as read_known_failures
from multilang_cli.topology.faults.plan import FaultError
from multilang_cli.topology.faults.plan_file import read_plan
from multilang_cli.topology.flux.errors import FluxError
from multilang_cli.topology.flux.reading import read_flux
from multilang_cli.topology.flux.substitution import read_properties
from multilang_cli.topology.history_file import read_history
from multilang_cli.topology.streamparse.project import ProjectError, read_project
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.hidden_lines import LineRedactor
from tests.audit.generator.histories import history
from tests.audit.generator.trees import EVERYTHING, TreesPlan
from tests.pages import TWICE, recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ROOT = Path(__file__).parent.parent
LONGEST = 10
"""Seconds that one file may take."""
MOST = 512
"""MiB that the process of a reader may hold."""
MOST_SEEDS = 40
LARGEST = 64 * 1024
HALF = 0.5
ODD = (
    b"[" * 3000, b'{"a":' * 3000, b"9" * 5000, b"1e999", b"NaN", b'"\\ud800"', b"\xff", b"\0", b"-1", b"null", b"{}",
    b"2001-99-99", b"!!bool x", b"&a [*a]", b"<<: *a", b"\r", b"\xef\xbb\xbf", b"\n---\n", b"'" * 99, b"%s" * 50,
    b"${x}", b"\xf0\x9f\x98\x80" * 50, b"0x" + b"f" * 400, b".nan", b"!!binary x", b"1:1:1",
)  # fmt: skip
"""Pieces that parsers are known to stumble over."""


CONFIG = b"""[[component]]
name = "a"
kind = "bolt"
command = ["python3", "a.py"]
conf = {"topology.debug" = true, n = 1.5}
samples = [["a b", 1]]
[component.streams.default]
fields = ["a", "b"]
[redact]
patterns = ["x+y"]
[audit]
max_failed = 3
"""


PROJECT = b'{"serializer":"json","topology_specs":"topologies/","envs":{"prod":{"options":{"topology.workers":2}}}}'
SPECS = b"""from bolts import Count, Words
class T(Topology):
    words = Words.spec()
    count = Count.spec(inputs={words: Grouping.fields('word'), words["late"]: Grouping.SHUFFLE}, par=2)
"""
PROGRESS = (
    b'{"topology":{"id":"i","name":"n"},"offset":5,"partition":0,"broker":{"host":"h","port":1},"topic":"t",'
    b'"mlcheck":{"done":[7],"given_up":null}}'
)
MANIFEST = (
    b'{"schema":1,"number":2,"mlcheck":"0.2.0","storm":"2.8.3","inputs":{"/a.ndjson":[10,20]},"trees":{"acked":5},'
    b'"tables":{"events":[{"folder":"events/000001-aaaaaa","column":"input","gone":["/b"]}]},"hidden":"ab:cd"}'
)
OWNER = ProgressOwner("d", "t", 1)


class FileReader(NamedTuple):
    """A reader: what its file is named, how it is read, the errors that refuse one, and seeds."""

    file: str
    read: Callable[[Path], object]
    refusals: tuple[type[Exception], ...]
    seeds: Callable[[], Iterable[bytes]]


def _found(*patterns: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def _lint(path: Path) -> object:
    return judge_transcripts([path], load_rulebook(), coverage=True)


def _lines(path: Path) -> list[object]:
    redactor = LineRedactor()
    return [(parsing.parse(line), redactor.line(line)) for line in path.read_bytes().split(b"\n")]


def _log(path: Path) -> object:
    return read_log(path.read_text(encoding="utf-8", errors="replace").splitlines())


def _from_jar(path: Path) -> object:
    main = path.with_name("main.yaml")
    main.write_text("includes:\n  - {file: /more.yaml, resource: true, override: false}\n", encoding="utf-8")
    return read_flux(main, jars=(str(path),))


def _project(path: Path) -> object:
    """The settings of a streamparse project without topologies, which is refused for want of those."""
    return read_project(str(path.parent), "2.8.3", {})


def _specs(path: Path) -> object:
    """What `mlcheck init` makes of a topology of streamparse, as TOML that can be read."""
    (path.parent / "topologies").mkdir()
    path.rename(path.parent / "topologies" / path.name)
    return toml_value(config_text(components_in(path.parent), "a project"), "mlcheck.toml")


def _manifests(path: Path) -> object:
    """The manifest that counts of an audit's folder, and the one before it."""
    place = path.parent / FOLDER
    place.mkdir()
    for number in (1, 2):
        (place / f"{number:06d}.json").write_bytes(path.read_bytes())
    # Spark is asked for folders that are elsewhere.
    none: Any = None
    return trees_before(str(path.parent)), newest(none, str(path.parent))


def _jars() -> list[bytes]:
    included = (ROOT / "examples/topologies/split-count.yaml").read_bytes()
    return _packed({"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\n", "more.yaml": included})


def _packed(members: Mapping[str, bytes]) -> list[bytes]:
    """An archive of these members for each method that packs."""
    found = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w", method) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        found.append(whole.getvalue())
    return found


def _unpack(path: Path) -> object:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        return unpack(path, Path(folder, "out"))


def _recordings() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        made = [recorded(Path(folder, f"{number}.ndjson"), text) for number, text in enumerate((TWICE, TWICE[:60]))]
        return [path.read_bytes() for path in made]


def _bundles() -> list[bytes]:
    return _packed({"report.json": b"{}", "transcripts/a.ndjson": _recordings()[0]})


def _histories() -> list[bytes]:
    plan = TreesPlan(roots=5, gap=1.0, weights=EVERYTHING)
    return [b"".join(msgspec.json.encode(event) + b"\n" for event in history(plan))]


_CASES = "conformance/cases/*/*.yaml"
_BROKEN = (TranscriptError, OSError)
READERS = {
    "case": FileReader("f.yaml", read_case, (CaseError,), _found(_CASES)),
    "config": FileReader("mlcheck.toml", load_config, (ConfigError,), lambda: [CONFIG]),
    "json": FileReader("f.json", lambda path: list(documents(str(path))), (DocumentError,), _found("schemas/c*.json")),
    "yaml": FileReader("f.yaml", lambda path: list(documents(str(path))), (DocumentError,), _found(_CASES)),
    "conf": FileReader("f.toml", lambda path: conf_file(str(path)), (ConfigError,), _found("pyproject.toml")),
    "tuples": FileReader("f", tuples_of, (Misuse,), lambda: [b'["a b", 1]\n[2.5, null]\n', b'{"a": [1]}']),
    "lint": FileReader("f.ndjson", _lint, _BROKEN, _recordings),
    "packed": FileReader("f.ndjson.gz", _lint, _BROKEN, lambda: map(gzip.compress, _recordings())),
    "zstd": FileReader(
        "f.ndjson.zst", lambda path: list(packed(str(path))), (), lambda: map(zstandard.compress, _recordings())
    ),
    "replay": FileReader("f.ndjson", load_recording, _BROKEN, _recordings),
    "audit": FileReader("f.ndjson", _lines, (), _recordings),
    "manifest": FileReader("f.json", _manifests, (ManifestError,), lambda: [MANIFEST]),
    "bundle": FileReader("f.zip", _unpack, (BundleError,), _bundles),
    "matrix": FileReader(
        DATA, lambda path: read_matrix(path.parent), (msgspec.MsgspecError,), _found("docs/matrix/matrix.json")
    ),
    "flux": FileReader("f.yaml", read_flux, (FluxError,), _found("examples/topologies/*.yaml")),
    "jar": FileReader("f.jar", _from_jar, (FluxError,), _jars),
    "properties": FileReader(
        "f", lambda path: read_properties(path.read_text(encoding="latin-1")), (), lambda: [b"a: b\\\n c\nd=\\u00e9"]
    ),
    "project": FileReader("config.json", _project, (ProjectError,), lambda: [PROJECT]),
    "specs": FileReader("f.py", _specs, (OSError, TextError, SyntaxError), lambda: [SPECS]),
    "progress": FileReader(
        "f", lambda path: read_state(path.read_bytes(), OWNER, str(path)), (ProgressError,), lambda: [PROGRESS]
    ),
    "plan": FileReader("f.json", read_plan, (FaultError,), lambda: [b'{"seed":1,"faults":[{"at":1,"kind":"kill"}]}']),
    "history": FileReader("f.ndjson", lambda path: list(read_history(path)), (msgspec.MsgspecError,), _histories),
    "known failures": FileReader(
        "f", lambda path: read_known_failures(str(path), load_rulebook()), (ConfigError,),
        _found("conformance/testees/*/known-failures-*.txt"),
    ),
    "feed": FileReader("f.json", read_feed, (FeedError,), lambda: [b'{"version":"1.0","case":"x","kind":"bolt"}']),
    "testee": FileReader(
        "testee.yaml", lambda path: read_testee(path.parent), (ConfigError,),
        _found("conformance/testees/*/testee.yaml"),
    ),
    "log": FileReader("f.log", _log, (), _found("conformance/causes/*.yaml", "docs/worker-log.md")),
}  # fmt: skip


def main() -> int:
    """Search with each reader; 1 if anything was counted."""
    parser = parser_of(__file__, __doc__)
    parser.add_argument("--seconds", type=int, default=120, help="of CPU for each")
    parser.add_argument("--seed", type=int, default=1, help="what is drawn")
    parser.add_argument("--kept", type=Path, default=Path("readers-found"), help="where files that do harm go")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    names = names_of(parser, READERS)
    chosen = parser.parse_args()
    if chosen.within:
        _search(chosen.names[0], chosen.seconds, chosen.seed, chosen.within)
    chosen.kept.mkdir(parents=True, exist_ok=True)
    harmful = [name for name in names if _elsewhere(name, chosen)]
    print(f"harmful: {', '.join(harmful) or 'none'}")
    return 1 if harmful else 0


def _elsewhere(name: str, chosen: argparse.Namespace) -> bool:
    """True if a file did harm to a process that only reads."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--within", folder, "--seconds", chosen.seconds, "--seed", chosen.seed, name]
        done = subprocess.run([sys.executable, "-m", "benchmarks.readers", *map(str, words)], cwd=ROOT, check=False)
        if done.returncode:
            last = Path(folder, "last")
            kept = chosen.kept / f"{name.replace(' ', '-')}-{hashlib.sha256(last.read_bytes()).hexdigest()[:12]}"
            shutil.copy(last, kept)
            print(f"{name}: ended with {done.returncode}; see {kept}", flush=True)
    return done.returncode != 0


class Harm(Exception):  # noqa: N818 (it is no error of ours)
    """A file that was neither read nor refused."""


class Attempts:
    """Has files read, each under a name of its own, below `folder`: the `last` one is there even if it kills."""

    def __init__(self, reader: FileReader, folder: Path) -> None:
        self._reader = reader
        self._folder = folder
        # A process that has done other things before may have held more.
        self._most = max(MOST, _held() + MOST // 8)
        self.count = 0

    def __call__(self, data: bytes) -> None:
        """Have it read. Raises Harm."""
        self.count += 1
        (self._folder / "last").write_bytes(data)
        # Some readers keep what they have read by its name.
        path = self._folder / str(self.count) / self._reader.file
        path.parent.mkdir()
        path.write_bytes(data)
        try:
            self._reader.read(path)
        except self._reader.refusals:
            pass
        except Exception as error:
            raise Harm("".join(traceback.format_exception(error)[-12:])) from error
        finally:
            shutil.rmtree(path.parent)
        if (held := _held()) > self._most:
            raise Harm(f"{held} MiB")


def _held() -> int:
    """The most MiB that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _search(name: str, seconds: int, seed: int, folder: Path) -> NoReturn:
    """Try files until the CPU time is over, or one does harm; ends the process."""
    seeds = [text[:LARGEST] for text in READERS[name].seeds()][:MOST_SEEDS]
    attempt = Attempts(READERS[name], folder)
    lead = atheris_of()

    def one(data: bytes) -> None:
        """A file; atheris ends the process itself where it is told an error."""
        signal.alarm(LONGEST)
        try:
            attempt(data)
        except Harm as harm:
            print(f"{name}: {harm}", flush=True)
            os._exit(1)
        signal.alarm(0)
        if time.process_time() > seconds:
            led = ", led by its coverage" if lead else ""
            print(f"{name}: {attempt.count:,} files, {seconds} s of CPU{led}", flush=True)
            os._exit(0)

    if lead:
        _led(lead, one, seeds, seed, folder)
    draw = random.Random(seed)
    while True:
        one(damaged(draw.choice(seeds), draw, seeds))


def atheris_of() -> Any:
    """The module atheris, which is no dependency; None where it is not installed."""
    return importlib.import_module("atheris") if importlib.util.find_spec("atheris") else None


def _led(atheris: Any, one: Callable[[bytes], None], seeds: list[bytes], seed: int, folder: Path) -> None:
    """Let atheris search: what reaches new code is changed further, by it or by us."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("multilang_cli", "yaml", "tomllib", "zipfile")):
            _instrument(atheris, module)

    def changed(data: bytes, most: int, drawn: int) -> bytes:
        """The file with changes of either kind."""
        draw = random.Random(drawn)
        return bytes(atheris.Mutate(data, most)) if draw.random() < HALF else damaged(data, draw, seeds)[:most]

    corpus = folder / "corpus"
    corpus.mkdir()
    for number, text in enumerate(seeds):
        (corpus / str(number)).write_bytes(text)
    words = [f"-seed={seed}", f"-max_len={LARGEST}", f"-rss_limit_mb={4 * MOST}", "-verbosity=0", str(corpus)]
    atheris.Setup([sys.argv[0], *words], one, custom_mutator=changed)
    atheris.Fuzz()


def _instrument(atheris: Any, module: Any) -> None:
    for where in (module, *(each for each in vars(module).values() if isinstance(each, type))):
        for name, what in list(vars(where).items()):
            if isinstance(what, FunctionType) and what.__module__ == module.__name__:
                setattr(where, name, atheris.instrument_func(what))


def damaged(text: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """A file with a few changes: pieces taken away, doubled, put elsewhere, or taken from others."""
    changed = bytearray(text)
    for _ in range(draw.choice((1, 1, 2, 3, 8))):
        at, end = sorted(draw.randrange(len(changed) + 1) for _ in range(2))
        end = min(end, at + draw.choice((1, 4, 64, LARGEST)))
        piece: bytes | bytearray = changed[at:end]
        match draw.randrange(6):
            case 0:
                piece = b""
            case 1:
                piece = draw.choice(ODD)
            case 2:
                piece = piece * draw.choice((2, 3, 50))
            case 3:
                piece = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 5)))
            case 4:
                other = draw.choice(others)
                start = draw.randrange(len(other) + 1)
                piece = other[start : start + draw.choice((8, 100, 2000))]
            case _:
                piece = changed[:at][-64:]
        changed[at:end] = piece
    return bytes(changed[:LARGEST])


def _too_long(*_: Any) -> None:
    raise Harm(f"it takes more than {LONGEST} s")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, _too_long)
    sys.exit(main())
