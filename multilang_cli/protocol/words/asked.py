"""The contract of a testee: its answers to what it is asked (``conformance/testees/README.md``) as data.

A testee is a small program that does, by way of its library, what a tuple or conf tells it. So what must come out is
known beforehand, and needs no expectation beside the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from multilang_cli.protocol.words.large import LargeValues, plain
from multilang_cli.protocol.words.messages import DEFAULT_STREAM, Json, TupleMsg

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONF_KEY = "mlcheck.testee"
"""The key of conf with a spout testee's plan: lists of actions by the command that calls for them."""
TOLD = "told"
"""The stream on which a testee tells what its user's code sees."""
LEVELS = ("trace", "debug", "info", "warn", "error")
"""Log levels by their number in the protocol."""
INPUT = "input"
"""The name of the tuple that a plan came with."""
LAST = frozenset({"raise", "exit", "unencodable"})
"""Actions after which nothing of a plan is done, and what the testee says is its library's affair."""

_ACTIVATIONS: list[Json] = [["activate"], ["deactivate"]]

_NEEDED: dict[str, dict[str, type]] = {
    "emit": {"values": list},
    "hold": {"as": str},
    "log": {"message": str},
    "error": {"message": str},
    "tell": {"what": str},
}
"""What an action can't be without."""
_OPTIONAL: dict[str, type] = {"anchors": list, "tuple": str, "stream": str}
"""What an action may have besides, and where it could be mistaken."""

What = Literal["emit", "ack", "fail", "log", "error"]


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message that must come. `seq`: the event that asked for it.

    `id` of the tuple to settle; `message_id` of a spout's tuple; `told`: what is told, with the tuple in `values` if it
    is that; anything else is known when the answer comes. `need_task_ids` and `level` None: not asked for, so anything
    is right.
    """

    what: What
    seq: int
    id: str = ""
    values: list[Json] = []
    stream: str = DEFAULT_STREAM
    task: int | None = None
    anchors: tuple[str, ...] = ()
    message_id: Json = None
    need_task_ids: bool | None = None
    text: str = ""
    level: int | None = None
    told: str = ""


class Memory(msgspec.Struct):
    """Memory of the judge about a testee: what is still to be said, and what it can be asked to tell.

    `passed`: what was passed over by something later. `names`: tuple ids by the name they are held under. `task_ids`:
    those of the last emit that was answered. `unanswered`: emits whose task ids have not come. `calls`: of a spout,
    since it last told them. `free`: the tuples in which it was asked for what a library answers as it likes: to raise,
    say.
    """

    queue: list[Asked] = []
    passed: list[Asked] = []
    names: dict[str, str] = {}
    task_ids: list[int] = []
    unanswered: int = 0
    calls: list[list[Json]] = []
    nexts: int = 0
    plan: dict[str, Any] | None = None
    conf: dict[str, Any] = {}
    context: dict[str, Any] = {}
    free: set[str] = set()


def plan_of(values: list[Json]) -> list[dict[str, Any]] | None:
    """The plan in a tuple's first value; None if there is none: then it is to be echoed."""
    first = values[0] if values else None
    return first if isinstance(first, list) and first and all(map(_is_action, first)) else None


def _is_action(value: Json) -> bool:
    """True for an action with all that it needs: anything else is no plan, whoever wrote it."""
    if not isinstance(value, dict) or not isinstance(value.get("do"), str):
        return False
    if not all(isinstance(value[key], kind) for key, kind in _OPTIONAL.items() if key in value):
        return False
    if not all(isinstance(name, str) for name in value.get("anchors", [])):
        return False
    return all(isinstance(value.get(key), kind) for key, kind in _NEEDED.get(value["do"], {}).items())


def spout_plan_of(conf: dict[str, Json]) -> dict[str, Any] | None:
    """The plan of a spout in its conf; None if there is none, or what stands there is none."""
    plan = conf.get(CONF_KEY)
    if not isinstance(plan, dict):
        return None
    lists = [actions for command, actions in plan.items() if command != "next"]
    nexts = plan.get("next", [])
    if not isinstance(nexts, list):
        return None
    whole = all(isinstance(actions, list) and all(map(_is_action, actions)) for actions in (*lists, *nexts))
    return plan if whole else None


def of_tuple(message: TupleMsg, seq: int, names: dict[str, str], *, basic: bool) -> list[Asked]:
    """Steps that must be said about a tuple, in order. `names` learns under which name it is to be held.

    `basic`: the library anchors and acks by itself.
    """
    names[INPUT] = message.id
    if message.is_tick:
        return [Asked("ack", seq, message.id)]
    values = plain(message.values)
    plan, rest = plan_of(values), values[1:]
    if plan is None:
        plan, rest = [{"do": "echo"}, *([] if basic else [{"do": "ack"}])], values
    asked = [each for action in done(plan) for each in _of_action(action, seq, names, rest)]
    seen = as_seen(message)
    asked = [msgspec.structs.replace(each, values=[seen]) if each.told == "tuple" else each for each in asked]
    return [*asked, Asked("ack", seq, message.id)] if basic and not ends(plan) else asked


def of_call(actions: Iterable[dict[str, Any]], seq: int) -> list[Asked]:
    """Steps that a spout must say when it is called, in order, before its sync."""
    return [each for action in done(actions) for each in _of_action(action, seq, {}, [])]


def done(actions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The actions that are done: those before one that ends the plan."""
    taken: list[dict[str, Any]] = []
    for action in actions:
        if action["do"] in LAST:
            break
        taken.append(action)
    return taken


def ends(actions: Iterable[dict[str, Any]]) -> bool:
    """True if the plan ends with an exception or the end of the process."""
    return any(action["do"] in LAST for action in actions)


def _of_action(action: dict[str, Any], seq: int, names: dict[str, str], rest: list[Json]) -> list[Asked]:
    match action["do"]:
        case "emit":
            return [_emit(action, seq, names)]
        case "echo":
            return [_emit({"values": rest}, seq, names)]
        case "ack" | "fail" as what:
            return [Asked(what, seq, names.get(action.get("tuple", INPUT), ""))]
        case "hold":
            names[action["as"]] = names[INPUT]
        case "log":
            level = LEVELS.index(action["level"]) if action.get("level") in LEVELS else None
            return [Asked("log", seq, text=action["message"], level=level)]
        case "error":
            return [Asked("error", seq, text=action["message"])]
        case "tell":
            return [Asked("emit", seq, stream=TOLD, told=action["what"])]
    return []


def _emit(action: dict[str, Any], seq: int, names: dict[str, str]) -> Asked:
    anchors = action.get("anchors", [INPUT] if names else [])
    return Asked(
        "emit",
        seq,
        values=action["values"],
        stream=action.get("stream", DEFAULT_STREAM),
        task=action.get("task"),
        anchors=tuple(names.get(name, name) for name in anchors),
        message_id=action.get("id"),
        need_task_ids=action.get("ids"),
    )


def answer(wanted: Asked, memory: Memory) -> Json:
    """The answer that a testee must tell now, as its user's code has to see it."""
    match wanted.told:
        case "tuple":
            return wanted.values[0]
        case "conf":
            return memory.conf
        case "context":
            return memory.context
        case "task_ids":
            return memory.task_ids
        case "calls":
            return memory.calls
    return None


def without_activations(calls: Json) -> Json:
    """The calls of a spout as a library shows them that does not hand activate and deactivate on."""
    return [call for call in calls if call not in _ACTIVATIONS] if isinstance(calls, list) else calls


def as_seen(message: TupleMsg) -> dict[str, Json]:
    """A tuple as its user's code has to see it."""
    return {
        "id": message.id,
        "component": message.comp,
        "stream": message.stream,
        "task": message.task,
        "values": plain(message.values),
    }


def same(ours: Json, theirs: Json, *, one_number: bool = False) -> bool:
    """True if two JSON values are one. `one_number`: the language has one type of numbers, so 1.0 may come as 1.

    No digit may be lost all the same: Python compares an integer and a float exactly.
    """
    if isinstance(theirs, LargeValues):
        return same(ours, plain(theirs), one_number=one_number)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            same(value, theirs[key], one_number=one_number) for key, value in ours.items()
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        pairs = zip(ours, theirs, strict=False)
        return len(ours) == len(theirs) and all(same(a, b, one_number=one_number) for a, b in pairs)
    if one_number and _is_number(ours) and _is_number(theirs):
        return bool(ours == theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def differing(ours: Mapping[str, Json], theirs: Json, hidden: Iterable[str], *, one_number: bool) -> list[str]:
    """The keys under which what is told differs. `hidden`: keys that the library does not show to its user's code."""
    if not isinstance(theirs, dict):
        return list(ours)
    shown = [key for key in ours if not (key in hidden and theirs.get(key) is None)]
    return [key for key in shown if key not in theirs or not same(ours[key], theirs[key], one_number=one_number)]
