"""The manifest of an audit's folder: which folders of which tables count. It is written last, whole, and once.

Each run of the audit writes new folders, then a manifest with the next number, which nobody may have written before:
who reads the newest manifest sees all of a run or nothing, and of two runs at a time the second is refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any

import msgspec

from multilang_cli.audit.columns import PARTITIONS
from multilang_cli.audit.inputs import TableFormat, is_url
from multilang_cli.catalogue.texts import TextError, file_bytes
from multilang_cli.transcript.format import BAD
from multilang_cli.transcript.private import OWN_FILE, make_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from multilang_cli.audit.columns import TableColumn
    from multilang_cli.transcript.given import GivenSecrets

SCHEMA = 4
"""The version of the tables. One more when a column is added, changed or removed."""
FOLDER = "_manifest"
KEPT_MANIFESTS = 2
"""Manifests whose folders stay: a reader may still be at the one before the newest."""


class ManifestError(Exception):
    """A folder whose tables can't be read, or written, by this run; the message says why, and what to do."""


class StoredPiece(msgspec.Struct, frozen=True):
    """A folder with rows of a table, but for those whose `column` has one of the values in `gone`.

    `has`: the values of `column` that its rows may have; () if nobody knows. `version`: of a Delta table, which is the
    whole folder; None for a folder of Parquet. `files`: the names of its files; None if nobody knows.
    """

    folder: str
    column: str = ""
    gone: tuple[str, ...] = ()
    version: int | None = None
    has: tuple[str, ...] = ()
    files: tuple[str, ...] | None = None

    def less(self, column: str, values: frozenset[str]) -> StoredPiece | None:
        """The same without the rows that have these values; None if there are no others."""
        gone = values.union(self.gone)
        if not self.has:
            return msgspec.structs.replace(self, column=column, gone=tuple(sorted(gone)))
        left = gone.intersection(self.has)
        if len(left) == len(self.has):
            return None
        return msgspec.structs.replace(self, column=column, gone=tuple(sorted(left)))


class Manifest(msgspec.Struct, frozen=True):
    """Contents of an audit's folder. `inputs`: files that were read, each with its bytes and its time of change.

    `trees`: how many roots have each verdict. `hidden`: a mark of what was hidden in the lines; "" for nothing. `runs`:
    of topologies, by name, each with a digest of what was known of it. `groupings`: a digest of those of all fields.
    """

    schema: int = SCHEMA
    number: int = 0
    mlcheck: str = ""
    storm: str = ""
    inputs: dict[str, tuple[int, int]] = {}
    tables: dict[str, tuple[StoredPiece, ...]] = {}
    trees: dict[str, int] = {}
    hidden: str = ""
    format: TableFormat = "parquet"
    runs: dict[str, str] = {}
    groupings: str = ""


_NAME = re.compile(r"[0-9]{6}-[0-9a-f]{6}")
"""The beginning of the names that ``new_name`` gives."""
_NO_SPARK: Any = None
"""On this machine a manifest is read without one."""
_TOLD = 200
"""Characters of a name that are told."""
_decode = msgspec.json.Decoder(Manifest).decode


def mark_of(hidden: GivenSecrets, before: str = "") -> str:
    """A mark of what is hidden: the same as the mark `before` for the same; "" for nothing.

    A pattern may be a secret itself, so it is made slowly, to tell nobody who tries many.
    """
    if not hidden.patterns and not hidden.names:
        return ""
    salt = before.partition(":")[0] or secrets.token_hex(8)
    text = repr([sorted(pattern.pattern for pattern in kind) for kind in (hidden.patterns, hidden.names)])
    return f"{salt}:{hashlib.scrypt(text.encode(), salt=salt.encode(), n=2**14, r=8, p=1, dklen=8).hex()}"


def new_name(number: int) -> str:
    """The name of the folders that a run writes: no other run has it, whatever became of that one."""
    return f"{number:06d}-{secrets.token_hex(3)}"


def newest(spark: SparkSession, folder: str) -> Manifest | None:
    """The manifest that counts; None if there is none.

    Raises ManifestError for one of another schema, and where a file of a table is missing.
    """
    place = f"{folder.rstrip('/')}/{FOLDER}"
    names = [name for name in _names(spark, place) if name.endswith(".json") and not name.startswith(".")]
    if not names:
        return None
    text = _text(spark, f"{place}/{max(names)}")
    try:
        schema = msgspec.json.decode(text)["schema"]
        found = _only_inside(_decode(text)) if schema == SCHEMA else None
    except (*BAD, KeyError, TypeError) as error:
        raise ManifestError(f"{place}/{max(names)} is no manifest: {error}") from None
    if found is not None:
        return _only_complete(spark, folder, found)
    raise ManifestError(
        f"the tables in {folder} have schema {schema}, and this mlcheck writes schema {SCHEMA}; choose another folder"
        " with -o, or give --overwrite to make them anew"
    )


def _only_inside(manifest: Manifest) -> Manifest:
    """The manifest, of which no table may lead out of its folder. Raises ManifestError."""
    for piece in _pieces(manifest):
        path = PurePath(piece.folder)
        if not path.parts or path.is_absolute() or ".." in path.parts:
            raise ManifestError(
                f"its newest manifest has a table in {piece.folder[:_TOLD]!r}, which is not in the folder"
            )
    return manifest


def _only_complete(spark: SparkSession, folder: str, manifest: Manifest) -> Manifest:
    """The manifest, of which no table may lack a file that was written. Raises ManifestError."""
    for piece in _pieces(manifest):
        missing = set(piece.files or ()).difference(_files(spark, folder, piece) if piece.files else ())
        if missing:
            raise ManifestError(
                f"{folder.rstrip('/')}/{piece.folder[:_TOLD]}/{min(missing)[:_TOLD]} is missing; give --overwrite to"
                " make the tables anew, or choose another folder"
            )
    return manifest


def _pieces(manifest: Manifest) -> Iterator[StoredPiece]:
    for pieces in manifest.tables.values():
        yield from pieces


def _files(spark: SparkSession, folder: str, piece: StoredPiece) -> list[str]:
    """Files with rows of a piece, as they are there, named from its folder on."""
    place = f"{folder.rstrip('/')}/{piece.folder}"
    return sorted(name for name in _below(spark, place) if not any(part[:1] in "._" for part in name.split("/")))


def _with_files(spark: SparkSession, folder: str, piece: StoredPiece) -> StoredPiece:
    """The piece, with the names of its files: a Delta table knows its own."""
    if piece.version is not None or piece.files is not None:
        return piece
    return msgspec.structs.replace(piece, files=tuple(_files(spark, folder, piece)))


def format_before(folder: str) -> TableFormat | None:
    """Format of the tables in a folder of this machine; None where there are none that can be told."""
    before = _before(folder, 1)
    return before.format if before else None


def trees_before(folder: str) -> dict[str, int] | None:
    """Trees by verdict of the run before the newest, in a folder of this machine; None if there was none."""
    before = _before(folder, 2)
    return before.trees if before else None


def _before(folder: str, nth: int) -> Manifest | None:
    """The `nth` manifest from the newest on, in a folder of this machine; None if there is none that can be read."""
    found = sorted(Path(folder, FOLDER).glob("[0-9]*.json")) if not is_url(folder) else []
    try:
        return _decode(_text(_NO_SPARK, str(found[-nth]))) if len(found) >= nth else None
    except (*BAD, ManifestError):
        return None


def last_number(spark: SparkSession, folder: str) -> int:
    """The number of the newest manifest, whatever its schema; 0 if there is none."""
    names = _names(spark, f"{folder.rstrip('/')}/{FOLDER}")
    return max((int(name[:6]) for name in names if name[:6].isdecimal()), default=0)


def publish(spark: SparkSession, folder: str, manifest: Manifest) -> None:
    """Write it, with the files of each table. Raises ManifestError if another run has written this number."""
    place = f"{folder.rstrip('/')}/{FOLDER}"
    target, part = f"{place}/{manifest.number:06d}.json", f"{place}/.{new_name(manifest.number)}"
    tables = {
        name: tuple(_with_files(spark, folder, piece) for piece in pieces) for name, pieces in manifest.tables.items()
    }
    whole = msgspec.structs.replace(manifest, tables=tables)
    text = msgspec.json.format(msgspec.json.encode(whole), indent=1)
    written = _publish_far(spark, part, target, text) if is_url(folder) else _publish_here(part, target, text)
    if not written:
        raise ManifestError(f"another run has written {target} meanwhile; what this one made is not kept: run it again")


@contextmanager
def only_writer(folder: str) -> Iterator[None]:
    """Hold the folder for the block, if it is on this machine. Raises ManifestError if another run holds it."""
    if is_url(folder):
        yield
        return
    make_private(Path(folder))
    place = Path(folder, FOLDER)
    place.mkdir(exist_ok=True)
    with _lock_file(place / ".writing") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ManifestError(
                f"another run is writing to {folder}; wait for its end, or choose another folder"
            ) from None
        yield


def _lock_file(path: Path) -> IO[bytes]:
    """Open a file to lock. Raises ManifestError where it is a link or a pipe: who packed the folder may have put it."""
    try:
        found = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, OWN_FILE)
    except OSError as error:
        raise ManifestError(f"{path} can't be locked: {error.strerror}; choose another folder") from None
    return os.fdopen(found, "wb")


def clear(folder: str, tables: tuple[str, ...], manifest: Manifest, before: Manifest | None) -> None:
    """Remove folders that neither manifest has, and manifests before these, from a folder of this machine.

    Nothing else: who has packed such a folder may have put a link to another in the place of a table.
    """
    if is_url(folder):
        return
    wanted = {piece.folder for each in (manifest, before) if each for piece in _pieces(each)}
    for table in tables:
        for path in Path(folder, table).glob("*"):
            if f"{table}/{path.name}" not in wanted and _NAME.match(path.name):
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
    for old in sorted(Path(folder, FOLDER).glob("[0-9]*.json"))[:-KEPT_MANIFESTS]:
        old.unlink()


def _publish_here(part: str, target: str, text: bytes) -> bool:
    Path(part).parent.mkdir(parents=True, exist_ok=True)
    with Path(part).open("xb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(part, target)
    except FileExistsError:
        return False
    finally:
        Path(part).unlink()
    return True


def _publish_far(spark: SparkSession, part: str, target: str, text: bytes) -> bool:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)

    jvm, files, path = _hadoop(spark, part)
    stream = files.create(path, True)
    stream.write(bytearray(text))
    stream.close()
    context = jvm.org.apache.hadoop.fs.FileContext.getFileContext(files.getUri(), spark._jsc.hadoopConfiguration())  # noqa: SLF001
    none = spark._sc._gateway.new_array(jvm.org.apache.hadoop.fs.Options.Rename, 0)  # type: ignore[union-attr]  # noqa: SLF001
    try:
        context.rename(path, jvm.org.apache.hadoop.fs.Path(target), none)
    except Py4JJavaError:
        files.delete(path, False)
        if not files.exists(jvm.org.apache.hadoop.fs.Path(target)):
            raise
        return False
    return True


def _names(spark: SparkSession, place: str) -> list[str]:
    if not is_url(place):
        return [path.name for path in Path(place).glob("*")]
    _, files, path = _hadoop(spark, place)
    return [status.getPath().getName() for status in files.listStatus(path)] if files.exists(path) else []


def listed(folder: Path, partitions: Sequence[TableColumn] = PARTITIONS) -> Iterator[Path]:
    """Files, and what should be one, in a folder of this machine and its partitions, that readers of Parquet see."""
    for path in folder.glob("*"):
        if path.name.startswith((".", "_")):
            continue
        # Who packed the folder may have put any depth of folders there.
        if partitions and path.name.startswith(f"{partitions[0].name}=") and path.is_dir() and not path.is_symlink():
            yield from listed(path, partitions[1:])
        else:
            yield path


def _below(spark: SparkSession, place: str) -> Iterator[str]:
    """Names of files in a folder, and in its partitions."""
    if not is_url(place):
        yield from (path.relative_to(place).as_posix() for path in listed(Path(place)))
        return
    _, files, path = _hadoop(spark, place)
    if files.exists(path):
        start = len(str(files.makeQualified(path).toString())) + 1
        found = files.listFiles(path, True)
        while found.hasNext():
            yield found.next().getPath().toString()[start:]


def _text(spark: SparkSession, place: str) -> bytes:
    if not is_url(place):
        if not Path(place).is_file():
            raise ManifestError(f"{place} is no manifest: it is no file")
        try:
            return file_bytes(Path(place))
        except TextError as error:
            raise ManifestError(f"{place} is no manifest: {error.why}") from None
    return bytes(spark.read.format("binaryFile").load(place).select("content").collect()[0][0])


def _hadoop(spark: SparkSession, place: str) -> tuple[Any, Any, Any]:
    jvm: Any = spark._jvm  # noqa: SLF001 (PySpark has no other door to file systems)
    path = jvm.org.apache.hadoop.fs.Path(place)
    return jvm, path.getFileSystem(spark._jsc.hadoopConfiguration()), path  # noqa: SLF001


def states(spark: SparkSession, paths: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Bytes and time of change of each file."""
    found = {}
    for path in paths:
        if is_url(path):
            _, files, place = _hadoop(spark, path)
            status = files.getFileStatus(place)
            found[path] = int(status.getLen()), int(status.getModificationTime())
        else:
            found[path] = 0, 0
            # One that is gone since it was listed has no line that can be read.
            with suppress(FileNotFoundError):
                told = Path(path).stat()
                found[path] = told.st_size, told.st_mtime_ns
    return found


def exists(spark: SparkSession, path: str) -> bool:
    """True if there is such a file."""
    if not is_url(path):
        return Path(path).exists()
    _, files, place = _hadoop(spark, path)
    return bool(files.exists(place))
