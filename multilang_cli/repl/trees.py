"""Tuple trees of a session by hand, as lines (``reports.trees`` makes them)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from multilang_cli.reports.trees import WRONG, hexadecimal, how_it_ended

if TYPE_CHECKING:
    from collections.abc import Iterator

    from multilang_cli.acking.tree import Node, Step, Tree
    from multilang_cli.repl.screen import Screen
    from multilang_cli.reports.trees import Trees

TREES_SHOWN = 10
"""Trees that are shown where nobody chooses one."""
MOST_NODES = 100
"""Tuples of one tree that are drawn."""
PIECES = {False: (("├─ ", "└─ "), ("│  ", "   ")), True: (("|- ", "`- "), ("|  ", "   "))}
"""Pieces of the drawing, in Unicode or ASCII: a tuple, and what is below it; where others follow, and where none do."""


def show_trees(trees: Trees, screen: Screen, chosen: str = "") -> int:
    """Show the trees whose message id, or the number of whose first event, is `chosen`, else the latest; how many."""
    found = [tree for tree in trees.trees() if not chosen or chosen in _names(tree, trees.numbers)]
    for tree in found[-TREES_SHOWN:]:
        told = json.dumps(tree.message_id)
        screen.line(f"{tree.spout.component} emitted {told}: {how_it_ended(tree)}", "note")
        for line in drawn(tree, trees.numbers, ascii_only=screen.ascii_only):
            screen.line(line, lead="  ")
        for step in tree.steps:
            screen.line(_told_of(step, tree, trees.numbers), "wrong" if step.before != "open" else "", lead="  ")
    if len(found) > TREES_SHOWN:
        screen.line(f"and {len(found) - TREES_SHOWN} before; `tree NUMBER` shows one", "dim")
    return len(found)


def drawn(tree: Tree, numbers: dict[int, int], *, ascii_only: bool) -> Iterator[str]:
    """The tuples of a tree, each below the one that it is anchored to; of several, below the first that is known."""
    below: dict[int, list[Node]] = {}
    for node in tree.nodes.values():
        below.setdefault(next((edge for edge in node.anchors if edge in tree.nodes), 0), []).append(node)
    todo = [("", node, node is below[0][-1]) for node in reversed(below.get(0, ()))]
    branch, trunk = PIECES[ascii_only]
    shown = 0
    while todo and shown < MOST_NODES:
        lead, node, last = todo.pop()
        shown += 1
        yield f"{lead}{branch[last]}{_told_of_node(node, numbers)}"
        under = below.get(node.edge, []) if node.edge else []
        todo += [(lead + trunk[last], each, each is under[-1]) for each in reversed(under)]
    if len(tree.nodes) > shown:
        yield f"and {len(tree.nodes) - shown} more tuples"


def _told_of_node(node: Node, numbers: dict[int, int]) -> str:
    others = [str(numbers.get(edge, "?")) for edge in node.anchors[1:]]
    also = f", anchored to {', '.join(others)} too" if others else ""
    return f"{numbers.get(node.edge, '?')} to {node.holder.component}: {node.state}{also}"


def _names(tree: Tree, numbers: dict[int, int]) -> set[str]:
    first = next(iter(tree.nodes), 0)
    return {json.dumps(tree.message_id), str(tree.message_id), str(numbers.get(first, ""))}


def _told_of(step: Step, tree: Tree, numbers: dict[int, int]) -> str:
    """A step in a line: when, what, to which message; what was XORed, and the acker's ack val after it."""
    node = tree.nodes.get(step.edge)
    verb = "to" if step.what == "emit" else "by"
    who = f"{numbers.get(step.edge, '')} {verb} {node.holder.component}" if node else ""
    lead = f"{step.t:8.3f}s {step.what:5} {who:12} "
    if step.what == "emit":
        rest = f"edge {hexadecimal(step.edge)}"
    elif step.what == "fail":
        rest = "the tree fails"
    else:
        rest = f"XOR  {hexadecimal(step.sent):16}  ack val {hexadecimal(step.acker_val)}"
    wrong = f"  WRONG: {WRONG[step.before]}" if step.before in WRONG else ""
    return f"{lead}{rest}{wrong}"
