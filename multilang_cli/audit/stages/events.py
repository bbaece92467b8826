"""Lines of transcripts become the tables files, conversations, events and quarantine: each line in exactly one.

They are read twice: once for headers and ends, by a search in the bytes, once line by line. What is no event is so rare
that lines are read again for it, those of damaged files alone: nothing has to be kept of all the others.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby, pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import astuple

from multilang_cli.audit import parsing
from multilang_cli.audit.arrow import arrow_schema, batch_of
from multilang_cli.audit.columns import Table, TableColumn
from multilang_cli.audit.inputs import named
from multilang_cli.audit.outline import ASSUMED, LINE, QUOTED, Finder, Head, Outline, PartEnd, Size, outline
from multilang_cli.audit.stages.facts import SPANS, Span, spans_of
from multilang_cli.audit.stages.lines import BatchTeller
from multilang_cli.audit.stages.plain_rows import plain_rows
from multilang_cli.audit.store.local_rows import FewRows, local_rows
from multilang_cli.audit.store.parquet_files import commented_schema, write_batches
from multilang_cli.audit.store.partitions import Placing, placing
from multilang_cli.audit.tables import CONVERSATIONS, EVENTS, FILES, QUARANTINE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.stages.lines import LineSource
    from multilang_cli.audit.store.partitions import Part

_PLACE = (
    TableColumn("file", "string", "the file's URI"),
    TableColumn("split", "bigint", "where the piece of the file begins that one task read"),
    TableColumn("nth", "bigint", "its line in that piece, from 1; of a size, how many there are"),
    TableColumn("what", "string", "header, end or size"),
)
_LATER = {"file", "line", "closed"}
_OUTLINED = (*_PLACE, *(column for column in CONVERSATIONS.columns if column.name not in _LATER))
OUTLINE = Table(
    "outline", "Headers, ends and sizes: what the next run has to know of files that it does not read.", _OUTLINED
)
_OUTLINED_SCHEMA = arrow_schema(_OUTLINED)
_EVENTS_SCHEMA = arrow_schema(EVENTS.columns)
_CONVERSATIONS_SCHEMA = arrow_schema(CONVERSATIONS.columns)
_QUARANTINE_SCHEMA = arrow_schema(QUARANTINE.columns)
OF_OUTLINE = ("what", *Head._fields, "counted")
SHOWN_OF_LINE = 200
TOGETHER = 512
"""Lines that are read together, at most: what is made of more does not stay in the caches."""
LEAST_TOGETHER = 4
"""Lines of which fewer are read one by one."""
_FIELDS = parsing.EventRow.__struct_fields__
_SEQ, _KIND = _FIELDS.index("seq"), _FIELDS.index("kind")
_MARKS = (b'"transcript"', b'"end"')
"""One of these is in every header and end."""
_WRITTEN_ODDLY = "it is a header or an end, but its key is written with escapes"
_OTHER = "line {} says something else of event {} of '{}'"
_OF_MARKS = "\0"
_NOT_BEGUN = "no header of a conversation '{}' before this line"


class LineTables(NamedTuple):
    """The tables of the first stage."""

    files: DataFrame
    conversations: DataFrame
    events: DataFrame
    quarantine: DataFrame


def outlined(read: LineSource) -> DataFrame:
    """Headers and ends with their places, and the size of each piece of a file: few rows, which are used twice."""
    return read.through(_outline_batches, OUTLINE.ddl)


def write_outline(read: LineSource, folder: str) -> None:
    """Write the same into a folder of this machine."""
    read.write(_outline_batches, folder, OUTLINE)


def outline_of(rows: Iterable[Sequence[Any]]) -> Outline:
    """The outline of what `outlined` gives: its columns `OF_OUTLINE`."""
    found: dict[str, list[Any]] = {"size": [], "header": [], "end": []}
    for what, *row in rows:
        found[what].append(row)
    sizes = [Size(*row[:3]) for row in found["size"]]
    ends = (PartEnd(file, split, nth, conv, row[-1]) for row in found["end"] for file, split, nth, conv in [row[:4]])
    return outline(sizes, (Head(*row[:-1]) for row in found["header"]), ends)


def conversations(rows: DataFrame, known: Outline) -> DataFrame:
    """The table conversations, of the rows that the outline was made of."""
    heads = rows.where("what = 'header'")
    return heads.mapInArrow(partial(_conversation_batches, known=_shared(rows.sparkSession, known)), CONVERSATIONS.ddl)


def write_conversations(rows: Iterable[pa.RecordBatch], known: Outline, folder: str) -> None:
    """Write the same into a folder of this machine; `rows`: of the outline, as Arrow."""
    heads = (batch.filter(pc.equal(batch["what"], "header")) for batch in rows)
    made = _conversation_batches(heads, SimpleNamespace(value=known))
    write_batches(made, folder, commented_schema(CONVERSATIONS))


def events(read: LineSource, known: Outline) -> DataFrame:
    """The table events."""
    return read.through(partial(_event_batches, known=_shared(read.spark, known)), EVENTS.ddl)


def write_events(read: LineSource, known: Outline, folder: str, part: Part | None = None) -> Sequence[tuple[Any, ...]]:
    """Write the same into a folder of this machine. Returns rows of the table spans, several for one place.

    `part`: parts them into partitions.
    """
    make = partial(_event_batches, known=_shared(read.spark, known))
    return read.write(make, folder, EVENTS, BatchTeller(SPANS.ddl, spans_of), part)


def torn_files(spans: Iterable[Sequence[Any]]) -> frozenset[str]:
    """The files of which batches have numbers between those of others, by rows of the table spans that tell of each.

    A line may stand twice there, once in each of two pieces of the file, and neither task can know.
    """
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for file, conv, *numbers in spans:
        span = Span(*numbers)
        found.setdefault((file, conv), []).append((span.least, span.most))
    return frozenset(
        file
        for (file, _), each in found.items()
        if any(later[0] <= before[1] for before, later in pairwise(sorted(each)))
    )


def placings(known: Outline) -> dict[str, Placing]:
    """Topology and beginning of each conversation, by its id here."""
    return {conv: placing(*told) for conv, told in known.began.items()}


def quarantine(read: LineSource, known: Outline, of: Collection[str] | None = None) -> DataFrame:
    """The table quarantine; `of`: the files that have something for it, by their URIs, None if nobody knows."""
    if of is not None and not of:
        return local_rows(read.spark, [], QUARANTINE.ddl)
    wanted = partial(_quarantine_batches, known=_shared(read.spark, known), of=None if of is None else frozenset(of))
    return read.through(wanted, QUARANTINE.ddl)


def unaccounted(known: Outline, counts: Mapping[str, int]) -> set[str]:
    """The files that have other lines than headers, ends and events. `counts`: events of each file."""
    return {
        file
        for file, number in known.lines.items()
        if number != sum(known.told.get(file, (0, 0))) + counts.get(named(file), 0)
    }


def files(known: Outline, counts: Mapping[str, int], bad: Mapping[str, int]) -> FewRows:
    """The table files. `counts`: events of each; `bad`: its lines that are in quarantine, if there are any."""
    rows = []
    for file, lines in known.lines.items():
        (headers, ends), name = known.told.get(file, (0, 0)), named(file)
        rows.append((name, lines, headers, counts.get(name, 0), ends, bad.get(name, 0)))
    return FewRows(rows, FILES.ddl)


def counted_by_file(rows: DataFrame) -> dict[str, int]:
    """Rows of each file."""
    return {row.file: row["count"] for row in rows.groupBy("file").count().collect()}


def tables(read: LineSource) -> LineTables:
    """The tables of lines. Each reads them anew, and files are counted at once."""
    rows = outlined(read).persist()
    known = outline_of(rows.select(*OF_OUTLINE).collect())
    happened, bad = events(read, known), quarantine(read, known)
    found = files(known, counted_by_file(happened), counted_by_file(bad)).frame(read.spark)
    return LineTables(found, conversations(rows, known), happened, bad)


def _shared(spark: SparkSession, known: Outline) -> Any:
    """The outline as tasks need it, sent to each process once."""
    return spark.sparkContext.broadcast(known._replace(lines={}, told={}, began={}))


# --- on executors ---------------------------------------------------------------------------------------------------


def _runs(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, int, int, pa.Array]]:
    """Lines that follow each other: their file, the piece of it, how many of it came before them, and themselves."""
    at: tuple[Any, Any] = (None, None)
    nth = 0
    for batch in batches:
        texts, uris, splits = batch.columns
        start = 0
        for place, size in _alike(uris, splits):
            nth = nth if place == at else 0
            at = place
            yield *place, nth, texts.slice(start, size)
            start, nth = start + size, nth + size


def _alike(uris: pa.Array, splits: pa.Array) -> list[tuple[tuple[str, int], int]]:
    """Places, each with how many rows in a row have it."""
    last = len(uris) - 1
    first, same = (uris[0].as_py(), splits[0].as_py()), (uris[last].as_py(), splits[last].as_py())
    if first == same:
        return [(first, last + 1)]
    places = zip(uris.to_pylist(), splits.to_pylist(), strict=True)
    return [(place, sum(1 for _ in each)) for place, each in groupby(places)]


def _outline_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    sizes: dict[tuple[str, int], int] = {}
    for uri, split, nth, texts in _runs(batch for batch in batches if batch.num_rows):
        sizes[uri, split] = nth + len(texts)
        has = [pc.match_substring(texts, mark.decode()) for mark in _MARKS]
        places = pc.indices_nonzero(pc.or_(*has)).to_pylist()
        found = [
            {"file": uri, "split": split, "nth": nth + place + 1, **told}
            for place in places
            if (told := _told(texts[place].as_py()))
        ]
        if found:
            yield batch_of(found, _OUTLINED_SCHEMA)
    rows = [{"file": uri, "split": split, "nth": size, "what": "size"} for (uri, split), size in sizes.items()]
    yield batch_of(rows, _OUTLINED_SCHEMA)


def _told(text: bytes) -> dict[str, Any]:
    match parsing.parse(text):
        case parsing.HeaderRow() as said:
            return {"what": "header", "header": text} | {name: getattr(said, name) for name in said.__struct_fields__}
        case parsing.EndRow() as said:
            return {"what": "end", "conv": said.conv, "counted": said.counted}
    return {}


def _conversation_batches(batches: Iterable[pa.RecordBatch], known: Any) -> Iterator[pa.RecordBatch]:
    of: Outline = known.value
    for batch in batches:
        found = []
        for row in batch.to_pylist():
            if row["file"] not in of.pieces:
                continue
            line = of.before[row["file"], row["split"]] + row["nth"]
            piece = Finder(of.pieces[row["file"]]).at(row["conv"], line)
            if piece is not None and not piece.copy:
                counted = of.closed.get((piece.key, piece.part))
                own = {"conv": piece.key, "file": named(row["file"]), "line": line}
                found.append({**row, **own, "counted": counted, "closed": counted is not None})
        yield batch_of(found, _CONVERSATIONS_SCHEMA)


class _Sorted(NamedTuple):
    """Lines of one run, sorted out. `rows`: values as `EventRow` has them, and beside them which part each is of.

    `bad`: the places of those that are no events, from 0, each with the reason.
    """

    rows: list[tuple[Any, ...]]
    keys: list[str]
    parts: list[int]
    lines: list[int]
    bad: list[tuple[int, str]]


def _sorted_out(texts: list[bytes], first: int, finder: Finder) -> _Sorted:
    """Sort lines by what they are; `first`: the number of the first."""
    found = _Sorted([], [], [], [], [])
    for at in range(0, len(texts), TOGETHER):
        _sort(found, texts[at : at + TOGETHER], first, first + at, finder)
    return found


def _sort(found: _Sorted, texts: list[bytes], first: int, line: int, finder: Finder) -> None:
    """Sort lines that follow each other, from number `line` on: together, or the halves of them, or one by one."""
    if len(texts) < LEAST_TOGETHER:
        _sort_each(found, texts, first, line, finder)
        return
    rows = plain_rows(texts)
    if rows is None:
        half = len(texts) // 2
        _sort(found, texts[:half], first, line, finder)
        _sort(found, texts[half:], first, line + half, finder)
        return
    piece = finder.at_all([row[0] for row in rows], line)
    if piece is None or not finder.seen.take_all(piece.key, [row[_SEQ] for row in rows], texts, line):
        for number, (row, text) in enumerate(zip(rows, texts, strict=True), line):
            if why := _take(found, row, text, number, finder):
                found.bad.append((number - first, why))
        return
    count = len(rows)
    found.rows.extend(rows)
    found.keys.extend([piece.key] * count)
    found.parts.extend([piece.part] * count)
    found.lines.extend(range(line, line + count))


def _sort_each(found: _Sorted, texts: list[bytes], first: int, line: int, finder: Finder) -> None:
    for number, text in enumerate(texts, line):
        said = parsing.parse(text)
        event = isinstance(said, parsing.EventRow)
        why = _take(found, astuple(said), text, number, finder) if event else _why_not(said, text, number, finder)
        if why:
            found.bad.append((number - first, why))


def _take(found: _Sorted, row: tuple[Any, ...], text: bytes, line: int, finder: Finder) -> str:
    """Take the row of an event. Returns why it goes into quarantine instead; "" if it does not."""
    conv, seq = row[0], row[_SEQ]
    piece = finder.at(conv, line)
    if piece is None:
        return _NOT_BEGUN.format(conv[:QUOTED])
    if piece.copy:
        return piece.copy
    # A mark of a line in which something is hidden has that line's number.
    of = f"{piece.key}{_OF_MARKS}" if row[_KIND] == "redacted" else piece.key
    same = finder.seen.before(of, seq, text, line)
    if same is None:
        return f"{ASSUMED} {seq} of '{conv[:QUOTED]}'; it was read too long before to be compared"
    if same:
        return f"{LINE} {same} of '{conv[:QUOTED]}'" if same > 0 else _OTHER.format(-same, seq, conv[:QUOTED])
    found.rows.append(row)
    found.keys.append(piece.key)
    found.parts.append(piece.part)
    found.lines.append(line)
    return ""


def _why_not(said: Any, text: bytes, line: int, finder: Finder) -> str:
    """The reason why a line goes into quarantine; "" for a header or an end that counts."""
    if isinstance(said, parsing.Quarantined):
        return said.reason
    if not isinstance(said, parsing.EventRow) and not any(mark in text for mark in _MARKS):
        return _WRITTEN_ODDLY
    piece = finder.at(said.conv, line)
    return _NOT_BEGUN.format(said.conv[:QUOTED]) if piece is None else piece.copy


def _event_batches(batches: Iterable[pa.RecordBatch], known: Any) -> Iterator[pa.RecordBatch]:
    for uri, first, texts, finder in _to_sort(batches, known.value):
        found = _sorted_out(texts.to_pylist(), first, finder)
        if found.rows:
            yield _events_of(found, uri, texts, first)


def _events_of(found: _Sorted, uri: str, texts: pa.Array, first: int) -> pa.RecordBatch:
    count = len(found.rows)
    raw = texts if count == len(texts) else texts.take(pa.array([line - first for line in found.lines]))
    columns: dict[str, Any] = dict(zip(_FIELDS, zip(*found.rows, strict=True), strict=True))
    columns |= {"conv": found.keys, "part": found.parts, "line": found.lines}
    arrays = {"file": pa.repeat(pa.scalar(named(uri)), count), "raw": raw}
    for field in _EVENTS_SCHEMA:
        if field.name not in arrays:
            arrays[field.name] = pa.array(columns[field.name], field.type)
    return pa.RecordBatch.from_arrays([arrays[name] for name in _EVENTS_SCHEMA.names], schema=_EVENTS_SCHEMA)


def _quarantine_batches(
    batches: Iterable[pa.RecordBatch], known: Any, of: frozenset[str] | None
) -> Iterator[pa.RecordBatch]:
    for uri, first, array, finder in _to_sort(batches, known.value, of):
        texts = array.to_pylist()
        bad = [
            {"file": named(uri), "line": first + place, "reason": why,
             "text": texts[place].decode("utf-8", "replace")[:SHOWN_OF_LINE]}
            for place, why in _sorted_out(texts, first, finder).bad
        ]  # fmt: skip
        if bad:
            yield batch_of(bad, _QUARANTINE_SCHEMA)


def _to_sort(
    batches: Iterable[pa.RecordBatch], known: Outline, of: frozenset[str] | None = None
) -> Iterator[tuple[str, int, pa.Array, Finder]]:
    """Runs of lines, each with the number of its first in the file."""
    finder, last = Finder({}), ""
    for uri, split, nth, texts in _runs(batch for batch in batches if batch.num_rows):
        if of is not None and uri not in of:
            continue
        if uri != last:
            finder, last = Finder(known.pieces.get(uri, {})), uri
        yield uri, known.before[uri, split] + nth + 1, texts, finder
