"""The component under check, as every command gets it: how it is started, what it is, how it is judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.catalogue.storm_conf import base_conf
from multilang_cli.driver.environment import worker_environment
from multilang_cli.driver.launch import Launch, resolve
from multilang_cli.driver.process import ComponentProcess, private_pid_dir
from multilang_cli.protocol.wire import context
from multilang_cli.protocol.words.rulebook import Rulebook
from multilang_cli.protocol.words.verdicts import StormVersion
from multilang_cli.subject.options import Component, RunOptions
from multilang_cli.subject.profiles import profile_of
from multilang_cli.subject.samples import samples_of
from multilang_cli.subject.source.sources import source_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.protocol.wire.context import Sample
    from multilang_cli.protocol.words.messages import Handshake
    from multilang_cli.protocol.words.verdicts import Profile


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One component whose kind is known, on one Storm version.

    `component`: what was declared of it; `options`: of the run; `kind_told`: how its kind was found out, "" if it was
    declared. `launch`, `cwd`, `env`: how it is started; `surroundings`: notes on what is other in its environment than
    here. `record`: the directory for transcripts.
    """

    component: Component
    options: RunOptions
    version: StormVersion
    rulebook: Rulebook
    launch: Launch
    cwd: Path
    env: dict[str, str]
    record: Path
    surroundings: tuple[str, ...] = ()
    kind_told: str = ""

    @classmethod
    def of(
        cls,
        component: Component,
        options: RunOptions,
        *,
        kind_told: str = "",
        worker_conf: dict[str, Any] | None = None,
        how_to_keep: str = "--env NAME keeps it",
    ) -> Subject:
        """The subject of what was declared; its kind is believed.

        `worker_conf`: the conf of the worker that would start it, where it is more than the component's own.
        `how_to_keep`: as in ``worker_environment``. Raises LaunchError, KeyError for an unknown Storm version.
        """
        rulebook = load_rulebook(options.storm)
        version = rulebook.version(options.storm)
        cwd = Path(component.cwd or ".").absolute()
        worker = worker_environment(
            component.env,
            conf=component.conf if worker_conf is None else worker_conf,
            keep=component.keep_env,
            how_to_keep=how_to_keep,
            storm=version.id,
            language=source_of(component.command, cwd, "bolt").language if component.command else "",
        )
        return cls(
            component=component,
            options=options,
            version=version,
            rulebook=rulebook,
            launch=resolve(component.command, cwd, worker.variables),
            cwd=cwd,
            env=worker.variables,
            record=Path(options.record),
            surroundings=worker.notes,
            kind_told=kind_told,
        )

    @property
    def profile(self) -> Profile:
        """The profile that the judge is told, with every limit."""
        return profile_of(self.component, self.version, self.options.timeout)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The tuples that a bolt is fed, declared or made up."""
        return samples_of(self.component)

    def start(self, more_env: Mapping[str, str] | None = None) -> ComponentProcess:
        """Start a process of it, with more variables in its environment. Raises LaunchError."""
        env = {**self.env, **(more_env or {})}
        return ComponentProcess.start(self.launch.argv, cwd=self.cwd, env=env, pid_dir=private_pid_dir())

    def handshake(self, process: ComponentProcess) -> Handshake:
        """Storm's first message to a process of it."""
        profile = self.profile
        conf = context.realistic_conf(base_conf(self.version.id), profile, dict(self.component.conf))
        return context.handshake(profile, self.version, conf, str(process.pid_dir))
