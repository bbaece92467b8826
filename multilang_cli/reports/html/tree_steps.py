"""The tuple trees of a conversation that are worth a look, played step by step. A bounded number, in bounded memory."""

from __future__ import annotations

import json
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.words.events import Event, Gap
from multilang_cli.protocol.words.messages import HEARTBEAT_STREAM, TICK_STREAM, Ack, Emit, Fail, SpoutCommand, TupleMsg
from multilang_cli.reports.escape import escape
from multilang_cli.reports.html.document import Edge, Graph, GraphNode, GraphStep, Steps
from multilang_cli.reports.html.showing import name_of_id, short
from multilang_cli.reports.trees import WRONG, Trees, hexadecimal, how_it_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from multilang_cli.acking import tree as acking
    from multilang_cli.acking.tree import Tree
    from multilang_cli.protocol.words.verdicts import Profile
    from multilang_cli.reports.html.document import Tone

    To = Callable[[int], str | None]
    _Kind = tuple[frozenset[str], str]
    _Said = tuple[int, float, Any]

MOST_TREES = 8
"""Trees of one conversation that are shown."""
KEPT_OF_A_KIND = 3
"""Trees of one kind that are kept once they are over."""
MOST_FOLLOWED = 1_000
"""Trees that are followed at a time; of more, the later ones are not."""
MOST_TUPLES = 200
"""Tuples of one tree that are shown."""
_BY_STORM = TupleMsg | SpoutCommand
_OF_STORM = frozenset({HEARTBEAT_STREAM, TICK_STREAM})
_NONE: frozenset[str] = frozenset()
_ORDER = ("open", "failed", "acked")
_TONES: dict[str, Tone] = {"open": "warn", "acked": "good", "failed": "bad"}
_NOTE = (
    "What this one component shows of the tree: whoever gets its tuples, and Storm's acker, are played by mlcheck, and "
    "the ids are made up, the same each time."
)


class TreeSteps:
    """Chooses trees of one conversation while it is read, and shows `most` of them at most.

    `rules`: the rules that were broken, by the seqs of findings and of what explains them.
    """

    def __init__(self, profile: Profile, rules: Mapping[int, str], most: int = MOST_TREES) -> None:
        self._profile = profile
        self._rules = rules
        self._most = most
        # The messages about one tuple from outside, or about one message id; how it ended; how many emits are left out.
        self._roots: dict[str, list[_Said]] = {}
        self._ended: dict[str, str] = {}
        self._left_out: Counter[str] = Counter()
        self._kinds: Counter[_Kind] = Counter()
        self._full: set[_Kind] = set()
        self._takes: dict[type, Callable[[_Said], None]] = {
            Emit: self._anchor if profile.kind == "bolt" else self._emit,
            SpoutCommand: self._tell,
            Gap: self._forget,
        }

    def take(self, seq: int, bodies: Sequence[Any], times: Sequence[float]) -> None:
        """Go on with what follows each other, the first with the number `seq`."""
        if self._profile.without_ackers:
            return
        roots, takes = self._roots, self._takes
        for said in zip(count(seq), times, bodies, strict=False):
            body = said[2]
            kind = body.__class__
            if kind is TupleMsg:
                if body.stream not in _OF_STORM or not (body.is_heartbeat or body.is_tick):
                    self._begin(body.id, said)
            elif kind is Ack or kind is Fail:
                if body.id in roots:
                    self._end(body.id, said, "acked" if kind is Ack else "failed")
            elif (take := takes.get(kind)) is not None:
                take(said)

    def _emit(self, said: _Said) -> None:
        if said[2].id is not None:
            self._begin(json.dumps(said[2].id), said)

    def _tell(self, said: _Said) -> None:
        command = said[2].command
        if command in {"ack", "fail"} and (key := json.dumps(said[2].id)) in self._roots:
            self._end(key, said, f"{command}ed")

    def _begin(self, key: str, said: _Said) -> None:
        if (root := self._roots.get(key)) is not None:
            root.append(said)
        elif len(self._roots) < MOST_FOLLOWED:
            self._roots[key] = [said]

    def _anchor(self, said: _Said) -> None:
        """Go on with an emit of a bolt, as far as it is shown."""
        for anchor in said[2].anchors:
            if (root := self._roots.get(anchor)) is not None:
                if len(root) > MOST_TUPLES:
                    self._left_out[anchor] += 1
                else:
                    root.append(said)

    def _end(self, key: str, said: _Said, how: str) -> None:
        """End a tree that is followed; of those that are over, a few of each kind are kept."""
        root = self._roots[key]
        root.append(said)
        if key in self._ended:
            return
        if (kind := self._kind(root, how)) in self._full:
            del self._roots[key]
            self._left_out.pop(key, None)
            return
        self._ended[key] = how
        self._kinds[kind] += 1
        if self._kinds[kind] == KEPT_OF_A_KIND:
            self._full.add(kind)

    def _forget(self, _: _Said) -> None:
        """Know nothing of the trees that were open, after a gap."""
        for key in [key for key in self._roots if key not in self._ended]:
            del self._roots[key]

    def _kind(self, root: Sequence[_Said], how: str) -> _Kind:
        """Trees of a kind show the same: what was broken, and how they ended."""
        rules = self._rules
        broken = frozenset([rules[seq] for seq, _, _ in root if seq in rules]) if rules else _NONE
        return broken, how

    def _chosen(self) -> list[tuple[str, list[_Said]]]:
        """The trees to show: one of each kind before a second; findings first, then open, failed, others."""
        met: Counter[_Kind] = Counter()
        ranked = []
        for place, (key, root) in enumerate(self._roots.items()):
            kind = self._kind(root, self._ended.get(key, "open"))
            ranked.append((met[kind], not kind[0], _ORDER.index(kind[1]), place, (key, root)))
            met[kind] += 1
        ranked.sort(key=lambda each: each[:4])
        return [root for *_, root in sorted(ranked[: self._most], key=lambda each: each[1:4])]

    def sections(self, lead: str, to: To) -> Iterator[Steps]:
        """The chosen trees, built now."""
        for number, (key, root) in enumerate(self._chosen(), 1):
            trees = Trees(self._profile, seed=number)
            seqs: list[int] = []
            for seq, t, body in root:
                if trees.take(Event(seq, t, "in" if isinstance(body, _BY_STORM) else "out", body)):
                    tree = trees.trees()[0]
                    seqs += [seq] * (len(tree.steps) - len(seqs))
            if seqs:
                yield tree_section(f"{lead}-tree-{number}", tree, seqs, trees.numbers, to, left_out=self._left_out[key])


def tree_section(
    id_: str,
    tree: Tree,
    seqs: Sequence[int],
    numbers: Mapping[int, int],
    to: To,
    *,
    left_out: int = 0,
    note: str = _NOTE,
) -> Steps:
    """A tree, played. `seqs`: of the event of each step; `numbers`: of the event that made each tuple, by its edge."""
    shown = {edge: f"t{place}" for place, edge in enumerate(tree.nodes, 1)}
    steps = (_step(step, tree, shown, to(seq)) for step, seq in zip(tree.steps, seqs, strict=True))
    return Steps(
        id=id_,
        title=short(f"Tuple tree {name_of_id(tree.message_id)}: {how_it_ended(tree)}"),
        note=note + (f" {left_out:,} more tuples are left out." if left_out else ""),
        graph=_graph(tree, shown, numbers, to),
        steps=tuple(steps),
    )


def _graph(tree: Tree, shown: dict[int, str], numbers: Mapping[int, int], to: To) -> Graph:
    root = GraphNode(id="spout", label=short(f"{tree.spout.component} (task {tree.spout.id})"))
    nodes = [root]
    edges = []
    for edge, id_ in shown.items():
        node = tree.nodes[edge]
        seq = numbers.get(edge)
        nodes.append(
            GraphNode(
                id=id_,
                label=short(f"{node.holder.component} (task {node.holder.id})"),
                detail=f"edge 0x{hexadecimal(edge)}, {node.state}",
                tone=_TONES[node.state],
                to=None if seq is None else to(seq),
            )
        )
        parents = [shown[anchor] for anchor in node.anchors if anchor in shown] or ["spout"]
        edges += [Edge(from_=parent, to=id_, label=hexadecimal(edge)[:4]) for parent in parents]
    return Graph(nodes=tuple(nodes), edges=tuple(edges))


def _step(step: acking.Step, tree: Tree, shown: dict[int, str], to: str | None) -> GraphStep:
    text = _told(step, tree)
    wrong = WRONG.get(step.before, "")
    if wrong:
        text += f". Wrong: {wrong}"
    return GraphStep(
        text=escape(text),
        ack_val=f"0x{hexadecimal(step.acker_val)}",
        to=to,
        node=shown.get(step.edge),
        tone="bad" if wrong or step.what in {"fail", "time out"} else None,
    )


def _told(step: acking.Step, tree: Tree) -> str:
    """The step in words, with what it adds to the ack val."""
    node = tree.nodes.get(step.edge)
    who = f"{node.holder.component} (task {node.holder.id})" if node is not None else tree.spout.component
    if step.what == "emit":
        what = "an anchored tuple" if node is not None and node.anchors else "a tuple"
        return f"{step.t:.3f} s: {what} for {who}, edge 0x{hexadecimal(step.edge)}"
    if step.what == "fail":
        return f"{step.t:.3f} s: {who} fails it: the whole tree fails"
    xor = f"XOR 0x{hexadecimal(step.sent)}"
    if step.what == "init":
        return f"{step.t:.3f} s: {who} tells the acker of the tree: {xor}"
    if step.what == "ack":
        return f"{step.t:.3f} s: {who} acks it: {xor}"
    return f"{step.t:.3f} s: {who}, {step.what}"
