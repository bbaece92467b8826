"""Lines of packed files, unpacked on the executors by Python: pip's PySpark has no zstd and fears damaged gzip."""

from __future__ import annotations

import gzip
import io
import zlib
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import zstandard

from multilang_cli.audit.inputs import is_url, literally
from multilang_cli.audit.parsing import FAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

TOGETHER = 4096
"""Lines of a batch, at most."""
MOST_BYTES = 8 * 1024 * 1024
"""Bytes of the lines of a batch, about."""
LONGEST = 256 * 1024 * 1024
"""Bytes of a line that are kept."""
_PACKED = 16 * 1024
"""Bytes that are unpacked at a time: zstd makes thousands of one."""
_FAULTS = (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError)
_SCHEMA = pa.schema([("text", pa.binary()), ("file", pa.string()), ("split", pa.int64())])
DDL = "text binary, file string, split bigint"


def packed_lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Every line of files packed with gzip or zstd: one task a file. Where a file is damaged, a line says so."""
    here = [(path,) for path in paths if not is_url(path)]
    far = [path for path in paths if is_url(path)]
    found = _of_urls(spark, far) if far else None
    if here:
        named = spark.createDataFrame(here, "file string").repartition(len(here), "file")
        mine = named.mapInArrow(_read, DDL)
        found = mine if found is None else mine.unionByName(found)
    assert found is not None  # noqa: S101 (there are paths)
    return found


def _of_urls(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The same of files that only Hadoop can open: Spark hands them over whole, one at a time."""
    # Commas part patterns here.
    patterns = ",".join(literally(path).replace(",", "?") for path in paths)
    files = spark.sparkContext.binaryFiles(patterns, len(paths))
    return spark.createDataFrame(files.flatMap(_rows), DDL, verifySchema=False)


def _rows(file: tuple[str, bytes]) -> Iterator[tuple[bytes, str, int]]:
    path, content = file
    for text in _lines(path, lambda: io.BytesIO(content)):
        yield text, path, 0


def _read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for path in batch.column(0).to_pylist():
            for texts in _batches(_lines(path, partial(_opened, path))):
                arrays = [pa.array(texts, pa.binary()), [path] * len(texts), [0] * len(texts)]
                yield pa.RecordBatch.from_arrays([pa.array(each) for each in arrays], schema=_SCHEMA)


def _batches(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    kept: list[bytes] = []
    size = 0
    for text in texts:
        kept.append(text)
        size += len(text)
        if len(kept) >= TOGETHER or size >= MOST_BYTES:
            yield kept
            kept, size = [], 0
    if kept:
        yield kept


def _lines(path: str, opened: Callable[[], IO[bytes]]) -> Iterator[bytes]:
    """The lines that can be had, then, if some can't, one that says why."""
    try:
        with opened() as file, _unpacked(path, file) as unpacked:
            for line in iter(partial(unpacked.readline, LONGEST), b""):
                yield line.removesuffix(b"\n")
    except _FAULTS as error:
        yield FAULT + f"from here on the file can't be unpacked: {error}".encode("utf-8", "replace")


def _opened(path: str) -> IO[bytes]:
    return Path(path).open("rb")


def _unpacked(path: str, file: IO[bytes]) -> IO[bytes] | gzip.GzipFile:
    return gzip.open(file) if path.endswith(".gz") else io.BufferedReader(_Zstd(file), 1 << 20)


class _Zstd(io.RawIOBase):
    """Reader of a file of zstd frames. The library's own says nothing where the file was cut."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._packed = self._ready = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack into `buffer`; how many bytes, 0 at the end. Raises EOFError where the file was cut."""
        while not self._ready:
            self._packed = self._packed or self._file.read(_PACKED)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the file ends amid a frame")
                return 0
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            self._ready = self._frame.decompress(self._packed)
            self._packed = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
