"""Settings of mlcheck.toml and the environment that hold for topologies too."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.subject.config import load_nearest
from multilang_cli.subject.settings import Flags, run_options
from multilang_cli.subject.storms import played_storms
from multilang_cli.topology.flux import FluxFile
from multilang_cli.topology.model import GUARANTEE, UNANCHORED, Location, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from multilang_cli.topology.model import Topology


class TopologySettings(msgspec.Struct, frozen=True):
    """Defaults for the command line, and the table ``[topology]`` of `file`, which goes under the topology's own conf.

    `storm`: the newest of the versions that are named there, "" for none.
    """

    storm: str = ""
    strict: bool = False
    seed: int = 0
    guarantee: str = ""
    unanchored: tuple[str, ...] = ()
    file: str = ""

    @property
    def defaults(self) -> dict[str, Any]:
        """Defaults of the command line, by the names of its options."""
        return {"storm": self.storm, "strict": self.strict, "seed": self.seed}

    def under(self, read: FluxFile) -> FluxFile:
        """The topology with what the table says of its guarantee, where its own conf says nothing.

        A file is for several topologies: a stream that this one has not is a note.
        """
        known = read.topology.stream_names
        told: dict[str, Any] = {
            GUARANTEE: self.guarantee,
            UNANCHORED: [name for name in self.unanchored if name in known],
        }
        conf = {key: value for key, value in told.items() if value} | read.topology.conf
        topology = msgspec.structs.replace(read.topology, conf=conf)
        return FluxFile(topology, (*read.notes, *self._unknown(read.topology, known)))

    def _unknown(self, topology: Topology, known: frozenset[str]) -> Iterator[Notice]:
        for name in self.unanchored:
            if UNANCHORED not in topology.conf and name not in known:
                yield Notice(
                    Location(self.file, 0), f"topology.unanchored: no component declares a stream {name} here."
                )


def topology_settings(environ: Mapping[str, str] = os.environ) -> TopologySettings:
    """Read what environment and configuration file say for topologies. Raises CommandError."""
    config = load_nearest()
    options = run_options(Flags(), environ, config)
    table = config.settings.get("topology", {})
    return TopologySettings(
        storm=played_storms(options.storm)[-1],
        strict=options.strict,
        seed=options.seed,
        guarantee=table.get("guarantee", ""),
        unanchored=tuple(table.get("unanchored", ())),
        file=str(config.path or ""),
    )
