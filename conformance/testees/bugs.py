"""Bugs that change one message on its way out, the same in every Python testee: ``MLCHECK_MUTANT=ack-twice``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Message = dict[str, Any]


def only(command: str, change: Callable[[Message], list[Message]]) -> Callable[[Message], list[Message]]:
    """A change of the messages with one command; the others stay."""
    return lambda message: change(message) if message.get("command") == command else [message]


def field(command: str, /, **changes: Any) -> Callable[[Message], list[Message]]:
    """Other values in fields; None takes one away; a function is given the old one, if there is one."""

    def change(message: Message) -> list[Message]:
        changed = dict(message)
        for key, value in changes.items():
            if value is None:
                changed.pop(key, None)
            elif not callable(value):
                changed[key] = value
            elif key in changed:
                changed[key] = value(changed[key])
        return [changed]

    return only(command, change)


def values(change: Callable[[Any], Any]) -> Callable[[Message], list[Message]]:
    """A change of each value of an emit."""
    return field("emit", tuple=lambda old: [change(value) for value in old])


def number(change: Callable[[Any], Any], kind: type) -> Callable[[Message], list[Message]]:
    """A change of each value of just this type."""
    return values(lambda value: change(value) if type(value) is kind else value)


def flat(value: Any) -> Any:
    """A nested value as text."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def repeated(message: Message) -> list[Message]:
    """The message twice."""
    return [message, message]


def dropped(_: Message) -> list[Message]:
    """Nothing."""
    return []


def plain_only(message: Message) -> list[Message]:
    """Nothing, if it is not ASCII."""
    return [message] if json.dumps(message, ensure_ascii=False).isascii() else []


def unlike_the_last() -> Callable[[Message], list[Message]]:
    """Emits without those that are equal to the one before, but for what they are anchored to."""
    last: list[Any] = [None]

    def change(message: Message) -> list[Message]:
        before, last[0] = last[0], message.get("tuple")
        return [] if before == last[0] else [message]

    return only("emit", change)


MESSAGES: dict[str, Callable[[Message], list[Message]]] = {
    "ack-twice": only("ack", repeated),
    "ack-missing": only("ack", dropped),
    "ack-as-fail": field("ack", command="fail"),
    "ack-id-number": field("ack", id=int),
    "ack-id-float": field("ack", id=lambda old: str(int(float(old)))),
    "ack-id-missing": field("ack", id=None),
    "fail-as-ack": field("fail", command="ack"),
    "fail-twice": only("fail", repeated),
    "anchors-missing": field("emit", anchors=[]),
    "anchors-nested": field("emit", anchors=lambda old: [old]),
    "anchors-undefined": field("emit", anchors=lambda old: [None for _ in old]),
    "anchors-first": field("emit", anchors=lambda old: old[:1]),
    "anchors-number": field("emit", anchors=lambda old: [int(id_) for id_ in old]),
    "stream-missing": field("emit", stream=None),
    "stream-upper": field("emit", stream=lambda old: old.upper() if old != "told" else old),
    "stream-number": field("emit", stream=lambda old: 7 if old != "told" else old),
    "task-missing": field("emit", task=None),
    "task-string": field("emit", task=str),
    "tuple-object": field("emit", tuple=lambda old: {str(n): value for n, value in enumerate(old)}),
    "tuple-string": field("emit", tuple=json.dumps),
    "emit-twice": only("emit", repeated),
    "emit-equal": unlike_the_last(),
    "emit-missing": only("emit", dropped),
    "emit-misspelt": field("emit", command="emitt"),
    "ids-number": field("emit", need_task_ids=1),
    "log-map": field("log", msg=lambda old: {"text": old}),
    "log-missing": only("log", dropped),
    "log-level": field("log", level=2),
    "log-cut": field("log", msg=lambda old: old.split("\n")[0]),
    "error-missing": only("error", dropped),
    "text-ascii": number(lambda old: old.encode("ascii", "replace").decode(), str),
    "text-stripped": number(str.strip, str),
    "text-not-plain": plain_only,
    "text-surrogates": number(lambda old: "".join(c if ord(c) < 0x10000 else chr(0xD83C) for c in old), str),
    "integer-string": number(str, int),
    "integer-double": number(lambda old: int(float(old)) if abs(old) < 2**63 - 1024 else old, int),
    "integer-32": number(lambda old: (old + 2**31) % 2**32 - 2**31, int),
    "float-integer": number(int, float),
    "float-short": number(lambda old: float(f"{old:.3g}"), float),
    "null-text": values(lambda old: "null" if old is None else old),
    "bool-integer": number(int, bool),
    "nested-text": values(flat),
    "value-missing": field("emit", tuple=lambda old: old[:-1] if len(old) > 1 else old),
    "id-missing": field("emit", id=None),
    "id-always": lambda message: [{"id": "0", **message} if message.get("command") == "emit" else message],
    "id-string": field("emit", id=str),
    "id-number": field("emit", id=lambda old: int(old) if isinstance(old, str) and old.isdigit() else old),
    "sync-twice": only("sync", repeated),
    "sync-missing": only("sync", dropped),
    "task-elsewhere": only("ack", lambda message: [{**message, "task": 5}]),
    "pid-string": lambda message: [{"pid": str(message["pid"])}] if "pid" in message else [message],
}
"""What becomes of a message on its way out."""
