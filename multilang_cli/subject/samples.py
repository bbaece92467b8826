"""The tuples that a bolt is fed, and the streams that they come from: declared by its user, or made up."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import msgspec

from multilang_cli.protocol.wire.context import SOURCE, Sample
from multilang_cli.protocol.words.shortening import shown
from multilang_cli.reports.counting import counted
from multilang_cli.subject.options import DEFAULT_SAMPLE, Component, InputSource

DEFAULT_FIELDS = ("sentence",)
"""The fields of the default sample."""


def sources_of(component: Component) -> tuple[InputSource, ...]:
    """The streams that a bolt subscribes to, every one with its fields; one made-up source if none was declared."""
    samples = _declared(component) or tuple(
        Sample(list(component.made_up), *each.place) for each in _sources(component) if component.made_up
    )
    return tuple(
        each if each.fields is not None else msgspec.structs.replace(each, fields=_fields(each, samples))
        for each in _sources(component)
    )


def samples_of(component: Component) -> tuple[Sample, ...]:
    """The tuples to feed, never none: the declared ones, else one that is made up for each source.

    Of several sources the first sample of each, in their declared order, then the second of each: a bolt that joins
    them has its pairs. Samples that name their source themselves keep their order.
    """
    return _declared(component) or tuple(
        Sample(list(component.made_up) or DEFAULT_SAMPLE * len(each.fields or ()), each.component, each.stream)
        for each in sources_of(component)
    )


def has_samples(component: Component) -> bool:
    """True if its user gave a tuple that it takes."""
    return bool(_declared(component))


def declared_values(component: Component) -> tuple[list[Any], ...] | None:
    """Values of the tuples that a bolt's user says that it takes; None where no tuple is made up."""
    if component.testee or component.kind == "spout":
        return None
    return tuple(sample.values for sample in _declared(component))


def unfed(component: Component) -> tuple[InputSource, ...]:
    """Declared sources of which there is no sample, although there is one of another."""
    fed = {(each.component, each.stream) for each in samples_of(component)}
    return tuple(each for each in component.sources if each.place not in fed)


def misdeclared(component: Component) -> str:
    """A sentence on what no Storm would deliver of the sources and samples that were declared; "" if all is well.

    Only declared fields count: Storm refuses a tuple of another arity where it is emitted.
    """
    declared = {each.place: each for each in component.sources}
    if component.sources and component.kind == "spout":
        return "a spout reads from no source."
    for each in component.sources:
        by = (each.grouping or {}).get("fields", ()) if each.fields is not None else ()
        if missing := [field for field in by if field not in (each.fields or ())]:
            return f"{named(each)} is grouped by {missing[0]!r}, which is none of its fields."
    met: set[tuple[str, str]] = set()
    for each in component.sources:
        if each.place in met:
            return f"the source {named(each)} is declared twice."
        met.add(each.place)
    for sample in _declared(component):
        source = declared.get((sample.component, sample.stream))
        if source is not None and source.fields is not None and len(sample.values) != len(source.fields):
            fields = f"{len(source.fields)} ({', '.join(source.fields)})" if source.fields else "none"
            given = counted(len(sample.values), "value")
            return f"{shown(sample.values)} has {given}; fields of {named(source)}: {fields}."
    return ""


def named(source: InputSource) -> str:
    """A source as people write it: its component, and its stream if that is not the usual one."""
    usual = source.stream == InputSource(source.component).stream
    return source.component if usual else f"{source.component}:{source.stream}"


def _sources(component: Component) -> tuple[InputSource, ...]:
    return component.sources or (InputSource(SOURCE),)


def _declared(component: Component) -> tuple[Sample, ...]:
    sources = _sources(component)
    first = sources[0]
    queues = [[Sample(values, each.component, each.stream) for values in each.samples] for each in sources]
    queues[0][:0] = [
        each if isinstance(each, Sample) else Sample(each, first.component, first.stream) for each in component.samples
    ]
    return tuple(each for rank in zip_longest(*queues) for each in rank if each is not None)


def _fields(source: InputSource, samples: tuple[Sample, ...]) -> tuple[str, ...]:
    """Names for fields that were not told: as many as its first sample has values."""
    of_it = (each for each in samples if (each.component, each.stream) == source.place)
    first = next(of_it, None)
    return DEFAULT_FIELDS if first is None else tuple(f"field{n}" for n in range(1, len(first.values) + 1))
