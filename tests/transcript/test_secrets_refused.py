"""Settings that are refused are quoted without their secrets, which are known before anything is said of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.command import mlcheck

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

SECRET, NUMBER = "hunter22hunter22", 7418529630
TOML = """
[[component]]
command = ["./bolt", "--password", "hunter22hunter22"]
"""
FLUX: dict[str, Any] = {
    "name": "t",
    "config": {},
    "spouts": [],
    "bolts": [
        {
            "id": "b",
            "className": "org.apache.storm.flux.wrappers.bolts.FluxShellBolt",
            "constructorArgs": [["./bolt", "--password", SECRET], ["a"]],
            "configMethods": [],
        }
    ],
    "streams": [],
}


@pytest.mark.parametrize("words", [("run",), ("config", "show"), ("schema", "validate", "config", "mlcheck.toml")])
@pytest.mark.parametrize(
    "wrong",
    [
        "[component.env]\nDB_PASSWORD = 7418529630\n",
        'env = ["DB_PASSWORD=hunter22hunter22"]\n',
        'limits = {"pid" = "Bearer hunter22hunter22"}\n',
        'cwd = {url = "https://u:hunter22hunter22@h/x"}\n',
        'conf = "u:hunter22hunter22@db"\n',
        "kind = \"password='hunter22hunter22'\"\n",
    ],
    ids=range(6),
)
def test_in_the_configuration(words: tuple[str, ...], wrong: str, tmp_path: Path) -> None:
    (tmp_path / "mlcheck.toml").write_text(TOML + wrong)
    ran = mlcheck(*words, cwd=tmp_path)
    assert ran.returncode in {1, 2}
    assert "***" in ran.stdout + ran.stderr
    assert not [each for each in (SECRET, str(NUMBER)) if each in ran.stdout + ran.stderr]


@pytest.mark.parametrize(
    "wrong",
    [
        {"config": {"topology.workers": f"postgres://u:{SECRET}@h/x"}},
        {"bolts": [{**FLUX["bolts"][0], "configMethods": [{"name": "setEnv", "args": [{"API_TOKEN": NUMBER}]}]}]},
        {"streams": [{"from": "b", "to": "b", "grouping": {"type": f"password={SECRET}"}}]},
    ],
    ids=["workers", "environment", "grouping"],
)
def test_in_a_flux_file(wrong: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(json.dumps(FLUX | wrong, indent=1))
    ran = mlcheck("topology", "plan", "t.yaml", cwd=tmp_path)
    assert ran.returncode == 2
    assert "***" in ran.stderr
    assert not [each for each in (SECRET, str(NUMBER)) if each in ran.stdout + ran.stderr]


@pytest.mark.parametrize("pair", [f"db.password:{SECRET}", f"db.password {SECRET}"])
def test_in_what_is_no_pair(pair: str, tmp_path: Path) -> None:
    ran = mlcheck("run", "--kind", "bolt", "--conf", pair, "./bolt", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "mlcheck: --conf: expected K=V, not 'db.password...'.\n")
