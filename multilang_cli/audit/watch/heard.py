"""Rows that a watch is made from: the lines of histories and transcripts, each with its place in the recording."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa

from multilang_cli.audit import parsing
from multilang_cli.audit.inputs import named, run_of
from multilang_cli.audit.marks import Mark, alone_of, marks_of
from multilang_cli.audit.stages.file_lines import LineFault, together, whole_file
from multilang_cli.audit.watch.alerts import SpeakerNames
from multilang_cli.topology.history import Beat, Died, Happening, Launched, PhaseBegun
from multilang_cli.transcript.given import GIVEN, NO_SECRETS, GivenSecrets
from multilang_cli.transcript.hidden_lines import LineRedactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame

NAMES, CLOCK, ALIVE, EXITED, DIED, CLOSED = "names", "clock", "alive", "exited", "died", "closed"
"""Kinds of rows beside the marks': who speaks, how late it is, that a line came, and how a recording goes on."""
UNREAD = "unread"
"""The kind of a row that says what of a file can't be read."""
HEARD = "run string, came double, file string, block bigint, n bigint, mark binary"
PLACE = ("came", "block", "file", "n")
"""The columns that say where it stands: in a topic, whatever the key of its message is."""
_SCHEMA = pa.schema([
    ("run", pa.string()), ("came", pa.float64()), ("file", pa.string()), ("block", pa.int64()), ("n", pa.int64()),
    ("mark", pa.binary()),
])  # fmt: skip
_decode = msgspec.json.Decoder(Happening).decode
_encode = msgspec.json.Encoder().encode
_decode_mark = msgspec.msgpack.Decoder(Mark).decode
_packed = msgspec.msgpack.Encoder().encode


class RunMark(NamedTuple):
    """A mark and its run; one of the kinds above, or of the ack framework's."""

    run: str
    mark: Mark


def heard(lines: DataFrame, secrets: GivenSecrets = NO_SECRETS) -> DataFrame:
    """Rows of `HEARD` from lines, with the columns `file`, `text`, bytes, and their order `came`, `block`.

    Without `text` they are files of this machine, whose lines are read here. `secrets`: what is hidden in the lines
    before anything is made of them.
    """
    if "text" in lines.columns:
        return lines.select("file", "text", "came", "block").mapInArrow(partial(heard_in_lines, secrets=secrets), HEARD)
    return lines.select("file", "came").mapInArrow(partial(heard_in_files, secrets=secrets), HEARD)


def heard_in_line(file: str, text: bytes) -> list[RunMark]:
    """Read a line. Never raises; what is no line of either kind says nothing."""
    try:
        event = _decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return list(_of_transcript(text))
    run = run_of(file)
    return [RunMark(run, mark) for mark in _of_history(event, run.rpartition("/")[2])]


def _of_history(event: Happening, topology: str) -> Iterator[Mark]:
    yield from marks_of(event)
    match event:
        case Launched():
            yield _named(event.t, SpeakerNames(topology, event.component, event.task, alone=False))
        case Beat():
            yield Mark(0, CLOCK, event.t)
        case Died():
            who = f"worker {event.worker}" if event.task is None else f"the acker's task {event.task}"
            yield Mark(0, DIED, event.t, id=f"{who}: {event.why}")
        case PhaseBegun(name="end"):
            yield Mark(0, CLOSED, event.t)


def _of_transcript(text: bytes) -> Iterator[RunMark]:
    row = parsing.parse(text)
    match row:
        case parsing.HeaderRow():
            names = SpeakerNames(row.topology, row.component, row.task, alone=True)
            yield RunMark(row.conv, _named(0.0, names))
        case parsing.EventRow(kind="heartbeat" | "tick"):
            yield RunMark(row.conv, Mark(0, CLOCK, row.t))
        case parsing.EventRow(kind="exited"):
            yield RunMark(row.conv, Mark(0, EXITED, row.t, id=row.says))
        case parsing.EventRow(kind="stdin-closed" | "stdout-closed"):
            yield RunMark(row.conv, Mark(0, CLOSED, row.t))
        case parsing.EndRow():
            # Of a part: another may follow.
            yield RunMark(row.conv, Mark(0, ALIVE, 0.0))
        case parsing.EventRow():
            marks = alone_of(row)
            yield from (RunMark(row.conv, mark) for mark in marks or [Mark(0, ALIVE, 0.0)])


def in_order(columns: Iterable[Mapping[str, Sequence[Any]]]) -> list[Mark]:
    """The marks of a run, from columns of `HEARD`: where a batch was shuffled, nothing else tells their order."""
    places = [row for each in columns for row in zip(*(each[name] for name in (*PLACE, "mark")), strict=True)]
    places.sort(key=lambda place: place[:-1])
    return [_decode_mark(place[-1]) for place in places]


def _unread(file: str, fault: LineFault) -> list[RunMark]:
    return [RunMark(run_of(file), Mark(0, UNREAD, 0.0, id=f"{named(file)}: {fault.why}"))]


def _named(t: float, names: SpeakerNames) -> Mark:
    return Mark(0, NAMES, t, id=_encode(names).decode())


def heard_in_files(batches: Iterable[pa.RecordBatch], secrets: GivenSecrets = NO_SECRETS) -> Iterator[pa.RecordBatch]:
    """Read files of this machine (`file`, `came`) to their ends; one that can't be read is told of."""
    for batch in batches:
        for file, came in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            lines = together(whole_file(named(file)))
            yield from _rows((((file, text, came, 0) for text in texts) for texts in lines), secrets)


def heard_in_lines(batches: Iterable[pa.RecordBatch], secrets: GivenSecrets = NO_SECRETS) -> Iterator[pa.RecordBatch]:
    """Read lines (`file`, `text`, `came`, `block`)."""
    return _rows((zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches), secrets)


def _rows(
    batches: Iterable[Iterable[tuple[str, bytes | None, float, int]]], secrets: GivenSecrets
) -> Iterator[pa.RecordBatch]:
    """Rows of lines: `file`, `text`, `came` and `block` of each. A message of a topic may have no text."""
    GIVEN.take(secrets)
    hidden = LineRedactor().line if secrets != NO_SECRETS else bytes
    n = 0
    for lines in batches:
        rows: list[tuple[Any, ...]] = []
        alive: set[str] = set()
        for file, text, came, block in lines:
            found = _unread(file, text) if isinstance(text, LineFault) else heard_in_line(file, hidden(text or b""))
            for said in found:
                # One of a batch is enough to know that the recording goes on.
                if said.mark.what == ALIVE and said.run in alive:
                    continue
                alive.add(said.run)
                n += 1
                # Packed: pandas would make numbers beside nulls floats, which hold no edge id.
                rows.append((said.run, came, file, block, n, _packed(said.mark)))
        columns: list[Any] = list(zip(*rows, strict=True)) or [[] for _ in _SCHEMA]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)
