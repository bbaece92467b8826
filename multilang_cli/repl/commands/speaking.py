"""Commands by which Storm's side speaks: to a spout, to a bolt, and bytes that are no message at all."""

from __future__ import annotations

from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.protocol.wire import encoding as wire
from multilang_cli.protocol.wire.framing import Framer, frame_text
from multilang_cli.protocol.words.messages import DEFAULT_STREAM, TaskIds
from multilang_cli.repl import parsing
from multilang_cli.repl.commands.table import CommandTable, Misuse, ReplCommand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from multilang_cli.driver.session import Session
    from multilang_cli.protocol.wire.context import Sample
    from multilang_cli.protocol.words.messages import Json
    from multilang_cli.protocol.words.verdicts import SourceSpec
    from multilang_cli.repl.driver import Driver

_TUPLE_OPTIONS = ("stream", "comp", "task", "times", "file")
_ALL = "all"
_NOW = 0.02
"""Seconds that one round may wait for the pipe to take something."""

# --- spouts -------------------------------------------------------------------------------------------------------


def call(driver: Driver, command: str, id_: Json = "") -> bool:
    """Send a spout a command and wait for its sync, as Storm does; False if none came. Raises Misuse."""
    spout = driver.life.spout
    if spout.asked:
        raise Misuse("Storm still waits for the sync of the command before; `wait sync` goes on waiting")
    if command in {"activate", "deactivate"} and not spout.version.activate:
        return spout.call(command)
    spout.ask(command, id_)
    return await_sync(driver)


def await_sync(driver: Driver, seconds: float | None = None) -> bool:
    """Wait for the sync of the command that is out, or until task ids are pending that a person gives."""
    session, spout = driver.life.session, driver.life.spout
    limit = driver.limit("sync", seconds)
    done = session.wait(lambda: (spout.answered and session.idle) or session.pump.stdin.held > 0, limit, "sync")
    if spout.answered or not (done or session.interrupted):
        spout.leave()
    elif spout.stdin.held:
        driver.screen.line("task ids are pending: `taskids 4 5` gives them", "dim")
    return done


def _times(rest: str) -> int:
    plain = parsing.words(rest)
    if len(plain) > 1:
        raise Misuse("expected at most how often")
    return parsing.number(plain[0], "how often") if plain else 1


def _next(driver: Driver, rest: str) -> None:
    for _ in range(_times(rest)):
        if not driver.life.alive or not call(driver, "next"):
            return
        driver.life.did("call", command="next", times=1)


def _settle(command: str, driver: Driver, rest: str) -> None:
    life = driver.life
    if not rest and not life.pending:
        raise Misuse("no tuple with an id is pending; `next` asks for one, and `ack ID` takes any id")
    chosen = list(life.pending) if rest == _ALL else [id_of(life.pending, rest)] if rest else life.pending[:1]
    for id_ in chosen:
        known = id_ in life.pending
        if not life.alive or not call(driver, command, id_):
            return
        life.did("call", command=command, times=1, **({} if known else {"id": "unknown"}))


def id_of(pending: list[Json], text: str) -> Json:
    """The id that is meant: a pending one as it is written or as its JSON, else the JSON value, else the text."""
    value = parsing.json_or_text(text)
    return text if text in pending and value not in pending else value


def _ids(driver: Driver, _: list[str]) -> Iterable[str]:
    if not driver.started:
        return ()
    return [_ALL, *(str(id_) if isinstance(id_, str | int) else repr(id_) for id_ in driver.life.pending)]


def _switch(command: str, driver: Driver, _: str) -> None:
    """Activate or deactivate."""
    if call(driver, command):
        driver.life.did("call", command=command)


# --- bolts --------------------------------------------------------------------------------------------------------


def sources(driver: Driver) -> dict[str, SourceSpec]:
    """Sources of the bolt, by stream; of several components the first has it."""
    found: dict[str, SourceSpec] = {}
    for streams in driver.setup.profile.sources.values():
        found = {**streams, **found}
    return found


def _tuple(driver: Driver, rest: str) -> None:
    values, rest = parsing.leading_json(rest) if rest[:1] in {"[", "{"} else (None, rest)
    plain, named = parsing.options(rest, _TUPLE_OPTIONS)
    if plain or not (values is None or isinstance(values, list)):
        raise Misuse('expected the values as a JSON array: tuple ["a sentence", 1] stream=default times=3')
    times = parsing.number(named.get("times", "1"), "times")
    by_hand = [values] if values is not None else []
    if "file" in named:
        by_hand += parsing.tuples_of(Path(named["file"]))
    comp, stream = named.get("comp"), named.get("stream")
    task = parsing.number(named["task"], "task", least=-1, most=2**31 - 1) if "task" in named else None
    bolt = driver.life.bolt
    if by_hand:
        batch = by_hand * times
        for each in batch:
            bolt.send(each, comp, stream, task)
    else:
        samples = _samples(driver, times, comp, stream)
        batch = [each.values for each in samples]
        for sample in samples:
            bolt.send(sample.values, comp or sample.component, stream or sample.stream, task)
    driver.life.fed += batch
    driver.life.did("tuple", times=len(batch))
    if named.keys() & {"comp", "stream", "task"} or (not by_hand and len(driver.setup.profile.sources) > 1):
        driver.life.left_out.append("comp, stream and task of tuples")


def _samples(driver: Driver, times: int, comp: str | None, stream: str | None) -> list[Sample]:
    """Samples in turn, of the component and stream that were named; all of them if there is none of those."""
    samples = driver.setup.subject.samples
    fitting = [each for each in samples if comp in {None, each.component} and stream in {None, each.stream}] or samples
    begin, driver.next_sample = driver.next_sample, driver.next_sample + times
    return list(islice(cycle(fitting), begin % len(fitting), begin % len(fitting) + times))


def fields_asked(driver: Driver, text: str) -> tuple[str, ...]:
    """The fields whose values are to be asked for one by one: of a tuple that is given none."""
    name, _, rest = text.strip().partition(" ")
    if name != "tuple" or rest.lstrip()[:1] in {"[", "{"} or driver.setup.profile.kind != "bolt":
        return ()
    _, named = parsing.options(rest, _TUPLE_OPTIONS)
    own = driver.setup.profile.sources.get(named["comp"], {}) if "comp" in named else sources(driver)
    spec = own.get(named["stream"]) if "stream" in named else own.get(DEFAULT_STREAM, next(iter(own.values()), None))
    return () if "file" in named or spec is None else spec.fields


def with_fields(text: str, answers: list[str]) -> str:
    """The command `text` with the values that were answered: JSON where they are JSON, else text."""
    from json import dumps  # noqa: PLC0415 (seldom)

    _, _, rest = text.strip().partition(" ")
    values = dumps([parsing.json_or_text(answer) for answer in answers], ensure_ascii=False)
    return f"tuple {values} {rest}".strip()


def _tuple_words(driver: Driver, before: list[str]) -> Iterable[str]:
    name, equals, _ = before[-1].partition("=")
    profile = driver.setup.profile
    if not equals:
        return [f"{each}=" for each in _TUPLE_OPTIONS]
    values: dict[str, Iterable[object]] = {
        "stream": sources(driver),
        "comp": profile.sources,
        "task": profile.tasks,
    }
    return [f"{name}={value}" for value in values.get(name, ())]


def _heartbeat(driver: Driver, rest: str) -> None:
    bolt, times = driver.life.bolt, _times(rest)
    if not bolt.version.heartbeats:
        raise Misuse(f"Storm {bolt.version.id} sends no heartbeats; they came with 0.9.3")
    for _ in range(times):
        bolt.heartbeat()
    driver.life.did("heartbeat", times=times)


def _tick(driver: Driver, rest: str) -> None:
    times = _times(rest)
    for _ in range(times):
        driver.life.bolt.tick()
    driver.life.did("tick", times=times)


# --- both ---------------------------------------------------------------------------------------------------------


def _taskids(driver: Driver, rest: str) -> None:
    life = driver.life
    if rest in {"auto", "hand"}:
        driver.taskids_by_hand = rest == "hand"
        if driver.taskids_by_hand:
            life.hold_task_ids()
        else:
            life.release_task_ids()
    elif not rest:
        how = "by hand" if driver.taskids_by_hand else "by themselves"
        driver.screen.line(f"task ids are sent {how}; {life.session.pump.stdin.held} emits wait for theirs")
        return
    else:
        _answer(driver, _task_list(rest))
    if life.setup.profile.kind == "spout" and life.spout.asked:
        await_sync(driver)


def _answer(driver: Driver, tasks: list[int]) -> None:
    if not driver.life.alive:
        raise Misuse("taskids: the component has ended; `restart` starts it again")
    if not driver.life.session.pump.stdin.answer_held(TaskIds(tasks)):
        raise Misuse("no emit waits for task ids; `taskids hand` has the next one wait")
    driver.life.left_out.append("task ids of your own")


def _task_list(rest: str) -> list[int]:
    if rest.startswith("["):
        value, more = parsing.leading_json(rest)
        if not more.strip() and isinstance(value, list) and all(type(task) is int for task in value):
            return value
        raise Misuse("expected task ids: taskids 4 5, or taskids [] for none")
    return [parsing.number(word, "a task id", least=-(2**31), most=2**31 - 1) for word in rest.split()]


def _raw(driver: Driver, rest: str) -> None:
    if not rest:
        raise Misuse(r'expected bytes: raw {"command":"next"}\nend\n')
    life, data = driver.life, parsing.escaped_bytes(rest)
    if life.raw is None:
        life.raw = max(life.events, default=-1) + 1
    _say_raw(life.session, data)
    life.left_out.append("raw bytes")


def _say_raw(session: Session, data: bytes) -> None:
    """Write bytes behind all that is queued, whatever they are. Each whole frame in them is an event, and the rest.

    What they say is read as a transcript of them is.
    """
    while session.running and not session.idle:
        session.pump.move(_NOW)
    framer = Framer()
    frames = [frame.raw for frame in framer.feed(data)]
    rest = data[sum(map(len, frames)) :]
    session.pump.say_bytes((wire.decode(frame_text(raw)), raw) for raw in ([*frames, rest] if rest else frames))


_to_spout = partial(ReplCommand, kind="spout", alive=True, speaks=True)
_to_bolt = partial(ReplCommand, kind="bolt", alive=True, speaks=True)
COMMANDS: CommandTable[Driver] = {
    "next": _to_spout("[TIMES]", "Ask a spout for a tuple.", _next),
    "ack": _to_spout(
        "[ID|all]", "Tell a spout that a tuple was processed; without an id the oldest.", partial(_settle, "ack"), _ids
    ),
    "fail": _to_spout("[ID|all]", "Tell a spout that a tuple failed.", partial(_settle, "fail"), _ids),
    "activate": _to_spout("", "Tell a spout that it is activated.", partial(_switch, "activate")),
    "deactivate": _to_spout("", "Tell a spout to rest.", partial(_switch, "deactivate")),
    "tuple": _to_bolt(
        "[VALUES] [stream=S] [comp=C] [task=T] [times=N] [file=F]",
        "Send a bolt a tuple.\nVALUES: a JSON array, over several lines if you like. Without them you are asked for "
        "each field, or, in a script, the next sample is sent. file: a JSON array a line.",
        _tuple,
        _tuple_words,
        json=True,
    ),
    "heartbeat": _to_bolt("[TIMES]", "Send a heartbeat, to be answered by sync.", _heartbeat),
    "tick": _to_bolt("[TIMES]", "Send a tick tuple.", _tick),
    "taskids": ReplCommand(
        "[auto|hand|LIST]",
        "Answer emits with task ids by themselves, or by hand.\n`taskids hand` holds them back; then `taskids 4 5` "
        "answers the oldest emit so, `taskids []` with none. `taskids auto` sends what is pending.",
        _taskids,
        lambda _, __: ("auto", "hand"),
        json=True,
        speaks=True,
    ),
    "raw": ReplCommand(
        "BYTES",
        "Write bytes, whatever they are.\nUTF-8 with \\n \\r \\t \\0 \\\\ \\xHH \\uHHHH; a message ends with "
        "\\nend\\n.",
        _raw,
        alive=True,
        speaks=True,
    ),
}
"""Commands by which Storm's side speaks."""
