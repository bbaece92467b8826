"""Judges the side that the suite plays, by the rules of hosts: what no Storm says to a component is a fault of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from multilang_cli.protocol.judge.conversation import Conversation
from multilang_cli.protocol.roles import roles_of
from multilang_cli.protocol.words.feeds import Feed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from multilang_cli.protocol.words.events import Event
    from multilang_cli.protocol.words.rulebook import Rulebook
    from multilang_cli.protocol.words.verdicts import Finding, Profile


class OwnSide:
    """A sink that holds Storm's side of a conversation to the rules of hosts.

    Nothing was told beforehand what to say, so only what any Storm of the version holds to is asked. From what ends a
    worker of that Storm on nothing is: there is no Storm left whose words these could be.
    """

    def __init__(self, profile: Profile, rulebook: Rulebook) -> None:
        self.findings: list[Finding] = []
        profile = msgspec.structs.replace(profile, feed=Feed(free=True), testee="")
        self._judge = Conversation(profile, rulebook, roles=roles_of(profile))

    def take(self, events: Sequence[Event], _: object) -> None:
        """Judge events as they happen."""
        self.findings += self._judge.feed_all(events)

    @property
    def fault(self) -> str:
        """A message of ours that no Storm sends, in one sentence; "" if nothing was."""
        if not self.findings:
            return ""
        first = self.findings[0]
        return f"{first.rule}: {first.message} (event {first.seq})"
