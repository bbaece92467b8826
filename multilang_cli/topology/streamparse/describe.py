"""Prints a streamparse topology as JSON that Flux could read; a script for the project's own Python.

``describe.py FILE NAME ENVIRONMENT``. `ENVIRONMENT`: by which a parallelism is chosen, "" for the first.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

NO_STREAM = ["NONE_BUT_FLUX_WANTS_SOMETHING_HERE"]
"""What streamparse writes for Flux as the fields of a component without outputs. ``sparse submit`` declares none."""


def main(file: str, name: str, environment: str) -> Any:
    """Import the module as ``sparse run`` does, and print its first topology."""
    from streamparse.dsl.topology import Topology, TopologyType  # noqa: PLC0415 (its absence is told apart)

    folder = Path(file).resolve().parent
    sys.path[:0] = [str(folder.parent / "src"), str(folder)]
    module = importlib.import_module(Path(file).stem)
    found = [each for each in vars(module).values() if isinstance(each, TopologyType) and each is not Topology]
    if not found:
        raise SystemExit(f"there is no subclass of streamparse.Topology in {file}")
    topology = found[0]
    for spec in topology.specs:
        if isinstance(spec.par, dict):
            spec.par = spec.par.get(environment) or next(iter(spec.par.values()))
    flux = topology.to_flux_dict(name)
    for part in (*flux.get("spouts", ()), *flux.get("bolts", ())):
        if part["constructorArgs"][1:] == [NO_STREAM]:
            del part["constructorArgs"][1:]
    flux["config"] = topology.config
    return flux


if __name__ == "__main__":
    out, sys.stdout = sys.stdout, sys.stderr
    json.dump(main(*sys.argv[1:]), out)
