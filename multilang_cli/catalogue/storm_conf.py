"""Conf that a cluster of each era hands to components (``conformance/storm-conf.yaml``)."""

from __future__ import annotations

from typing import Any

from packaging.specifiers import SpecifierSet

from multilang_cli.catalogue.loader import plain
from multilang_cli.catalogue.locate import data_path
from multilang_cli.catalogue.once import once

_Data = dict[str, Any]


def base_conf(storm: str) -> dict[str, Any]:
    """The merged conf of a cluster of Storm `storm` with default settings, by key, sorted; a fresh copy.

    `storm` is a version such as "2.8.3". Raises packaging.version.InvalidVersion if it is none.
    """
    data = _data()
    package = next(name for wanted, name in data["packages"].items() if _holds(wanted, storm))
    merged: dict[str, Any] = {}
    for section in data["sections"]:
        if _holds(section["storm"], storm):
            merged.update(section["conf"])
    return {key: _filled(merged[key], package) for key in sorted(merged)}


def _filled(value: Any, package: str) -> Any:
    if isinstance(value, str):
        return value.replace("{storm}", package)
    return list(value) if isinstance(value, list) else value


def _holds(wanted: str, storm: str) -> bool:
    return SpecifierSet("" if wanted == "*" else wanted).contains(storm, prereleases=True)


@once
def _data() -> _Data:
    data: _Data = plain(data_path("conformance", "storm-conf.yaml"))
    return data
