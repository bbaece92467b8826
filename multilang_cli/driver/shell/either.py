"""Storm's side of a component whose kind is only known once it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.driver.shell.bolt import ShellBolt
from multilang_cli.driver.shell.spout import ShellSpout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.driver.event_log import EventSink
    from multilang_cli.driver.process import ComponentProcess
    from multilang_cli.protocol.judge.conversation import Conversation

Shell = ShellBolt | ShellSpout


def shell_of(
    process: ComponentProcess,
    judge: Conversation,
    sinks: Iterable[EventSink] = (),
    *,
    timer: float = 0.0,
    ticks: float = 0.0,
    seed: int = 0,
) -> Shell:
    """Storm's side of the kind that the judge is told of. `timer`, `ticks`, `seed`: of a bolt's, as in `ShellBolt`."""
    if judge.profile.kind == "bolt":
        return ShellBolt(process, judge, sinks, timer=timer, ticks=ticks, seed=seed)
    return ShellSpout(process, judge, sinks)


class HasShell:
    """A holder of a `shell`, for what is done to components of one kind only."""

    shell: Shell

    @property
    def bolt(self) -> ShellBolt:
        """Storm's side of a bolt."""
        assert isinstance(self.shell, ShellBolt)  # noqa: S101 (cases and commands are chosen by kind)
        return self.shell

    @property
    def spout(self) -> ShellSpout:
        """Storm's side of a spout."""
        assert isinstance(self.shell, ShellSpout)  # noqa: S101 (cases and commands are chosen by kind)
        return self.shell
