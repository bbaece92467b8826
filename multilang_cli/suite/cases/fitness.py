"""Fitness of a case for a component: whether what it needs, and what it makes up, was declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from packaging.version import Version

from multilang_cli.subject.samples import has_samples
from multilang_cli.suite.steps.ticks import takes_ticks

if TYPE_CHECKING:
    from collections.abc import Callable

    from multilang_cli.subject.options import StreamDeclaration
    from multilang_cli.subject.subject import Subject
    from multilang_cli.suite.cases.case import Case, Need


class _Needed(NamedTuple):
    """Something that a case needs to be declared: how to tell, and what to say where it is not."""

    met: Callable[[dict[str, StreamDeclaration] | None], bool]
    missing: str


NEEDS: dict[Need, _Needed] = {
    "streams": _Needed(lambda streams: streams is not None, "no streams are declared (--stream NAME:field,field)"),
    "direct": _Needed(
        lambda streams: any(stream.direct for stream in (streams or {}).values()),
        "no direct stream is declared (--stream NAME:field,field!direct)",
    ),
    "schema": _Needed(
        lambda streams: any(stream.schema is not None for stream in (streams or {}).values()),
        "no stream has a JSON Schema of its values (streams.NAME.schema in mlcheck.toml)",
    ),
}
"""By the words of `Case.needs`."""


def why_unfit(case: Case, subject: Subject) -> str:
    """The reason why a case can say nothing of a component, "" if it can."""
    version, component = subject.version, subject.component
    if case.since and Version(version.id) < Version(case.since):
        return f"not asked for by Storm {version.id} yet (since {case.since})"
    accepts = {*component.accepts, *(("ticks",) if takes_ticks(component) else ())}
    if not set(case.accepts) <= accepts:
        return "it is not declared to take such tuples (--accepts, or accepts in mlcheck.toml)"
    if fixed := [name for name in case.env if name in component.env]:
        return f"its environment is declared to have {fixed[0]}={component.env[fixed[0]]}"
    if undone := [word for word in case.supports if word not in component.features]:
        return f"its library does not say that it can do this ({', '.join(undone)})"
    if _judges_values(case) and component.kind == "bolt" and not has_samples(component):
        return "no samples are declared: what it emits of a made-up tuple is not judged (--tuple JSON, or samples)"
    streams = component.streams
    for need in case.needs:
        if not NEEDS[need].met(streams):
            return NEEDS[need].missing
    return ""


def _judges_values(case: Case) -> bool:
    """True if a case judges what is emitted of samples; tuples that stand in the case itself are declared by it."""
    own = any("these" in arguments for _, arguments in case.steps)
    return not own and bool({"streams", "schema"} & {*case.needs})
