"""Lines of transcripts become the tables files, conversations, events and quarantine: each line in exactly one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit import parsing
from multilang_cli.audit.arrow import arrow_schema
from multilang_cli.audit.inputs import literally, named
from multilang_cli.audit.stages.packed import packed_lines
from multilang_cli.audit.tables import CONVERSATIONS, EVENTS, FILES, QUARANTINE, Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

_PLACE = (
    Column("file", "string", ""),
    Column("split", "bigint", "where the piece of the file begins that one task read"),
    Column("nth", "bigint", "its line in that piece, from 1"),
    Column("what", "string", "event, header, end or quarantine"),
    Column("text", "binary", "the line"),
    Column("reason", "string", ""),
)
_LATER = {"file", "line", "raw", "header", "closed"}
_OWN = [column for column in EVENTS.columns if column.name not in _LATER]
_SHARED = {column.name for column in _OWN}
PARSED = (
    *_PLACE,
    *_OWN,
    *(column for column in CONVERSATIONS.columns if column.name not in _LATER | _SHARED),
)
"""A line with what it says, an event or a header: they share the columns conv, part, kind and task."""

_SCHEMA = arrow_schema(PARSED)
_NAMES = [column.name for column in PARSED]
DDL = ", ".join(f"`{column.name}` {column.type}" for column in PARSED)
SHOWN = 200
COPY = "a second copy of part"
"""How the reason begins where a line is well, but stands in a second copy."""

# One recording of a conversation: its parts say the same of these. One that does not say when it began is told apart
# from others by its file.
_RECORDING = "coalesce(cast(started as string), file), worker, host, topology, component, task"


class Stage(NamedTuple):
    """The tables of the first stage."""

    files: DataFrame
    conversations: DataFrame
    events: DataFrame
    quarantine: DataFrame


def lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Every line of the files, as bytes, with the file and where the piece begins that it was read in.

    Files that end in .gz or .zst are unpacked by Python, on the executors: what is damaged there costs its file only.
    """
    packed = [path for path in paths if path.endswith((".gz", ".zst"))]
    plain = [path for path in paths if not path.endswith((".gz", ".zst"))]
    found = [packed_lines(spark, packed)] if packed else []
    if plain:
        read = spark.read.text([literally(path) for path in plain], lineSep="\n")
        columns = ("value", "_metadata.file_path", "_metadata.file_block_start")
        found.append(
            read.select(F.col(columns[0]).cast("binary").alias("text"), F.col(columns[1]).alias("file"),
                        F.col(columns[2]).alias("split"))
        )  # fmt: skip
    return found[0] if len(found) == 1 else found[0].unionByName(found[1])


def parsed(read: DataFrame) -> DataFrame:
    """Every line with what it says."""
    return read.mapInArrow(_parse_batches, DDL)


def tables(read: DataFrame) -> Stage:
    """The tables of lines that were parsed; `read` is used several times, so it is best kept."""
    placed = _placed(read)
    pieces = _pieces(placed)
    sorted_out = _sorted_out(placed, pieces)
    ends = sorted_out.where("what = 'end'").groupBy("conv", "part").agg(F.lit(True).alias("closed"))
    headers = sorted_out.where("what = 'header'").withColumnRenamed("text", "header")
    headers = headers.join(F.broadcast(ends), ["conv", "part"], "left").fillna(False, ["closed"])
    bad = sorted_out.where("what = 'quarantine'").withColumn("text", F.expr(f"left(decode(text, 'UTF-8'), {SHOWN})"))
    counts = [F.count_if(F.col("what") == what).alias(name) for what, name in _COUNTED.items()]
    return Stage(
        sorted_out.groupBy("file").agg(F.count("*").alias("lines"), *counts).select(_names(FILES.columns)),
        headers.select(_names(CONVERSATIONS.columns)),
        sorted_out.where("what = 'event'").withColumnRenamed("text", "raw").select(_names(EVENTS.columns)),
        bad.select(_names(QUARANTINE.columns)),
    )


_COUNTED = {"header": "headers", "event": "events", "end": "ends", "quarantine": "quarantined"}


def _names(columns: Iterable[Column]) -> list[str]:
    return [column.name for column in columns]


def _placed(read: DataFrame) -> DataFrame:
    """With the line's number in the whole file."""
    earlier = "sum(lines) over (partition by file order by split rows between unbounded preceding and 1 preceding)"
    before = (
        read.groupBy("file", "split")
        .agg(F.max("nth").alias("lines"))
        .selectExpr("file", "split", f"coalesce({earlier}, 0) as before", "sum(lines) over (partition by file) as all")
    )
    return read.join(F.broadcast(before), ["file", "split"]).withColumn("line", F.col("before") + F.col("nth"))


def _pieces(placed: DataFrame) -> DataFrame:
    """Where the parts of conversations begin: by file and id, their lines in order, each with whose part it is.

    A part that stands in several files was copied; the longest file counts, of equal ones the first by name.
    """
    headers = placed.where("what = 'header'").selectExpr(
        "file", "line", "all", "conv", "part", f"struct({_RECORDING}) as recording"
    )
    numbered = headers.selectExpr(
        "*",
        "dense_rank() over (partition by conv order by recording) as number",
        "first(file) over (partition by conv, recording, part order by all desc, file, line) as best",
        "row_number() over (partition by conv, recording, part order by all desc, file, line) as copy",
    )
    known = numbered.selectExpr(
        "file",
        "conv",
        "struct(line, if(number = 1, conv, concat(conv, '#', number)) as key, part, best, copy) as piece",
    )
    return known.groupBy("file", "conv").agg(F.array_sort(F.collect_list("piece")).alias("pieces"))


def _sorted_out(placed: DataFrame, pieces: DataFrame) -> DataFrame:
    """Every line with its conversation and part; what has none, or is a copy, is told so."""
    mine = "try_element_at(filter(pieces, piece -> piece.line <= line), -1)"
    known = placed.join(F.broadcast(pieces), ["file", "conv"], "left").withColumn("mine", F.expr(mine))
    reason = f"""case
        when what = 'quarantine' then reason
        when mine is null then concat('no header of a conversation ', {_quoted("conv")}, ' before this line')
        when mine.copy > 1 then concat('{COPY} ', mine.part, ' of ', {_quoted("conv")},
            '; the one that counts stands in ', mine.best)
        end"""
    return (
        known.withColumn("reason", F.expr(reason))
        .withColumn("what", F.expr("if(reason is null, what, 'quarantine')"))
        .withColumn("conv", F.expr("coalesce(mine.key, conv)"))
        .withColumn("part", F.expr("mine.part"))
    )


def _quoted(name: str) -> str:
    return f'"\'", left({name}, 100), "\'"'


def _parse_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    at: tuple[Any, Any] = (None, None)
    nth = 0
    for batch in batches:
        columns: dict[str, list[Any]] = {name: [None] * batch.num_rows for name in _NAMES}
        texts, files, splits = (column.to_pylist() for column in batch.columns)
        for row, (text, file, split) in enumerate(zip(texts, files, splits, strict=True)):
            if (file, split) != at:
                at, nth = (file, split), 0
            nth += 1
            columns["nth"][row] = nth
            _fill(columns, row, text)
        columns.update(file=[named(file) for file in files], split=splits, text=texts)
        yield pa.RecordBatch.from_arrays(
            [pa.array(columns[field.name], field.type) for field in _SCHEMA], schema=_SCHEMA
        )


def _fill(columns: dict[str, list[Any]], row: int, text: bytes) -> None:
    said = parsing.parse(text)
    match said:
        case parsing.Row():
            columns["what"][row] = "event"
        case parsing.HeaderRow():
            columns["what"][row] = "header"
        case parsing.EndRow():
            columns["what"][row] = "end"
        case parsing.Quarantined():
            columns["what"][row] = "quarantine"
    for field in said.__struct_fields__:
        columns[field][row] = getattr(said, field)
