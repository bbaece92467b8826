"""Inputs of an audit: files, folders, patterns and URLs, each file a transcript, a history of a run, or neither."""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import unquote

from multilang_cli.reports.escape import decode
from multilang_cli.transcript.given import NO_SECRETS, GivenSecrets
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession

SUFFIXES = (".ndjson", ".ndjson.gz", ".ndjson.zst")
"""How transcripts in folders end."""
MOST_NAMED = 20
"""Files of a kind that are named; of more, the number is given."""
_OPENING = b'{"transcript":'
_ZSTD = ".zst"
_PACKED_TIMES = 10
"""How many times larger recordings are than packed ones."""
_ZSTD_BEGINS = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
_LOCAL = re.compile(r"file:/+")
_MEANS_MORE = re.compile(r"([\\*?\[\]{}])")


class Inputs(NamedTuple):
    """Files found: `transcripts` and `histories` by their names, which are no URIs.

    `notes`: sentences on what is left out, and why.
    """

    transcripts: tuple[str, ...]
    histories: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


TableFormat = Literal["parquet", "delta"]


class AuditPlan(NamedTuple):
    """Inputs, and the Storm version to audit them for; "" is the recorded one.

    `secrets`: what is hidden in every line before anything is made of it. `table_format`: of what is written; a Delta
    table needs a session with ``delta_settings``.
    """

    inputs: Inputs
    storm: str = ""
    secrets: GivenSecrets = NO_SECRETS
    table_format: TableFormat = "parquet"


def find(given: Iterable[str], spark: SparkSession | None = None) -> Inputs:
    """The files that `given` names, each once. `spark`: lists URLs, if there are any."""
    transcripts: list[str] = []
    histories: list[str] = []
    left_out: list[str] = []
    seen: set[str] = set()
    repeated: list[str] = []
    for path in (file for name in given for file in _files(name, left_out, spark)):
        real = path if is_url(path) else os.path.realpath(path)
        if real in seen:
            repeated.append(_shown(path))
            continue
        seen.add(real)
        if why := _hidden(path) or ("" if is_url(path) else why_not(real)):
            left_out.append(f"{_shown(path)}: {why}; it is left out")
        else:
            (histories if Path(path).name == HISTORY else transcripts).append(real)
    notes = [*_some(left_out, "more files are left out"), *_twice(repeated)]
    return Inputs(tuple(transcripts), tuple(histories), tuple(notes))


def size(files: Iterable[str]) -> float:
    """Bytes of the lines of files, about; infinite if some of them are not on this machine, or nowhere yet."""
    return sum(
        Path(file).stat().st_size * (_PACKED_TIMES if file.endswith((".gz", _ZSTD)) else 1)
        if not is_url(file) and Path(file).exists()
        else float("inf")
        for file in files
    )


def _twice(repeated: list[str]) -> list[str]:
    return _some([f"{path}: was given twice; it counts once" for path in repeated], "more files were given twice")


def _some(sentences: list[str], more: str) -> list[str]:
    rest = len(sentences) - MOST_NAMED
    return [*sentences[:MOST_NAMED], *([f"{rest} {more}"] if rest > 0 else [])]


def is_url(name: str) -> bool:
    """True for what is not on this machine: Hadoop's file systems have it."""
    return "://" in name and not _LOCAL.match(name)


def here(name: str) -> str:
    """A path of this machine in place of a ``file:`` URL; anything else as it is."""
    return _LOCAL.sub("/", name)


@cache
def run_of(uri: str) -> str:
    """The run that a history is of, by its URI: its folder; of one that comes from elsewhere, what stands for it."""
    return folder_in(named(uri))


def folder_in(name: str) -> str:
    """The folder that a file is in, as it is named; the name itself where that has none."""
    return name.rpartition("/")[0] or name


def named(uri: str) -> str:
    """A file as people write it, and as Spark takes it, of its URI as Spark tells it; a path is what it is."""
    if _LOCAL.match(uri):
        return unquote(_LOCAL.sub("/", uri))
    return unquote(uri) if is_url(uri) else uri


def literally(path: str) -> str:
    """The pattern that only this path fits: Spark takes every path for a pattern."""
    return _MEANS_MORE.sub(r"\\\1", path)


def _shown(path: str) -> str:
    return decode(os.fsencode(path))


def _files(name: str, left_out: list[str], spark: SparkSession | None) -> Iterator[str]:
    if not is_url(name):
        yield from _local(here(name), left_out)
    elif spark is not None:
        yield from _of_url(name, left_out, spark)


def _local(name: str, left_out: list[str]) -> Iterator[str]:
    path = Path(name)
    if path.is_dir():
        yield from sorted(str(each) for each in path.rglob("*") if each.name.endswith(SUFFIXES) and not each.is_dir())
    elif os.path.lexists(name):
        yield name
    elif found := sorted(glob.glob(name, recursive=True)):  # noqa: PTH207 (as typed)
        for each in found:
            yield from _local(each, left_out)
    else:
        left_out.append(f"{_shown(name)}: there is no such file; it is left out")


def _of_url(url: str, left_out: list[str], spark: SparkSession) -> list[str]:
    """The files that a URL, which may have wildcards, leads to, as Hadoop lists them."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)

    jvm: Any = spark._jvm  # noqa: SLF001 (PySpark has no other door to file systems)
    found: list[str] = []
    try:
        path = jvm.org.apache.hadoop.fs.Path(url)
        files = path.getFileSystem(spark._jsc.hadoopConfiguration())  # noqa: SLF001
        for status in files.globStatus(path) or ():
            found += [status.getPath().toString()] if status.isFile() else _below(files, status.getPath())
    except Py4JJavaError as error:
        why = str(error.java_exception.getMessage() or error.java_exception).splitlines()[0]
        left_out.append(f"{url}: can't be listed: {why}; it is left out")
        return []
    if not found:
        left_out.append(f"{url}: there is no such file; it is left out")
    return sorted(found)


def _below(files: Any, folder: Any) -> Iterator[str]:
    listed = files.listFiles(folder, True)
    while listed.hasNext():
        found: str = listed.next().getPath().toString()
        if found.endswith(SUFFIXES):
            yield found


def _hidden(path: str) -> str:
    return "has a name that Spark passes over: it begins with . or _" if Path(path).name.startswith((".", "_")) else ""


def why_not(path: str) -> str:
    """The reason why a file of this machine is no transcript, or no history; "" if it begins as one does."""
    if not Path(path).is_file():
        return "is no file" if Path(path).exists() else "leads to no file"
    if _shown(path) != path:
        return "has a name that is no UTF-8"
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (a path as text)
            start = file.read(1 << 16)
    except OSError as error:
        return f"can't be read: {error.strerror}"
    if not start:
        return "is empty"
    if path.endswith(_ZSTD):
        return "" if _ZSTD_BEGINS.match(start) else "is no zstd"
    if path.endswith(".gz"):
        try:
            start = zlib.decompressobj(wbits=31).decompress(start, len(_OPENING))
        except (zlib.error, gzip.BadGzipFile) as error:
            return f"is no gzip: {error}"
    if Path(path).name == HISTORY or start.startswith(_OPENING):
        return ""
    return "is no transcript: it does not begin with a header"
