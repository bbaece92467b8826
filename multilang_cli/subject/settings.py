"""Flags over environment over file: what a run is asked to do, put together and checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from multilang_cli.protocol.words.verdicts import ACKERS
from multilang_cli.subject import flag_values
from multilang_cli.subject.config import Config, ConfigError
from multilang_cli.subject.flag_values import choice, seconds, truth, whole
from multilang_cli.subject.options import ACCEPTS, Component, RunOptions
from multilang_cli.subject.patterns import patterns
from multilang_cli.subject.samples import misdeclared
from multilang_cli.subject.testee import read_testee
from multilang_cli.transcript.secrets import declare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from multilang_cli.protocol.wire.context import Sample
    from multilang_cli.subject.options import InputSource


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """Flags of the command line of ``run``, as it was written; None or empty if it does not stand there."""

    command: tuple[str, ...] = ()
    component: str | None = None
    kind: str | None = None
    storm: str | None = None
    storm_required: str | None = None
    tuples: tuple[str, ...] = ()
    tuple_files: tuple[str, ...] = ()
    conf: tuple[str, ...] = ()
    ackers: str | None = None
    conf_files: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    cwd: str | None = None
    env: tuple[str, ...] = ()
    task: str | None = None
    settles: str | None = None
    accepts: tuple[str, ...] = ()
    pid: str | None = None
    limits: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    fail_fast: bool = False
    max_fail: str | None = None
    jobs: str | None = None
    retries: str | None = None
    known_failures: str | None = None
    write_known_failures: str | None = None
    timeout: str | None = None
    memory: str | None = None
    strict: bool | None = None
    seed: str | None = None
    record: str | None = None
    record_all: bool = False
    real_ticks: bool = False
    exhaustive: bool = False
    suites: tuple[str, ...] = ()
    testees: tuple[str, ...] = ()
    prepare: bool = False


def _text(_: str, text: str) -> str:
    return text


def _at_least(least: int) -> Callable[[str, str], int]:
    """Reads a whole number from `least` on. It raises ConfigError that begins with the name it is given."""

    def read(name: str, text: str) -> int:
        """The number of a text. Raises ConfigError that begins with `name`."""
        number = whole(name, text)
        if number < least:
            raise ConfigError(f"{name}: expected a whole number from {least}, not {number}.")
        return number

    return read


SETTINGS: dict[str, Callable[[str, str], Any]] = {
    "storm": _text,
    "jobs": _at_least(1),
    "timeout": seconds,
    "memory": flag_values.memory,
    "strict": truth,
    "seed": whole,
    "record": _text,
    "storm_required": _text,
}
"""What flags, environment (``MLCHECK_`` and the name) and file all can say, and how its text is read."""


SWITCHES = ("fail_fast", "record_all", "real_ticks", "exhaustive")
"""Flags without a value that are options of the run by the same name."""


def run_options(flags: Flags, environ: Mapping[str, str], config: Config) -> RunOptions:
    """The options of a run. Raises ConfigError with the name of the flag or variable that can't be used."""
    by_file = {name: value for name, value in config.settings.items() if name in SETTINGS}
    by_environment, by_flags = {}, {}
    for name, read in SETTINGS.items():
        variable = f"MLCHECK_{name.upper()}"
        if environ.get(variable):
            by_environment[name] = read(variable, environ[variable])
        flag = getattr(flags, name)
        if flag is not None:
            by_flags[name] = read(f"--{name}", flag) if isinstance(flag, str) else flag
    chosen: dict[str, Any] = {}
    for said in (by_file, by_environment, by_flags):
        # Which versions are required is said of those that are played: whoever chooses others chooses anew.
        if "storm" in said:
            chosen.pop("storm_required", None)
        chosen |= said
    return RunOptions(
        **chosen,
        include=patterns("-k", flags.include),
        exclude=patterns("--exclude", flags.exclude),
        **{name: getattr(flags, name) for name in SWITCHES},
        max_fail=_at_least(1)("--max-fail", flags.max_fail) if flags.max_fail else 0,
        retries=_at_least(0)("--retries", flags.retries or "0"),
        write_known_failures=flags.write_known_failures or "",
        suites=(*config.settings.get("suites", ()), *flags.suites),
    )


def components(flags: Flags, config: Config) -> tuple[Component, ...]:
    """The components to run: that of the command line, else those of the file. Raises ConfigError if there is none."""
    if flags.testees:
        chosen = _of_testees(flags)
    elif flags.component is not None:
        chosen = (config.component(flags.component),)
    elif flags.command:
        chosen = (Component(command=flags.command, kind="auto"),)
    elif config.components:
        chosen = config.components
    elif config.path is None:
        raise ConfigError(
            "which component? Give its file or command last (mlcheck run bolt.py), or write mlcheck.toml."
        )
    else:
        raise ConfigError(f"{config.path}: there is no [[component]] in it; give one last, as in: mlcheck run bolt.py.")
    return tuple(with_flags(component, flags) for component in chosen)


def _of_testees(flags: Flags) -> tuple[Component, ...]:
    """The parts of the testees; of these the one that --component names, whole or by its part. Raises ConfigError."""
    if flags.command:
        raise ConfigError("--testee DIR says what is started: leave the command out.")
    found = tuple(each for folder in flags.testees for each in read_testee(folder).components())
    if flags.component is None:
        return found
    chosen = tuple(each for each in found if flags.component in {each.name, each.testee})
    if not chosen:
        names = ", ".join(each.name for each in found)
        raise ConfigError(f"--component: the testee has no part {flags.component[:60]!r}; there are {names}.")
    return chosen


def check_gate(flags: Flags, chosen: tuple[Component, ...]) -> None:
    """See that known failures are asked for where they can be told and kept. Raises ConfigError."""
    for name, file in (
        ("--known-failures", flags.known_failures),
        ("--write-known-failures", flags.write_known_failures),
    ):
        if file is not None and len(chosen) > 1:
            raise ConfigError(
                f"{name}: a file belongs to one component, and these are {len(chosen)}; add --component NAME "
                f"({', '.join(each.name for each in chosen)}), or give each its own known failures."
            )
    partial = {"-k": flags.include, "--exclude": flags.exclude, "-x": flags.fail_fast, "--max-fail": flags.max_fail}
    given = next((flag for flag, value in partial.items() if value), "")
    if flags.write_known_failures is not None and given:
        raise ConfigError(f"--write-known-failures: only a whole run tells what fails; leave {given} out.")


_SINGLE: dict[str, Callable[[str], Any]] = {
    "kind": lambda text: choice("--kind", text, ("bolt", "spout", "auto")),
    "pid": lambda text: choice("--pid", text, ("own", "foreign")),
    "settles": flag_values.settles,
    "cwd": str,
    "task": flag_values.task_id,
    "known_failures": str,
}
"""Flags that stand for one key of a component, by its name, and how their text is read."""


def with_flags(component: Component, flags: Flags) -> Component:
    """`component` with what the command line says of it. Raises ConfigError that begins with the flag."""
    changes: dict[str, Any] = {
        "conf": {**component.conf, **_conf(flags)},
        "env": {**component.env, **dict(flag_values.variable(text) for text in flags.env if "=" in text)},
        "keep_env": (*component.keep_env, *(flag_values.variable(text)[0] for text in flags.env if "=" not in text)),
        "limits": {**component.limits, **dict(map(flag_values.limit, flags.limits))},
    }
    if flags.command:
        changes["command"] = flags.command
    for name, read in _SINGLE.items():
        if (text := getattr(flags, name)) is not None:
            changes[name] = read(text)
    if flags.accepts:
        accepted = (choice("--accepts", name, ACCEPTS) for name in flags.accepts)
        changes["accepts"] = tuple(dict.fromkeys((*component.accepts, *accepted)))
    if flags.streams:
        changes["streams"] = {**(component.streams or {}), **flag_values.streams(flags.streams)}
    sources = _sources(component, flags)
    if flags.tuples or flags.tuple_files:
        changes["samples"] = _samples(flags, sources)
        # The command line's tuples stand for all of the file's, also for those of a source.
        sources = tuple(msgspec.structs.replace(each, samples=()) for each in sources)
    changed = msgspec.structs.replace(component, **changes, sources=sources)
    declare((changed.conf, changed.env, os.environ), changed.command)
    if wrong := misdeclared(changed):
        raise ConfigError(f"{'--input' if flags.inputs else '--tuple' if flags.tuples else '--kind'}: {wrong}")
    return changed


def _sources(component: Component, flags: Flags) -> tuple[InputSource, ...]:
    """Those of the command line, else those of the file; what the file alone can tell of one of them stays."""
    if not flags.inputs:
        return component.sources
    known = {each.place: each for each in component.sources}
    given = map(flag_values.source, flags.inputs)
    return tuple(msgspec.structs.replace(known.get(each.place, each), fields=each.fields) for each in given)


def _samples(flags: Flags, sources: tuple[InputSource, ...]) -> tuple[list[Any] | Sample, ...]:
    """The tuples of flags and files, in that order."""
    found = [flag_values.sample(text, sources) for text in flags.tuples]
    for name in flags.tuple_files:
        found += flag_values.samples_of_file(name)
    return tuple(found)


def _conf(flags: Flags) -> dict[str, Any]:
    """The conf of files, then of flags: the later wins."""
    conf: dict[str, Any] = {}
    for name in flags.conf_files:
        conf.update(flag_values.conf_file(name))
    conf.update(map(flag_values.conf_value, flags.conf))
    return conf if flags.ackers is None else {**conf, ACKERS: _at_least(0)("--ackers", flags.ackers)}


def color(flag: str | None, environ: Mapping[str, str]) -> Literal["auto", "always", "never"]:
    """When to colour: the flag, else MLCHECK_COLOR, else auto. Raises ConfigError."""
    name, text = ("--color", flag) if flag is not None else ("MLCHECK_COLOR", environ.get("MLCHECK_COLOR") or "auto")
    return cast("Literal['auto', 'always', 'never']", choice(name, text, ("auto", "always", "never")))
