"""Guarantees that a topology lacks, and why: by its declaration, and by the history of a run. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.protocol.judge.unasked_syncs import LEAST_UNASKED, WaitingHeartbeats, is_after_each
from multilang_cli.protocol.words.messages import TICK_FREQUENCY
from multilang_cli.protocol.words.rulebook import covers
from multilang_cli.topology.ackers import ackers_tick
from multilang_cli.topology.groupings import LOAD_AWARE_OFF
from multilang_cli.topology.history import Beat, Delivered, Emitted, Launched, Lost, TupleSettled
from multilang_cli.topology.tasks import MAX_SPOUT_PENDING, TASKS, TIMEOUTS, own_conf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from multilang_cli.topology.history import Happening
    from multilang_cli.topology.model import ComponentSpec, Topology
    from multilang_cli.topology.tasks import Layout

_RESOURCES = "topology.component."


class Risk(msgspec.Struct, frozen=True):
    """Something that is not guaranteed. `id`: a stable slug; `about`: a component, or "" for the whole topology."""

    id: str
    about: str
    text: str


def of(topology: Topology, layout: Layout, conf: Mapping[str, Any], storm: str) -> Iterator[Risk]:
    """Risks that the declaration shows. `conf`: merged with the cluster's."""
    yield from _acking(topology, layout, conf, storm)
    reached = fed_by_spouts(topology)
    for component in topology.components.values():
        if component.id not in reached:
            yield Risk("no-input", component.id, "no spout's tuples come to it: nothing goes in.")
        yield from _streams(topology, component)
        yield from _tasks(component, layout)
        yield from _own_conf(component, storm)
    yield from _groupings(topology, layout, conf, storm)
    for cycle in _cycles(topology):
        yield Risk(
            "cycle", cycle[0], f"{' -> '.join(cycle)} is a cycle: Storm runs it, and a tuple may go round for ever."
        )


def _acking(topology: Topology, layout: Layout, conf: Mapping[str, Any], storm: str) -> Iterator[Risk]:
    if not layout.ackers:
        yield Risk(
            "no-ackers",
            "",
            "there are no ackers (topology.acker.executors is 0): each spout tuple is acked while it is emitted, and "
            "what is lost stays lost. A shell spout that emits with an id and wants task ids waits for ever.",
        )
        return
    if conf.get(TIMEOUTS) is False:
        yield Risk(
            "no-timeouts", "", f"{TIMEOUTS} is false: a tuple that is lost is never failed, so it is never replayed."
        )
    if not conf.get(MAX_SPOUT_PENDING):
        yield from _without_limit(topology)
    if not ackers_tick(storm):
        yield Risk(
            "acker-leak", "", f"the ackers of Storm {storm} get no ticks: a record that is never answered stays."
        )


def _without_limit(topology: Topology) -> Iterator[Risk]:
    """Told of single spouts where others have a limit of their own."""
    spouts = [each for each in topology.components.values() if each.kind == "spout"]
    unlimited = [each.id for each in spouts if not each.conf.get(MAX_SPOUT_PENDING)]
    for about in ("",) if len(unlimited) == len(spouts) else unlimited:
        yield Risk(
            "no-limit",
            about,
            f"{MAX_SPOUT_PENDING} is not set: a spout may run ahead of slow bolts until tuples time out in the queues, "
            "and are replayed into them.",
        )


def _streams(topology: Topology, component: ComponentSpec) -> Iterator[Risk]:
    for name in component.streams:
        if not topology.consumers(component.id, name):
            end = " With an id, they are acked at once." if component.kind == "spout" else ""
            yield Risk("nobody-listens", component.id, f"nobody consumes its stream {name}: tuples go nowhere.{end}")


def _tasks(component: ComponentSpec, layout: Layout) -> Iterator[Risk]:
    tasks = layout.tasks_of(component.id)
    if not tasks:
        yield Risk("no-tasks", component.id, "it has no tasks: its tuples go nowhere, as if it was not there.")
    elif component.parallelism > len(tasks):
        lost = component.parallelism - len(tasks)
        yield Risk(
            "idle-executors", component.id, f"{lost} of its {component.parallelism} executors would have no task."
        )


def _own_conf(component: ComponentSpec, storm: str) -> Iterator[Risk]:
    if component.kind == "spout" and component.conf.get(TICK_FREQUENCY):
        yield Risk("no-ticks", component.id, f"{TICK_FREQUENCY} does nothing: spouts get no ticks.")
    heard = own_conf(component, storm).keys()
    unheard = [key for key in component.conf if not (key in heard or key == TASKS or key.startswith(_RESOURCES))]
    if unheard:
        yield Risk(
            "conf-untold",
            component.id,
            f"{', '.join(unheard)} of its own conf does nothing: Storm takes such settings from the topology's conf.",
        )


def _groupings(topology: Topology, layout: Layout, conf: Mapping[str, Any], storm: str) -> Iterator[Risk]:
    workers, java = layout.workers, topology.java.components if topology.java else ()
    by_scope = covers(">=2.0", storm) and not conf.get(LOAD_AWARE_OFF)
    for subscription in topology.subscriptions:
        tasks = layout.tasks_of(subscription.target)
        stream = f"stream {subscription.stream} of {subscription.source}"
        if subscription.grouping.type == "DIRECT" and covers(">=2.6", storm) and subscription.source not in java:
            yield Risk(
                "direct-dies",
                subscription.source,
                f"{stream} goes to {subscription.target} by direct emits, of which the worker dies since Storm 2.6: it "
                "casts the task to Long, and the parser gives an Integer.",
            )
        elif subscription.grouping.type == "GLOBAL" and len(tasks) > 1:
            yield Risk(
                "global", subscription.target, f"{stream} goes to task {tasks[0]} alone, by its global grouping."
            )
        elif subscription.grouping.type in ("SHUFFLE", "LOCAL_OR_SHUFFLE") and (
            by_scope or subscription.grouping.type != "SHUFFLE"
        ):
            sources = {workers[task] for task in layout.tasks_of(subscription.source)}
            idle = [task for task in tasks if workers[task] not in sources]
            if idle and len(idle) < len(tasks):
                yield Risk(
                    "idle-tasks",
                    subscription.target,
                    f"{stream} stays in the worker that it comes from, as long as tasks there are not overloaded: "
                    f"{', '.join(map(str, idle))} may get nothing.",
                )


def fed_by_spouts(topology: Topology) -> list[str]:
    """The spouts, and the components that their tuples can come to, each after one that feeds it."""
    found = [each.id for each in topology.components.values() if each.kind == "spout"]
    for name in found:
        found += [each.target for each in topology.subscriptions if each.source == name and each.target not in found]
    return found


def _cycles(topology: Topology) -> Iterator[list[str]]:
    """A shortest cycle through each component that is in one and in none of those before."""
    seen: set[str] = set()
    for name in topology.components:
        if name in seen:
            continue
        paths = [[name]]
        reached = {name}
        for path in paths:
            targets = {each.target for each in topology.subscriptions if each.source == path[-1]}
            if name in targets:
                seen.update(path)
                yield [*path, name]
                break
            paths += [[*path, target] for target in sorted(targets - reached)]
            reached |= targets


class _Did(msgspec.Struct):
    """Emits, settlements and syncs of a component's tasks in a run.

    `waiting`: heartbeats that are not answered, by task. `unasked`: syncs that came where none was. `lives`: of tasks.
    """

    kind: str = "bolt"
    waiting: dict[int, WaitingHeartbeats] = {}
    beats: int = 0
    syncs: int = 0
    unasked: int = 0
    lives: int = 0
    emitted: int = 0
    loose: int = 0
    got: int = 0
    settled: int = 0
    lost: int = 0


class RiskScan:
    """Risks shown by a history: emits without anchors or ids, tuples never settled, syncs that nobody asked for.

    What did not happen in that run may happen in another. It keeps what is open, not what was.
    """

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._component: dict[int, str] = {}
        self._holder: dict[int, str] = {}
        self._did: dict[str, _Did] = {}
        self._handlers: dict[type[Happening], Callable[[Any], None]] = {
            Launched: self._launched,
            Emitted: self._emitted,
            Delivered: self._delivered,
            TupleSettled: self._settled,
            Lost: self._lost,
            Beat: self._beat,
        }

    def take(self, event: Happening) -> None:
        """The next event."""
        if (handle := self._handlers.get(event.__class__)) is not None:
            handle(event)

    def _launched(self, event: Launched) -> None:
        known = self._topology.components.get(event.component)
        self._component[event.task] = event.component
        did = self._did.setdefault(event.component, _Did(known.kind if known else "bolt"))
        did.waiting[event.task] = WaitingHeartbeats()
        did.lives += 1

    def _emitted(self, event: Emitted) -> None:
        if event.task in self._component:
            did = self._did[self._component[event.task]]
            did.emitted += 1
            did.loose += event.message_id is None if did.kind == "spout" else not event.anchors

    def _delivered(self, event: Delivered) -> None:
        if event.task in self._component:
            holder = self._holder[event.n] = self._component[event.task]
            self._did[holder].got += 1

    def _settled(self, event: TupleSettled) -> None:
        if (holder := self._holder.pop(event.delivery, None)) is not None:
            self._did[holder].settled += 1

    def _lost(self, event: Lost) -> None:
        if (holder := self._holder.pop(event.delivery, None)) is not None:
            self._did[holder].lost += 1

    def _beat(self, event: Beat) -> None:
        did = self._did.get(self._component.get(event.task, ""))
        if did is None or event.what == "missed":
            return
        if event.what == "sent":
            did.beats += 1
            did.waiting[event.task].sent()
            return
        did.syncs += 1
        did.unasked += did.waiting[event.task].synced()

    def risks(self) -> list[Risk]:
        """The history is over: what is not guaranteed."""
        return [risk for name, did in self._did.items() for risk in _from_activity(name, did)]


def seen(history: Iterable[Happening], topology: Topology) -> list[Risk]:
    """Risks shown by a whole history, see `RiskScan`."""
    found = RiskScan(topology)
    for event in history:
        found.take(event)
    return found.risks()


def _from_activity(name: str, did: _Did) -> Iterator[Risk]:
    if did.loose and did.kind == "spout":
        text = f"{did.loose:,} of {did.emitted:,} emits of {name} had no message id: losses are silent."
        yield Risk("untracked", name, text)
    elif did.loose:
        text = f"{did.loose:,} of {did.emitted:,} emits of {name} were unanchored: losses are silent."
        yield Risk("unanchored", name, text)
    if open_ := did.got - did.settled - did.lost:
        told = f"{open_:,} of {did.got:,} tuples given to {name} were never acked or failed"
        yield Risk("unsettled", name, f"{told}: what waits for them times out.")
    if did.unasked >= LEAST_UNASKED:
        yield Risk("syncs-unasked", name, f"{name} {_syncs(did)}")


def _syncs(did: _Did) -> str:
    """Words for syncs that were not asked for: before Storm 0.7.1 one was due after each tuple."""
    so_many = f"{did.unasked:,} syncs that no heartbeat asked for"
    if not is_after_each(did.unasked, did.settled):
        return f"sends {so_many}: Storm needs none, and takes any for a heartbeat's answer."
    after_each = f"syncs after each tuple, as bolts did before Storm 0.7.1 ({so_many}): Storm needs none, and"
    # Who answers heartbeats as well has more syncs than tuples, unless a death cut them off.
    if did.syncs == did.settled and did.beats >= LEAST_UNASKED and did.lives == len(did.waiting):
        none = f"no other sync came for {did.beats:,} heartbeats, so the worker dies of it once it has no tuples."
        return f"{after_each} {none}"
    return f"{after_each} takes any for a heartbeat's answer."
