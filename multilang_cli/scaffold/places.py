"""Folders of a project in which programs lie: its resources, its virtual environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from multilang_cli.driver.launch import INTERPRETERS

if TYPE_CHECKING:
    from multilang_cli.subject.options import Component

_RESOURCES = (
    "resources",
    "multilang/resources",
    "multilang",
    "src/main/resources/resources",
    "src/main/resources",
    "src/main/multilang/resources",
    "src/main/multilang",
    "src/resources",
)
"""Folders that become ``resources/`` of a topology's jar, or have it in them, below the root of a project."""
_FLUX_FILES = ("", "src/main/resources", "src/main/resources/flux", "src/main/flux", "flux", "conf", "topologies")
"""Folders of a project in which its Flux file lies."""
_LEVELS = 4
"""Folders from a Flux file up in which the root of its project is looked for: ``src/main/resources/flux``."""
_ENVIRONMENTS = (".venv", "venv", "env")
"""Folders of a project's own virtual environment."""


def beside_its_program(component: Component, flux: Path) -> Component:
    """The component of a Flux file, in the folder where its program lies; as it is, where none of the usual has it."""
    programs = [word for word in component.command if Path(word).suffix in INTERPRETERS]
    home = Path(component.cwd or ".")
    if not programs or any((home / word).exists() for word in programs):
        return component
    for root in (flux.absolute().parent, *list(flux.absolute().parents)[1 : _LEVELS + 1]):
        for folder in (root / name for name in _RESOURCES):
            if all((folder / word).is_file() for word in programs):
                return msgspec.structs.replace(component, cwd=str(folder))
    return component


def folders_of_programs(project: Path) -> list[Path]:
    """The folders in which components may lie, those first whose programs are nothing else; the project's own last."""
    return [each for name in _RESOURCES if (each := project / name).is_dir()] + [project]


def folders_of_flux_files(project: Path) -> list[Path]:
    """The folders in which a Flux file may lie, the project's own first."""
    return [each for name in _FLUX_FILES if (each := project / name).is_dir()]


def in_own_environment(program: str, project: Path, cwd: Path) -> str:
    """The path of a program of the project's own virtual environment, from `cwd`; its bare name, where it has none."""
    places = (project / name / "bin" / program for name in _ENVIRONMENTS)
    return next((os.path.relpath(place, cwd) for place in places if place.is_file()), program)
