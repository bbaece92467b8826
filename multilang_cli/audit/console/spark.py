"""Common parts of the audit's commands: a session of Spark's, its settings, the folder that is written."""

from __future__ import annotations

import logging
import os
import stat
import warnings
from contextlib import contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, Any

from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

_CAUSE = "Caused by:"


@contextmanager
def running(
    command: str,
    master: str,
    settings: Mapping[str, str],
    *,
    quiet: bool = True,
    size: float = inf,
    keep: bool = False,
    meanwhile: Sequence[str] = (),
) -> Iterator[SparkSession]:
    """A session that ends with the block; `size`, `keep`, `meanwhile`: as ``session`` takes them.

    Raises CommandError, also for what Spark says in the block.
    """
    spark = _started(command, master, settings, quiet=quiet, size=size, keep=keep, meanwhile=meanwhile)
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield spark
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise CommandError(f"{command}: Spark gave up: {first_line(error)}; --spark-log shows more") from None
    finally:
        # Whoever ends a whole process group, as timeout does, has ended Java before us.
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spark.stop()


def _started(command: str, master: str, settings: Mapping[str, str], *, quiet: bool, **how: Any) -> SparkSession:
    """The session, `how` as it takes them. `quiet`: what Java, Spark and PySpark would say on stderr is not shown.

    Raises CommandError.
    """
    from multilang_cli.audit.session import SparkMissingError, session  # noqa: PLC0415 (not needed for --help)

    try:
        if not quiet:
            return session(master, settings, quiet=False, **how)
        # PySpark warns of each pandas that is newer than itself, which nobody who reads the screen can change.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        # Py4J logs what interrupts it, with its stack; without a handler Python would print that.
        logging.getLogger().addHandler(logging.NullHandler())
        with _java_unheard():
            spark = session(master, settings, **how)
    except SparkMissingError as error:
        raise CommandError(f"{command}: {error}.") from None
    except Exception as error:  # noqa: BLE001 (whatever Java says of a wrong master or setting)
        more = "; --spark-log shows more" if quiet else ""
        raise CommandError(f"{command}: Spark does not start: {first_line(error)}{more}") from None
    _silence_accumulators(spark)
    return spark


def _silence_accumulators(spark: SparkSession) -> None:
    """Say nothing where Java is gone before PySpark's server of accumulators: it would print its own traceback."""
    server: Any = getattr(spark.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None


@contextmanager
def _java_unheard() -> Iterator[None]:
    """A Java that is started meanwhile has no stderr, all its life: the JVM itself talks there before any setting."""
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def holds_anything(command: str, output: Path) -> bool:
    """True if there is anything in a folder. Raises CommandError where none can be, OSError as for too long a name."""
    for path in (output, *output.parents):
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not is_folder:
            raise CommandError(f"{command}: {path} is a file; choose a folder with -o.")
        return path == output and any(path.iterdir())
    return False


def pairs_of(command: str, settings: Iterable[str], option: str = "--spark-conf") -> dict[str, str]:
    """Settings as they were written, NAME=VALUE. Raises CommandError."""
    return dict(_pair(command, each, option) for each in settings)


def first_line(error: Exception) -> str:
    """The message of an exception of Spark's, without its stack: Java's root cause, else its first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line.partition(_CAUSE)[2].strip() for line in lines if line.startswith(_CAUSE)]
    # Py4J's own first line says only which call it was.
    plain = [line.removeprefix(": ") for line in lines if not line.startswith("An error occurred while calling")]
    return next((text for text in (*reversed(causes), *plain) if text), type(error).__name__)[:300]


def _pair(command: str, text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise CommandError(f"{command}: {option} {text[:60]!r} is no setting; expected NAME=VALUE.")
    return name, value
