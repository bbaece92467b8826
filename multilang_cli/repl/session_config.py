"""Settings of a session by hand, for each start: the component, how it is judged, what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import Profile
from multilang_cli.subject.subject import Subject
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from multilang_cli.protocol.words.messages import Handshake
    from multilang_cli.protocol.words.verdicts import StormVersion

NO_END = 2_000_000
"""Seconds of Storm's subprocess timeout where nothing is limited: 23 days, which fit into Storm's milliseconds."""
ENDLESS = float("inf")
_NOT_WAITED_FOR = ("frame", "grace")


class SessionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a restart keeps, or a command of the session changes.

    `subject`: the component as it was named; `profile` and `rulebook`: how it is judged now. `more_context`: keys for
    the topology context. `limited`: False for a component that stops in a debugger: nothing is waited for in vain.
    `timer` and `ticks`: seconds between heartbeats and ticks sent by the clock, 0 for none. `again`: words of ``mlcheck
    run`` on the same component, without its command; `usual`: the Storm version that they play.
    """

    subject: Subject
    rulebook: Rulebook
    profile: Profile
    more_context: dict[str, Any] = {}
    limited: bool = True
    timer: float = 0.0
    ticks: float = 0.0
    seed: int = 0
    again: tuple[str, ...] = ("mlcheck", "run")
    usual: str = ""

    @property
    def version(self) -> StormVersion:
        """The Storm that is played."""
        return self.rulebook.version(self.profile.storm)

    def judged(self) -> Profile:
        """The profile as the judge is told it: without limits where nothing is limited."""
        if self.limited:
            return self.profile
        limits = {name: value for name, value in self.profile.limits.items() if name in _NOT_WAITED_FOR}
        conf = {self.version.timeout_key: NO_END, **self.profile.conf}
        return msgspec.structs.replace(self.profile, limits=limits, conf=conf)

    def conf(self) -> dict[str, Any]:
        """The whole conf that the component is handed."""
        profile = self.judged()
        return context.realistic_conf(base_conf(self.version.id), profile, {})

    def context(self) -> dict[str, Any]:
        """The topology context that the component is handed."""
        return self.handshake("").context

    def handshake(self, pid_dir: str) -> Handshake:
        """Storm's first message. `pid_dir`: an existing folder."""
        return context.handshake(self.judged(), self.version, self.conf(), pid_dir, self.more_context)

    def redactor(self) -> Redactor:
        """Hides the secrets of conf and environment in what is shown."""
        return Redactor({"": [self.subject.component.env, self.profile.conf]}, words=self.subject.launch.argv)

    def with_conf(self, conf: dict[str, Any]) -> SessionConfig:
        """The same with another conf of the component's own."""
        return msgspec.structs.replace(self, profile=msgspec.structs.replace(self.profile, conf=conf))

    def on(self, rulebook: Rulebook, version: StormVersion) -> SessionConfig:
        """The same on another Storm."""
        profile = msgspec.structs.replace(self.profile, storm=version.id)
        return msgspec.structs.replace(self, rulebook=rulebook, profile=profile)
