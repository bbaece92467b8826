"""Sources of lines: files of this machine are read by Python, on the executors, all others by Spark.

What takes the lines runs where Python has read them: sent through Spark first, each would be copied four times.
"""

from __future__ import annotations

import heapq
from collections import Counter
from functools import partial, reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.inputs import is_url, literally
from multilang_cli.audit.inputs import size as bytes_of
from multilang_cli.audit.stages.file_lines import LINES_OF_A_BATCH, PACKED, blocks, packed, together
from multilang_cli.audit.store.parquet_files import commented_schema, tuples_of, write_passing
from multilang_cli.transcript.given import GIVEN, NO_SECRETS, GivenSecrets
from multilang_cli.transcript.hidden_lines import LineRedactor
from multilang_cli.transcript.private import make_private

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.columns import Table
    from multilang_cli.audit.store.partitions import Part

    Batches = Iterable[pa.RecordBatch]
    BatchMaker = Callable[[Batches], Iterator[pa.RecordBatch]]

DDL = "text binary, file string, split bigint"
"""Columns of lines: their bytes, the file, and where the piece of it begins that one task read."""
TASK_BYTES = 64 * 1024 * 1024
"""Bytes that one task reads, at most, of what can be cut."""
READ_BY_DRIVER = 8 * 1024 * 1024
"""Bytes of all files up to which the driver reads them itself: Spark's Python workers take longer to start."""
SMALL = 4 * 1024 * 1024
"""Bytes of a file below which it is not worth while to cut it."""
_NOTHING = "nothing int"
"""Columns of no rows."""
_SCHEMA = pa.schema([("text", pa.binary()), ("file", pa.string()), ("split", pa.int64())])


class FilePiece(NamedTuple):
    """Lines of a file that begin between two of its bytes; `end`: None for one that is packed, and read whole."""

    path: str
    start: int
    end: int | None


class BatchTeller(NamedTuple):
    """Rows that are told of batches of a table while they are written; `ddl`: their columns."""

    ddl: str
    tell: BatchMaker


class LineSource(NamedTuple):
    """Lines that were not read yet. `tasks`: for each, what it reads of this machine; `far`: lines that Spark reads.

    `secrets`: what is hidden in them. `little`: there is so little to read that no task is needed.
    """

    spark: SparkSession
    tasks: tuple[tuple[FilePiece, ...], ...]
    far: tuple[DataFrame, ...]
    secrets: GivenSecrets = NO_SECRETS
    little: bool = False

    def through(self, make: BatchMaker, ddl: str) -> DataFrame:
        """Rows that `make` makes of batches of lines (``DDL``); `ddl`: their columns."""
        found = [rows.mapInArrow(made, ddl) for rows, made in self._sources(make)]
        return reduce(lambda one, two: one.unionByName(two), found)

    def write(
        self, make: BatchMaker, folder: str, table: Table, tell: BatchTeller | None = None, part: Part | None = None
    ) -> Sequence[tuple[Any, ...]]:
        """Write a table that `make` makes into a folder of this machine, in the tasks that read the lines.

        `part`: as ``write_passing`` takes it. Returns what `tell` has to tell of the batches that were written.
        """
        make_private(Path(folder))
        place, schema = str(Path(folder).absolute()), commented_schema(table)
        told = tell or BatchTeller(_NOTHING, _nothing)
        if self.little:
            hidden = self._hiding(make)
            written = (
                write_passing(
                    hidden(chain.from_iterable(map(_read, pieces))), _file(place, number), schema, "driver", part
                )
                for number, pieces in enumerate(self.tasks or ((),))
            )
            return list(tuples_of(told.tell(chain.from_iterable(written))))
        found = []
        for rows, made in self._sources(make):
            write = partial(_write_batches, make=made, folder=place, schema=schema, tell=told.tell, part=part)
            found.append(rows.mapInArrow(write, told.ddl))
        return reduce(lambda one, two: one.unionByName(two), found).collect()

    def _hiding(self, make: BatchMaker) -> BatchMaker:
        return partial(_hide_and_make, secrets=self.secrets, make=make) if self.secrets != NO_SECRETS else make

    def _sources(self, make: BatchMaker) -> Iterator[tuple[DataFrame, BatchMaker]]:
        """Sources of lines, each with what makes rows of what is there."""
        make = self._hiding(make)
        yield from ((rows, make) for rows in self.far)
        if self.tasks or not self.far:
            each = self.spark.range(0, len(self.tasks), 1, max(1, len(self.tasks)))
            yield each, partial(_read_and_make, tasks=self.tasks, make=make)

    def beside(self, other: LineSource) -> LineSource:
        """The lines of both."""
        both = self._replace(tasks=(*self.tasks, *other.tasks), far=(*self.far, *other.far))
        return both._replace(little=self.little and other.little)

    def uncut(self, files: Collection[str]) -> LineSource:
        """The same, these files each in one piece; the same object if none of them is cut."""
        pieces = [piece for task in self.tasks for piece in task if piece.path in files]
        parts = Counter(piece.path for piece in pieces)
        ends = {piece.path: piece.end for piece in sorted(pieces) if parts[piece.path] > 1}
        if not ends:
            return self
        kept = (tuple(piece for piece in task if piece.path not in ends) for task in self.tasks)
        return self._replace(tasks=(*filter(None, kept), *((FilePiece(path, 0, end),) for path, end in ends.items())))

    def rows(self) -> DataFrame:
        """The lines themselves."""
        return self.through(iter, DDL)


def lines(spark: SparkSession, paths: Sequence[str], secrets: GivenSecrets = NO_SECRETS) -> LineSource:
    """Every line of the files, without `secrets`.

    What is packed is unpacked by Python: what is damaged there costs its file only.
    """
    far = [path for path in paths if is_url(path)]
    whole = [path for path in far if path.endswith(PACKED)]
    texts = [path for path in far if not path.endswith(PACKED)]
    found = [_packed(spark, whole)] if whole else []
    found += [_text(spark, texts)] if texts else []
    here = [path for path in paths if not is_url(path)]
    tasks = _shared_out(here, spark.sparkContext.defaultParallelism)
    return LineSource(spark, tasks, tuple(found), secrets, little=not far and bytes_of(here) <= READ_BY_DRIVER)


def write_rows(rows: DataFrame, folder: str, table: Table, part: Part | None = None) -> None:
    """Write rows of Spark's into a folder of this machine, in its tasks, as Arrow. `part`: as ``write_passing`` has it.

    For many rows that takes a third of what Spark's own writer does, which is called for each value.
    """
    make_private(Path(folder))
    schema = commented_schema(table)
    make = partial(_of_schema, schema=schema)
    place = str(Path(folder).absolute())
    write = partial(_write_batches, make=make, folder=place, schema=schema, tell=_nothing, part=part)
    rows.select(schema.names).mapInArrow(write, _NOTHING).collect()


def start_workers(spark: SparkSession) -> None:
    """Have Spark start Python beside the driver's first steps: it would do so for the first task that needs it."""
    spark.range(1).mapInArrow(_nothing, _NOTHING).collect()


def _text(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    read = spark.read.text([literally(path) for path in paths], lineSep="\n")
    return read.select(
        F.col("value").cast("binary").alias("text"),
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("split"),
    )


def _packed(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The lines of packed files that only Hadoop can open: Spark hands them over whole, one at a time."""
    # Commas part patterns here.
    patterns = ",".join(literally(path).replace(",", "?") for path in paths)
    files = spark.sparkContext.binaryFiles(patterns, len(paths))
    return spark.createDataFrame(files.flatMap(_rows), DDL, verifySchema=False)


def _shared_out(paths: Sequence[str], workers: int) -> tuple[tuple[FilePiece, ...], ...]:
    """Pieces of files for as many tasks as there are workers, or more: none has much more to read than others."""
    sizes = {path: Path(path).stat().st_size if Path(path).exists() else 0 for path in paths}
    total = sum(sizes.values())
    count = max(workers, -(-total // TASK_BYTES))
    most = max(SMALL, -(-total // count))
    return shares(chain.from_iterable(_cut(path, size, most) for path, size in sizes.items()), count)


def shares(sized: Iterable[tuple[float, Any]], count: int) -> tuple[tuple[Any, ...], ...]:
    """Share out what is to be read, each with its size, to at most so many tasks: none has much more than others."""
    found: list[tuple[float, int, list[Any]]] = [(0, number, []) for number in range(count)]
    for size, each in sorted(sized, key=lambda one: (-one[0], *one[1])):
        has, number, share = heapq.heappop(found)
        share.append(each)
        heapq.heappush(found, (has + size, number, share))
    return tuple(tuple(share) for _, _, share in sorted(found) if share)


def _cut(path: str, size: int, most: int) -> Iterator[tuple[int, FilePiece]]:
    if path.endswith(PACKED):
        yield size, FilePiece(path, 0, None)
        return
    for start in range(0, max(size, 1), most):
        end = min(start + most, size)
        yield end - start, FilePiece(path, start, end)


# --- on executors ---------------------------------------------------------------------------------------------------


def _read_and_make(
    batches: Batches,
    tasks: tuple[tuple[FilePiece, ...], ...],
    make: BatchMaker,
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from make(chain.from_iterable(map(_read, tasks[number])))


def _write_batches(
    batches: Batches, make: BatchMaker, folder: str, schema: pa.Schema, tell: BatchMaker, *, part: Part | None
) -> Iterator[pa.RecordBatch]:
    task = TaskContext.get()
    assert task is not None  # noqa: S101 (it runs in one)
    # A task that is run again writes the same file again.
    path = _file(folder, task.partitionId())
    yield from tell(write_passing(make(batches), path, schema, str(task.taskAttemptId()), part))


def _file(folder: str, number: int) -> Path:
    return Path(folder, f"part-{number:05d}.parquet")


def _of_schema(batches: Batches, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The same batches: Spark says of columns whether they may be null, tables do not."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _nothing(batches: Batches) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        pass
    yield from ()


def _hide_and_make(batches: Batches, secrets: GivenSecrets, make: BatchMaker) -> Iterator[pa.RecordBatch]:
    GIVEN.take(secrets)
    redactor = LineRedactor()

    def without(batch: pa.RecordBatch) -> pa.RecordBatch:
        """The same lines without secrets."""
        texts = pa.array([redactor.line(text) for text in batch.column(0).to_pylist()], pa.binary())
        return pa.RecordBatch.from_arrays([texts, *batch.columns[1:]], schema=batch.schema)

    yield from make(map(without, batches))


def _rows(file: tuple[str, bytes]) -> Iterator[tuple[bytes, str, int]]:
    path, content = file
    # As Spark tells of files that it reads as texts: by their URIs.
    uri = path.replace("%", "%25")
    for text in packed(path, content):
        # The JVM unpickles bytes, and no class of ours that is made of them.
        yield bytes(text), uri, 0


def _read(piece: FilePiece) -> Iterator[pa.RecordBatch]:
    path, start, end = piece
    for texts in _packed_lines(path) if end is None else _plain_lines(path, start, end):
        count = len(texts)
        places = pa.repeat(pa.scalar(path), count), pa.repeat(pa.scalar(start, pa.int64()), count)
        yield pa.RecordBatch.from_arrays([texts, *places], schema=_SCHEMA)


def _plain_lines(path: str, start: int, end: int) -> Iterator[pa.Array]:
    for block in blocks(path, start, end):
        # Arrow parts the lines, and Python never has those that nobody asks for.
        texts = pc.split_pattern(pa.array([block.removesuffix(b"\n")], pa.binary()), "\n").values
        for first in range(0, len(texts), LINES_OF_A_BATCH):
            yield texts.slice(first, LINES_OF_A_BATCH)


def _packed_lines(path: str) -> Iterator[pa.Array]:
    for texts in together(packed(path)):
        yield pa.array(texts, pa.binary())
