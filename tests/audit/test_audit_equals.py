"""Equal emissions of which one was lost: which of them, by what became of their trees."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from multilang_cli.audit.stages.equals import EqualLeg, exchanges


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
        receiver, got_at, id_ = (7, self.number + 0.5, str(self.number)) if self.there else (None, None, None)
        edge = self.number if self.edge is None else self.edge
        return EqualLeg(
            self.equals, self.number, self.number, float(self.number), edge, receiver, got_at, id_, not self.there,
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
