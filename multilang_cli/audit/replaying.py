"""Recordings played to a new version of a component on all executors, and compared as ``mlcheck replay`` does.

A conversation is put together from the lines of the events on the executor that plays it, and played to a fresh process
there: one process at a time in each partition. The command must be there on every machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from multilang_cli.audit.arrow import arrow_schema, batch_of
from multilang_cli.audit.columns import Table, TableColumn
from multilang_cli.driver.launch import LaunchError
from multilang_cli.driver.scratch import scratch
from multilang_cli.replay.comparison import Side, compare
from multilang_cli.replay.recording import load
from multilang_cli.replay.replaying import ReplayOptions, replay
from multilang_cli.replay.said import ComparisonOptions
from multilang_cli.transcript.format import TranscriptError
from multilang_cli.transcript.given import GIVEN, NO_SECRETS, GivenSecrets
from multilang_cli.transcript.private import make_private
from multilang_cli.transcript.redact import everywhere

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.replay.matching import MessageDifference
    from multilang_cli.replay.recording import JudgedRecording
    from multilang_cli.subject.subject import Subject

LISTED_DIFFERENCES = 100
"""Differences of one conversation that are listed; all are counted."""
KEPT_OF_MESSAGE = 2000
"""Characters of a message that are kept."""

REPLAYED = Table(
    "replayed",
    "One row for each difference of a conversation, and one without for each that was played.",
    (
        TableColumn("conv", "string", "the conversation"),
        TableColumn("component", "string", "whose it is"),
        TableColumn("compared", "bigint", "messages of the recording that were compared; 0 in rows of differences"),
        TableColumn("differences", "bigint", "how many there are; 0 in rows of differences"),
        TableColumn("problem", "string", "why it could not be played; null if it could"),
        TableColumn(
            "change", "string", "changed, missing, new, order, finding or end; null in the row of the conversation"
        ),
        TableColumn("what", "string", "what changed, in words"),
        TableColumn("seq", "bigint", "the event of the recording, or of now for what is new"),
        TableColumn("then", "string", "the message as it was; null if it is new"),
        TableColumn("now", "string", "the message as it is; null if it is missing"),
        TableColumn("size", "bigint", "bytes of both: the shortest difference of a kind is the best example"),
    ),
)
_SCHEMA = arrow_schema(REPLAYED.columns)


class Request(NamedTuple):
    """The component, and the comparison to make, less the fields: every recording declares its own.

    `secrets`: what is hidden in the differences.
    """

    subject: Subject
    wanted: ComparisonOptions
    secrets: GivenSecrets = NO_SECRETS


def run(
    spark: SparkSession, files: Sequence[str], request: Request, folder: str, component: str | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Play what the files hold, of one `component` if it is named, and write the table replayed in `folder`.

    Returns the shortest difference of each kind, and how many conversations could not be played.
    """
    from multilang_cli.audit.stages import events  # noqa: PLC0415 (executors need none)
    from multilang_cli.audit.stages.lines import lines  # noqa: PLC0415

    read = lines(spark, files)
    rows = events.outlined(read).persist()
    outline = events.outline_of(rows.select(*events.OF_OUTLINE).collect())
    whose = events.conversations(rows, outline)
    if component is not None:
        whose = whose.where(whose.component == component)
    make_private(Path(folder))
    replayed(whose, events.events(read, outline).persist(), request).write.mode("append").parquet(folder)
    table = spark.read.parquet(folder)
    found = [row.asDict() for row in shortest(table).orderBy("component", "change").collect()]
    return found, table.where("problem is not null").count()


def replayed(conversations: DataFrame, events: DataFrame, request: Request) -> DataFrame:
    """The table replayed of the tables conversations and events."""
    headers = conversations.selectExpr("conv", "part", "-1 as seq", "header as line")
    lines = events.join(conversations.select("conv").distinct(), "conv", "left_semi").selectExpr(
        "conv", "0 as part", "seq", "raw as line"
    )
    first = headers.where("part = 1").unionByName(lines)
    placed = first.repartition("conv").sortWithinPartitions("conv", "seq")

    def play(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The task of an executor: batches of lines in, what the component said to them out."""
        return played(batches, request)

    return placed.select("conv", "line").mapInArrow(play, REPLAYED.ddl)


def played(batches: Iterable[pa.RecordBatch], request: Request) -> Iterator[pa.RecordBatch]:
    """Rows of the table replayed, a batch a conversation. `batches`: `conv` and `line`, the header's first."""
    GIVEN.take(request.secrets)
    for conv, file in _conversations(batches):
        yield batch_of(_rows(conv, file, request), _SCHEMA)


def shortest(table: DataFrame) -> DataFrame:
    """By component and kind of difference: how many there are, and the shortest."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 (executors need none)

    found = table.where("change is not null").groupBy("component", "change")
    least = F.expr("min(struct(size, conv, seq, what, then, now)) as least")
    return found.agg(F.expr("count(*) as times"), least).selectExpr(
        "component", "change", "times", "least.conv", "least.seq", "least.what", "least.then", "least.now"
    )


def _conversations(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, Path]]:
    """Each conversation as a file, which is gone when the next is asked for."""
    with scratch("mlcheck-replay-") as folder:
        path = folder / "conversation.ndjson"
        current: str | None = None
        file = None
        for batch in batches:
            for conv, line in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if conv != current:
                    if file is not None and current is not None:
                        file.close()
                        yield current, path
                    current, file = conv, path.open("wb")
                assert file is not None  # noqa: S101 (opened with the first line)
                file.write(line + b"\n")
        if file is not None and current is not None:
            file.close()
            yield current, path


def _rows(conv: str, file: Path, request: Request) -> list[dict[str, Any]]:
    try:
        recording = load(file, name=conv)
        differences, compared = _differences(recording, request)
    except TranscriptError as error:
        return [_row(conv, "", problem=everywhere().known_in(error.why))]
    except (LaunchError, OSError) as error:
        return [_row(conv, "", problem=everywhere().known_in(str(error) or type(error).__name__))]
    component = recording.profile.component
    whole = _row(conv, component, compared=compared, differences=len(differences))
    return [whole, *(_row(conv, component, **each) for each in map(_hidden, differences[:LISTED_DIFFERENCES]))]


def _hidden(difference: dict[str, Any]) -> dict[str, Any]:
    """A difference, its texts without what is known to be secret."""
    hide = everywhere().known_in
    return {key: hide(value) if isinstance(value, str) else value for key, value in difference.items()}


def _row(conv: str, component: str, **more: Any) -> dict[str, Any]:
    return {"conv": conv, "component": component, "compared": 0, "differences": 0, **more}


def _differences(recording: JudgedRecording, request: Request) -> tuple[list[dict[str, Any]], int]:
    wanted = request.wanted
    specs = recording.profile.streams or {}
    fields = {name: spec.fields for name, spec in specs.items() if spec.fields is not None}
    wanted = ComparisonOptions(wanted.aspects, fields, wanted.ignored, wanted.key)
    done = replay(recording, request.subject, ReplayOptions(wanted=wanted))
    then = recording if done.stopped_at is None else recording.until(done.stopped_at - 1)
    sides = Side.of(then.events, then.findings()), Side.of(done.events, done.findings)
    compared = compare(*sides, wanted, spout=recording.profile.kind == "spout")
    found = [_of_message(each) for each in compared.differences]
    found += [
        {"change": "finding", "what": f"{each.change}: {each.finding.rule}: {each.finding.message}",
         "seq": each.finding.seq, "size": len(each.finding.message)}
        for each in compared.findings
    ]  # fmt: skip
    if compared.ends[0] != compared.ends[1]:
        told = " / ".join(compared.told_ends)
        found.append({"change": "end", "what": f"how it ended, then and now: {told}", "size": len(told)})
    return found, compared.compared


def _of_message(difference: MessageDifference) -> dict[str, Any]:
    then, now = (None if said is None else bytes(said.raw) for said in (difference.then, difference.now))
    return {
        "change": difference.change,
        "what": difference.what,
        "seq": difference.place,
        "then": None if then is None else _shown(then),
        "now": None if now is None else _shown(now),
        "size": len(then or b"") + len(now or b""),
    }


def _shown(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace").removesuffix("\nend\n")[:KEPT_OF_MESSAGE]
