"""A streamparse project, from its folder to a topology: its own Python describes it, and Flux's rules hold for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.texts import TextError
from multilang_cli.driver.scratch import lasting_scratch
from multilang_cli.driver.supervisor import finish
from multilang_cli.subject.streamparse_settings import settings_of
from multilang_cli.terminal.exits import CommandError
from multilang_cli.topology.flux import FluxError, read_flux
from multilang_cli.topology.streamparse import describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.topology.flux import FluxFile

DESCRIBE_SECONDS = 60
_RUNNER = "streamparse_run"
_PLACES = (".venv", "venv", "env")


class ProjectError(CommandError):
    """A project that can't be read; the message is a sentence that says why."""


def read_project(project: str, storm: str, conf: Mapping[str, Any]) -> FluxFile:
    """Read ``DIR`` or ``DIR:topology``. `conf`: over its own. Raises ProjectError, FluxError."""
    folder, name = _parted(project)
    try:
        settings = settings_of(folder)
    except TextError as error:
        raise ProjectError(f"{error}") from None
    file = _topology_file(folder / settings.topology_specs, name)
    python = _python(folder)
    flux = _described(python, file, settings.environment)
    flux["config"] = {**settings.options, **flux["config"]}
    work = lasting_scratch("mlcheck-streamparse-")
    written = work / f"{file.stem}.yaml"
    written.write_text(json.dumps(flux), encoding="utf-8")
    try:
        read = read_flux(written, resources=folder / "src", storm=storm, conf=conf)
    except FluxError as error:
        raise ProjectError(f"{file}: {error.sentence}") from None
    components = {
        each.id: msgspec.structs.replace(each, command=_command(python, each.command), place=None)
        for each in read.topology.components.values()
    }
    return msgspec.structs.replace(read, topology=msgspec.structs.replace(read.topology, components=components))


def _parted(project: str) -> tuple[Path, str]:
    folder, colon, name = project.rpartition(":")
    if not colon or Path(project).is_dir():
        folder, name = project, ""
    if not Path(folder).is_dir():
        raise ProjectError(f"--streamparse {project}: there is no folder {folder}")
    return Path(folder), name


def _topology_file(folder: Path, name: str) -> Path:
    try:
        known = sorted(each for each in folder.glob("*.py") if each.stem != "__init__" and each.is_file())
    except (OSError, ValueError) as error:
        raise ProjectError(f"its topologies can't be read: {error}") from None
    chosen = [each for each in known if not name or each.stem == name]
    if len(chosen) == 1:
        return chosen[0].absolute()
    names = ", ".join(each.stem for each in known) or "none"
    told = f"there is no topology {name}" if name else "it is not said which topology (DIR:topology)"
    raise ProjectError(f"{folder}: {told}; known are {names}")


def _python(folder: Path) -> str:
    """The project's own Python: that of a virtual environment in it, of the active one, or on PATH."""
    places = [folder / name for name in _PLACES]
    if active := os.environ.get("VIRTUAL_ENV"):
        places.append(Path(active))
    for place in places:
        if (python := place / "bin" / "python").exists():
            return str(python.absolute())
    found = shutil.which("python3")
    if found is None:
        raise ProjectError("python3 was not found on PATH; a streamparse project needs a Python that has streamparse")
    return found


def _described(python: str, file: Path, environment: str) -> dict[str, Any]:
    command = [python, str(Path(describe.__file__)), str(file), file.stem, environment]
    try:
        done = finish(command, DESCRIBE_SECONDS)
    except subprocess.TimeoutExpired:
        raise ProjectError(f"{file}: it was not imported within {DESCRIBE_SECONDS} s") from None
    if done.code != 0:
        said = done.err.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        if "No module named 'streamparse'" in said[0]:
            raise ProjectError(f"{file} needs streamparse, which {python} has not: {python} -m pip install streamparse")
        raise ProjectError(f"{file} can't be imported by {python}: {said[0]}")
    try:
        found = json.loads(done.out)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProjectError(f"{file}: what {python} tells of it is no topology: does it write to stdout as it ends?")
    return found


def _command(python: str, command: tuple[str, ...]) -> tuple[str, ...]:
    """The command of a component: streamparse's runner is that of the project's Python."""
    if command[0] != _RUNNER:
        return command
    return (python, "-m", "streamparse.run", *(word for text in command[1:] for word in text.split()))
