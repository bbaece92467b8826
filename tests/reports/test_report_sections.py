"""What stands beside a conversation on a page: threads, latency, tuple trees, words on events."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue.loader import example_profile
from multilang_cli.protocol.words.events import Chunk, Event
from multilang_cli.reports.event_sentences import lasted
from multilang_cli.reports.html.latency import Latency
from multilang_cli.reports.html.showing import bounded, shown
from multilang_cli.reports.html.spread import MOST_POINTS, Point, Spread
from multilang_cli.reports.html.threads import Threads
from multilang_cli.reports.html.tree_steps import KEPT_OF_A_KIND, MOST_TUPLES, TreeSteps
from tests import notation
from tests.pages import ACKED, TWICE, document, recorded, section

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.reports.html.document import Steps

SPOUT = """\
@ 1
> {"command":"next","id":""}
@ 1.25
< {"command":"emit","id":5,"tuple":["a"]}
> [4]
@ 1.5
< {"command":"sync"}
@ 2
> {"command":"ack","id":5}
@ 2.125
< {"command":"sync"}
"""
HEARTBEAT = """\
@ 3
> {"id":"9","comp":null,"stream":"__heartbeat","task":-1,"tuple":[]}
@ 3.5
< {"command":"sync"}
"""


def delivery(id_: str) -> str:
    return f'> {{"id":"{id_}","comp":"sentences","stream":"default","task":2,"tuple":["a"]}}\n'


def columns(text: str) -> tuple[int, list[Any], list[float]]:
    """The events of a text: the number of the first, what was said, and when."""
    events = notation.parse(text)
    return events[0].seq, [event.body for event in events], [event.t for event in events]


def trees(text: str, rules: dict[int, str] | None = None, kind: Kind = "bolt", conf: object = None) -> list[Steps]:
    steps = TreeSteps(example_profile(kind, {"conf": conf or {}}), rules or {})
    steps.take(*columns(text))
    return list(steps.sections("c1", lambda seq: f"c1/{seq}"))


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("bolt", TWICE, ['tuple "7"'] * 5),
        ("bolt", f"{ACKED}{HEARTBEAT}", [*['tuple "7"'] * 4, 'heartbeat "9"', 'heartbeat "9"']),
        ("spout", SPOUT, ["", "message id 5", "message id 5", "", "message id 5", ""]),
        (
            "bolt",
            delivery("1")
            + '< {"command":"emit","anchors":["1"],"tuple":["a",1]}\n> [4]\n< {"command":"log","msg":""}\n',
            [*['tuple "1"'] * 3, ""],
        ),
    ],
)
def test_threads_are_those_of_tuples_message_ids_and_heartbeats(kind: Kind, text: str, expected: list[str]) -> None:
    threads = Threads(kind)
    _, bodies, _ = columns(text)
    assert list(threads.names(bodies, threads.answered(bodies)))[4:] == expected


def test_latency_is_from_the_question_to_its_answer(tmp_path: Path) -> None:
    page = document(recorded(tmp_path / "talk.ndjson", ACKED + HEARTBEAT))
    [ack] = section(page, "c1-settle")["series"]
    assert (ack["name"], ack["x"], ack["y"], ack["to"]) == ("ack", [0.75], [250.0], ["c1/7"])
    [answer] = section(page, "c1-heartbeat")["series"]
    assert answer["y"] == [500.0]
    spout = document(recorded(tmp_path / "spout.ndjson", SPOUT, "spout"))
    series = {each["name"]: each["y"] for each in section(spout, "c1-sync")["series"]}
    assert series == {"after next": [500.0], "after others": [125.0]}
    rows = {row[0]: row[1] for row in section(spout, "c1-latency")["rows"]}
    assert rows == {"next to sync": 1, "ack, fail, activate or deactivate to sync": 1}


def test_a_slow_answer_is_shown_beside_the_limit_of_storm() -> None:
    latency = Latency()
    latency.take(*columns(HEARTBEAT.replace("@ 3.5", "@ 25")))
    [plot] = latency.plots("c1", lambda _: None, 30.0)
    assert [(band.from_, band.to) for band in plot.bands] == [(30_000, 30_000)]


def test_of_many_open_tuples_the_oldest_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multilang_cli.reports.html.latency.MOST_OPEN", 2)
    latency = Latency()
    acks = "".join(f'@ {at}\n< {{"command":"ack","id":"{at}"}}\n' for at in (1, 2, 3))
    latency.take(*columns("".join(map(delivery, "123")) + acks))
    [plot] = latency.plots("c1", lambda _: None, 30.0)
    assert plot.series[0].x == [2, 3]


def test_a_failed_tuple_is_measured_and_played_and_a_heartbeat_is_in_no_tree() -> None:
    text = delivery("1") + '@ 2\n< {"command":"fail","id":"1"}\n' + HEARTBEAT
    latency = Latency()
    latency.take(*columns(text))
    plots = latency.plots("c1", lambda _: None, 30.0)
    assert [(each.name, each.x) for plot in plots for each in plot.series] == [("fail", [2]), ("heartbeat", [3.5])]
    [tree] = trees(text)
    assert tree.title.startswith('Tuple tree "1": failed')


def test_quantiles_are_nearly_right_and_no_peak_is_lost() -> None:
    random = Random(1)  # noqa: S311 (the same each time)
    spread, values = Spread(), [random.lognormvariate(-6, 2) for _ in range(50_001)]
    for number, value in enumerate(values):
        spread.add([Point(number, value, number)])
    values.sort()
    for share in (0.5, 0.99):
        assert spread.quantile(share) == pytest.approx(values[int(share * len(values))], rel=0.03)
    drawn = spread.drawn()
    assert MOST_POINTS <= len(drawn) <= 2 * MOST_POINTS
    assert max(point.y for point in drawn) == spread.most == values[-1]
    assert all(one.x < other.x for one, other in pairwise(drawn))


def test_a_tuple_tree_is_played_with_its_ack_vals() -> None:
    [tree] = trees(ACKED)
    assert tree.title == 'Tuple tree "7": acked after 250 ms'
    assert len(tree.graph.nodes) == 4
    assert [edge.from_ for edge in tree.graph.edges] == ["spout", "t1", "t1"]
    assert tree.steps[-1].ack_val == "0x0"
    assert tree.steps[-1].to == "c1/7"
    before = 0
    for step in tree.steps:
        if " XOR " in step.text:
            before ^= int(step.text.split()[-1], 16)
        assert before == int(step.ack_val or "", 16)
    assert trees(ACKED) == [tree]


def test_trees_with_findings_come_first_then_open_ones() -> None:
    done = "".join(delivery(str(n)) + f'< {{"command":"ack","id":"{n}"}}\n' for n in range(10, 20))
    text = f'{done}{delivery("open")}{delivery("failed")}< {{"command":"fail","id":"failed"}}\n{TWICE}'
    seqs = {event.seq: "ack-twice" for event in notation.parse(text)[-1:]}
    titles = [tree.title.split(": ")[0] for tree in trees(text, {**seqs, min(seqs) - 1: "ack-twice"})]
    assert titles[:3] == ['Tuple tree "7"', 'Tuple tree "open"', 'Tuple tree "failed"']
    assert len(titles) == 3 + KEPT_OF_A_KIND
    wrong = [step for tree in trees(text, {**seqs, min(seqs) - 1: "ack-twice"}) for step in tree.steps if step.tone]
    assert any("Wrong: acked before" in step.text for step in wrong)


def test_the_trees_of_a_spout_end_with_the_ack_that_it_is_sent() -> None:
    [tree] = trees(SPOUT, kind="spout")
    assert tree.title == "Tuple tree 5: acked after 750 ms"
    assert tree.steps[-1].ack_val == "0x0"


def test_without_ackers_there_are_no_trees() -> None:
    assert trees(ACKED, conf={"topology.acker.executors": 0}) == []


def test_a_tree_of_too_many_tuples_is_cut_and_says_so() -> None:
    emit = '< {"command":"emit","anchors":["1"],"tuple":["a",1],"need_task_ids":false}'
    [tree] = trees(f'{delivery("1")}* 500 {emit}\n< {{"command":"ack","id":"1"}}\n')
    assert len(tree.graph.nodes) == MOST_TUPLES + 2
    assert f"{500 - MOST_TUPLES} more tuples are left out" in tree.note
    assert tree.steps[-1].ack_val == "0x0"


@pytest.mark.parametrize(
    ("line", "kind", "head"),
    [
        (delivery("1"), "tuple", "tuple 1 of sentences:default"),
        (HEARTBEAT.splitlines()[1], "heartbeat", "heartbeat 9"),
        ('< {"command":"emit","stream":"s","anchors":["1"],"tuple":[]}', "emit", "emit to s, anchored to 1"),
        ('< {"command":"emit","task":4,"tuple":[]}', "emit", "emit to default, direct to task 4"),
        ('< {"command":"log","msg":"a\\u001b[31m\\nb"}', "log", "log: a\\x1b[31m\\nb"),
        ("<hex 7b0a656e640a", "malformed", "json-truncated: no JSON: the message stops before its closing '}'"),
        ('! {"event":"exited","signal":9}', "exit", "the process was killed by SIGKILL"),
        ("2> 3", "stderr", "..."),
    ],
)
def test_an_event_is_told_in_a_few_words(line: str, kind: str, head: str) -> None:
    told = shown(notation.parse(line)[-1])
    assert told.kind == kind
    assert told.head == head


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.000 ms"),
        (5.2e-5, "0.052 ms"),
        (0.0036, "3.6 ms"),
        (0.25, "250 ms"),
        (0.9994, "999 ms"),
        (61.5, "61.500 s"),
    ],
)
def test_what_is_quick_is_told_apart(seconds: float, words: str) -> None:
    assert lasted(seconds) == words


@pytest.mark.parametrize(
    ("said", "head"),
    [
        (b"Traceback (most recent call last):\n  File \"b.py\", line 3\nKeyError: 'tuple'\n", "KeyError: 'tuple'"),
        (b"\nwarning: 1\nwarning: 2\n", "warning: 1"),
        (b"", ""),
    ],
)
def test_the_telling_line_of_stderr_is_shown(said: bytes, head: str) -> None:
    assert shown(Event(1, 0.1, "err", Chunk(len(said)), said)).head == head


@pytest.mark.parametrize(
    ("host", "worker", "where"), [("n1", "", "on n1"), ("n1", "67", "on n1:67"), ("", "", "task 3")]
)
def test_where_it_ran_is_told_as_far_as_it_is_known(host: str, worker: str, where: str, tmp_path: Path) -> None:
    page = document(recorded(tmp_path / "talk.ndjson", ACKED, host=host, worker=worker))
    assert dict(section(page, "c1-facts")["rows"])["component"].endswith(where)


@pytest.mark.parametrize("raw", [b"\xff" * 9000, "白".encode() * 3000, b"a" * 2049])
def test_a_cut_text_tells_how_many_bytes_are_left_out(raw: bytes) -> None:
    head, _, rest = bounded(raw).partition("...(")
    count, _, tail = rest.partition(" bytes left out)...")
    kept = raw[: len(raw) - int(count)]
    assert head + tail == kept.decode("utf-8", "backslashreplace")
