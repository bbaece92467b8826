"""Roles that the judge plays for a profile, besides that of a bolt or a spout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.protocol.host.host_rules import HOST
from multilang_cli.protocol.testee.asked_rules import TESTEE

if TYPE_CHECKING:
    from multilang_cli.protocol.judge.context import Role
    from multilang_cli.protocol.words.verdicts import Profile


def roles_of(profile: Profile) -> tuple[Role, ...]:
    """The roles that `profile` asks for: of a testee, of a host. A host's rules come first at each event."""
    return (*((TESTEE,) if profile.testee else ()), *((HOST,) if profile.feed is not None else ()))
