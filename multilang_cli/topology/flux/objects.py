"""The Java objects that a Flux file asks for, as far as mlcheck knows their classes (``FluxBuilder.buildObject``)."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from multilang_cli.protocol.words.messages import DEFAULT_STREAM
from multilang_cli.topology import queue, standins
from multilang_cli.topology.flux.errors import FluxError, NeedsJavaError
from multilang_cli.topology.model import Grouping, OutputStream
from multilang_cli.topology.tasks import MAX_PARALLELISM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from multilang_cli.protocol.words.verdicts import Kind
    from multilang_cli.topology.flux.definitions import ObjectDef
    from multilang_cli.topology.flux.yaml_tree import Located
    from multilang_cli.topology.model import Location

NOT_JSON = "Storm conf is not valid. Must be json-serializable"
"""What Storm says of a conf that is no JSON."""

_WRAPPERS = "org.apache.storm.flux.wrappers."
QUEUE_SPOUT = "mlcheck.QueueSpout"
"""No class of Java's: the spout of mlcheck's own queue."""
_PACKAGES = ("org.apache.storm.", "backtype.storm.")


class Fields(tuple[str, ...]):
    """``org.apache.storm.tuple.Fields``: names of fields, none twice."""

    __slots__ = ()


class ShellObject(msgspec.Struct, kw_only=True):
    """A shell spout or shell bolt that was made. `own_folder`: its process starts in the resources folder."""

    command: tuple[str, ...]
    streams: dict[str, OutputStream] = {}
    conf: dict[str, Any] = {}
    env: dict[str, str] = {}
    own_folder: bool = True


class _Class(NamedTuple):
    kind: Kind
    make: Callable[[ObjectDef, Sequence[Any]], ShellObject]
    methods: Mapping[str, Callable[[ShellObject, Sequence[Any], Location], bool]] = {}


def shell_component(definition: ObjectDef, kind: Kind, components: Mapping[str, Fields]) -> ShellObject:
    """The spout or bolt of a definition. Raises FluxError, for a class that needs Java too."""
    known = _CLASSES.get(definition.class_name)
    if known is None or definition.factory:
        raise _unknown(definition, kind)
    if known.kind != kind:
        appears = "Class does not appear to be a bolt:" if kind == "bolt" else "this class is no spout, but a bolt:"
        raise FluxError(definition.place, f"{appears} {definition.class_name}")
    made = known.make(definition, _resolved(definition.args, components))
    for call in definition.calls:
        args = _resolved(call.args, components)
        method = known.methods.get(call.name)
        if method is None or not method(made, args, call.place):
            raise FluxError(
                call.place,
                f"Unable to find configuration method '{call.name}' in class '{definition.class_name}' with arguments "
                f"{java_text(args)}. Known are {', '.join(known.methods) or 'none'}.",
            )
    return made


def component(definition: ObjectDef) -> Fields:
    """Read an entry of ``components``: only Fields are of use without Java. Raises FluxError."""
    if definition.class_name not in _named("tuple.Fields"):
        raise NeedsJavaError(
            definition.place,
            f"{definition.class_name} needs Java: of components, mlcheck knows org.apache.storm.tuple.Fields only.",
            definition.class_name,
        )
    args = _resolved(definition.args, {})
    names = args[0] if len(args) == 1 and isinstance(args[0], list) else args
    return Fields(_fields(names, definition.place))


def custom_grouping(definition: ObjectDef, components: Mapping[str, Fields]) -> Grouping:
    """The grouping of a ``customClass``: partial key. Raises FluxError."""
    args = _resolved(definition.args, components)
    if definition.class_name not in _named("grouping.PartialKeyGrouping"):
        raise NeedsJavaError(
            definition.place,
            f"the grouping {definition.class_name} needs Java: of custom groupings, mlcheck knows "
            "org.apache.storm.grouping.PartialKeyGrouping only.",
            definition.class_name,
        )
    if len(args) != 1 or not isinstance(args[0], Fields):
        raise FluxError(
            definition.place,
            "PartialKeyGrouping needs its fields here: constructorArgs with a ref to a component of the class "
            "org.apache.storm.tuple.Fields.",
        )
    return Grouping("PARTIAL_KEY", args[0])


def json_value(located: Located) -> Any:
    """The value as JSON has it. Raises FluxError for dates, NaN and keys that are no strings."""
    value = located.value
    if isinstance(value, dict):
        if bad := [key for key in value if not isinstance(key, str)]:
            raise FluxError(value[bad[0]].place, f"{NOT_JSON}: the key {bad[0]!r} is no string; quote it.")
        return {key: json_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [json_value(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise FluxError(located.place, f"{NOT_JSON}: {located.text} is no number of JSON.")
    if value is not None and not isinstance(value, str | int | float):
        raise FluxError(located.place, f"{NOT_JSON}: {located.text} is a {type(value).__name__} in YAML; quote it.")
    return value


def java_text(value: Any) -> str:
    """A value as Java's toString shows it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={java_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(java_text, value))}]"
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _resolved(args: Sequence[Located], components: Mapping[str, Fields]) -> list[Any]:
    """The arguments, references replaced (``FluxBuilder.resolveReferences``)."""
    return [_argument(each, index, components) for index, each in enumerate(args)]


def _argument(located: Located, index: int, components: Mapping[str, Fields]) -> Any:
    value = located.value
    if value is None:
        raise FluxError(located.place, f"argument shouldn't be null - index: {index}")
    if isinstance(value, dict) and value.keys() == {"ref"}:
        name = value["ref"].text
        if name not in components:
            raise FluxError(located.place, f"there is no component '{name}' under components.")
        return components[name]
    return json_value(located)


def _unknown(definition: ObjectDef, kind: Kind) -> NeedsJavaError:
    name = f"{definition.class_name}{definition.factory and f'.{definition.factory}()'}"
    shell = f"{_WRAPPERS}{kind}s.FluxShell{kind.capitalize()}"
    stand_ins = [each.rpartition(".")[2] for each, known in _CLASSES.items() if known.kind == kind]
    return NeedsJavaError(
        definition.place,
        f"'{definition.id}' is {name}, which needs Java: mlcheck runs shell components. Put {shell} with a command in "
        f"its place. Known {kind}s are {', '.join(dict.fromkeys(stand_ins))}.",
        definition.class_name,
    )


def _no_constructor(definition: ObjectDef, args: Sequence[Any]) -> FluxError:
    return FluxError(
        definition.place,
        f"Couldn't find a suitable constructor for class '{definition.class_name}' with arguments '{java_text(args)}'.",
    )


def _strings(value: Sequence[Any], place: Location) -> tuple[str, ...]:
    """A list as ``String[]``. Raises FluxError for a list that Flux dies of."""
    if not value:
        raise FluxError(place, "Index 0 out of bounds for length 0: Flux can't pass an empty list on; leave it out.")
    for each in value:
        if not isinstance(each, str):
            raise FluxError(place, f"array element type mismatch: {java_text(each)} is no string; quote it.")
    return tuple(value)


def _fields(value: Any, place: Location) -> tuple[str, ...]:
    """A list as names of fields. Raises FluxError."""
    return distinct(_strings(value, place), place)


def distinct(names: tuple[str, ...], place: Location) -> tuple[str, ...]:
    """Names of fields, none twice. Raises FluxError as the constructor of Fields does."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise FluxError(place, f"duplicate field '{name}'")
    return names


def _shell(definition: ObjectDef, args: Sequence[Any]) -> ShellObject:
    """``FluxShellBolt`` and ``FluxShellSpout``: the command, then perhaps the default stream's fields."""
    if len(args) not in (1, 2) or not all(isinstance(arg, list) for arg in args):
        raise _no_constructor(definition, args)
    made = ShellObject(command=_strings(args[0], definition.place))
    for fields in args[1:]:
        made.streams[DEFAULT_STREAM] = OutputStream(_fields(fields, definition.place))
    return made


def _set_default_stream(made: ShellObject, args: Sequence[Any], place: Location) -> bool:
    return len(args) == 1 and _set_named_stream(made, [DEFAULT_STREAM, args[0]], place)


def _set_named_stream(made: ShellObject, args: Sequence[Any], place: Location) -> bool:
    match args:
        case [str(name), list(names)]:
            made.streams[name] = OutputStream(_fields(names, place))
            return True
    return False


def _add_component_config(made: ShellObject, args: Sequence[Any], place: Location) -> bool:  # noqa: ARG001 (one signature)
    match args:
        case [str(key), value]:
            made.conf[key] = value
            return True
    return False


def _set_env(made: ShellObject, args: Sequence[Any], place: Location) -> bool:
    match args:
        case [dict(env)]:
            for name, value in env.items():
                if not isinstance(value, str):
                    raise FluxError(place, f"{name} in setEnv must be a string, not {java_text(value)}; quote it.")
            made.env = dict(env)
            return True
    return False


def _change_child_cwd(made: ShellObject, args: Sequence[Any], place: Location) -> bool:  # noqa: ARG001 (one signature)
    match args:
        case [bool(own_folder)]:
            made.own_folder = own_folder
            return True
    return False


_METHODS = {
    "setDefaultStream": _set_default_stream,
    "setNamedStream": _set_named_stream,
    "addComponentConfig": _add_component_config,
    "setEnv": _set_env,
    "changeChildCWD": _change_child_cwd,
}


def _stand_in(module: str, fields: tuple[str, ...]) -> Callable[[ObjectDef, Sequence[Any]], ShellObject]:
    """A maker of a component of ours that does what the Java class does; with Python's own unsafe paths left out."""
    program = Path(standins.__file__).parent / f"{module}.py"

    def make(definition: ObjectDef, args: Sequence[Any]) -> ShellObject:
        """The stand-in for these arguments of a constructor. Raises FluxError if Java has no such constructor."""
        one_task = module == "test_word_spout" and list(args) == [False]
        if args and not one_task and not (module == "test_word_spout" and list(args) == [True]):
            raise _no_constructor(definition, args)
        streams = {DEFAULT_STREAM: OutputStream(fields)} if fields else {}
        conf = {MAX_PARALLELISM: 1} if one_task else {}
        return ShellObject(command=(sys.executable, "-P", str(program)), streams=streams, conf=conf)

    return make


def _queue_spout(definition: ObjectDef, args: Sequence[Any]) -> ShellObject:
    """The spout of mlcheck's queue; its fields, by default the one field message."""
    if len(args) > 1 or not all(isinstance(arg, list) for arg in args):
        raise _no_constructor(definition, args)
    fields = _fields(args[0], definition.place) if args else ("message",)
    program = Path(queue.__file__).parent / "spout.py"
    return ShellObject(command=(sys.executable, "-P", str(program)), streams={DEFAULT_STREAM: OutputStream(fields)})


def _named(name: str) -> tuple[str, ...]:
    """A class of Storm's, in the packages of before and after 1.0."""
    return tuple(package + name for package in _PACKAGES)


_CLASSES: dict[str, _Class] = {
    f"{_WRAPPERS}spouts.FluxShellSpout": _Class("spout", _shell, _METHODS),
    f"{_WRAPPERS}bolts.FluxShellBolt": _Class("bolt", _shell, _METHODS),
    f"{_WRAPPERS}bolts.LogInfoBolt": _Class("bolt", _stand_in("log_info_bolt", ())),
    QUEUE_SPOUT: _Class("spout", _queue_spout),
    **dict.fromkeys(_named("testing.TestWordSpout"), _Class("spout", _stand_in("test_word_spout", ("word",)))),
    **dict.fromkeys(
        _named("testing.TestWordCounter"), _Class("bolt", _stand_in("test_word_counter", ("word", "count")))
    ),
}
"""What a Flux file of shell components and Storm's own examples needs."""
