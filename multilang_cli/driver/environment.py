"""The environment of a component as a Storm worker would hand it on.

A worker inherits a daemon's environment, not that of the shell in which somebody tests. What only shells, debuggers and
images set is taken away, so that a component behaves the same from a terminal, from cron, in a container and in CI.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from packaging.version import Version

from multilang_cli.catalogue.environment import WorkerDefaults, load_environment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from multilang_cli.catalogue.environment import Switch, TopologyEnvironment

TOPOLOGY = "topology.environment"
"""The key of conf with variables for the worker (``BasicContainer.launch``)."""
_LIBRARIES = "LD_LIBRARY_PATH"
_LANGUAGES = {"JVM": "java"}
"""Languages of switches that causes know by another name."""


class WorkerEnvironment(msgspec.Struct, frozen=True):
    """The variables of a component; `notes`: sentences on what is other than in the environment of the caller."""

    variables: dict[str, str]
    notes: tuple[str, ...] = ()


def worker_environment(
    additions: Mapping[str, str],
    *,
    conf: Mapping[str, Any] | None = None,
    keep: Collection[str] = (),
    inherited: Mapping[str, str] | None = None,
    how_to_keep: str = "--env NAME keeps it",
    storm: str = "",
    language: str = "",
) -> WorkerEnvironment:
    """Work out the environment of a component.

    `additions`: what its topology gives to ``ShellBolt.setEnv``. `conf`: the topology's; its ``topology.environment``
    is that of the worker. `keep`: names of variables that stay as they are inherited. `inherited`: by default that of
    this process. `how_to_keep`: how the user says which to keep, "" if that can't be said. `storm`: the version that is
    played, "" for the newest: not every one hands on what the topology has. `language`: of the component, where it is
    known: of switches that mean nothing to it, none is told.
    """
    variables = dict(caller_environment() if inherited is None else inherited)
    known = load_environment()
    missing = [f"--env {name}: there is no such variable here" for name in keep if name not in variables]
    gone = list(_without_switches(variables, known.switches, keep))
    taken = [told for switch, told in gone if _means_something(switch, language)]
    worker, ignored = _of_worker(conf or {}, storm, known.topology)
    notes = [*missing, *ignored, *_with_locale(variables, known, {*keep, *worker, *additions})]
    if taken:
        more = f"; {how_to_keep}" if how_to_keep else ""
        notes.insert(0, f"taken out of its environment, for no Storm worker has it: {', '.join(taken)}{more}")
    if "PATH" not in variables and "PATH" not in worker:
        variables["PATH"] = known.path
        notes.append(f"PATH is unset: {known.path} in its place")
    for name, value in worker.items():
        libraries = variables.get(name) if name == _LIBRARIES else None
        variables[name] = f"{libraries}{os.pathsep}{value}" if libraries else value
    return WorkerEnvironment(with_additions(additions, variables), tuple(notes))


def with_additions(additions: Mapping[str, str], inherited: Mapping[str, str]) -> dict[str, str]:
    """An environment with `additions`, as Storm adds them: PATH is appended (``ShellProcess.modifyEnvironment``).

    Where no PATH is inherited, Storm would write "null:" in front, which is spared here.
    """
    variables = {**inherited, **additions}
    if "PATH" in additions and inherited.get("PATH"):
        variables["PATH"] = inherited["PATH"] + os.pathsep + additions["PATH"]
    return variables


def caller_environment() -> dict[str, str]:
    """The environment that this process was given: without the LC_CTYPE that Python itself sets in a C locale."""
    variables = dict(os.environ)
    if "LC_CTYPE" in variables:
        try:
            first = Path("/proc/self/environ").read_bytes().split(b"\0")
        except OSError:
            return variables
        if variables["LC_CTYPE"] in {"C.UTF-8", "C.utf8", "UTF-8"} and not any(
            entry.startswith(b"LC_CTYPE=") for entry in first
        ):
            del variables["LC_CTYPE"]
    return variables


def _means_something(switch: Switch, language: str) -> bool:
    """True if a component in `language` may heed it; a shell's script starts programs in any."""
    of = _LANGUAGES.get(switch.language, switch.language.lower())
    return language in {"", "shell", of} or switch.language == "any"


def _without_switches(
    variables: dict[str, str], switches: Collection[Switch], keep: Collection[str]
) -> Iterator[tuple[Switch, str]]:
    """Take switches out of `variables`; what was taken, each with its effect in words."""
    for switch in switches:
        value = variables.get(switch.name)
        if value is None or switch.name in keep:
            continue
        if not switch.words:
            del variables[switch.name]
            yield switch, f"{switch.name} ({switch.effect})"
            continue
        words = [word for word in re.split(f"[{re.escape(switch.between)}]+", value) if word]
        rest = [word for word in words if not any(re.fullmatch(each, word) for each in switch.words)]
        if len(rest) < len(words):
            variables[switch.name] = switch.between[0].join(rest)
            if not rest:
                del variables[switch.name]
            gone = " ".join(word for word in words if word not in rest)
            yield switch, f"{gone} of {switch.name} ({switch.effect})"


def _with_locale(variables: dict[str, str], known: WorkerDefaults, said: Collection[str]) -> Iterator[str]:
    """Put the usual locale in place of none; a note if that was done. `said`: variables that somebody decided on."""
    names, plain = known.locale.variables, ("", *known.locale.plain)
    decides = next((name for name in names if variables.get(name)), None)
    if any(name in said for name in names) or variables.get(decides or "", "") not in plain:
        return
    found = f"the locale is {variables[decides]} by {decides}" if decides else "no locale is set"
    for name in names:
        if variables.get(name, "") in plain:
            variables.pop(name, None)
    variables[names[-1]] = known.locale.name
    yield f"{found}: {names[-1]}={known.locale.name} in its place (the C locale has cases of its own)"


def _of_worker(
    conf: Mapping[str, Any], storm: str, known: TopologyEnvironment
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables that the topology's conf has for its workers, and notes on those that this Storm ignores.

    Others than texts Storm refuses.
    """
    given = conf.get(TOPOLOGY)
    if not isinstance(given, dict):
        return {}, ()
    variables = {name: value for name, value in given.items() if isinstance(value, str)}
    if storm and variables and Version(storm) < Version(known.since):
        return {}, (f"{TOPOLOGY} of conf was left out: Storm {storm} does not know it (since {known.since})",)
    if storm and _LIBRARIES in variables and Version(storm) < Version(known.libraries_since):
        del variables[_LIBRARIES]
        why = f"Storm {storm} puts its own in its place (until {known.libraries_since})"
        return variables, (f"{_LIBRARIES} of {TOPOLOGY} was left out: {why}",)
    return variables, ()
