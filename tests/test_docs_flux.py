"""Parts of Flux files that pages show are such that Flux reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from multilang_cli.topology.flux import read_flux
from tests.test_docs import PAGES, blocks

if TYPE_CHECKING:
    from pathlib import Path

SHELL = "org.apache.storm.flux.wrappers."


def shell_parts() -> dict[str, dict[str, Any]]:
    """The shell spouts and shell bolts of all pages, by page."""
    found = {}
    for page in PAGES:
        for body in blocks(page.read_text(encoding="utf-8"), "yaml"):
            told = yaml.safe_load(body)
            for kind in ("spouts", "bolts") if isinstance(told, dict) else ():
                for part in told.get(kind) or ():
                    if part["className"].startswith(SHELL):
                        found[f"{page.name}: {kind}: {part['id']}"] = {kind: [part]}
    return found


def test_shell_components_of_pages_are_read(tmp_path: Path) -> None:
    """Each alone, between a queue and a bolt that logs."""
    parts = shell_parts()
    assert len(parts) > 1
    for place, part in parts.items():
        queue = {"id": "queue", "className": "mlcheck.QueueSpout", "constructorArgs": [["word", "count"]]}
        log = {"id": "log", "className": f"{SHELL}bolts.LogInfoBolt"}
        flux = {
            "name": "shown",
            "config": {"mlcheck.queue": []},
            "spouts": [queue, *part.get("spouts", ())],
            "bolts": [log, *part.get("bolts", ())],
            "streams": [
                {"from": "queue", "to": each["id"], "grouping": {"type": "SHUFFLE"}}
                for each in (log, *part.get("bolts", ()))
            ],
        }
        file = tmp_path / "topology.yaml"
        file.write_text(yaml.safe_dump(flux), encoding="utf-8")
        assert len(read_flux(file).topology.components) == 3, place
