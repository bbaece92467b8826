"""What the testees in Python share: a plan, carried out (README.md says what one is). Standard library only.

A testee's bolt stands on its library's bolt and on `Bolt`, its spout on its library's spout and on `Spout`. It hands on
what its library calls (``begin``, ``work``, ``called``), and makes the library's own calls: the methods ``do_...``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

Action = dict[str, Any]

ECHO: list[Action] = [{"do": "echo"}, {"do": "ack"}]
"""What is done with a tuple that has no plan."""


def plan_of(values: list[Any]) -> list[Action] | None:
    """The plan in a tuple's first value, None if there is none."""
    first = values[0] if values else None
    if isinstance(first, list) and first and all(isinstance(each, dict) and "do" in each for each in first):
        return first
    return None


class Component:
    """What bolts and spouts have in common."""

    def begin(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Keep what user code can see: called by its library's initialize."""
        self.seen_conf, self.seen_context = conf, context
        self.task_ids: list[int] = []

    def do_log(self, level: str | None, message: str) -> None:
        """Log at a level: trace, debug, info, warn, error; None: as one logs without naming one."""
        raise NotImplementedError

    def do_error(self, message: str) -> None:
        """Report an error."""
        raise NotImplementedError

    def do_emit(self, values: list[Any], **how: Any) -> list[int] | None:
        """Emit: `stream`, `task`, `ids`, a spout's `id`, and `anchors`, the library's tuples: only what is asked for.

        Gives the task ids, None if the library gives none.
        """
        raise NotImplementedError

    def do_print(self, text: str) -> None:
        """Print as anybody does."""
        print(text, flush=True)

    def do(self, action: Action) -> None:
        """Do what is the same in a bolt and in a spout."""
        match action["do"]:
            case "log":
                self.do_log(action.get("level"), action["message"])
            case "error":
                self.do_error(action["message"])
            case "raise":
                raise RuntimeError(action["message"])
            case "unencodable":
                self.do_emit([{1, 2}])
            case "sleep":
                time.sleep(action["seconds"])
            case "exit":
                sys.exit(action["code"])
            case "print":
                self.do_print(action["text"])
            case "stderr":
                sys.stderr.write("." * action["bytes"])
                sys.stderr.flush()
            case other:
                raise RuntimeError(f"no such action: {other}")

    def emit_as(self, action: Action, **more: Any) -> None:
        """Emit what the action says, and remember the task ids."""
        how = {key: action[key] for key in ("stream", "task", "ids") if key in action}
        ids = self.do_emit(action["values"], **how, **more)
        self.task_ids = self.task_ids if ids is None else ids

    def tell(self, what: str, **answers: Any) -> None:
        """Emit what user code sees."""
        common = {"conf": self.seen_conf, "context": self.seen_context, "task_ids": self.task_ids}
        self.do_emit([what, {**common, **answers}[what]], stream="told")


class Bolt(Component):
    """Settles as it is told. `by_itself`: its library anchors and settles."""

    by_itself = False

    def do_ack(self, tup: Any) -> None:
        """Ack one of the library's tuples."""
        raise NotImplementedError

    def do_fail(self, tup: Any) -> None:
        """Fail one of the library's tuples."""
        raise NotImplementedError

    def do_see(self, tup: Any) -> dict[str, Any]:
        """One of the library's tuples, as user code sees it: id, component, stream, task, values."""
        return {name: getattr(tup, name) for name in ("id", "component", "stream", "task", "values")}

    def begin(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing is held yet."""
        super().begin(conf, context)
        self.held: dict[str, Any] = {}

    def work(self, tup: Any) -> None:
        """Do what a tuple says: a tick is acked, a plan carried out, anything else echoed."""
        seen = self.do_see(tup)
        self.held["input"] = tup
        plan, rest = plan_of(seen["values"]), seen["values"][1:]
        if seen["stream"] == "__tick":
            plan = ECHO[1:]
        elif plan is None:
            plan, rest = ECHO, seen["values"]
        for action in plan:
            if not (self.by_itself and action is ECHO[1]):
                self.act(action, rest)

    def act(self, action: Action, rest: list[Any]) -> None:
        """Do one action; `rest`: the values after the plan."""
        match action["do"]:
            case "emit":
                self.emit_as(action, **self.anchors(action))
            case "echo":
                self.emit_as({"values": rest}, **self.anchors({}))
            case "ack":
                self.do_ack(self.held[action.get("tuple", "input")])
            case "fail":
                self.do_fail(self.held[action.get("tuple", "input")])
            case "hold":
                self.held[action["as"]] = self.held["input"]
            case "tell":
                self.tell(action["what"], tuple=self.do_see(self.held["input"]))
            case _:
                self.do(action)

    def anchors(self, action: Action) -> dict[str, Any]:
        """What an emit is to be anchored to, unless the library knows."""
        if self.by_itself:
            return {}
        return {"anchors": [self.held[name] for name in action.get("anchors", ["input"])]}


class Spout(Component):
    """Does for each command what conf says."""

    def begin(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Take the plan out of conf."""
        super().begin(conf, context)
        self.plan = conf.get("mlcheck.testee")
        self.count = 0
        self.calls: list[list[Any]] = []
        self.again: list[str] = []
        self.follow((self.plan or {}).get("initialize", []))

    def follow(self, actions: list[Action]) -> None:
        """Do the actions of one command."""
        for action in actions:
            match action["do"]:
                case "emit":
                    self.emit_as(action, **{key: action[key] for key in ("id",) if key in action})
                case "tell":
                    self.tell(action["what"], calls=self.calls)
                    self.calls = [] if action["what"] == "calls" else self.calls
                case _:
                    self.do(action)

    def called(self, command: str, *id_: Any) -> None:
        """Remember a call, and do what conf says about it; without a plan, emit words until they are acked."""
        self.calls.append([command, *id_])
        if self.plan is None:
            self.count_words(command, *id_)
            return
        actions = self.plan.get(command, [])
        if command == "next":
            actions = actions[self.count] if self.count < len(actions) else []
            self.count += 1
        self.follow(actions)

    def count_words(self, command: str, *id_: Any) -> None:
        """One word a next; what failed comes again."""
        if command == "next":
            self.count += not self.again
            word = self.again.pop() if self.again else str(self.count)
            self.do_emit([f"word {word}"], id=word)
        if command == "fail" and isinstance(id_[0], str) and id_[0].isdigit():
            self.again.append(id_[0])
