"""Grammar of what Storm may say, as hypothesis strategies: steps of cases, in every order that Storm knows.

Nothing is generated that nobody promised: tuples are the samples, or of the shapes that the component accepts; task ids
that are kept back are sent before anything is waited for; a spout is asked for tuples only while it is active.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from multilang_cli.protocol.wire.context import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hypothesis.strategies import SearchStrategy

ScenarioStep = tuple[str, dict[str, Any]]
ScenarioSteps = tuple[ScenarioStep, ...]
StepBlocks = tuple[ScenarioSteps, ...]
"""Blocks of steps: each can be left out, but for the last, which leaves nothing pending."""

MOST_TUPLES = 30
"""Tuples that follow each other without a word in between."""
MOST_CALLS = 8
MOST_BLOCKS = 5
"""Blocks of a conversation."""
LONG_SCENARIO = 10
"""Conversations of each of the `PARTS` of a long scenario, at most."""
PARTS = 4
CUT_WITHIN = 120
"""Bytes of a message after which it may be cut."""
OVERFULL = 70_000
"""Characters of a text that no pipe takes whole."""
WORDS = ("plain words", 'a "b" \\ \t', "snöwhite é 雪", "\U0001f478\U0001f3fd", "a\u2028b\x85c", "x\nend\ny", "")


class GrammarOptions(NamedTuple):
    """Facts about the component. `samples`: tuples that its user gave, none if there are none.

    `standard`: the tuples that are fed where there are no samples. `accepts`: what it promises to take besides.
    `heartbeats`: its Storm sends them.
    """

    kind: str
    samples: tuple[Sample, ...]
    standard: tuple[Sample, ...]
    accepts: frozenset[str]
    heartbeats: bool = True


class Scenario(NamedTuple):
    """One process from its handshake to its end, and the conversations between: each ends with nothing left pending."""

    opening: ScenarioSteps
    conversations: tuple[StepBlocks, ...]
    closing: ScenarioSteps

    @property
    def steps(self) -> ScenarioSteps:
        """All of it, in order."""
        return (*self.opening, *chain.from_iterable(chain.from_iterable(self.conversations)), *self.closing)

    def begun(self, played: int) -> int:
        """Number of conversations begun when so many steps were played; the handshake alone is one as well."""
        left, count = played - len(self.opening), 0
        for blocks in self.conversations:
            if left <= 0:
                break
            left -= sum(map(len, blocks))
            count += 1
        return max(1, count)


def scenarios(world: GrammarOptions, *, long: bool) -> SearchStrategy[Scenario]:
    """Lives of a component in `world`: of one conversation at most, or `long`: of up to `PARTS` * `LONG_SCENARIO`."""
    conversation = _bolt_conversation(world) if world.kind == "bolt" else _spout_conversation()
    # Several lists: one alone would be short on average, and one with a least length could not shrink.
    parts = st.tuples(*[st.lists(conversation, max_size=LONG_SCENARIO if long else 1)] * (PARTS if long else 1))
    return st.builds(_life, st.just(world), _opening(), parts, _closing(world))


def _life(
    world: GrammarOptions, opening: ScenarioStep, parts: Iterable[list[StepBlocks]], closing: ScenarioSteps
) -> Scenario:
    first = (opening,) if world.kind == "bolt" else (opening, _call("activate"))
    return Scenario(first, tuple(chain.from_iterable(parts)), closing)


def _opening() -> SearchStrategy[ScenarioStep]:
    words = st.sampled_from(WORDS)
    plain: SearchStrategy[dict[str, Any]] = st.just({})
    usual = st.fixed_dictionaries(
        {},
        optional={
            "piece": st.sampled_from((4096, 1000, 100)),
            "pad": st.sampled_from((1000, OVERFULL)),
            "conf": st.dictionaries(words.map("mlcheck.{}".format), words, min_size=1, max_size=2),
            "context": st.just({"task->component": {"6": "near", "7": "near"}, "streams": ["own"]}),
            "await_file": st.just(True),
        },
    )
    return st.one_of(plain, plain, usual).map(lambda arguments: ("handshake", arguments))


def _closing(world: GrammarOptions) -> SearchStrategy[ScenarioSteps]:
    ends: SearchStrategy[ScenarioSteps] = st.sampled_from(((), (("close_stdin", {}),), (("terminate", {}),)))
    if world.kind == "spout":
        return ends
    # Storm dies when it likes: with tuples that are not settled as well.
    return ends | _tuples(world).map(lambda step: (step, ("close_stdin", {})))


# --- bolts ------------------------------------------------------------------------------------------------------------


def _bolt_conversation(world: GrammarOptions) -> SearchStrategy[StepBlocks]:
    blocks = st.lists(_bolt_block(world), min_size=1, max_size=MOST_BLOCKS)
    settled: ScenarioSteps = (("settle", {}), ("heartbeat", {})) if world.heartbeats else (("settle", {}),)
    return blocks.map(lambda found: (*found, settled))


def _bolt_block(world: GrammarOptions) -> SearchStrategy[ScenarioSteps]:
    tuples = _tuples(world)
    said = [tuples]
    if world.heartbeats:
        said.append(st.builds(_step, st.just("heartbeat"), times=st.integers(1, 3), wait=st.just(False)))
    if "ticks" in world.accepts:
        said.append(st.builds(_step, st.just("tick"), times=st.integers(1, 3)))
    anything = st.one_of(said)
    blocks = [
        *(each.map(_in_order) for each in said),
        st.builds(_in_order, _split("tuple"), anything),
        st.builds(_in_order, _split("task-ids"), tuples),
        st.lists(anything, min_size=1, max_size=3).map(_late_task_ids),
        st.just((("settle", {}),)),
        st.just((("unread_work", {"times": 50}),)),
        st.just((("no_task_ids", {}),)),
    ]
    if world.heartbeats:
        blocks.append(st.just((("heartbeat", {}),)))
    return st.one_of(blocks)


def _late_task_ids(said: list[ScenarioStep]) -> ScenarioSteps:
    """Nothing is waited for meanwhile: a component may do nothing before it has them."""
    return (("hold_task_ids", {}), *said, ("quiet", {}), ("release_task_ids", {}))


def _tuples(world: GrammarOptions) -> SearchStrategy[ScenarioStep]:
    """Tuples that it takes: nobody said that it takes others."""
    in_turn = st.builds(_step, st.just("tuple"), times=st.integers(1, MOST_TUPLES))
    shapes: dict[tuple[str, str], list[SearchStrategy[list[Any]]]] = {}
    for sample in world.samples:
        shapes.setdefault((sample.component, sample.stream), []).append(st.just(sample.values))
    for sample in world.samples or world.standard:
        shapes.setdefault((sample.component, sample.stream), []).extend(_varied(sample.values, world.accepts))
    given = [
        st.lists(st.one_of(each), min_size=1, max_size=3).map(partial(_given, source))
        for source, each in shapes.items()
        if each
    ]
    return st.one_of(*given, in_turn)


def _given(source: tuple[str, str], tuples: list[list[Any]]) -> ScenarioStep:
    """Tuples of one source, a component and its stream; the usual one need not be named."""
    usual = Sample([])
    named = {} if source == (usual.component, usual.stream) else dict(zip(("comp", "stream"), source, strict=True))
    return "tuple", {"these": tuples, **named}


def _varied(sample: list[Any], accepts: frozenset[str]) -> Iterable[SearchStrategy[list[Any]]]:
    """Tuples like a sample: of the same types, and of whatever else it accepts."""
    if accepts & {"text", "large", "integers", "floats", "null", "nested"}:
        yield st.tuples(*(_value(value, accepts) for value in sample)).map(list)
    if "empty" in accepts:
        yield st.just([])
    if "arity" in accepts:
        yield st.just([*sample, "plain words"])
        if sample:
            yield st.just(sample[:-1])


def _value(value: Any, accepts: frozenset[str]) -> SearchStrategy[Any]:
    made: list[SearchStrategy[Any]] = [st.just(value)]
    if isinstance(value, str) and "text" in accepts:
        made += [st.sampled_from(WORDS), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)]
    if isinstance(value, str) and "large" in accepts:
        made.append(st.just("x" * OVERFULL))
    if isinstance(value, int) and not isinstance(value, bool) and "integers" in accepts:
        made.append(st.integers(-(2**63), 2**63 - 1))
    if isinstance(value, float) and "floats" in accepts:
        made.append(st.floats(allow_nan=False, allow_infinity=False))
    if "null" in accepts:
        made.append(st.none())
    if "nested" in accepts:
        made.append(st.sampled_from(([1, [2, None]], {"key": [True, {"deep": "er"}]})))
    return st.one_of(made)


# --- spouts -----------------------------------------------------------------------------------------------------------


def _spout_conversation() -> SearchStrategy[StepBlocks]:
    # Storm waits for each sync: nothing is pending in between.
    return st.lists(_spout_block(), min_size=1, max_size=MOST_BLOCKS).map(lambda found: (*found, ()))


def _spout_block() -> SearchStrategy[ScenarioSteps]:
    settled = st.builds(_call, st.sampled_from(("ack", "fail")), pick=st.integers(0, 5))
    all_settled = st.builds(_step, st.just("settle_pending"), command=st.sampled_from(("ack", "fail")))
    asked = st.integers(1, MOST_CALLS).map(lambda times: _call("next", times=times))
    return st.one_of(
        asked.map(_in_order),
        st.builds(_in_order, asked, settled),
        settled.map(_in_order),
        all_settled.map(_in_order),
        st.builds(_in_order, _split("command"), st.one_of(asked, settled)),
        st.builds(_in_order, _split("task-ids"), asked),
        st.lists(settled, max_size=3).map(lambda meanwhile: (_call("deactivate"), *meanwhile, _call("activate"))),
        # It activates the spout again.
        st.just((_call("deactivate"), ("unread_work", {"times": 1}))),
        st.just((("quiet", {}),)),
        st.just((("no_task_ids", {}),)),
    )


def _call(command: str, **more: int) -> ScenarioStep:
    return "call", {"command": command, **more}


# --- both -------------------------------------------------------------------------------------------------------------


def _split(message: str) -> SearchStrategy[ScenarioStep]:
    return st.builds(_step, st.just("split"), message=st.just(message), at=st.integers(1, CUT_WITHIN))


def _step(name: str, **arguments: Any) -> ScenarioStep:
    return name, arguments


def _in_order(*steps: ScenarioStep) -> ScenarioSteps:
    return steps
