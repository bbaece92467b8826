"""Components of a topology as the suite checks them one by one: what each reads and emits, as declared. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multilang_cli.subject.options import Component, InputSource, StreamDeclaration
from multilang_cli.topology.engine.wiring import plain
from multilang_cli.transcript.secrets import without_secrets

if TYPE_CHECKING:
    from multilang_cli.topology.model import ComponentSpec, Topology

STAND_INS = ("multilang_cli/topology/", "multilang_cli/kafka/")
"""Programs of mlcheck's own, which stand in for Java classes: nobody needs them checked."""


def components_of(topology: Topology) -> tuple[Component, ...]:
    """Every shell component of a topology, in the order of the declaration."""
    return tuple(
        _component(spec, topology)
        for spec in topology.components.values()
        if not any(part in word for word in spec.command for part in STAND_INS)
    )


def _component(spec: ComponentSpec, topology: Topology) -> Component:
    streams = {name: StreamDeclaration(stream.fields, stream.direct) for name, stream in spec.streams.items()}
    sources = tuple(
        InputSource(
            each.source,
            each.stream,
            topology.components[each.source].streams[each.stream].fields,
            grouping=plain(each.grouping),
        )
        for each in topology.subscriptions
        if each.target == spec.id
    )
    return Component(
        command=spec.command,
        kind=spec.kind,
        name=spec.id,
        cwd=spec.cwd or None,
        env=dict(spec.env),
        conf={**without_secrets(topology.conf), **spec.conf},
        sources=sources,
        streams=streams or None,
    )
