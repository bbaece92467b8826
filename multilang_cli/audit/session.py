"""The Spark session of an audit: on this machine unless told otherwise, loopback only, quiet."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from math import inf
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

INSTALL = "pip install 'multilang-cli[spark]'"
LEAST_JAVA = 17
USUAL = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.adaptive.enabled": "true",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}
OURS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.python.daemon.module": "multilang_cli.audit.stages.workers",
    # Spark starts it in the working directory, where a stranger's recordings may lie beside a stranger's json.py.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
"""Settings that the stages rely on."""
LOUD = {"spark.log.level": "INFO", "spark.ui.showConsoleProgress": "true"}
JAVA = "spark.driver.extraJavaOptions"
MEMORY = "spark.driver.memory"
QUIET = {JAVA: f"-Dlog4j2.configurationFile={Path(__file__).parent / 'quiet.properties'}"}
LOCAL = {
    # On a cluster it is the cluster's to say.
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    MEMORY: "2g",
    # Spark's own 200 are for clusters: here most of them are empty, and each costs a task in every stage.
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": f"file://{Path(__file__).parent / 'pools.xml'}",
    # It runs each stage of a query as a job of its own, which costs more here than better plans give back.
    "spark.sql.adaptive.enabled": "false",
}
BESIDE = "beside"
"""The pool of tasks that run where no other waits for a core; elsewhere than here there may be none, and no harm."""
HERE = "-XX:+UseParallelGC -XX:MetaspaceSize=256m"
"""Java's options on this machine: nobody waits for an answer while garbage is collected, so it is done at once.

Spark's classes and the code that it makes take 100 MB and more: they are no reason to look through all memory.
"""
BRIEF = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:NewRatio=1"
"""Java's options where it is over too soon for its second compiler to pay: that takes a third of all CPU then.

Rows are garbage at once: with half of the memory for what is new, a tenth of the time is saved.
"""
ASKED = {"spark.authenticate": "true"}
"""Any user of this machine can connect to loopback: Spark asks for a secret, which it makes if all is one process."""
ONE_PROCESS = re.compile(r"local(?:\[(?:[0-9]+|\*)(?:\s*,\s*[0-9]+)?\])?")
"""Masters for which Spark makes a secret; without one it refuses all others (``SparkMasterRegex``)."""
APART = "local-cluster"
"""A master whose executors are processes of their own on this machine."""
SHOWN_BY_EXECUTORS = "spark.authenticate.secret"
"""What they show. Spark gives it to them in their environment, which their owner alone can read."""
EXECUTORS_JAVA = "spark.executor.extraJavaOptions"
NEAR = {"spark.locality.wait": "0s"}
"""Where one executor is as near as another, no task waits three seconds for that which keeps its rows."""
BRIEFLY = {"spark.sql.shuffle.partitions": str(os.cpu_count() or 1)}
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Rows are worked on by Spark's own classes, not by code that it makes and compiles for each query."""
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit: Java runs already, and has been told the master."""
LITTLE = 256 * 2**20
"""Bytes of recordings up to which it is."""
LEAST = 16 * 2**20
"""Bytes of recordings up to which compiling takes longer than its code saves: a fifth of all CPU at 5 MB."""


class SparkMissingError(Exception):
    """Spark can't be used here; the message says why, and what to do."""


def session(
    master: str = "local[*]",
    conf: Mapping[str, str] | None = None,
    *,
    quiet: bool = True,
    size: float = inf,
    keep: bool = False,
    meanwhile: Sequence[str] = (),
) -> SparkSession:
    """The session. `conf`: Spark's own settings, over ours. `quiet`: errors only. `size`: bytes that it reads, about.

    `keep`: Java may write an archive of its classes at its end. Below spark-submit its master counts, not `master`, and
    its settings over what is usual.
    `meanwhile`: modules that are imported while Java starts, for which Python only waits. Raises SparkMissingError.
    """
    try:
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415 (an extra)
        from pyspark.sql import SparkSession  # noqa: PLC0415

        from multilang_cli.audit.java.class_archive import java_options  # noqa: PLC0415
    except ImportError:
        raise SparkMissingError(f"Spark is not installed; {INSTALL}") from None
    submitted: dict[str, str] = {}
    if SUBMITTED in os.environ:
        # Settings are known once Python is connected with Java.
        SparkContext._ensure_initialized()  # noqa: SLF001
        submitted = dict(SparkConf().getAll())
        master = submitted.get("spark.master", master)
    version = _check_java()
    os.environ["PYSPARK_PYTHON"] = executors_python(conf or {})
    local = master.startswith("local")
    kept = java_options(version, make=keep) if local and SUBMITTED not in os.environ else ""
    settings = usual_settings(master, size, quiet=quiet, kept=kept)
    # What spark-submit was told counts for more than what is usual here.
    settings = {name: value for name, value in settings.items() if name not in submitted} | OURS | dict(conf or {})
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        if not submitted and JAVA not in (conf or {}):
            # A heap that grows step by step is looked through as a whole at each.
            settings[JAVA] += f" -Xms{settings[MEMORY]}"
    Thread(target=_import_all, args=(meanwhile,), daemon=True).start()
    with _ones_own() if local else nullcontext():
        if master.startswith(APART) and not {*ASKED, SHOWN_BY_EXECUTORS} & {*settings, *submitted}:
            # With what Java is started stands in its arguments, where everybody can read it.
            SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll([*settings.items()]))  # noqa: SLF001
            if SparkContext._active_spark_context is None:  # noqa: SLF001
                settings |= ASKED | {SHOWN_BY_EXECUTORS: secrets.token_hex(32)}
        builder = SparkSession.builder.appName("mlcheck audit").master(master)
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


@contextmanager
def _ones_own() -> Iterator[None]:
    """Have what is started meanwhile make files that only their owner can read.

    Rows that Java has no memory for, or sorts anew, lie among temporary files in folders that are open to everybody.
    """
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def executors_python(conf: Mapping[str, str]) -> str:
    """The Python of executors: a setting on the command line counts for more than the environment, as Spark has it.

    Only spark-submit heeds that setting by itself.
    """
    return conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable


def usual_settings(master: str, size: float, *, quiet: bool = True, kept: str = "") -> dict[str, str]:
    """Settings for a `master` and so many bytes of recordings. `kept`: options for Java's archive of classes."""
    settings = {**USUAL, **(QUIET if quiet else LOUD)}
    local, brief = master.startswith("local"), BRIEF if size <= LITTLE else ""
    if local:
        settings |= LOCAL | (BRIEFLY if brief else {}) | (INTERPRETED if size <= LEAST else {})
    if master.startswith(APART):
        settings |= NEAR | {EXECUTORS_JAVA: " ".join(filter(None, (HERE, brief)))}
    elif ONE_PROCESS.fullmatch(master):
        settings |= ASKED
    settings[JAVA] = " ".join(filter(None, (settings.get(JAVA, ""), HERE if local else "", brief, kept)))
    return settings


def describe_jobs(spark: SparkSession, what: str, *, beside: bool) -> None:
    """Describe the jobs of this thread to whoever watches Spark. `beside`: they run where no other waits for a core."""
    spark.sparkContext.setJobDescription(what)
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", BESIDE if beside else None)  # type: ignore[arg-type]


def _import_all(names: Iterable[str]) -> None:
    # Whoever needs one of them imports it again, and says what is wrong.
    with suppress(Exception):
        for name in names:
            import_module(name)


def _check_java() -> str:
    """Version that Java tells of itself. Raises SparkMissingError."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")  # noqa: PTH118 (a word, not a path yet)
    if java is None or shutil.which(java) is None:
        raise SparkMissingError(f"Spark needs Java {LEAST_JAVA}, and there is none; on Debian: default-jre-headless")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    number = said.partition('version "')[2].partition(".")[0].partition('"')[0]
    if number.isdigit() and int(number) < LEAST_JAVA:
        raise SparkMissingError(f"Spark needs Java {LEAST_JAVA} or newer, and {java} is {number}")
    return said
