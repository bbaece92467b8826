"""The two sides of the differential: real Storm, asked by the oracle, and our own host with the judge."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.catalogue.oracle import Call, Case, Verdict, shown
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.driver.session import POLL_INTERVAL, QUIET_AFTER
from multilang_cli.driver.shell.spout import ShellSpout
from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.storm.collector import Collector
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.messages import Log, Malformed
from multilang_cli.protocol.words.verdicts import FATAL, Finding
from tests.differential.scripts import MARK, OVER
from tests.sessions import with_player

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.driver.shell.either import Shell
    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.verdicts import StormVersion

ORACLE = Path(__file__).parents[2] / "oracle" / "run.py"
PID_SECONDS = 2.0


class OracleError(Exception):
    """The oracle gave no answer; the text says why."""


def ask_storm(cases: list[Case], version: str, *, oracle: Path = ORACLE, jobs: int = 1) -> dict[str, Verdict]:
    """What real Storm does with `cases`, by name. Raises OracleError."""
    with TemporaryDirectory() as folder:
        asked, answers = Path(folder) / "cases.json", Path(folder) / "verdicts.json"
        asked.write_text(json.dumps(cases), encoding="utf-8")
        command = [sys.executable, str(oracle), "--storm", version, "--cases", str(asked), "--out", str(answers)]
        done = subprocess.run([*command, "--jobs", str(jobs)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OracleError(done.stderr.strip())
        verdicts: dict[str, dict[str, Verdict]] = json.loads(answers.read_text(encoding="utf-8"))
    return {name: by_version[version] for name, by_version in verdicts.items()}


class Told(msgspec.Struct):
    """What we say of one script: the collector's calls, and in order what was found and the markers that came.

    `crash`: the traceback, if our code failed.
    """

    calls: list[Call]
    found: list[Finding | str]
    crash: str = ""


class _Follower:
    """Feeds the collector, and notes what is found and which markers come."""

    def __init__(self, collector: Collector, version: StormVersion) -> None:
        self.collector = collector
        self.found: list[Finding | str] = []
        self._version = version

    def take(self, events: Sequence[Event], findings: Sequence[Finding], /) -> None:
        """Take the next events, with what was found in them."""
        for event in events:
            mine = [finding for finding in findings if finding.seq == event.seq]
            self.found += mine
            self.collector.feed(event, mine)
            mark = self._mark_in(event)
            if mark:
                self.found.append(mark)

    def _mark_in(self, event: Event) -> str:
        body: Any = event.body
        if isinstance(body, Malformed) and body.by_dialect:
            body = body.by_dialect[self._version.dialect].effective
        return marker_of({"t": "log", "msg": body.msg}) if event.channel == "out" and isinstance(body, Log) else ""

    @property
    def done(self) -> bool:
        """True if nothing more is to be seen: the last marker came, or something fatal."""
        told = self.collector.told
        return self.collector.fate in FATAL or (bool(told) and marker_of(told[-1]) == OVER)


def marker_of(call: Call) -> str:
    """The marker that a call of the collector is, or ""."""
    text = call.get("msg")
    is_marker = call["t"] == "log" and isinstance(text, str) and (text == OVER or text.startswith(MARK))
    return text if is_marker and isinstance(text, str) else ""


def ask_ourselves(cases: list[Case], version: str, *, jobs: int = 1) -> dict[str, Told]:
    """What mlcheck says of `cases`, by name: each is played to our host."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        told = pool.map(lambda case: _play_safely(case, Path(folder), version), cases)
        return dict(zip([case["case"] for case in cases], told, strict=True))


def _play_safely(case: Case, folder: Path, version: str) -> Told:
    try:
        return _play(case, folder, version)
    except Exception:  # noqa: BLE001 - whatever it is, it is a find
        return Told([], [], traceback.format_exc())


def _play(case: Case, folder: Path, version_id: str) -> Told:
    file = folder / f"{case['case']}.json"
    file.write_text(json.dumps(case), encoding="utf-8")
    version = load_rulebook().version(version_id)
    limits = {"pid": PID_SECONDS, "grace": 1.0, "pid-file": 0.0}
    profile = msgspec.structs.replace(
        example_profile(case["kind"]), storm=version.id, conf={"storm.cluster.mode": "distributed"}, limits=limits
    )
    follower = _Follower(Collector(version, profile), version)
    judge = Conversation(profile, load_rulebook())
    shell = with_player(judge, follower, (str(file),), folder)
    with shell.session as session:
        conf = context.realistic_conf(base_conf(version.id), profile, {})
        handshake = context.handshake(profile, version, conf, str(session.process.pid_dir))
        if session.handshake(handshake, PID_SECONDS) and not follower.done:
            _converse(shell, case, follower)
        found = list(follower.found)
    return Told([shown(call, version.dialect) for call in follower.collector.told], found)


def _converse(shell: Shell, case: Case, follower: _Follower) -> None:
    session, limit = shell.session, case["limit_ms"] / 1000
    if isinstance(shell, ShellSpout):
        for command in case["calls"]:
            if not shell.call(command, "", limit) or follower.done:
                return
        return
    for given in case["tuples"]:
        for _ in range(given.get("times", 1)):
            shell.send(given["values"], given.get("comp", "src"), given.get("stream", "default"), given.get("task", 2))
    until = session.now + limit
    while session.running and session.now < until:
        session.pump.move(POLL_INTERVAL)
        if follower.done or session.wait_quiet(POLL_INTERVAL, QUIET_AFTER):
            break
