"""What the user declares secret, with ``--redact`` and ``[redact]``: it stands in nothing that is shown or written."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING

import pytest

from multilang_cli.cli.commands import COMMANDS, REDACTING
from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.events import Event
from multilang_cli.transcript.given import BY_PATTERN, GIVEN
from multilang_cli.transcript.redact import Redactor
from tests.command import mlcheck

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOLT = """\
import json, os, sys
def read():
    text = ""
    for line in sys.stdin:
        if line == "end\\n":
            return json.loads(text)
        text += line
    sys.exit()
def send(message):
    print(json.dumps(message) + "\\nend", flush=True)
told = read()
open(os.path.join(told["pidDir"], str(os.getpid())), "w").close()
send({"pid": os.getpid()})
print("customer=Quick-4711", file=sys.stderr, flush=True)
while True:
    got = read()
    if got["stream"] == "__heartbeat":
        send({"command": "sync"})
        continue
    send({"command": "log", "msg": "met customer=Quick-4711 and " + told["conf"].get("my.pin", "nobody")})
    values = ["customer=Quick-4711", 4711471147]
    send({"command": "emit", "tuple": values, "anchors": [got["id"]], "need_task_ids": False})
    send({"command": "ack", "id": got["id"]})
"""
SECRETS = ("Quick-4711", "4711471147", "zebra-crossing")
PATTERNS = ("--redact", 'customer=(\\S+?)(?=["\\s\\\\]|$)', "--redact", "4711471147")
FORMATS = ("json", "junit", "github", "markdown", "sarif", "html")
RUN = ("run", "--kind", "bolt", "-k", "bolt.settle.once", "--record-all", "-v")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bolt.py").write_text(BOLT)
    return tmp_path


@pytest.fixture
def declared() -> Iterator[None]:
    with GIVEN.while_open():
        yield


def holding(folder: Path) -> set[str]:
    """The files, other than those that were written by hand, that hold a secret."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in {"bolt.py", "mlcheck.toml"}]
    return {path.name for path in files if any(secret.encode() in path.read_bytes() for secret in SECRETS)}


@pytest.mark.component
@pytest.mark.parametrize("by", ["flags", "file"])
def test_nothing_that_a_run_writes_holds_what_was_declared(project: Path, by: str) -> None:
    reports = [word for each in FORMATS for word in ("--report", f"{each}=r.{each}")]
    words = (*RUN, "--conf", "my.pin=zebra-crossing", *reports)
    names = "names = ['^my[.]PIN$']\n"
    if by == "file":
        patterns = ", ".join(f"'''{pattern}'''" for pattern in PATTERNS[1::2])
        (project / "mlcheck.toml").write_text(f"[redact]\npatterns = [{patterns}]\n{names}")
        ran = mlcheck(*words, "bolt.py", cwd=project)
    else:
        ran = mlcheck(*words, *PATTERNS, "--redact", "zebra-\\w+", "bolt.py", cwd=project)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not [secret for secret in SECRETS if secret in ran.stdout + ran.stderr]
    assert holding(project) == set()
    recorded = (project / ".mlcheck" / "last" / "bolt.settle.once.ndjson").read_text()
    assert '"tuple":["customer=***","***"]' in recorded


@pytest.mark.component
def test_what_was_recorded_before_is_hidden_on_the_way_out_or_not_packed(project: Path) -> None:
    assert mlcheck(*RUN, "bolt.py", cwd=project).returncode == 0
    (recording,) = map(str, (project / ".mlcheck" / "last").glob("*.ndjson"))
    for words in (("lint", recording, "--report", "json=-"), ("report", recording, "-o", "-")):
        ran = mlcheck(*words, *PATTERNS, cwd=project)
        assert (ran.returncode, [secret for secret in SECRETS if secret in ran.stdout + ran.stderr]) == (0, [])
    ran = mlcheck("report", recording, "--bundle", "b.zip", *PATTERNS, cwd=project)
    assert (ran.returncode, (project / "b.zip").exists()) == (2, False)
    assert "it holds what --redact or [redact] hides" in ran.stderr
    assert mlcheck("report", recording, "--bundle", "b.zip", "--redact", "nothing", cwd=project).returncode == 0
    assert zipfile.is_zipfile(project / "b.zip")


@pytest.mark.component
@pytest.mark.parametrize(
    ("words", "file", "why"),
    [
        (("--redact", "("), "", r"lint: --redact '\(' is no regular expression: missing \)"),
        (("--redact", "x*"), "", r"it matches where nothing is, so it would hide everything"),
        ((), '[redact]\npatterns = ["("]\n', r"mlcheck\.toml: redact\.patterns '\(' is no regular expression"),
        ((), "[redact]\nnames = 1\n", r"mlcheck\.toml:2: redact\.names: 1 is not of type 'array'"),
        ((), "[redact]\nvalues = []\n", r"there is no such key"),
    ],
    ids=range(5),
)
def test_what_cant_be_heeded_is_refused(words: tuple[str, ...], file: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(file)
    ran = mlcheck("lint", *words, "x.ndjson", cwd=tmp_path)
    assert ran.returncode == 2
    assert re.search(why, ran.stderr), ran.stderr


@pytest.mark.component
def test_the_stand_in_for_a_component_hides_it_too(tmp_path: Path) -> None:
    ran = mlcheck("tap", "--redact", "a b", "--write-wrapper", "w", "--", "cat", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "'--redact', 'a b'" in (tmp_path / "w").read_text()


def test_every_command_that_hides_says_so() -> None:
    assert set(COMMANDS) > REDACTING


@pytest.mark.usefixtures("declared")
def test_a_number_is_hidden_only_as_a_whole() -> None:
    GIVEN.add(patterns=["4711"])
    raw = b'{"command":"emit","tuple":[4711,47110,"x4711y"],"anchors":["4711"]}\nend\n'
    event, keys = Redactor({}).event(Event(0, 0.0, "out", read_frame(Framer().feed(raw)[0]), raw, 0))
    assert keys == (BY_PATTERN,)
    assert b'["***",47110,"x***y"]' in event.raw.replace(b" ", b"")
    assert b'["4711"]' in event.raw
