"""Flux files in Flux's own model (``org.apache.storm.flux.model``), and the merging of includes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from multilang_cli.catalogue.texts import TextError
from multilang_cli.catalogue.yaml_texts import yaml_value
from multilang_cli.topology.flux.errors import FluxError, NeedsJavaError
from multilang_cli.topology.flux.yaml_tree import Located
from multilang_cli.topology.model import Location, Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MODEL = "org.apache.storm.flux.model."
_OBJECT = ("className", "constructorArgs", "properties", "configMethods", "factory", "factoryArgs")
_VERTEX = (*_OBJECT, "id", "parallelism", "numTasks", "onHeapMemoryLoad", "offHeapMemoryLoad", "cpuLoad", "config")
_TOPOLOGY = (
    *("name", "config", "components", "spouts", "bolts", "streams", "includes"),
    *("topologySource", "workerHooks", "dependencies"),
)
GROUPINGS = ("ALL", "CUSTOM", "DIRECT", "SHUFFLE", "LOCAL_OR_SHUFFLE", "FIELDS", "GLOBAL", "NONE")
"""The types that Flux knows (``GroupingDef.Type``)."""

T = TypeVar("T")


class MethodCall(msgspec.Struct, frozen=True):
    """A configuration method to be called, or a property to be set (`name` is then ``setX``)."""

    name: str
    args: tuple[Located, ...]
    place: Location


class ObjectDef(msgspec.Struct, frozen=True, kw_only=True):
    """A Java object to be made. `id`: "" for the class of a grouping."""

    id: str = ""
    class_name: str
    args: tuple[Located, ...]
    calls: tuple[MethodCall, ...]
    factory: str
    place: Location


class VertexDef(ObjectDef, frozen=True, kw_only=True):
    """A spout or a bolt. `num_tasks`: -1 for as many as `parallelism`. `sized`: where that, or this, stands.

    `conf`: its own over the topology's, which stands at `conf_place`.
    """

    parallelism: int
    num_tasks: int
    sized: Location
    conf: dict[str, Located] = {}
    conf_place: Location | None = None


class GroupingDef(msgspec.Struct, frozen=True, kw_only=True):
    """A stream's grouping. `args`: None if there are none; `custom`: for CUSTOM."""

    type: str
    stream: str | None
    args: tuple[str, ...] | None
    custom: ObjectDef | None
    place: Location


class StreamDef(msgspec.Struct, frozen=True, kw_only=True):
    """A wish of `target` for a stream of `source`. `places`: of its keys, and of those of its grouping."""

    source: str
    target: str
    grouping: GroupingDef
    place: Location
    places: dict[str, Location]


class IncludeDef(msgspec.Struct, frozen=True, kw_only=True):
    """Another file. `resource`: one that Storm looks for in the jar. `override`: it wins."""

    file: str
    resource: bool
    override: bool
    place: Location


class TopologyDef(msgspec.Struct, kw_only=True):
    """A whole file; `notes`: what Flux lets pass.

    `dependencies`: Maven coordinates of what its classes need. `unknown`: places of keys that Storm's own Flux
    does not know. `needs_java`: why only Java can make it, None if not.
    """

    place: Location
    name: str | None = None
    config: dict[str, Located] = {}
    components: dict[str, ObjectDef] = {}
    spouts: dict[str, VertexDef] = {}
    bolts: dict[str, VertexDef] = {}
    streams: list[StreamDef] = []
    includes: list[IncludeDef] = []
    notes: list[Notice] = []
    dependencies: tuple[str, ...] = ()
    unknown: list[Location] = []
    needs_java: NeedsJavaError | None = None

    def include(self, other: TopologyDef, *, override: bool) -> None:
        """Take over what `other` says (``FluxParser.processIncludes``): what is here stays, unless it is to win."""
        if other.name is not None:
            if self.name is None or override:
                self.name = other.name
            else:
                self._ignored(other.place, "property 'name'")
        self._merge(self.config, other.config, "topology config property '{}'", override=override)
        self._merge(self.components, other.components, "component '{}'", override=override)
        self._merge(self.bolts, other.bolts, "bolt '{}'", override=override)
        self._merge(self.spouts, other.spouts, "spout '{}'", override=override)
        self.streams += other.streams
        self.notes += other.notes
        self.dependencies += other.dependencies
        self.unknown += other.unknown
        for nested in other.includes:
            self.notes.append(Notice(nested.place, "Flux does not follow the includes of an included file."))

    def _merge(self, mine: dict[str, Any], theirs: dict[str, Any], what: str, *, override: bool) -> None:
        for name, each in theirs.items():
            if name in mine and not override:
                self._ignored(each.place, what.format(name))
            else:
                mine[name] = each

    def _ignored(self, place: Location, what: str) -> None:
        self.notes.append(Notice(place, f"Ignoring attempt to set {what} with override == false."))


def topology_def(root: Located | None, file: str) -> TopologyDef:
    """Read the document. Raises FluxError, in the words of Storm or SnakeYAML where they have any."""
    if root is None or not isinstance(root.value, dict):
        raise FluxError(
            Location(file, 1), "a topology is a mapping with the keys name, config, spouts, bolts and streams."
        )
    fields = _fields(root, "TopologyDef", _TOPOLOGY)
    found = TopologyDef(place=root.place, name=_text(fields, "name"))
    if "dependencies" in fields:
        found.dependencies = tuple(each.text for each in _list(fields["dependencies"], "dependencies"))
        found.unknown.append(fields["dependencies"].place)
    for key, needs in (("topologySource", "a topology made by Java code"), ("workerHooks", "worker hooks")):
        if key in fields:
            told = f"{key}: {needs} can't be run without Java; leave it out."
            name = fields[key].value.get("className") if isinstance(fields[key].value, dict) else None
            found.needs_java = NeedsJavaError(fields[key].place, told, name.text if name else "")
    if "config" in fields:
        found.config = {str(key): value for key, value in _mapping(fields["config"], "config").items()}
    found.components = _by_id(_each(fields, "components", _object_def), found.notes)
    found.spouts = _by_id(_each(fields, "spouts", partial(_vertex_def, "SpoutDef")), found.notes)
    found.bolts = _by_id(_each(fields, "bolts", partial(_vertex_def, "BoltDef")), found.notes)
    vertices = (*found.spouts.values(), *found.bolts.values())
    found.unknown += [place for each in vertices if (place := each.conf_place) is not None]
    found.streams = _each(fields, "streams", _stream_def)
    found.includes = _each(fields, "includes", _include_def)
    return found


Vertex = TypeVar("Vertex", bound=ObjectDef)


def _by_id(defs: Iterable[Vertex], notes: list[Notice]) -> dict[str, Vertex]:
    found: dict[str, Vertex] = {}
    for each in defs:
        if each.id in found:
            notes.append(Notice(found[each.id].place, f"'{each.id}' is declared again below; only the last counts."))
        found[each.id] = each
    return found


def _object_def(located: Located) -> ObjectDef:
    fields = _fields(located, "BeanDef", (*_OBJECT, "id"))
    return ObjectDef(id=_needed(fields, "id", located.place), **_object_parts(fields, located.place))


def _vertex_def(model: str, located: Located) -> VertexDef:
    fields = _fields(located, model, _VERTEX)
    sized = fields.get("numTasks") or fields.get("parallelism")
    return VertexDef(
        id=_needed(fields, "id", located.place),
        parallelism=_int(fields, "parallelism", 1),
        num_tasks=_int(fields, "numTasks", -1),
        sized=sized.place if sized else located.place,
        conf={str(key): each for key, each in _mapping(fields["config"], "config").items()}
        if "config" in fields
        else {},
        conf_place=fields["config"].place if "config" in fields else None,
        **_object_parts(fields, located.place),
    )


def _object_parts(fields: dict[str, Located], place: Location) -> dict[str, Any]:
    return {
        "class_name": _needed(fields, "className", place),
        "args": tuple(_list(fields["constructorArgs"], "constructorArgs")) if "constructorArgs" in fields else (),
        "calls": (*_each(fields, "properties", _property), *_each(fields, "configMethods", _config_method)),
        "factory": _text(fields, "factory") or "",
        "place": place,
    }


def _config_method(located: Located) -> MethodCall:
    fields = _fields(located, "ConfigMethodDef", ("name", "args"))
    args = tuple(_list(fields["args"], "args")) if "args" in fields else ()
    return MethodCall(_needed(fields, "name", located.place), args, located.place)


def _property(located: Located) -> MethodCall:
    """A property is set by its setter (``FluxBuilder.toSetterName``)."""
    fields = _fields(located, "PropertyDef", ("name", "value", "ref"))
    if "value" in fields and "ref" in fields:
        raise FluxError(located.place, "A property can only have a value OR a reference, not both.")
    name = _needed(fields, "name", located.place)
    value = fields.get("value")
    if value is None:
        ref = fields.get("ref") or Located(None, "", located.place)
        value = Located({"ref": ref}, "", ref.place)
    return MethodCall(f"set{name[:1].upper()}{name[1:]}", (value,), located.place)


def _stream_def(located: Located) -> StreamDef:
    fields = _fields(located, "StreamDef", ("name", "from", "to", "grouping"))
    if "grouping" not in fields:
        raise FluxError(located.place, "a stream needs a grouping, with a type.")
    return StreamDef(
        source=_needed(fields, "from", located.place),
        target=_needed(fields, "to", located.place),
        grouping=_grouping_def(fields["grouping"]),
        place=located.place,
        places={key: each.place for key, each in (*fields.items(), *_mapping(fields["grouping"], "grouping").items())},
    )


def _grouping_def(located: Located) -> GroupingDef:
    fields = _fields(located, "GroupingDef", ("type", "streamId", "args", "customClass"))
    kind = _needed(fields, "type", located.place)
    if kind not in GROUPINGS:
        raise FluxError(
            fields["type"].place,
            f"Unable to find enum value '{kind}' for enum class: {_MODEL}GroupingDef$Type; "
            f"known are {', '.join(GROUPINGS)}."
            + (" Write CUSTOM, with the class PartialKeyGrouping." if "PARTIAL" in kind.upper() else ""),
        )
    args = tuple(each.text for each in _list(fields["args"], "args")) if "args" in fields else None
    custom = fields.get("customClass")
    made = None
    if custom is not None:
        made = ObjectDef(**_object_parts(_fields(custom, "ObjectDef", _OBJECT), custom.place))
    return GroupingDef(type=kind, stream=_text(fields, "streamId"), args=args, custom=made, place=located.place)


def _include_def(located: Located) -> IncludeDef:
    fields = _fields(located, "IncludeDef", ("file", "resource", "override"))
    return IncludeDef(
        file=_needed(fields, "file", located.place),
        resource=_bool(fields, "resource"),
        override=_bool(fields, "override"),
        place=located.place,
    )


def _fields(located: Located, model: str, known: Iterable[str]) -> dict[str, Located]:
    """The keys of a Java bean. Null counts as a key that is not there, but for lists and mappings."""
    found: dict[str, Located] = {}
    for key, value in _mapping(located, f"a {model}").items():
        if key not in known:
            raise FluxError(
                value.place,
                f"Unable to find property '{key}' on class: {_MODEL}{model}; known are {', '.join(known)}.",
            )
        found[key] = value
    return found


def _mapping(located: Located, what: str) -> dict[Any, Located]:
    if not isinstance(located.value, dict):
        raise FluxError(located.place, f"{what} must be a mapping{_instead(located)}")
    return located.value


def _list(located: Located, what: str) -> list[Located]:
    if not isinstance(located.value, list):
        raise FluxError(located.place, f"{what} must be a list{_instead(located)}")
    return located.value


def _instead(located: Located) -> str:
    if located.value is None:
        return "; it is empty, of which Flux dies. Leave the key out."
    if isinstance(located.value, dict | list):
        return ", not a mapping." if isinstance(located.value, dict) else ", not a list."
    return f", not {located.text!r}."


def _each(fields: dict[str, Located], key: str, read: Callable[[Located], T]) -> list[T]:
    return [read(each) for each in _list(fields[key], key)] if key in fields else []


def _text(fields: dict[str, Located], key: str) -> str | None:
    """A String property: SnakeYAML takes the text of any scalar."""
    located = fields.get(key)
    if located is None or located.value is None:
        return None
    if isinstance(located.value, dict | list):
        raise FluxError(located.place, f"{key} must be a string{_instead(located)}")
    return located.text


def _needed(fields: dict[str, Located], key: str, place: Location) -> str:
    found = _text(fields, key)
    if not found:
        raise FluxError(fields[key].place if key in fields else place, f"{key} is missing here.")
    return found


def _int(fields: dict[str, Located], key: str, otherwise: int) -> int:
    """An int property: whatever YAML 1.1 reads as one, quoted or not."""
    located = fields.get(key)
    if located is None:
        return otherwise
    value = located.value if isinstance(located.value, int) else _resolved(located.text)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >> 31:
        raise FluxError(located.place, f"{key} must be an integer{_instead(located)}")
    return value


def _bool(fields: dict[str, Located], key: str) -> bool:
    located = fields.get(key)
    value = False if located is None else _resolved(located.text)
    if not isinstance(value, bool):
        raise FluxError(fields[key].place, f"{key} must be true or false{_instead(fields[key])}")
    return value


def _resolved(text: str) -> Any:
    """Resolve a plain scalar, as SnakeYAML does."""
    try:
        return yaml_value(text, "")
    except TextError:
        return None
