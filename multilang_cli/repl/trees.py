"""Tuple trees of a session by hand, as lines (``reports.trees`` makes them)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from multilang_cli.reports.trees import WRONG, hexadecimal, how_it_ended

if TYPE_CHECKING:
    from multilang_cli.acking.tree import Step, Tree
    from multilang_cli.repl.screen import Screen
    from multilang_cli.reports.trees import Trees

SHOWN = 10
"""Trees that are shown where nobody chooses one."""


def show_trees(trees: Trees, screen: Screen, chosen: str = "") -> int:
    """Show the trees whose message id, or the number of whose first event, is `chosen`, else the latest; how many."""
    found = [tree for tree in trees.trees() if not chosen or chosen in _names(tree, trees.numbers)]
    for tree in found[-SHOWN:]:
        told = json.dumps(tree.message_id)
        screen.line(f"{tree.spout.component} emitted {told}: {how_it_ended(tree)}", "note")
        for step in tree.steps:
            screen.line(_told_of(step, tree, trees.numbers), "wrong" if step.before != "open" else "", lead="  ")
    if len(found) > SHOWN:
        screen.line(f"and {len(found) - SHOWN} before; `tree NUMBER` shows one", "dim")
    return len(found)


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
