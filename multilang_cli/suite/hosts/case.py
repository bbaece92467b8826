"""Host cases: what a host is told to say, and what a scripted component does meanwhile (``conformance/cases/host``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from packaging.version import Version

from multilang_cli.catalogue import locate
from multilang_cli.catalogue.loader import CatalogueError, example_profile, plain
from multilang_cli.protocol.words.feeds import Feed
from multilang_cli.protocol.words.verdicts import Clause, Level
from multilang_cli.suite.cases.case import CaseError

if TYPE_CHECKING:
    from pathlib import Path

    from multilang_cli.protocol.words.verdicts import Kind, Profile, StormVersion

HOST_LIMIT = 20.0
"""Seconds that a host may take for its part of a case."""


class HostCase(msgspec.Struct, frozen=True, kw_only=True):
    """One case. `id` dotted and stable; `since`: the first Storm version that it holds for.

    `conf`: what is put into the topology's conf. `feed`: what the host is told to say. `script`: what the component
    does, in the steps of the scripted player (``component.witness``); `auto` False: it answers nothing by itself.
    `handshake`: instead of the player's own. `limit`: seconds after which a script that is not over will not be.
    """

    id: str
    title: str
    kind: Literal["bolt", "spout"]
    level: Level
    clause: Clause | str
    expected: str
    script: tuple[dict[str, Any], ...]
    feed: Feed = Feed()
    conf: dict[str, Any] = {}
    handshake: tuple[dict[str, Any], ...] | None = None
    auto: bool = True
    since: str = ""
    limit: float = HOST_LIMIT

    def profile_for(self, version: StormVersion, patience: float) -> Profile:
        """The profile of a conversation of this case with a host that plays `version`."""
        kind: Kind = self.kind
        plain = example_profile(kind, {"conf": self.conf, "storm": version.id})
        return msgspec.structs.replace(plain, feed=self.feed, limits={"host": self.limit * patience})

    def played(self) -> dict[str, Any]:
        """The script as the player reads it."""
        own = {} if self.handshake is None else {"handshake": self.handshake}
        return {"case": self.id, "auto": self.auto, "steps": self.script, **own}

    def holds_for(self, version: StormVersion) -> bool:
        """True if this version knows what the case is about."""
        return not self.since or Version(version.id) >= Version(self.since)


def load_host_cases() -> list[HostCase]:
    """The shipped cases, sorted by id. Raises CaseError."""
    return [read_host_case(file) for file in sorted(locate.data_path("conformance", "cases", "host").glob("*.yaml"))]


def read_host_case(path: Path) -> HostCase:
    """Read one case file. Raises CaseError."""
    try:
        return msgspec.convert(plain(path), HostCase)
    except CatalogueError as error:
        raise CaseError(str(error)) from None
    except msgspec.ValidationError as error:
        raise CaseError(f"{path}: {error}") from None
