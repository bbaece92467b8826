"""The hooks for pre-commit: they are those that the page tells of, and do what it says, without pre-commit."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.command import ROOT, mlcheck
from tests.following.reader import blocks_of

if TYPE_CHECKING:
    from pathlib import Path

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
FILES = {"mlcheck": [], "mlcheck-config": ["mlcheck.toml"]}
"""What pre-commit adds to the words of each."""
SHORT = {"mlcheck": ["-k", "bolt.settle.once"], "mlcheck-config": []}
ACK = '    send({"command": "ack", "id": message["id"]})\n'


def test_the_page_tells_of_every_hook() -> None:
    [config] = [yaml.safe_load(block.body) for block in blocks_of(PAGE) if block.language == "yaml"]
    assert {hook["id"] for hook in config["repos"][0]["hooks"]} == {hook["id"] for hook in HOOKS} == FILES.keys()
    assert {hook["id"] for hook in HOOKS if hook.get("pass_filenames", True)} == {"mlcheck-config"}


@pytest.mark.component
@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_is_green_until_something_is_wrong(hook: dict[str, Any], tmp_path: Path) -> None:
    program, *words = shlex.split(hook["entry"])
    assert program == "mlcheck"
    assert mlcheck("new", "bolt", "--language", "python", ".", cwd=tmp_path).returncode == 0
    given = (*words, *FILES[hook["id"]], *SHORT[hook["id"]])
    assert mlcheck(*given, cwd=tmp_path).returncode == 0
    config, bolt = tmp_path / "mlcheck.toml", tmp_path / "split_bolt.py"
    if hook["id"] == "mlcheck":
        bolt.write_text(bolt.read_text(encoding="utf-8").replace(ACK, 2 * ACK), encoding="utf-8")
    else:
        config.write_text(config.read_text(encoding="utf-8").replace("command =", "comand ="), encoding="utf-8")
    assert mlcheck(*given, cwd=tmp_path).returncode == 1
