"""A bolt that waits for task ids is answered ahead of all else: that changes nothing but the speed."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from multilang_cli.driver.shell.asking import hear_asked
from multilang_cli.protocol.words.messages import TICK_FREQUENCY
from multilang_cli.topology.engine import engine
from multilang_cli.topology.history import Delivered, Died, Emitted, Lost, TupleSettled
from multilang_cli.topology.model import Grouping, OutputStream, Subscription, Topology
from multilang_cli.topology.tasks import MAX_SPOUT_PENDING
from tests.topologies.runs import ACKERS, WORKERS, component, run
from tests.topologies.speaker import ASKING, DIRECTLY, FATAL, FREELY, SMALL, TIMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from multilang_cli.driver.pump import Pump
    from tests.topologies.runs import Ran

pytestmark = pytest.mark.component

STREAMS = {"default": ("word",), "nobody": ("word",), "pair": ("a", "b")}
GROUPINGS = {"default": Grouping("FIELDS", ("word",)), "pair": Grouping("ALL"), "direct": Grouping("DIRECT")}
SECRET = "of-this-test"  # noqa: S105 (none)
FRAME = len('{"comp":"sentences","tuple":[""],"task":2,"stream":"default","id":"-1234567890123456789"}\nend\n')
FULL = SMALL - FRAME - 1
"""Characters of a tuple that fills a pipe, but for less than a list of task ids."""
LARGE = "usual" + " " * 100_000
"""More than a pipe takes."""
NEVER = 1000.0
REPORTED = 4
"""Ways that the newest Storm survives, though they are wrong: numbers and a value too many."""

_LINE = re.compile(r'.*?"t":[\d.]+,"ch":"(\w+)",(?:"off":\d+,)?(.*)')
_RAW = re.compile(r'"raw64":"(.*)"}$')
_TICK = re.compile(r'"__tick","id":"(-?\d+)"')
_BY_THE_CLOCK = re.compile(
    r'__heartbeat|"write-failed"|__tick|"msg":{"command": ?"(sync|next)"}|"command":"next"|"pidDir"'
)
_NOT_ALIKE = re.compile(r',"unread":\d+|z{1000,}')
"""What a heartbeat adds to, and what is cut at a limit."""
_DRAWN = re.compile(r'-?\d{15,}|(?<="seq_redacted":)\d+|(?<="pid":) ?\d+')


def speaking(speakers: Sequence[Sequence[str]], tuples: list[str], **conf: Any) -> Topology:
    """The topology with a bolt for each of these lists of ways to speak, each of which is given all `tuples`."""
    parts = [
        component("sentences", "spout", "queue_spout.py", default=("sentence",)),
        component("sink", "bolt", "speaker.py", 2),
    ]
    subscriptions = []
    for ways in speakers:
        name = "way-" + re.sub(r"\W+", "-", ways[0])
        bolt = component(name, "bolt", "speaker.py", 1, **STREAMS)
        streams = {**bolt.streams, "direct": OutputStream(("word",), direct=True)}
        parts.append(msgspec.structs.replace(bolt, command=(*bolt.command, *ways), streams=streams))
        subscriptions.append(Subscription(source="sentences", target=name, grouping=Grouping("ALL")))
        for stream, grouping in GROUPINGS.items():
            subscriptions.append(Subscription(source=name, target="sink", stream=stream, grouping=grouping))
    return Topology(
        name="ways",
        components={each.id: each for each in parts},
        subscriptions=tuple(subscriptions),
        conf={"sentences": tuples, ACKERS: 1, "my.password": SECRET, **conf},
    )


def told(ran: Ran) -> dict[str, Any]:
    """What a run left, but for times, numbers that are drawn, and the order between channels and between tasks."""
    found: dict[str, Any] = {}
    for path in (ran.folder / "transcripts").iterdir():
        for name, lines in recorded(path, in_order=path.stem.startswith("way")).items():
            found[f"{path.stem} {name}"] = lines
    for each in ran.result.subjects:
        found[each.id] = sorted((f.rule, f.level, _DRAWN.sub("#", f.message)) for f in each.findings)
    return found | history(ran)


def recorded(path: Path, *, in_order: bool) -> dict[str, Any]:
    """What a recording holds, by channel, task ids by themselves; `in_order`, with numbers for what was drawn."""
    text = path.read_text("utf-8", "surrogatepass")
    assert SECRET not in text
    ticks = set(_TICK.findall(text))
    channels = defaultdict[str, list[str]](list)
    for match in filter(None, map(_LINE.match, text.split("\n"))):
        name, what = match.groups()
        if not _BY_THE_CLOCK.search(what) and ticks.isdisjoint(_DRAWN.findall(what)):
            what = _RAW.sub(lambda m: b64decode(m[1]).decode("utf-8", "backslashreplace"), what)
            channels[name + " ids" * what.startswith('"msg":[')].append(_NOT_ALIKE.sub("", what))
    if "err" in channels:
        channels["err"] = ["".join(channels["err"])]
    numbers: dict[str, str] = {}
    number = lambda m: numbers.setdefault(m[0], f"#{len(numbers)}")  # noqa: E731 (of a match)
    if in_order:
        return {name: [_DRAWN.sub(number, each) for each in lines] for name, lines in sorted(channels.items())}
    return {name: Counter(_DRAWN.sub("#", each) for each in lines) for name, lines in channels.items()}


def history(ran: Ran) -> dict[str, Any]:
    """What became of tuples: for each task what it emitted and settled, and what was lost with it."""
    emits = {each.n: each for each in ran.of(Emitted)}
    deliveries = {each.n: each for each in ran.of(Delivered)}
    got = {n: emits[each.emit].values for n, each in deliveries.items()}
    targets = defaultdict[int, list[int]](list)
    for each in deliveries.values():
        targets[each.emit].append(each.task)
    found = defaultdict[str, list[Any]](list)
    for emit in emits.values():
        anchors = [got[n] for n in emit.anchors]
        found[f"emits of {emit.task}"].append((emit.values, emit.stream, emit.direct, anchors, targets[emit.n]))
    for settled in ran.of(TupleSettled):
        found[f"settled by {deliveries[settled.delivery].task}"].append((settled.how, got[settled.delivery]))
    for task in ran.setup.layout.tasks_of("sink"):
        found[f"settled by {task}"].sort()
    return {
        **found,
        "lost": Counter(deliveries[each.delivery].task for each in ran.of(Lost)),
        "deaths": sorted(_DRAWN.sub("#", each.why) for each in ran.of(Died)),
        "ends": Counter(how for _, how in ran.ends()),
        "verdict": ran.result.verdict,
        # What else is under way hides an ack that came too early.
        "held": {rule: held for rule, held in ran.held().items() if rule != "acked-last"},
    }


def check_alike(
    topology: Topology, folder: Path, monkeypatch: pytest.MonkeyPatch, **how: Any
) -> tuple[Ran, Counter[str]]:
    """Check that it is all one whether such bolts are answered ahead; the run where they are, and how often it was."""
    answered = Counter[str]()

    def heard(pump: Pump, bolt: Any) -> bool:
        done = hear_asked(pump, bolt)
        answered[pump.judge.profile.component] += done
        return done

    runs = []
    for name, hear in (("usual", lambda *_: False), ("ahead", heard)):
        monkeypatch.setattr("multilang_cli.topology.engine.sides.hear_asked", hear)
        runs.append(run(topology, folder / name, **how))
    usual, ahead = map(told, runs)
    assert usual.keys() == ahead.keys()
    for name, each in usual.items():
        assert ahead[name] == each, name
    return runs[1], answered


@pytest.mark.parametrize(("storm", "direct"), [("0.10.2", list(DIRECTLY)), ("2.8.3", [])])
def test_whatever_a_bolt_says(tmp_path: Path, storm: str, direct: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ways = list(ASKING)
    asking = [ways[at::3] for at in range(3)]
    tuples = ["usual"] * 2 + ["way"] * TIMES + [LARGE] + ["way"] * TIMES * (len(asking[0]) - 1)
    topology = speaking([*asking, *([each] for each in [*FREELY, *direct])], tuples, **{TICK_FREQUENCY: 1})
    ran, answered = check_alike(topology, tmp_path, monkeypatch, storm=storm)
    assert ran.result.verdict == "conformant"
    assert Counter(how for _, how in ran.ends()) == {"acked": len(tuples)}
    assert min(answered[f"way-{each[0].replace(' ', '-')}"] for each in asking) > len(tuples)


def test_what_storm_does_not_survive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in a worker of its own, which is not started again."""
    monkeypatch.setattr(engine, "RESTART_AFTER", NEVER)
    monkeypatch.setattr(engine, "RESTART_AT_MOST", NEVER)
    tuples = ["usual", "usual", "way"]
    topology = speaking([[each] for each in FATAL], tuples, ids=False, **{WORKERS: len(FATAL) + 4})
    how = {"messages": len(tuples), "drain": 60.0, "limits": {"frame": 50_000, "grace": 0.3}}
    ran, answered = check_alike(topology, tmp_path, monkeypatch, **how)
    assert len(ran.of(Died)) == len(FATAL) - REPORTED
    assert min(answered.values()) > 1


@pytest.mark.parametrize(
    ("way", "tuples", "conf"),
    [
        ("fails", ["usual", "usual", *["way"] * TIMES], {}),
        ("until full", ["usual", "usual", "way", "usual".ljust(FULL), "usual"], {MAX_SPOUT_PENDING: 1}),
    ],
)
def test_a_bolt_fails_or_does_not_read(
    tmp_path: Path, way: str, tuples: list[str], conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, answered = check_alike(speaking([[way]], tuples, **conf), tmp_path, monkeypatch)
    assert ran.result.verdict == "conformant"
    assert answered["way-" + way.replace(" ", "-")] > len(tuples)


def test_nobody_waits_for_a_bolt_that_asks_without_rest(tmp_path: Path) -> None:
    """It asks until it is given what the spout emits only when it was told of the tuple before."""
    tuples = ["usual", *["way"] * TIMES, "usual"]
    ran = run(speaking([["until told"], ["asks"]], tuples, **{MAX_SPOUT_PENDING: 1}), tmp_path, seconds=60.0)
    assert ran.ends() == [(number, "acked") for number in range(1, len(tuples) + 1)]
