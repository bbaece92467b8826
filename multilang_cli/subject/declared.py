"""Declarations of the components under check: flags over environment over file, in one place."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import msgspec

from multilang_cli.driver.launch import LaunchError
from multilang_cli.reports.grouping import told_first
from multilang_cli.subject.config import Config, ConfigError, load_nearest
from multilang_cli.subject.options import Component, RunOptions, redactor_of
from multilang_cli.subject.reproduce import words_of
from multilang_cli.subject.settings import Flags, components, run_options
from multilang_cli.subject.storms import known_storm
from multilang_cli.subject.subject import Subject
from multilang_cli.terminal.exits import CommandError, ExitCode

if TYPE_CHECKING:
    from multilang_cli.reports.model import SubjectResult


class Probe(NamedTuple):
    """The answer of a component that was asked for its kind. `kind` None: undecided. `how`: one sentence for people.

    `silent`: it never said a pid. `fault`: it died or hung by itself after its pid, which is wrong in a bolt as in a
    spout. `met`: what went wrong meanwhile, for a report.
    """

    kind: Literal["bolt", "spout"] | None
    how: str
    silent: bool = False
    fault: bool = False
    met: tuple[SubjectResult, ...] = ()

    @property
    def seen(self) -> str:
        """The cause of a silence or a fault, where one is known; else what was seen."""
        first = next((subject for subject in self.met if subject.causes), None)
        return told_first(first) if first is not None and (self.silent or self.fault) else self.how


AskKind = Callable[[Component, RunOptions], Probe]
"""Asks a component for its kind, in processes of its own."""


class UnknownKindError(CommandError):
    """The kind of a component can't be told. `met`: what was seen. `why`: what saying its kind is good for.

    `clean` hides secrets in what is told. `why` is not said where a cause of the silence is known: as the other kind it
    would say as little.
    """

    def __init__(self, probe: Probe, why: str, clean: Callable[[str], str]) -> None:
        text, code = f"can't tell whether it is a bolt or a spout: {probe.how}", ExitCode.MISUSE
        if probe.silent:
            known = any(subject.causes for subject in probe.met)
            advice = "" if known else f"; say --kind bolt or --kind spout to {why}"
            text = f"no first message: {probe.seen}{advice}"
            code = ExitCode.NO_FIRST_MESSAGE
        elif probe.fault:
            text, code = f"not conformant, be it a bolt or a spout: {probe.seen}", ExitCode.NOT_CONFORMANT
        super().__init__(clean(text), code)
        self.met = probe.met


class Declared(msgspec.Struct, frozen=True):
    """One component as it was declared: its kind may be "auto" still. `config`: the file that counts."""

    component: Component
    options: RunOptions
    flags: Flags
    config: Config

    def on(self, storm: str, **more: object) -> Self:
        """The same on another Storm version, and with other options."""
        return msgspec.structs.replace(self, options=msgspec.structs.replace(self.options, storm=storm, **more))

    def subject(self, ask: AskKind, why: str = "see what it does instead") -> Subject:
        """The subject, its kind asked for if nobody said it. Raises LaunchError, UnknownKindError.

        `why` one would say the kind of a component that says nothing.
        """
        return subjects_of([self], ask, why)[0]


def subjects_of(versions: Sequence[Declared], ask: AskKind, why: str = "see what it does instead") -> list[Subject]:
    """The subjects of one component on several Storm versions: its kind is what the newest finds that can tell.

    Raises LaunchError, UnknownKindError.
    """
    component, how = versions[0].component, ""
    if component.kind == "auto":
        for each in reversed(versions):
            probe = ask(component, each.options)
            if probe.kind is not None:
                break
        else:
            probe = _by_its_input(component, probe)
            if probe.kind is None:
                raise UnknownKindError(probe, why, redactor_of(component).line)
        component, how = msgspec.structs.replace(component, kind=probe.kind), probe.how
    found = []
    for each in versions:
        words = words_of(each.flags, component, each.options, each.config)
        options = msgspec.structs.replace(each.options, reproduce=words)
        found.append(Subject.of(component, options, kind_told=how))
    return found


def _by_its_input(component: Component, probe: Probe) -> Probe:
    """The probe that could not tell the kind, decided where an input is declared: no spout has one."""
    if probe.silent or probe.fault or not (component.samples or component.sources):
        return probe
    return probe._replace(kind="bolt", how="a bolt: its input is declared, and it answers nothing that would tell")


def all_declared(flags: Flags) -> list[Declared]:
    """The component of the command line, else all of the configuration file. Raises ConfigError."""
    config = load_nearest()
    options = run_options(flags, os.environ, config)
    return [Declared(component, options, flags, config) for component in components(flags, config)]


def one_declared(command: str, flags: Flags, *, before: str = "") -> Declared:
    """The one component of the command line or of the file, for the `command` of mlcheck, on a version that is known.

    `before`: what stands before a component's words on that command line. Raises CommandError: for misuse, or if there
    are several.
    """
    try:
        found = all_declared(flags)
    except ConfigError as error:
        text = str(error).replace("mlcheck run", f"mlcheck {command} {before}") if before else str(error)
        raise CommandError(f"{command}: {text}") from None
    if len(found) > 1:
        names = ", ".join(each.component.name for each in found)
        raise CommandError(f"{command}: which component? --component NAME chooses one of {names}.")
    return found[0].on(known_storm(found[0].options.storm))


def one_subject(command: str, flags: Flags, ask: AskKind) -> Subject:
    """The one component that a `command` of mlcheck works on, its kind known.

    Raises CommandError: also if it can't be started, or nobody can tell its kind.
    """
    try:
        return one_declared(command, flags).subject(ask)
    except LaunchError as error:
        raise not_started(error) from None


def not_started(error: LaunchError, command: str = "") -> CommandError:
    """The error of a command whose component can't be started."""
    code = ExitCode.MISUSE if error.reason == "bad-cwd" else ExitCode.NO_FIRST_MESSAGE
    lead = f"{command}: " if command else ""
    return CommandError(f"{lead}{error.message}{f' ({error.hint})' if error.hint else ''}", code)
