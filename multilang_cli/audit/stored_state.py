"""State of an audit that its stages share: what earlier audits left, the tables that stand, and what is made anew."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from multilang_cli.audit.inputs import folder_in, is_url
from multilang_cli.audit.runs import RecordedRun, topology_runs
from multilang_cli.audit.store.partitions import placing
from multilang_cli.audit.store.stored import StoredTables
from multilang_cli.transcript.naming import HISTORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.columns import Table
    from multilang_cli.audit.inputs import AuditPlan
    from multilang_cli.audit.stages.facts import AuditFacts
    from multilang_cli.audit.stages.whole_files import WholeFiles
    from multilang_cli.audit.store.local_rows import FewRows
    from multilang_cli.audit.store.manifest import StoredPiece
    from multilang_cli.audit.store.partitions import Placing


class Gone(NamedTuple):
    """Rows of earlier audits that count no more: those whose `column` has one of these values.

    `made`: the values that this audit's rows may have; empty if nobody knows.
    """

    column: str
    values: frozenset[str]
    made: frozenset[str] = frozenset()


class Stored(NamedTuple):
    """Remains of earlier audits: pieces of tables, and `inputs` that are the same still.

    `runs`: of topologies, by name, each with a digest; `groupings`: a digest of those of all fields. `files`: all that
    the rows are of.
    """

    pieces: dict[str, tuple[StoredPiece, ...]]
    same: frozenset[str]
    runs: dict[str, str]
    groupings: str
    files: frozenset[str]


class OwnTable(NamedTuple):
    """A table that is written without Spark, into a folder of this machine that is given. What comes of it, beside."""

    write: Callable[[str], dict[str, FewRows] | None]


class StoredState:
    """Everything that a stage is made of: the session, the plan, the tables that stand already, and facts of them.

    `before`: what earlier audits left. `touched`: the conversations that this one has lines of; None for all. `gone`:
    by table, what its rows take the place of in earlier ones; a table without an entry is made anew as a whole.
    `placed`: of each conversation, the topology and when it began. `torn`: the files that no two tasks may share, as a
    line may stand twice there; `forgotten`: those that are gone, and another has all of them. `damaged`: some lines are
    in quarantine. `whole`: the files from which conversations can be judged. `groupings`: a digest of those of all
    fields.
    """

    def __init__(self, spark: SparkSession, plan: AuditPlan, folder: str, before: Stored) -> None:
        self.spark = spark
        self.plan = plan
        self.folder = folder
        self.known = StoredTables(spark, folder, {})
        self.before = before
        self.gone: dict[str, Gone] = {}
        self.touched: frozenset[str] | None = None
        self.placed: dict[str, Placing] = {}
        self.torn: frozenset[str] = frozenset()
        self.forgotten: frozenset[str] = frozenset()
        self.damaged = False
        self.whole: list[WholeFiles] = []
        self.groupings = ""

    @property
    def here(self) -> bool:
        """True if the tables are folders of Parquet on this machine, which need no Spark."""
        return self.plan.table_format == "parquet" and not is_url(self.folder)

    @property
    def facts(self) -> AuditFacts:
        """Facts of conversations and files; to be asked for when conversations and events stand."""
        return self.known.facts

    @property
    def who(self) -> DataFrame:
        """Tasks and components that speak."""
        return self.facts.people(self.spark, {conv: run.name for run in self.runs.values() for conv in run.convs})

    def placings(self, table: Table) -> dict[str, Placing]:
        """Facts that tell the partition of rows of a table, by the value of the column that it is placed by."""
        if table.placed_by is None or table.placed_by.key == "conv":
            return self.placed
        return {run.name: self._placing(run) for run in self.runs.values()}

    def _placing(self, run: RecordedRun) -> Placing:
        parts = [self.facts.parts[conv][0] for conv in run.convs]
        began = [part.started for part in parts if part.started is not None]
        topology = next((part.topology for part in parts if part.topology), "")
        return placing(topology, min(began, default=None), absolute=run.name not in self.histories)

    @property
    def wanted(self) -> frozenset[str]:
        """The conversations that this audit is about: all of them, or those that it has lines of."""
        return frozenset(self.facts.parts) if self.touched is None else self.touched

    def new(self, table: str, *, but: frozenset[str] = frozenset()) -> DataFrame:
        """Rows of the conversations that this audit is about. `but`: less those of these."""
        if self.touched is None and not but:
            return self.known[table]
        return self.known.only(table, "conv", self.wanted - but)

    @cached_property
    def histories(self) -> frozenset[str]:
        """The folders that have the history of a run, of earlier audits too."""
        before = (file for file in self.before.same if Path(file).name == HISTORY)
        return frozenset(map(folder_in, (*self.plan.inputs.histories, *before)))

    @cached_property
    def runs(self) -> dict[str, RecordedRun]:
        """All runs of topologies, by name."""
        return topology_runs(self.facts, self.histories)

    @cached_property
    def again(self) -> frozenset[str]:
        """The runs that this audit looks at: all, or those of which a line is new, or something else is known now."""
        if self.touched is None:
            return frozenset(self.runs)
        read = {folder_in(file) for file in self.plan.inputs.histories if file not in self.before.same}
        return frozenset(
            name
            for name, run in self.runs.items()
            if name in read or run.mark != self.before.runs.get(name) or not self.touched.isdisjoint(run.convs)
        )

    @property
    def again_convs(self) -> frozenset[str]:
        """The conversations of these runs."""
        return frozenset(conv for name in self.again for conv in self.runs[name].convs)

    def of_again(self, table: str) -> DataFrame:
        """Rows of the conversations of these runs."""
        return self.known[table] if self.touched is None else self.known.only(table, "conv", self.again_convs)

    def replace_runs(self, *tables: str) -> None:
        """Let the rows of these runs take the place of what stands, and of runs that are no more."""
        for table in tables:
            self.gone[table] = Gone("run", self.again.union(self.before.runs.keys() - self.runs.keys()), self.again)
