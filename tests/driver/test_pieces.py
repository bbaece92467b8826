"""Time that is kept back while a message is written in parts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from multilang_cli.driver.pieces import WOKEN, Pieces

if TYPE_CHECKING:
    import pytest

    from multilang_cli.driver.process import ComponentProcess


class _ReadsAtOnce:
    def stdin_unread(self) -> int:
        return 0


def test_who_reads_on_in_the_midst_of_a_message_is_not_charged_for_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is overbooked each byte costs a round of ours and one of the component."""
    times = iter([100.0, 105.0, 106.0, 108.0, 200.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    pieces, process, buffer = Pieces(), cast("ComponentProcess", _ReadsAtOnce()), bytearray(b"{}\nend\n")
    pieces.piece = 1
    kept = []
    for _ in range(4):
        pieces.size(process, buffer, len(buffer), 0.0)
        pieces.took(all_of_it=False)
        kept.append(pieces.kept)
    # The five seconds until the first byte was read may be work of its own.
    assert kept == [0.0, WOKEN, WOKEN + 1, WOKEN + 3]
    pieces.took(all_of_it=True)
    pieces.size(process, buffer, len(buffer), 0.0)
    assert pieces.kept == WOKEN + 3
