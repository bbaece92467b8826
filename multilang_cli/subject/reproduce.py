"""The words of a command line that repeat a run, with the secrets of conf and environment left out."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.subject.settings import SETTINGS, SWITCHES
from multilang_cli.transcript.redact import redacted

if TYPE_CHECKING:
    from multilang_cli.subject.config import Config
    from multilang_cli.subject.options import Component, RunOptions
    from multilang_cli.subject.settings import Flags

REPEATED: dict[str, str] = {
    "ackers": "--ackers",
    "tuples": "--tuple",
    "tuple_files": "--tuples",
    "conf_files": "--conf-file",
    "inputs": "--input",
    "streams": "--stream",
    "cwd": "--cwd",
    "task": "--task",
    "settles": "--settles",
    "accepts": "--accepts",
    "pid": "--pid",
    "limits": "--limit",
    "suites": "--suite",
}
"""Flags that are repeated as they were written."""

_HERE = frozenset({"record", "record_all", "jobs", "fail_fast"})
"""Settings that say how a whole run is done: a case that is played again needs none of them."""


def words_of(flags: Flags, component: Component, options: RunOptions, config: Config) -> tuple[str, ...]:
    """``mlcheck run`` and every flag that matters, but for the selection and the component's command.

    `component`: as it is run, its kind decided. Values that the file gives again are left to the file.
    """
    words = ["mlcheck", "run"]
    if any(declared.name == component.name for declared in config.components):
        words += ["--component", component.name]
    words += ["--testee", os.path.relpath(component.cwd or ".")] if component.testee else ["--kind", component.kind]
    usual = {**msgspec.structs.asdict(type(options)()), **config.settings}
    for name in (*SETTINGS, *SWITCHES):
        value, option = getattr(options, name), name.replace("_", "-")
        if name in _HERE or value == usual[name]:
            continue
        words += (
            [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
        )
    for name, option in REPEATED.items():
        values = getattr(flags, name) or ()
        for value in (values,) if isinstance(values, str) else values:
            words += [option, value]
    return (*words, *_pairs("--conf", flags.conf), *_pairs("--env", flags.env))


def _pairs(option: str, texts: tuple[str, ...]) -> list[str]:
    words = []
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            words += [option, key]
            continue
        hidden: Any = redacted({key: value})[0][key]
        words += [option, f"{key}={hidden if isinstance(hidden, str) else json.dumps(hidden)}"]
    return words
