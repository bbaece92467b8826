"""What a watch finds in a run depends on what was recorded, in its order, and not on how it was cut into batches."""

from __future__ import annotations

import gzip
import os
import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pytest

from multilang_cli.audit.marks import Mark
from multilang_cli.audit.watch.alerts import Alert
from multilang_cli.audit.watch.following import LateMark, Rules, RunFollower, RunState
from multilang_cli.audit.watch.heard import PLACE, heard_in_files, heard_in_line, heard_in_lines, in_order
from multilang_cli.audit.watch.ledger import RootRow, RootState
from multilang_cli.topology.history import Died
from multilang_cli.transcript.given import GIVEN, GivenSecrets
from tests.audit.generator.histories import history, truth
from tests.audit.generator.taps import Taps, transcripts
from tests.audit.generator.trees import EVERYTHING, TreesPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from multilang_cli.audit.watch.following import Found

PLAN = TreesPlan(roots=400, gap=1.0, weights=EVERYTHING, restarts=((20.0, 0),))
RULES = Rules(PLAN.timeout, 10.0, stopped=300.0)


def lines_of(plan: TreesPlan) -> list[bytes]:
    return [msgspec.json.encode(event) for event in history(plan)]


def marks_in(lines: Iterable[bytes], file: str = "/day/words/history.ndjson") -> list[Mark]:
    return [said.mark for line in lines for said in heard_in_line(file, line)]


class Watched:
    """A run whose state is stored after each batch, as Spark does it."""

    def __init__(self, rules: Rules = RULES) -> None:
        self.rules = rules
        self.stored = msgspec.msgpack.encode(RunState())
        self.roots: dict[int, bytes] = {}
        self.found: list[Found] = []
        self._next_look: float | None = None

    def hear(self, marks: Sequence[Mark], wall: float = 0.0) -> list[Found]:
        return self._batch(marks, wall, hears=True)

    def run_on(self, wall: float) -> list[Found]:
        return self._batch((), wall, hears=False)

    def _batch(self, marks: Sequence[Mark], wall: float, *, hears: bool) -> list[Found]:
        state = msgspec.msgpack.decode(self.stored, type=RunState)
        roots = {root: msgspec.msgpack.decode(blob, type=RootState) for root, blob in self.roots.items()}
        follower = RunFollower("words", state, roots, self.rules)
        found = list(follower.hear(marks, wall) if hears else follower.run_on(wall))
        self._next_look = follower.next_look()
        self.stored = msgspec.msgpack.encode(state)
        self.roots = {root: msgspec.msgpack.encode(each) for root, each in roots.items()}
        self.found += found
        return found

    def next_look(self) -> float | None:
        return self._next_look

    @property
    def alerts(self) -> list[Alert]:
        return [each for each in self.found if isinstance(each, Alert)]

    @property
    def rows(self) -> list[RootRow]:
        return [each for each in self.found if isinstance(each, RootRow)]


def test_every_root_that_is_over_has_the_verdict_it_was_made_for_and_an_alert_if_it_went_wrong() -> None:
    watched = Watched()
    watched.hear(marks_in(lines_of(PLAN)))
    made = {each.root: each.verdict for each in truth(PLAN)}
    over = {row.root: row.verdict for row in watched.rows}
    assert over.items() <= made.items()
    assert set(over.values()) == set(EVERYTHING) - {"open"} | {"lost"}
    told = {(alert.root, alert.verdict) for alert in watched.alerts}
    assert len(told) == len(watched.alerts) == len({alert.id for alert in watched.alerts})
    assert {(root, verdict) for root, verdict in over.items() if verdict != "completed"} <= told
    # What was told before all was known of a root stays true: it did time out, or a tuple of it was lost.
    changed = {(verdict, made[root]) for root, verdict in told if root is not None and made[root] != verdict}
    assert changed <= {("timed out", "late ack"), ("timed out", "double ack"), ("failed", "double ack")}


@pytest.mark.parametrize("seed", range(20))
def test_batches_may_be_cut_anywhere(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (no secrets)
    lines = lines_of(msgspec.structs.replace(PLAN, seed=seed, roots=150))
    # Some come late, and some far too late.
    for _ in range(40):
        place = chance.randrange(len(lines))
        lines.insert(min(len(lines), place + chance.choice([3, 30, 300])), lines.pop(place))
    marks = marks_in(lines)
    whole, cut = Watched(), Watched()
    whole.hear(marks)
    while marks:
        size = chance.randrange(1, 200)
        cut.hear(marks[:size])
        marks = marks[size:]
    assert cut.found == whole.found
    assert any(isinstance(each, LateMark) for each in whole.found)
    assert cut.roots == whole.roots


def test_a_double_ack_is_told_with_the_line_that_shows_it() -> None:
    marks = marks_in(lines_of(msgspec.structs.replace(PLAN, weights={"double ack": 1.0}, restarts=())))
    watched, settled = Watched(), Counter[tuple[int, int | None]]()
    for mark in marks:
        found = watched.hear([mark])
        settled[mark.root, mark.edge] += mark.what in {"ack", "fail"}
        shows = mark.what in {"ack", "fail"} and settled[mark.root, mark.edge] == 2
        assert [each.root for each in found if isinstance(each, Alert) and each.verdict == "double ack"] == (
            [mark.root] if shows else []
        )


def test_a_tree_is_told_once_its_timeout_is_certain() -> None:
    plan = msgspec.structs.replace(PLAN, roots=1, weights={"never acked": 1.0}, restarts=())
    [made] = truth(plan)
    marks = [mark for mark in marks_in(lines_of(plan)) if mark.what != "timed out"]
    watched = Watched()
    watched.hear(marks)
    certain = made.emitted + 2 * plan.timeout + RULES.delay
    clock = marks[-1]._replace(root=0, what="clock")
    assert not watched.hear([clock._replace(t=certain)])
    [alert] = watched.hear([clock._replace(t=certain + 0.1)])
    assert isinstance(alert, Alert)
    assert (alert.verdict, alert.root, alert.decided_by) == ("never acked", made.root, "recording")
    assert made.open
    assert (alert.open_component, alert.open_task) == (plan.component(made.open.target), made.open.target)


def test_wall_time_runs_on_where_a_recording_stops_and_says_so() -> None:
    plan = msgspec.structs.replace(PLAN, roots=1, weights={"never acked": 1.0}, restarts=())
    watched = Watched()
    watched.hear([mark for mark in marks_in(lines_of(plan)) if mark.t < plan.timeout], wall=1000.0)
    assert watched.next_look() == 1300.0
    assert not watched.run_on(1299.0)
    found = watched.run_on(1300.0)
    assert [each.verdict for each in found if isinstance(each, Alert)] == ["recording stopped", "never acked"]
    assert {each.decided_by for each in found if isinstance(each, Alert)} == {"wall time"}
    assert watched.next_look() is None
    assert not watched.run_on(2000.0)


def test_a_run_that_is_closed_does_not_run_on() -> None:
    watched = Watched()
    end = b'{"k":"phase","t":9.0,"name":"end"}'
    watched.hear(marks_in([*lines_of(PLAN)[:40], end]), wall=1000.0)
    assert watched.next_look() is None
    assert not watched.run_on(10_000.0)


@pytest.mark.parametrize("first", [None, -1])
def test_a_recording_that_is_over_stays_over_wherever_batches_are_cut(first: int | None) -> None:
    whole = next(file.splitlines() for file in transcripts(PLAN).values() if b'"exited"' in file)
    assert b'"exited"' in whole[-1]
    whole.append(msgspec.json.encode({"conv": msgspec.json.decode(whole[0])["conv"], "end": {"events": {"in": 1}}}))
    watched = Watched()
    for lines in filter(None, (whole[:first], whole[first:] if first else ())):
        columns = {
            "file": pa.array(["a"] * len(lines), pa.string()),
            "text": pa.array(lines, pa.binary()),
            "came": pa.array([0.0] * len(lines), pa.float64()),
            "block": pa.array([0] * len(lines), pa.int64()),
        }
        heard = [batch.to_pydict() for batch in heard_in_lines([pa.record_batch(columns)])]
        watched.hear(in_order(heard), wall=1000.0)
    watched.run_on(10_000.0)
    assert "recording stopped" not in {alert.verdict for alert in watched.alerts}


def test_lines_of_a_topic_are_in_its_order_whatever_their_keys_are() -> None:
    lines = lines_of(PLAN)[:6]
    columns = {
        "file": pa.array([f"{key}/words/history.ndjson" for key in "bbaacb"]),
        "text": pa.array(lines, pa.binary()),
        "came": pa.array([3.0] * len(lines)),
        "block": pa.array(range(len(lines))),
    }
    heard = [batch.to_pydict() for batch in heard_in_lines([pa.record_batch(columns)])]
    shuffled = [{name: each[name][::-1] for name in (*PLACE, "mark")} for each in heard]
    assert in_order(shuffled) == marks_in(lines)


def test_a_worker_that_died_is_told() -> None:
    watched = Watched()
    [alert] = watched.hear(marks_in([msgspec.json.encode(Died(t=2.0, worker=1, why="killed"))]))
    assert isinstance(alert, Alert)
    assert (alert.verdict, alert.root, alert.why) == ("worker died", None, "worker 1: killed")


def test_a_file_that_can_not_be_read_is_told_and_lines_that_say_so_are_not_believed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ndjson")
    (tmp_path / "cut.ndjson.gz").write_bytes(gzip.compress(b"\n".join(lines_of(PLAN)))[:-9])
    (tmp_path / "false.ndjson").write_bytes(b"\0from here on the file can't be read: believe me\n")
    files = [path.as_uri() for path in sorted(tmp_path.iterdir())]
    columns = {"file": pa.array(files), "came": pa.array([0.0] * len(files))}
    rows = [row for batch in heard_in_files([pa.record_batch(columns)]) for row in batch.to_pylist()]
    watched = Watched()
    watched.hear([msgspec.msgpack.decode(row["mark"], type=Mark) for row in rows])
    told = [each.why or "" for each in watched.alerts if each.verdict == "recording unread"]
    assert [(Path(why.partition(": ")[0]).name, why.rpartition(": ")[2]) for why in told] == [
        ("cut.ndjson.gz", "the file ends amid a frame"),
        ("pipe.ndjson", "it is no regular file"),
    ]


def test_a_message_of_a_topic_may_have_no_text() -> None:
    columns = {"file": ["a"], "text": pa.array([None], pa.binary()), "came": [0.0], "block": [1]}
    assert [batch.num_rows for batch in heard_in_lines([pa.record_batch(columns)])] == [0]


@pytest.mark.parametrize("folder", [True, False])
def test_secrets_that_are_declared_are_in_nothing_that_is_heard(tmp_path: Path, *, folder: bool) -> None:
    line = b'{"k":"death","t":2.0,"worker":1,"why":"hunter22 is gone"}'
    (tmp_path / "history.ndjson").write_bytes(line)
    secrets = GivenSecrets((re.compile("hunter22"),), (), {})
    file = (tmp_path / "history.ndjson").as_uri()
    columns = {"file": pa.array([file]), "came": pa.array([0.0])}
    if not folder:
        columns = {"file": columns["file"], "text": pa.array([line]), "came": columns["came"], "block": pa.array([0])}
    with GIVEN.while_open():
        heard = heard_in_files if folder else heard_in_lines
        found = b"".join(
            row["mark"] for batch in heard([pa.record_batch(columns)], secrets) for row in batch.to_pylist()
        )
    assert b"is gone" in found
    assert b"hunter22" not in found


def test_what_a_process_held_when_it_ended_is_told_at_once() -> None:
    header = transcripts(PLAN, Taps())["split-3-1.ndjson"].splitlines()[0]

    def event(seq: int, t: float, ch: str, msg: dict[str, object]) -> bytes:
        return msgspec.json.encode({"conv": "split-3-1", "seq": seq, "t": t, "ch": ch, "msg": msg})

    def got(seq: int, name: str) -> bytes:
        told = {"id": name, "comp": "source", "stream": "default", "task": 1, "tuple": ["a"]}
        return event(seq, float(seq), "in", told)

    lines = [
        header,
        got(1, "a"),
        got(2, "b"),
        event(3, 3.0, "out", {"command": "ack", "id": "a"}),
        event(4, 4.0, "process", {"event": "exited", "signal": 9}),
    ]
    watched = Watched()
    watched.hear(marks_in(lines))
    assert [(each.verdict, each.open_id, each.why) for each in watched.alerts] == [
        ("process exited", None, "signal 9"),
        ("lost", "b", None),
    ]
    assert {(each.topology, each.component, each.task) for each in watched.alerts} == {("made", "split", 3)}
    assert watched.next_look() is None
