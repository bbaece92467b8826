"""The threat model names tests that are there; the soak that it speaks of sees what goes wrong, and finds nothing."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import command_kills, hostile, readers
from multilang_cli.audit.session import LOCAL
from multilang_cli.audit.store.manifest import Manifest, StoredPiece, publish
from multilang_cli.kafka.local import broker
from multilang_cli.topology.queue.server import QueueServer
from tests.command import ROOT
from tests.pages import TWICE, recorded

PAGE = ROOT / "docs" / "threat-model.md"
NAMED = sorted(set(re.findall(r"`(tests/(?:\w+/)?test_\w+\.py)(?:::(\w+))?`", PAGE.read_text(encoding="utf-8"))))


def test_it_names_tests_and_is_found() -> None:
    assert len(NAMED) > 15
    assert "(docs/threat-model.md)" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("file", "test"), NAMED, ids=["::".join(each) for each in NAMED])
def test_each_test_that_is_named_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8") if test else (ROOT / file).is_file()


NETWORK = re.compile(r"^\s*(?:import|from) (socket\w*|ssl|http|urllib\.request|confluent_kafka|kazoo)\b", re.MULTILINE)
LISTENS = re.compile(r"\.bind\(.*|create_server\(.*|\w+\.\w*(?:TCP|UDP|HTTP|Unix)\w*Server\b")


def found_in_sources(pattern: re.Pattern[str]) -> dict[str, list[str]]:
    """What a pattern finds in modules of ours, by their paths."""
    room = ROOT / "multilang_cli"
    sources = {str(path.relative_to(room)): path.read_text(encoding="utf-8") for path in room.rglob("*.py")}
    return {name: found for name, text in sources.items() if (found := pattern.findall(text))}


def test_only_what_is_told_an_address_can_reach_the_network() -> None:
    elsewhere = {name for name in found_in_sources(NETWORK) if not name.startswith("kafka/")}
    assert elsewhere == {"audit/watch/sinks.py", "tap/topic.py", "topology/queue/server.py", "topology/queue/spout.py"}


def test_what_listens_does_so_in_a_folder_of_its_owner_or_on_loopback() -> None:
    assert found_in_sources(LISTENS) == {
        "topology/queue/server.py": ["socketserver.ThreadingUnixStreamServer"],
        "kafka/local/broker.py": ['.bind(("127.0.0.1", 0))'],
    }
    with QueueServer() as server:
        assert oct(Path(server.address).parent.stat().st_mode)[-3:] == "700"
    assert set(re.findall(r"PLAINTEXT://(.*?):", Path(broker.__file__).read_text(encoding="utf-8"))) == {"127.0.0.1"}
    assert {LOCAL["spark.driver.host"], LOCAL["spark.driver.bindAddress"], LOCAL["spark.ui.enabled"]} == {
        "127.0.0.1",
        "false",
    }


@pytest.mark.long
def test_hostile_files_do_no_harm() -> None:
    readers = {name: hostile.READERS[name] for name in ("mlcheck.toml", "flux")}
    some = {name: reader._replace(texts=dict(list(reader.texts.items())[:2])) for name, reader in readers.items()}
    assert hostile.files(some) == {}


@pytest.mark.parametrize("name", readers.READERS)
def test_a_reader_reads_its_seeds_and_what_is_damaged_or_refuses_it(name: str, tmp_path: Path) -> None:
    attempt, draw = readers.Attempts(readers.READERS[name], tmp_path), random.Random(name)  # noqa: S311
    seeds = list(readers.READERS[name].seeds())[:3]
    assert seeds
    for text in (*seeds, *(readers.damaged(draw.choice(seeds)[:2000], draw, seeds) for _ in range(10))):
        attempt(text)


def test_a_reader_that_neither_reads_nor_refuses_is_seen(tmp_path: Path) -> None:
    reader = readers.READERS["plan"]._replace(refusals=())
    with pytest.raises(readers.Harm, match="FaultError"):
        readers.Attempts(reader, tmp_path)(b"no JSON")
    assert (tmp_path / "last").read_bytes() == b"no JSON"


@pytest.mark.component
def test_hostile_combinations_do_no_harm() -> None:
    assert hostile.combinations(2, seed=4) == {}


@pytest.mark.component
def test_what_goes_wrong_is_seen(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, env={hostile.MARK: "planted"}
    )
    try:
        assert hostile.orphans("planted")
        assert not hostile.orphans("another")
    finally:
        child.communicate()
    reader = hostile.FileReader("f", {"x": "x"}, ("no-such-command",))
    assert hostile.files({"one": reader}) == {}
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(5)\n")
    hostile_env = hostile.played(("--version",), tmp_path, {"PYTHONPATH": str(tmp_path)}, None, 0.0)
    assert hostile_env == {"fault": 1, "exit code": 1}


@pytest.mark.component
def test_kills_do_no_harm(tmp_path: Path) -> None:
    command_kills.prepare(tmp_path / "given")
    for name in ("tap, all", "report --bundle"):
        assert command_kills.kill(name, command_kills.Kills(2, 4, 2, tmp_path)) == {}


LEAVES = """
import os, subprocess, sys
from pathlib import Path
subprocess.Popen(["sleep", "60"])
Path(os.environ["TMPDIR"], "mlcheck-x").touch()
Path(".o.zip.tmp").touch()
Path("o.json").write_text("{")
Path("recorded").mkdir()
Path("recorded", "a.ndjson").write_text("no header\\n{")
print("Traceback (most recent call last)\\n multilang_cli", file=sys.stderr, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.component
def test_what_a_kill_leaves_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command_kills, "GONE", 0.1)
    monkeypatch.setitem(command_kills.COMMANDS, "leaves", command_kills.Command(("-c", LEAVES), python=True))
    (tmp_path / "given").mkdir()
    found = command_kills.killed("leaves", "mlcheck", 60.0, command_kills.Whole(60.0, b"", {}), tmp_path)
    everything = {"processes", "temporary files", "traceback", "torn", "not whole", "files beside", "exit code"}
    assert (found.met, set(found.wrong), found.recordings) == (False, everything, 1)
    [kept] = (tmp_path / "killed-found").iterdir()
    assert (kept / "o.json").read_text() == "{"


@pytest.mark.component
@pytest.mark.parametrize(
    ("files", "rows", "wrong"),
    [
        (["1.parquet"], 2, set()),
        (["1.parquet"], 3, {"other tables when it is run again"}),
        ([], 2, {"tables that can't be read"}),
    ],
)
def test_what_a_kill_makes_of_tables_is_seen(
    files: list[str], rows: int, wrong: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = command_kills.Command(("-c", "pass"), python=True, tables="audited")
    monkeypatch.setitem(command_kills.COMMANDS, "audits", command)
    piece = tmp_path / "given" / "audited" / "roots" / "1"
    piece.mkdir(parents=True)
    pq.write_table(pa.table({"run": ["a", "b", "b"]}), piece / "1.parquet")
    table = (StoredPiece("roots/1", "run", ("a",)),)
    publish(None, str(tmp_path / "given" / "audited"), Manifest(number=1, tables={"roots": table}))  # type: ignore[arg-type]
    for file in {path.name for path in piece.iterdir()}.difference(files):
        (piece / file).unlink()
    found = command_kills.killed("audits", "mlcheck", 60.0, command_kills.Whole(60.0, b"", {"roots": rows}), tmp_path)
    assert set(found.wrong) == wrong


def test_a_recording_is_torn_where_any_line_but_the_last_is(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "a.ndjson", TWICE).read_bytes()
    lines = whole.splitlines(keepends=True)
    for at, text in {"cut": whole[:-9], "whole": whole, "begun": b'{"tran', "empty": b""}.items():
        (tmp_path / at).write_bytes(text)
        assert not command_kills.torn(tmp_path / at), at
    for at, text in {
        "half": lines[0] + lines[1][:-9] + b"\n" + lines[2],
        "less": lines[0] + b"".join(lines[2:]),
    }.items():
        (tmp_path / at).write_bytes(text)
        assert command_kills.torn(tmp_path / at), at


def test_a_file_is_whole_or_in_pieces(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as bundle:
        bundle.writestr("a", "a")
    whole = (tmp_path / "whole.zip").read_bytes()
    texts = {"o.zip": whole, "o.json": b"{}", "o.html": b"<p></html>\n", "o.yaml": b"id: x\n"}
    for name, text in texts.items():
        for part, is_so in ((text, False), (text[:-1], True)):
            (tmp_path / name).write_bytes(part)
            assert command_kills.in_pieces(tmp_path / name) == is_so, name
