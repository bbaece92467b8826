"""Run of the stages, each into tables of a folder, which is all that a later one reads: so each can be used alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark import StorageLevel

from multilang_cli.audit.inputs import AuditPlan  # noqa: TC001 (in a type that others use)
from multilang_cli.audit.local_rows import local_rows
from multilang_cli.audit.stages import edges, events, findings, keys, ledger, roots, summary
from multilang_cli.audit.stages.facts import Facts, Part, facts_of
from multilang_cli.audit.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Known = dict[str, "DataFrame"]
"""Tables by name."""


Tables = Iterator[dict[str, "DataFrame"]]
Make = Callable[["Standing", list["DataFrame"]], Tables]
"""Makes tables of those that stand already. Those that it yields together are written side by side, before it goes on.

What it keeps for that, it appends to the list.
"""


class Standing:
    """What a stage is made of: the session, the plan, the tables that stand already, and facts of them."""

    def __init__(self, spark: SparkSession, plan: AuditPlan, known: Known) -> None:
        self.spark = spark
        self.plan = plan
        self.known = known
        self._lock = Lock()
        self._facts: Facts | None = None

    @property
    def facts(self) -> Facts:
        """Facts of conversations and files; asked for once, when conversations and events stand."""
        with self._lock:
            if self._facts is None:
                self._facts = facts_of(self.known["conversations"], self.known["events"])
            return self._facts

    @property
    def who(self) -> DataFrame:
        """Tasks and components that speak."""
        return self.facts.people(self.spark)


class AuditStage(NamedTuple):
    """A part of the audit: how its tables are made, and those that have to stand before it begins."""

    make: Make
    needs: tuple[str, ...] = ()


WRITERS = 3
"""Tables that are written at a time: while one is planned on one core, the tasks of others have the rest."""


def run(
    spark: SparkSession, plan: AuditPlan, folder: str, say: Callable[[str], None], *, overwrite: bool = False
) -> Known:
    """Every stage, its tables written as Parquet in `folder`; returns all tables, as they were written.

    A stage begins when the tables stand that it reads, so that several run at a time. `say`: is told what goes on, a
    line at a time. `overwrite`: tables that are there already are removed first, all of them, so that none of an audit
    that was not finished stands beside those of another.
    """
    if overwrite:
        _clear(spark, folder)
    with ThreadPoolExecutor(WRITERS) as writers, ThreadPoolExecutor(len(STAGES)) as pool:
        work = _Work(spark, plan, folder, writers)
        waiting = dict(STAGES)
        running: list[Future[None]] = []
        try:
            while waiting or not all(each.done() for each in running):
                for name, stage in list(waiting.items()):
                    if work.known.keys() >= set(stage.needs):
                        del waiting[name]
                        say(f"[{len(running) + 1}/{len(STAGES)}] {name}")
                        running.append(pool.submit(work.run, stage))
                work.wait()
        except BaseException:
            spark.sparkContext.cancelAllJobs()
            raise
    return {name: work.known[name] for name in TABLES if name in work.known}


class _Work:
    """The tables written so far, and the news: None for a table or the end of a stage, else what went wrong."""

    def __init__(self, spark: SparkSession, plan: AuditPlan, folder: str, writers: ThreadPoolExecutor) -> None:
        self._spark = spark
        self._folder = folder.rstrip("/")
        self._writers = writers
        self.known: Known = {}
        self._standing = Standing(spark, plan, self.known)
        self._happened: SimpleQueue[BaseException | None] = SimpleQueue()

    def wait(self) -> None:
        """Wait for the next news. Raises what went wrong in a stage."""
        if (fault := self._happened.get()) is not None:
            raise fault

    def run(self, stage: AuditStage) -> None:
        """Make the tables of a stage, and drop what it kept for that."""
        kept: list[DataFrame] = []
        try:
            for together in stage.make(self._standing, kept):
                list(self._writers.map(self._write, together.items()))
            for each in kept:
                each.unpersist()
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            self._happened.put(error)
        else:
            self._happened.put(None)

    def _write(self, table: tuple[str, DataFrame]) -> None:
        name, rows = table
        place = f"{self._folder}/{name}"
        rows.write.mode("error").parquet(place)
        self.known[name] = self._spark.read.schema(TABLES[name].ddl).parquet(place)
        self._happened.put(None)


def _clear(spark: SparkSession, folder: str) -> None:
    """Remove our tables, and nothing else."""
    jvm: Any = spark._jvm  # noqa: SLF001 (PySpark has no other door to file systems)
    for table in TABLES:
        path = jvm.org.apache.hadoop.fs.Path(f"{folder.rstrip('/')}/{table}")
        path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)  # noqa: SLF001


def _keep(rows: DataFrame, kept: list[DataFrame]) -> DataFrame:
    kept.append(rows.persist(StorageLevel.DISK_ONLY))
    return kept[-1]


def _events(at: Standing, kept: list[DataFrame]) -> Tables:
    read = events.lines(at.spark, at.plan.inputs.transcripts)
    rows = _keep(events.outlined(read), kept)
    outline = events.outline_of(rows)
    yield {"conversations": events.conversations(rows, outline), "events": events.events(read, outline)}
    counts = at.facts.counts
    of = events.unaccounted(outline, counts)
    yield {"quarantine": events.quarantine(read, outline, of)}
    yield {"files": events.files(outline, counts, at.known["quarantine"], of)}


def _findings(at: Standing, kept: list[DataFrame]) -> Tables:
    known = at.known
    found = findings.judged(known["conversations"], known["events"], known["quarantine"], at.plan.storm)
    # The first that is written computes what both are made of.
    for name, rows in findings.tables(_keep(found, kept))._asdict().items():
        yield {name: rows}


def _ledger(at: Standing, _: list[DataFrame]) -> Tables:
    yield {"ledger": ledger.ledger(at.facts.ends(at.spark), at.known["events"])}


def _trees(at: Standing, _: list[DataFrame]) -> Tables:
    """Of runs that have a history what it says, of all others what can be inferred."""
    told = at.facts.only(lambda part: _run_of(part, at.plan) == part.topology)
    marks = edges.of_taps(told, at.known["events"])
    if at.plan.inputs.histories:
        marks = marks.unionByName(edges.of_history(events.lines(at.spark, at.plan.inputs.histories)))
    yield {"marks": marks}


def _roots(at: Standing, _: list[DataFrame]) -> Tables:
    longest: dict[str, float] = {}
    for parts in at.facts.parts.values():
        for part in parts:
            run = _run_of(part, at.plan)
            longest[run] = max(part.timeout, longest.get(run, part.timeout))
    timeouts = local_rows(at.spark, list(longest.items()), "run string, timeout double")
    yield {"roots": roots.roots(at.known["marks"], timeouts=timeouts)}


def _run_of(part: Part, plan: AuditPlan) -> str:
    """The folder of a run that has a history, else the topology's name."""
    folders = (history.rpartition("/")[0] for history in plan.inputs.histories)
    return next((folder for folder in folders if part.file.startswith(f"{folder}/")), part.topology)


def _ledger_summary(at: Standing, _: list[DataFrame]) -> Tables:
    happened, settled, who = at.known["events"], at.known["ledger"], at.who
    yield {
        "rates": summary.rates(who, happened, settled),
        "silences": summary.silences(who, happened, settled),
        "restarts": summary.restarts(who, happened, settled),
        "replays": summary.replays(who, settled),
        "timeouts": summary.timeouts(who, settled),
    }


def _keys(at: Standing, _: list[DataFrame]) -> Tables:
    yield {"keys": keys.keys(at.known["conversations"], at.who, at.known["events"])}


def _dialects(at: Standing, _: list[DataFrame]) -> Tables:
    yield {"dialects": summary.dialects(at.who, at.known["findings"])}


_HEARD = ("conversations", "events")
STAGES: dict[str, AuditStage] = {
    "events": AuditStage(_events),
    "trees": AuditStage(_trees, _HEARD),
    "ledger": AuditStage(_ledger, _HEARD),
    "findings": AuditStage(_findings, (*_HEARD, "quarantine")),
    "roots": AuditStage(_roots, ("conversations", "marks")),
    "summary": AuditStage(_ledger_summary, (*_HEARD, "ledger")),
    "keys": AuditStage(_keys, _HEARD),
    "dialects": AuditStage(_dialects, ("conversations", "findings")),
}
"""Every stage; of those that can begin, the one that most waits for comes first."""
