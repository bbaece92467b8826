"""A Flux file with Java components, as Storm's own FluxParser and FluxBuilder read it."""

from __future__ import annotations

import json
import secrets
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.driver.scratch import lasting_scratch
from multilang_cli.driver.supervisor import finish
from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.protocol.words.verdicts import Kind
from multilang_cli.topology import queue
from multilang_cli.topology.flux import FluxError, FluxFile
from multilang_cli.topology.java.program import (
    CHOOSER,
    COMPONENT,
    PLANNER,
    JavaHostError,
    JavaOptions,
    fetched,
    host_class_path,
)
from multilang_cli.topology.java.services import missing, needed_besides
from multilang_cli.topology.java.unknown_keys import without_unknown_keys
from multilang_cli.topology.model import (
    QUEUED,
    ComponentSpec,
    Grouping,
    GroupingType,
    JavaSide,
    Location,
    Notice,
    OutputStream,
    Subscription,
    Topology,
)
from multilang_cli.topology.tasks import merged_conf, task_count
from multilang_cli.topology.validation import problems
from multilang_cli.transcript.archives import ArchiveError, opened, unpack_chosen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLAN_SECONDS = 120
CHILD_OPTIONS = "topology.worker.childopts"
"""The key of conf with options for the JVMs of workers."""

_RESOURCES = "resources"
INCLUDED = "included"
"""The folder of a plan for included files that had to be changed."""
_ABSENT = ("java.lang.ClassNotFoundException", "java.lang.NoClassDefFoundError")
_STATEFUL = ("Stateful", "PersistentWindowed", "CheckpointSpout", "CheckpointTupleForwarder")
_TRIDENT = "org.apache.storm.trident."


class JavaInput(msgspec.Struct, frozen=True, kw_only=True):
    """A component's subscription, as the Java program tells it."""

    source: str
    stream: str
    grouping: GroupingType
    fields: tuple[str, ...]


class JavaShell(msgspec.Struct, frozen=True, kw_only=True):
    """A shell component, as the Java program tells it."""

    command: tuple[str, ...]
    env: dict[str, str]
    own_folder: bool = msgspec.field(name="changeDirectory", default=True)


class JavaComponent(msgspec.Struct, frozen=True, kw_only=True):
    """A component, as the Java program tells it. `wrapper`: the class that TopologyBuilder puts around its own."""

    id: str
    kind: Kind
    class_name: str = msgspec.field(name="class")
    wrapper: str
    parallelism: int
    conf: dict[str, Any]
    streams: dict[str, OutputStream]
    inputs: tuple[JavaInput, ...]
    shell: JavaShell | None = None


class JavaPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A topology, as the Java program tells it; or what Storm says against the file. `hooks`: worker hooks."""

    name: str | None = None
    conf: dict[str, Any] = {}
    hooks: int = 0
    components: tuple[JavaComponent, ...] = ()
    error: dict[str, str] | None = None


class JavaFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file to be read, and what it is read with.

    `jars`: of the topology, and other entries of a class path. `dependencies`: Maven coordinates. The others as
    `read_flux` takes them. `component_conf`: of single components, which no Flux reads up to Storm 2.8.3.
    `unknown`: places of keys that this Flux does not know. `class_names`: all that are named.
    """

    path: Path
    storm: str
    jars: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    properties: Mapping[str, str] | None = None
    env: bool = False
    resources: Path | None = None
    conf: Mapping[str, Any] = {}
    component_conf: Mapping[str, dict[str, Any]] = {}
    unknown: tuple[Location, ...] = ()
    class_names: tuple[str, ...] = ()


def read_java_flux(file: JavaFile) -> FluxFile:
    """Read a Flux file by Storm's own classes, and check it. Raises FluxError, JavaHostError."""
    if not covers(">=2.0", file.storm):
        raise JavaHostError(f"Java components run on Storm 2 only, not on {file.storm}: choose another --storm")
    for jar in file.jars:
        if not jar.endswith("*") and not Path(jar).exists():
            raise JavaHostError(f"{jar}: there is no such file (--jar, --classpath)")
        _check_jar(Path(jar))
    folder = lasting_scratch("mlcheck-java-")
    resources = _resources(file, folder)
    # Components start elsewhere.
    jars = (str(Path(each).absolute()) for each in file.jars)
    class_path = (*host_class_path(file.storm), *fetched(file.dependencies), *jars, str(resources))
    options = JavaOptions(folder=folder, tag=f"java-{secrets.token_hex(4)}", class_path=class_path)
    plan = _planned(file, options, resources)
    if plan.error is not None:
        raise FluxError(Location(str(file.path), 0), _sentence(plan.error, file.class_names))
    more = _words(plan.conf.get(CHILD_OPTIONS), Location(str(file.path), 0))
    options = msgspec.structs.replace(options, more=more)
    options.write()
    return _file_of(plan, file, options, resources)


def _check_jar(path: Path) -> None:
    """Raise JavaHostError for a file that is no jar: Java passes it over, and finds no class."""
    try:
        if path.is_file():
            with opened(path):
                pass
    except (ArchiveError, OSError) as error:
        raise JavaHostError(f"{path}: it can't be read as a jar: {error}") from None


def _words(child: Any, place: Location) -> tuple[str, ...]:
    """The options of a conf, which are a text or a list. Raises FluxError."""
    try:
        return tuple(shlex.split(child)) if isinstance(child, str) else msgspec.convert(child or (), tuple[str, ...])
    except ValueError:
        raise FluxError(
            place, f"{CHILD_OPTIONS}: expected options of a JVM, a text or a list of texts, with each quotation closed."
        ) from None


def _resources(file: JavaFile, folder: Path) -> Path:
    """The folder that shell components start in: the one given or beside the file, else that of the jar."""
    if file.resources is not None:
        return file.resources.absolute()
    if (beside := file.path.parent / _RESOURCES).is_dir():
        return beside.absolute()
    for jar in filter(Path.is_file, map(Path, file.jars)):
        try:
            if unpack_chosen(jar, folder, lambda name: name.startswith(f"{_RESOURCES}/")):
                return folder / _RESOURCES
        except ArchiveError as error:
            raise JavaHostError(f"{jar}: its {_RESOURCES}/ can't be unpacked: {error}") from None
    return file.path.parent.absolute()


def _planned(file: JavaFile, options: JavaOptions, resources: Path) -> JavaPlan:
    """Ask the Java program. Raises FluxError, JavaHostError."""
    folders = (Path.cwd(), file.path.parent.absolute(), resources)
    flux = options.folder / "topology.yaml"
    flux.write_text(_as_flux_has_it(file.path, file.unknown), encoding="utf-8")
    for included in {Path(place.file) for place in file.unknown} - {file.path}:
        _put_in_place(included, folders, options.folder, file.unknown)
    asked = {
        "file": str(flux),
        "properties": None if file.properties is None else dict(file.properties),
        "env": file.env,
        "folders": [str(each) for each in (options.folder / INCLUDED, *folders)],
        "conf": dict(file.conf),
    }
    (options.folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    options.write()
    try:
        done = finish([*options.command(PLANNER)], PLAN_SECONDS)
    except subprocess.TimeoutExpired:
        raise JavaHostError(f"{file.path}: Java made no topology of it within {PLAN_SECONDS} s") from None
    told = options.folder / "plan.json"
    if not told.exists():
        last = done.err.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        raise JavaHostError(f"{file.path}: the Java program ended without a plan; it said last: {last[0]}")
    try:
        return msgspec.json.decode(told.read_bytes(), type=JavaPlan)
    except (ValueError, RecursionError) as error:
        # The classes of a topology say what is in it, and may say anything.
        raise JavaHostError(f"{file.path}: what Java made of it is no topology: {error}") from None


def _put_in_place(included: Path, folders: Sequence[Path], work: Path, unknown: Sequence[Location]) -> None:
    """Have an included file found as Flux has it before it is found as it is."""
    for folder in folders:
        if included.absolute().is_relative_to(folder):
            copy = work / INCLUDED / included.absolute().relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(_as_flux_has_it(included, unknown), encoding="utf-8")


def _as_flux_has_it(file: Path, unknown: Sequence[Location]) -> str:
    """The text less keys that Flux does not know; all others stay in their lines. Raises FluxError."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FluxError(Location(str(file), 0), f"can't be read: {error}.") from None
    return without_unknown_keys(text, {place.line for place in unknown if place.file == str(file)})


def _sentence(error: Mapping[str, str], named: Sequence[str]) -> str:
    """Sentence for an exception of Java."""
    name, message = error["class"], error["message"]
    if name in _ABSENT:
        absent = message.replace("/", ".").removeprefix("L").removesuffix(";")
        return missing(absent) + needed_besides(absent, named)
    if name.startswith("java.lang.NullPointer"):
        return f"Flux dies of it: {message}"
    if name == "java.lang.NoSuchFieldException":
        return f"a class has no setter and no public field for the property '{message}' ({name})"
    # Some exceptions say a name alone, or nothing.
    return message if " " in message else f"{name}: {message}"


def _file_of(plan: JavaPlan, file: JavaFile, options: JavaOptions, resources: Path) -> FluxFile:
    place = Location(str(file.path), 0)
    for each in plan.components:
        _check_class(each, place)
        each.conf.update(file.component_conf.get(each.id, {}))
    conf = plan.conf
    bare = Topology(name=plan.name or "", components={}, conf=conf)
    merged = merged_conf(bare, file.storm)
    ordered = sorted(plan.components, key=lambda each: (each.kind != "spout", each.id))
    topology = msgspec.structs.replace(
        bare,
        components={each.id: _component(each, merged, options, resources, place) for each in ordered},
        subscriptions=tuple(_subscriptions(ordered, place)),
        java=JavaSide(
            components=frozenset(each.id for each in ordered if each.shell is None),
            tag=options.tag,
            chooser=options.command(CHOOSER),
        ),
    )
    for problem in problems(topology, file.storm):
        raise FluxError(problem.place or place, problem.text)
    notes = [Notice(place, "worker hooks are not run: there is no Java worker.")] if plan.hooks else []
    return FluxFile(topology, tuple(notes))


def _check_class(each: JavaComponent, place: Location) -> None:
    """Raise FluxError for what no run of shell components can have."""
    simple = each.wrapper.rpartition(".")[2]
    if each.wrapper.startswith("org.apache.storm.") and simple.startswith(_STATEFUL):
        raise FluxError(
            place,
            f"'{each.id}' is {each.class_name}, a stateful bolt: it needs the checkpoint streams of a real Storm, "
            "which mlcheck does not play.",
        )
    if each.class_name.startswith(_TRIDENT) or each.wrapper.startswith(_TRIDENT):
        raise FluxError(place, f"'{each.id}' is {each.class_name}, of Trident, which is out of mlcheck's scope.")


def _component(
    each: JavaComponent, conf: Mapping[str, Any], options: JavaOptions, resources: Path, place: Location
) -> ComponentSpec:
    shell = each.shell or JavaShell(command=options.command(COMPONENT, each.id, each.class_name), env={})
    command = shell.command
    if each.class_name == "mlcheck.QueueSpout":
        if QUEUED not in conf:
            raise FluxError(place, f"'{each.id}' has no queue: give the messages, as the list {QUEUED} of config.")
        command = (sys.executable, "-P", str(Path(queue.__file__).parent / "spout.py"))
    return ComponentSpec(
        id=each.id,
        kind=each.kind,
        command=command,
        parallelism=each.parallelism,
        tasks=task_count(each.parallelism, each.conf, conf),
        streams=each.streams,
        conf=each.conf,
        env=shell.env,
        cwd=str(resources) if shell.own_folder else ".",
        place=place,
    )


def _subscriptions(components: Sequence[JavaComponent], place: Location) -> Iterator[Subscription]:
    for each in components:
        for wish in each.inputs:
            yield Subscription(
                source=wish.source,
                target=each.id,
                stream=wish.stream,
                grouping=Grouping(wish.grouping, wish.fields),
                place=place,
            )
