"""Knowledge of a component that the cases of a run have given so far, for those that come after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.suite.steps.idling import Idle
from multilang_cli.suite.steps.settling import Settling
from multilang_cli.suite.verdict.replays import Replays

if TYPE_CHECKING:
    from multilang_cli.suite.runner.watch import Like


class Learned:
    """Everything that the cases of a run have shown of a component. A case that is played by itself knows nothing yet.

    `seen`: the occasions that it was given (``coverage``); `broken`: the rules it broke. `acked`: what the tuples are
    like that it took. `answers`: what it answers where it comes whole: handshake, tuple, heartbeat, command; `forgets`:
    of which it leaves whole ones unanswered. `beaten`: it died of a heartbeat before it was fed anything. `settling`:
    how it settles; `idle`: how it answers `next`; `replays`: whether it emits again what failed.
    """

    def __init__(self, *, limited: bool = False) -> None:
        self.seen: set[str] = set()
        self.broken: set[str] = set()
        self.acked: set[Like] = set()
        self.answers: frozenset[str] = frozenset()
        self.forgets: frozenset[str] = frozenset()
        self.beaten = False
        self.settling = Settling()
        self.idle = Idle(limited=limited)
        self.replays = Replays()
