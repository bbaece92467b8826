"""Run of the stages, each into tables of a folder, which is all that a later one reads: so each can be used alone.

A run on a folder that has tables reads only files that are new, or changed, or that others have made a copy: their
lines, and what is judged of their conversations, take the place of what stood there. See ``manifest``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from queue import SimpleQueue
from shutil import rmtree
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli import __version__
from multilang_cli.audit.inputs import AuditPlan, folder_in, here, named
from multilang_cli.audit.outline import Head
from multilang_cli.audit.runs import folder_of
from multilang_cli.audit.session import describe_jobs
from multilang_cli.audit.stages import edges, events, findings, keys, ledger, quality, restarts, roots, summary, trees
from multilang_cli.audit.stages.events import OF_OUTLINE, OUTLINE
from multilang_cli.audit.stages.facts import SPANS
from multilang_cli.audit.stages.lines import LineSource, lines, start_workers, write_rows
from multilang_cli.audit.stages.whole_files import whole_files
from multilang_cli.audit.store.delta_tables import write_delta
from multilang_cli.audit.store.local_rows import FewRows, local_rows
from multilang_cli.audit.store.manifest import (
    Manifest,
    ManifestError,
    StoredPiece,
    clear,
    exists,
    last_number,
    mark_of,
    new_name,
    newest,
    only_writer,
    publish,
    states,
)
from multilang_cli.audit.store.parquet_files import commented_schema, read_batches, tuples_of, write_batches
from multilang_cli.audit.store.partitions import BY, parter, with_partitions
from multilang_cli.audit.store.stored import StoredTables, check_stored, read_pieces, stored_tables
from multilang_cli.audit.stored_state import Gone, OwnTable, Stored, StoredState
from multilang_cli.audit.tables import TABLES
from multilang_cli.transcript.given import NO_SECRETS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.columns import Table
    from multilang_cli.audit.outline import Outline
    from multilang_cli.terminal.output import Progress


Tables = Iterator[dict[str, "DataFrame | FewRows | OwnTable"]]
Make = Callable[[StoredState, list["DataFrame"]], Tables]
"""Makes tables of those that stand already. Those that it yields together are written side by side, before it goes on.

What it keeps for that, it appends to the list.
"""


class AuditStage(NamedTuple):
    """A part of the audit: how its tables are made, and those that have to stand before it begins."""

    make: Make
    needs: tuple[str, ...] = ()
    beside: bool = False
    """Only the end waits for its tables: its tasks run where no task of the other stages waits for a core."""


_LONG = frozenset({"ledger", "marks", "roots"})
"""Tables that Spark makes, with a row for each tuple or each tree."""
WRITERS = 3
"""Tables that are written at a time: while one is planned on one core, the tasks of others have the rest."""


def run(
    spark: SparkSession,
    plan: AuditPlan,
    folder: str,
    say: Callable[[str], None],
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> StoredTables:
    """Every stage, its tables written in `folder`; returns all tables, as they were written.

    A stage begins when the tables stand that it reads, so that several run at a time. `say`: is told what goes on, a
    line at a time; of stages `progress` instead, if there is one. `overwrite`: what earlier runs left does not count.
    Raises ManifestError.
    """
    folder = here(folder)
    with only_writer(folder):
        before = None if overwrite else newest(spark, folder)
        if before is not None and before.format != plan.table_format:
            raise ManifestError(
                f"the tables in {folder} are {before.format}; give --format {before.format}, or --overwrite to make"
                " them anew"
            )
        inputs = states(spark, (*plan.inputs.transcripts, *plan.inputs.histories))
        number = last_number(spark, folder)
        hidden = mark_of(plan.secrets, before.hidden if before else "")
        alike = before is not None and (before.storm, before.hidden) == (plan.storm, hidden)
        if before is not None and alike and before.inputs.items() >= inputs.items():
            say("nothing is new: the tables of the run before are those of these files")
            return stored_tables(spark, folder)
        usable = before if alike else None
        if usable is not None:
            check_stored(folder, usable)
        work = _Work(spark, plan, folder, new_name(number + 1), _stored(usable, inputs))
        work.all(progress or _saying(say))
        kept = usable.inputs if usable else {}
        trees: dict[str, int] = {}
        for each in work.known.trees:
            trees[each.verdict] = trees.get(each.verdict, 0) + each.trees
        manifest = Manifest(
            number=number + 1,
            mlcheck=__version__,
            storm=plan.storm,
            inputs={file: state for file, state in (kept | inputs).items() if file not in work.forgotten},
            tables=work.known.pieces,
            trees=trees,
            hidden=hidden,
            format=plan.table_format,
            runs=work.runs,
            groupings=work.groupings,
        )
        publish(spark, folder, manifest)
        clear(folder, tuple(_TABLES), manifest, before)
        for name in work.known.keys() - TABLES.keys():
            del work.known[name]
        return work.known


def _saying(say: Callable[[str], None]) -> Progress:
    """Progress as lines: a stage begins, and so many did before."""
    begun = count(1)
    return lambda stage, _, total: say(f"[{next(begun)}/{total}] {stage}")


def _stored(before: Manifest | None, inputs: dict[str, tuple[int, int]]) -> Stored:
    if before is None:
        return Stored({}, frozenset(), {}, "", frozenset())
    same = frozenset(file for file, state in before.inputs.items() if inputs.get(file, state) == state)
    return Stored(before.tables, same, before.runs, before.groupings, frozenset(before.inputs))


class _Work:
    """The tables written so far, and the news: None for a table or the end of a stage, else what went wrong."""

    def __init__(self, spark: SparkSession, plan: AuditPlan, folder: str, name: str, before: Stored) -> None:
        self._spark = spark
        self._folder = folder.rstrip("/")
        self._name = name
        self._standing = StoredState(spark, plan, self._folder, before)
        self.known = self._standing.known
        self._happened: SimpleQueue[BaseException | None] = SimpleQueue()

    @property
    def runs(self) -> dict[str, str]:
        """Runs of topologies, by name, each with a digest of what is known of it."""
        return {name: run.mark for name, run in self._standing.runs.items()}

    @property
    def groupings(self) -> str:
        """A digest of the groupings of all fields."""
        return self._standing.groupings

    @property
    def forgotten(self) -> frozenset[str]:
        """Files of which nothing is left."""
        return self._standing.forgotten

    def all(self, progress: Progress) -> None:
        """Run every stage."""
        waiting = dict(STAGES)
        running: list[Future[None]] = []
        with ThreadPoolExecutor(WRITERS) as writers, ThreadPoolExecutor(len(STAGES) + 1) as pool:
            pool.submit(start_workers, self._spark)
            try:
                while waiting or not all(each.done() for each in running):
                    for name, stage in list(waiting.items()):
                        if self.known.keys() >= set(stage.needs):
                            del waiting[name]
                            progress(name, sum(each.done() for each in running), len(STAGES))
                            running.append(pool.submit(self._run, name, stage, writers))
                    self._wait()
            except BaseException:
                self._spark.sparkContext.cancelAllJobs()
                raise

    def _wait(self) -> None:
        """Wait for the next news. Raises what went wrong in a stage."""
        if (fault := self._happened.get()) is not None:
            raise fault

    def _run(self, name: str, stage: AuditStage, writers: ThreadPoolExecutor) -> None:
        """Make the tables of a stage, and drop what it kept for that."""
        kept: list[DataFrame] = []
        write = partial(self._write, stage)
        try:
            describe_jobs(self._spark, name, beside=stage.beside)
            for together in stage.make(self._standing, kept):
                # What comes alone waits for no writer: most of all not the tables that other stages wait for.
                list((map if len(together) == 1 else writers.map)(write, together, together.values()))
            for each in kept:
                each.unpersist()
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            self._happened.put(error)
        else:
            self._happened.put(None)

    def _write(self, stage: AuditStage, name: str, rows: DataFrame | FewRows | OwnTable) -> None:
        describe_jobs(self._spark, f"table {name}", beside=stage.beside)
        table, folder = _TABLES[name], f"{name}/{self._name}"
        place = f"{self._folder}/{folder}"
        if self._standing.plan.table_format == "delta" and not isinstance(rows, OwnTable):
            self._write_delta(table, rows)
            return
        if isinstance(rows, FewRows):
            if self._standing.here:
                write_batches([rows.batch()], place, commented_schema(table))
            else:
                self._save(table, rows.frame(self._spark), place)
        elif isinstance(rows, OwnTable):
            for beside, more in (rows.write(place) or {}).items():
                self._write(stage, beside, more)
        elif self._standing.here and name in _LONG:
            write_rows(rows, place, table, parter(self._spark, table, self._standing.placings(table)))
        else:
            self._save(table, rows, place)
        found = [StoredPiece(folder)]
        if gone := self._standing.gone.get(name):
            before = (piece.less(gone.column, gone.values) for piece in self._standing.before.pieces.get(name, ()))
            new = StoredPiece(folder, gone.column, has=tuple(sorted(gone.made)))
            found = [*(piece for piece in before if piece), new]
        self.known.add(table, tuple(found))
        self._happened.put(None)

    def _write_delta(self, table: Table, rows: DataFrame | FewRows) -> None:
        found = rows.frame(self._spark) if isinstance(rows, FewRows) else rows
        before = self._standing.before.pieces.get(table.name, ())
        version = max((piece.version for piece in before if piece.version is not None), default=None)
        gone = self._standing.gone.get(table.name, Gone("", frozenset()))
        place = f"{self._folder}/{table.name}"
        written = write_delta(
            self._parted(table, found), place, self._name, version, gone[:2], partitions=_partitions(table)
        )
        self.known.add(table, (StoredPiece(table.name, version=written),))
        self._happened.put(None)

    def _save(self, table: Table, rows: DataFrame, place: str) -> None:
        self._parted(table, rows).write.mode("error").partitionBy(*_partitions(table)).parquet(place)

    def _parted(self, table: Table, rows: DataFrame) -> DataFrame:
        found = _commented(table, rows)
        return with_partitions(found, table.placed_by, self._standing.placings(table)) if table.placed_by else found


def _partitions(table: Table) -> tuple[str, ...]:
    return BY if table.placed_by else ()


def _commented(table: Table, rows: DataFrame) -> DataFrame:
    """The same rows: whoever reads the files finds the meaning of each column in them."""
    told = [(each.name, {"comment": each.meaning}) for each in table.columns]
    return rows.select([F.col(column).alias(column, metadata=comment) for column, comment in told])


def _keep(rows: DataFrame, kept: list[DataFrame]) -> DataFrame:
    kept.append(rows.persist(StorageLevel.DISK_ONLY))
    return kept[-1]


_TABLES = {**TABLES, **{table.name: table for table in (OUTLINE, SPANS, keys.KEY_COUNTS)}}


def _events(at: StoredState, _: list[DataFrame]) -> Tables:
    """Lines of files that are new or changed; and of those that, beside these, count in another way than before."""
    paths = [path for path in at.plan.inputs.transcripts if path not in at.before.same]
    read = lines(at.spark, paths, at.plan.secrets)
    old = at.before.pieces.get(OUTLINE.name)
    stood = list(_outline_rows(at, old)) if old else []
    if old:
        changed = frozenset(paths)
        at.gone[OUTLINE.name] = Gone("file", frozenset(uri for _, uri, *_ in stood if named(uri) in changed))
    yield {OUTLINE.name: OwnTable(partial(events.write_outline, read)) if at.here else events.outlined(read)}
    known = at.before.files.union(paths)
    rows = [row for row in _outline_rows(at, at.known.pieces[OUTLINE.name]) if named(row[1]) in known]
    outline = events.outline_of(rows)
    if old:
        before = events.outline_of(row for row in stood if named(row[1]) in at.before.files)
        fresh = {uri for uri in outline.lines if before.pieces.get(uri) != outline.pieces.get(uri)}
        again = frozenset(map(named, fresh)).difference(paths)
        files = again.union(paths)
        if again:
            read, outline = _with_more(at, read, rows, again)
        for table in ("events", "quarantine", SPANS.name):
            at.gone[table] = Gone("file", files)
        at.touched = _conversations_in(files, before) | _conversations_in(files, outline)
        for table in ("findings", "outlooks", "silences", "timeouts"):
            at.gone[table] = Gone("conv", at.touched)
    at.placed = events.placings(outline)
    yield _heard(at, read, outline)
    counts = at.facts.counts
    of = events.unaccounted(outline, counts)
    at.damaged = bool(of)
    if at.here and at.plan.secrets == NO_SECRETS:
        at.whole = [each for each in whole_files(outline, at.facts, of) if at.wanted >= each.events.keys()]
    mine = {uri for uri in of if named(uri) in at.gone["events"].values} if old else of
    bad_lines = events.quarantine(read.uncut(at.torn), outline, mine) if mine else None
    yield {"quarantine": FewRows([], TABLES["quarantine"].ddl) if bad_lines is None else bad_lines}
    bad = {file: number for (file,), number in at.known.counted(TABLES["quarantine"], "file").items()} if of else {}
    yield {"files": events.files(outline, counts, bad)}


def _with_more(
    at: StoredState, read: LineSource, rows: list[tuple[Any, ...]], again: frozenset[str]
) -> tuple[LineSource, Outline]:
    """Add files that were read before to what is read, and their pieces, as they are now, to the outline of `rows`.

    Those that are gone are forgotten: whoever renames a file leaves a copy. Raises ManifestError where there is none.
    """
    at.forgotten = frozenset(file for file in again if not exists(at.spark, file))
    heads = [Head(*row[1:-1]) for row in rows if row[0] == "header"]
    elsewhere = {head[3:] for head in heads if named(head.file) not in at.forgotten}
    for head in heads:
        if named(head.file) in at.forgotten and head[3:] not in elsewhere:
            raise ManifestError(
                f"{named(head.file)} is gone, and another file has a longer copy of a part of it; put it back, or give"
                " --overwrite to make the tables anew without it"
            )
    more = lines(at.spark, sorted(again - at.forgotten), at.plan.secrets)
    others = [row for row in rows if named(row[1]) not in again]
    return read.beside(more), events.outline_of([*others, *events.outlined(more).select(*OF_OUTLINE).collect()])


def _outline_rows(at: StoredState, pieces: tuple[StoredPiece, ...]) -> Iterable[tuple[Any, ...]]:
    if at.here:
        return tuples_of(read_batches(at.folder, pieces, OUTLINE.columns, OF_OUTLINE))
    return read_pieces(at.spark, at.folder, pieces, OUTLINE.ddl).select(*OF_OUTLINE).collect()


def _heard(at: StoredState, read: LineSource, outline: Outline) -> dict[str, DataFrame | FewRows | OwnTable]:
    """The tables conversations and events."""
    if not at.here:
        rows = at.known[OUTLINE.name]
        return {"conversations": events.conversations(rows, outline), "events": events.events(read, outline)}
    heads = read_batches(at.folder, at.known.pieces[OUTLINE.name], OUTLINE.columns)
    # What an earlier version wrote has no spans, so that all of them are to be counted.
    counted = at.before.pieces.keys() >= {SPANS.name} or not at.before.pieces

    def write(folder: str) -> dict[str, FewRows] | None:
        """Write the events; the table spans comes of it."""
        part = parter(at.spark, TABLES["events"], at.placed)
        spans = events.write_events(read, outline, folder, part)
        at.torn = events.torn_files(spans)
        if (whole := read.uncut(at.torn)) is not read:
            rmtree(folder)
            spans = events.write_events(whole, outline, folder, part)
        return {SPANS.name: FewRows(spans, SPANS.ddl)} if counted else None

    return {
        "conversations": OwnTable(partial(events.write_conversations, heads, outline)),
        "events": OwnTable(write),
    }


def _conversations_in(files: frozenset[str], known: Outline) -> frozenset[str]:
    pieces = (by_conv for uri, by_conv in known.pieces.items() if named(uri) in files)
    return frozenset(piece.key for by_conv in pieces for each in by_conv.values() for piece in each)


def _findings(at: StoredState, kept: list[DataFrame]) -> Tables:
    if at.here:
        yield {"findings": OwnTable(partial(_write_findings, at))}
        return
    found = findings.judged(*_lines_to_judge(at))
    # The first that is written computes what both are made of.
    for name, rows in findings.tables(_keep(found, kept))._asdict().items():
        yield {name: rows}


def _write_findings(at: StoredState, folder: str) -> dict[str, FewRows]:
    """Write findings: first of the conversations that stand whole in files. The table outlooks comes of it."""
    rows, judged = findings.write_whole(at.spark, at.whole, at.plan.storm, folder)
    if not judged or at.wanted - judged:
        rows += findings.write_judged(*_lines_to_judge(at, but=judged), folder)
    return {"outlooks": FewRows(rows, TABLES["outlooks"].ddl)}


def _lines_to_judge(
    at: StoredState, but: frozenset[str] = frozenset()
) -> tuple[DataFrame, DataFrame, DataFrame | None, str]:
    """The tables that the judge reads, and the version; `but`: less those conversations."""
    bad = at.known["quarantine"] if at.damaged else None
    return at.new("conversations", but=but), at.new("events", but=but), bad, at.plan.storm


def _ledger(at: StoredState, _: list[DataFrame]) -> Tables:
    at.gone["ledger"] = Gone("conv", at.touched or frozenset(), at.wanted)
    yield {"ledger": ledger.ledger(at.facts.ends(at.spark), at.new("events"))}


def _trees(at: StoredState, _: list[DataFrame]) -> Tables:
    """Of runs that have a history what it says, of all others what can be inferred."""
    at.replace_runs("marks")
    told = at.facts.only(lambda part: folder_of(part.file, at.histories) is None)
    marks = trees.marks_of_taps(told, at.of_again("events"), at.again)
    if read := [file for file in at.plan.inputs.histories if folder_in(file) in at.again]:
        marks = marks.unionByName(edges.of_history(lines(at.spark, read).rows()))
    yield {"marks": marks}


def _roots(at: StoredState, _: list[DataFrame]) -> Tables:
    at.replace_runs("roots")
    runs = [(run.name, run.timeout, run.timeout if run.followed else 0.0) for run in at.runs.values()]
    marks = at.known["marks"] if at.touched is None else at.known.only("marks", "run", at.again)
    yield {"roots": roots.roots(marks, runs=local_rows(at.spark, runs, "run string, timeout double, beyond double"))}


def _ledger_summary(at: StoredState, _: list[DataFrame]) -> Tables:
    at.replace_runs("rates", "replays")
    who, settled = at.who, at.of_again("ledger")
    yield {
        "rates": summary.rates(who, at.of_again("events"), settled),
        "silences": summary.silences(who, at.new("events"), at.new("ledger")),
        "restarts": restarts.restarts(at.facts, {each.conv: each.never for each in at.known.settled}),
        "replays": summary.replays(who, settled),
        "timeouts": summary.timeouts(who, at.new("ledger")),
    }


def _keys(at: StoredState, _: list[DataFrame]) -> Tables:
    wanted = keys.newest_parts(at.facts)
    rows = at.known.few(TABLES["conversations"], "conv", "part", "header", of={"conv": {conv for conv, _ in wanted}})
    groupings = keys.groupings_of(header for conv, part, header in rows if (conv, part) in wanted)
    at.groupings = keys.digest(groupings)
    if at.groupings == at.before.groupings:
        at.replace_runs(keys.KEY_COUNTS.name)
        yield {keys.KEY_COUNTS.name: keys.key_counts(groupings, at.who, at.of_again("events"))}
    else:
        yield {keys.KEY_COUNTS.name: keys.key_counts(groupings, at.who, at.known["events"])}
    yield {"keys": keys.keys(at.known[keys.KEY_COUNTS.name]) if groupings else FewRows([], TABLES["keys"].ddl)}


def _quality(at: StoredState, _: list[DataFrame]) -> Tables:
    yield {"quality": quality.quality(at.facts, at.known.lines, at.known.settled, at.known.trees)}


def _dialects(at: StoredState, _: list[DataFrame]) -> Tables:
    yield {"dialects": summary.dialects(at.who, at.known["findings"])}


_HEARD = ("conversations", "events")
STAGES: dict[str, AuditStage] = {
    "events": AuditStage(_events),
    "trees": AuditStage(_trees, _HEARD),
    "ledger": AuditStage(_ledger, _HEARD, beside=True),
    "findings": AuditStage(_findings, (*_HEARD, "quarantine"), beside=True),
    "roots": AuditStage(_roots, ("conversations", "marks")),
    "summary": AuditStage(_ledger_summary, (*_HEARD, "ledger"), beside=True),
    "keys": AuditStage(_keys, _HEARD, beside=True),
    "quality": AuditStage(_quality, ("files", "ledger", "roots")),
    "dialects": AuditStage(_dialects, ("conversations", "findings"), beside=True),
}
"""Every stage; of those that can begin, the one that most waits for comes first."""
