"""Flux files to test with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.topology.flux import read_flux

if TYPE_CHECKING:
    from collections.abc import Mapping

    from multilang_cli.topology.model import Topology

FLUX = Path(__file__).parent / "data" / "flux"
SHELL_SPOUT = "org.apache.storm.flux.wrappers.spouts.FluxShellSpout"
SHELL_BOLT = "org.apache.storm.flux.wrappers.bolts.FluxShellBolt"

GOOD = f"""name: words
config:
  topology.workers: 2
  ratio: 1e3
  "on": yes
spouts:
  - id: source
    className: {SHELL_SPOUT}
    constructorArgs: [[node, source.js], [sentence]]
    parallelism: 1
bolts:
  - id: split
    className: {SHELL_BOLT}
    constructorArgs: [[python3, split.py]]
    parallelism: 2
    numTasks: "5"
    configMethods:
      - name: setDefaultStream
        args: [[word]]
      - name: setNamedStream
        args:
          - odd
          - [word, why]
      - name: addComponentConfig
        args: [paths, [a, 1]]
      - name: setEnv
        args: [{{LANG: C}}]
  - id: count
    className: {SHELL_BOLT}
    constructorArgs: [[count]]
streams:
  - from: source
    to: split
    grouping: {{type: SHUFFLE}}
  - from: split
    to: count
    grouping: {{type: FIELDS, args: [word]}}
  - from: split
    to: count
    grouping: {{type: DIRECT, streamId: odd}}
"""
"""A spout, a bolt with most of what Flux can say, and a bolt of another language."""


def read_topology(
    path: Path,
    properties: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    resources: Path | None = None,
    storm: str | None = None,
) -> Topology:
    """The topology of a Flux file. Raises FluxError. See `read_flux`."""
    return read_flux(path, properties, env, resources, storm).topology
