"""Equal emissions of which one was lost: which of them, by what became of their trees."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from multilang_cli.audit.stages.equals import EqualLeg, Exchange, TreeLeg, exchanges, rebuilt


@dataclass
class Leg:
    """A tree's tuple; its number is its root, and its place among the equals."""

    number: int
    there: bool
    told: str | None
    acked: bool = True
    equals: int = 1
    edge: int | None = None

    @property
    def leg(self) -> EqualLeg:
        receiver, id_ = (7, str(self.number)) if self.there else (None, None)
        edge = self.number if self.edge is None else self.edge
        return EqualLeg(
            self.equals, self.number, self.number, float(self.number), edge, receiver, id_, not self.there,
            self.acked and self.there, self.told,
        )  # fmt: skip


FAILED, ACKED = "told fail", "acked"


@pytest.mark.parametrize(
    ("legs", "expected"),
    [
        ([Leg(1, True, FAILED), Leg(2, False, ACKED)], [(1, 2)]),
        ([Leg(1, False, ACKED), Leg(2, True, FAILED)], [(2, 1)]),
        ([Leg(1, True, FAILED), Leg(2, True, ACKED), Leg(3, False, ACKED)], [(1, 3)]),
        ([Leg(1, True, FAILED), Leg(2, True, FAILED), Leg(3, False, ACKED), Leg(4, False, ACKED)], [(1, 3), (2, 4)]),
        ([Leg(1, True, ACKED), Leg(2, False, FAILED)], []),
        ([Leg(1, True, None), Leg(2, False, ACKED)], []),
        ([Leg(1, True, FAILED, acked=False), Leg(2, False, ACKED)], []),
        ([Leg(1, True, FAILED), Leg(2, True, FAILED), Leg(3, False, ACKED)], []),
        ([Leg(1, True, FAILED), Leg(2, False, ACKED, equals=2)], []),
        ([Leg(1, True, FAILED), Leg(5, True, FAILED, edge=1), Leg(2, False, ACKED)], []),
    ],
    ids=[
        "the later was taken", "the earlier was taken", "another between", "two of each", "as it was taken", "open",
        "never acked", "too many failed", "not equal", "two roots",
    ],
)  # fmt: skip
def test_what_was_acked_was_not_lost(legs: list[Leg], expected: list[tuple[int, int]]) -> None:
    found = exchanges(each.leg for each in reversed(legs))
    assert [(each.one.root, each.other.root) for each in found] == expected


def test_trees_are_put_together_with_what_was_exchanged() -> None:
    # Root 1 seems to have lost what emission 11 became, root 2 has it; emission 14 is anchored to that and to another.
    roots = [_leg(1, 1, 101), _leg(2, 2, 102)]
    gone = EqualLeg(11, 1, 11, 0.5, 111, None, None, True, False, ACKED)
    there = EqualLeg(11, 2, 12, 0.7, 112, 7, "t12", False, True, FAILED)
    below = {
        101: [_leg(0, 11, 111, receiver=None, id=None, later=True, doubt=2), _leg(0, 13, 113)],
        102: [_leg(0, 12, 112, doubt=2)],
        112: [_leg(0, 14, 114)],
        113: [_leg(0, 14, 114)],
    }
    found = rebuilt(roots, below, [Exchange(there, gone)], levels=9)
    assert [(leg.root, leg.emission, leg.edge, leg.receiver, leg.id, leg.later, leg.doubt) for leg in found] == [
        (1, 1, 101, 7, "t101", False, 1),
        (2, 2, 102, 7, "t102", False, 1),
        (1, 11, 112, 7, "t12", False, 2),
        (1, 13, 113, 7, "t113", False, 1),
        (2, 12, 111, None, None, True, 2),
        (1, 14, 114, 7, "t114", False, 2),
    ]
    assert rebuilt(roots, below, [], levels=1) == roots


def _leg(root: int, emission: int, edge: int, **more: object) -> TreeLeg:
    values = {"receiver": 7, "id": f"t{edge}", "later": False, "doubt": 1} | more
    return TreeLeg(root=root, emission=emission, sender=1, sent_at=0.0, target=3, edge=edge, **values)  # type: ignore[arg-type]
