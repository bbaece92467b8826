"""Profile of a component, read from the first messages of a real Storm, for the judge. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from multilang_cli.protocol.wire.framing import DEFAULT_LIMIT
from multilang_cli.protocol.words.messages import Ack, Fail, Handshake, SpoutCommand, TupleMsg
from multilang_cli.protocol.words.verdicts import Kind, Profile, SourceSpec, StreamSpec

if TYPE_CHECKING:
    from multilang_cli.protocol.words.events import Event

_SOURCES = "source->stream->grouping"
_SYSTEM = "__"


def kind_of(event: Event) -> Kind | None:
    """Bolt or spout, if `event` tells. A whole context (Storm 0.10 and later) does: only bolts have sources."""
    body = event.body
    if isinstance(body, Handshake):
        sources = body.context.get(_SOURCES)
        if not isinstance(sources, dict):
            return None
        return "bolt" if any(not name.startswith(_SYSTEM) for name in sources) else "spout"
    if isinstance(body, SpoutCommand):
        return "spout"
    return "bolt" if isinstance(body, TupleMsg | Ack | Fail) else None


def profile_of(handshake: Handshake, kind: Kind, storm: str) -> Profile:
    """The profile of the component that `handshake` was sent to. What it does not tell, or not well, stays open."""
    context = handshake.context
    tasks = {
        int(task): name
        for task, name in _object(context.get("task->component")).items()
        if task.isdecimal() and isinstance(name, str)
    }
    task = context.get("taskid")
    task = task if isinstance(task, int) else 0
    component = context.get("componentid")
    return Profile(
        kind=kind,
        storm=storm,
        task=task,
        component=component if isinstance(component, str) else tasks.get(task, "component"),
        streams=_streams(context, tasks),
        sources=_sources(context),
        tasks=tasks,
        conf=handshake.conf,
        limits={"frame": DEFAULT_LIMIT},
    )


def _streams(context: dict[str, Any], tasks: dict[int, str]) -> dict[str, StreamSpec] | None:
    """The output streams with who consumes them; None if the context does not tell (Storm 0.9 and before)."""
    declared = context.get("stream->outputfields")
    if not isinstance(declared, dict):
        return None
    targets = _object(context.get("stream->target->grouping"))
    found = {}
    for name, fields in declared.items():
        groupings = {to: how for to, how in _object(targets.get(name)).items() if isinstance(how, dict)}
        consumers = {to: tuple(sorted(task for task, its in tasks.items() if its == to)) for to in groupings}
        direct = any(how.get("type") == "DIRECT" for how in groupings.values())
        found[name] = StreamSpec(_fields(fields), direct, consumers, groupings)
    return found


def _sources(context: dict[str, Any]) -> dict[str, dict[str, SourceSpec]]:
    fields = _object(context.get("source->stream->fields"))
    return {
        source: {
            stream: SourceSpec(_fields(_object(fields.get(source)).get(stream)) or (), how)
            for stream, how in _object(streams).items()
            if isinstance(how, dict)
        }
        for source, streams in _object(context.get(_SOURCES)).items()
    }


def _fields(value: Any) -> tuple[str, ...] | None:
    known = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return tuple(value) if known else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
