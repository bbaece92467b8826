"""Every component in the repository that is right, as its user would declare it: for tests, and for soaks."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multilang_cli.subject.options import Component, StreamDeclaration

if TYPE_CHECKING:
    from multilang_cli.protocol.words.verdicts import Kind

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
RIGHT = Path(__file__).parent / "right"
KINDS: tuple[Kind, ...] = ("bolt", "spout")

EXAMPLE_FILES: tuple[tuple[str, Kind], ...] = (
    ("python/split_bolt.py", "bolt"),
    ("python/sentence_spout.py", "spout"),
    ("javascript/split_bolt.js", "bolt"),
    ("javascript/sentence_spout.js", "spout"),
    ("c/split_bolt", "bolt"),
    ("c/sentence_spout", "spout"),
    ("storm_py/split_bolt.py", "bolt"),
    ("storm_py/sentence_spout.py", "spout"),
)

DECLARED: dict[str, dict[str, Any]] = {
    "batch-of-5": {"settles": "after-5"},
    "on-tick": {"settles": "on-tick", "accepts": ("ticks",)},
    "on-third-tick": {"settles": "on-tick", "accepts": ("ticks",)},
    "batch-by-value": {"settles": "unchecked"},
    "window-of-3": {"settles": "after-4"},
    "joins": {"settles": "unchecked"},
    "on-next": {"settles": "on-next"},
    "never": {"settles": "unchecked"},
    "talks": {"streams": {"default": StreamDeclaration(("x",)), "more": StreamDeclaration(("x",))}},
    "fails-all": {"accepts": ("null", "nested", "empty", "arity", "integers", "floats", "ticks")},
    "threads": {"accepts": ("null", "nested", "empty", "arity", "integers", "floats", "text", "large")},
}
"""What a user of the component would write into mlcheck.toml."""

WORTH_A_WORD = {"no-ids": {"never-an-id"}, "syncs-more": {"sync-unasked"}}
"""Notes that are fair."""
WARNED_OF = {"fails-all": {"settling"}}
"""Subjects with a warning that is fair."""


def copy_examples(folder: Path) -> Path:
    """A copy of the examples in `folder`, the C ones compiled, storm.py fetched as its script does."""
    copy = folder / "examples"
    shutil.copytree(EXAMPLES, copy)
    subprocess.run(["make", "-s", "-C", str(copy / "c"), "CFLAGS=-std=c11 -O2 -Wall -Wextra -Werror"], check=True)
    if not (copy / "storm_py" / "storm.py").exists():
        get = copy / "storm_py" / "get_storm.py"
        subprocess.run([sys.executable, str(get), str(copy / "storm_py")], check=True)
    return copy


def examples(copy: Path) -> dict[str, Component]:
    """The shipped examples in a copy of theirs."""
    return {
        name: Component(
            command=(str(copy / name),),
            kind=kind,
            streams={"default": StreamDeclaration(("word" if kind == "bolt" else "sentence",))},
        )
        for name, kind in EXAMPLE_FILES
    }


def unusual() -> dict[str, Component]:
    """Components that are right in unusual ways."""
    return {
        f"{kind}-{name}": Component(
            command=(sys.executable, str(RIGHT / f"{kind}s.py"), name),
            kind=kind,
            samples=(["a b", 1], ["c d", 2]),
            **DECLARED.get(name, {}),
        )
        for kind in KINDS
        for name in runpy.run_path(str(RIGHT / f"{kind}s.py"), run_name="right")[f"{kind.upper()}S"]
    }
