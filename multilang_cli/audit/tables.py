"""The tables of the audit, as data: every column, its type and what it means. Docs and schemas are made from it.

Types are Spark SQL's names. A column that may be null says so in its meaning.
"""

from __future__ import annotations

from multilang_cli.audit.columns import PARTITIONS, PlacedBy, Table, TableColumn
from multilang_cli.audit.summary_tables import SUMMARY

PLACE = (
    TableColumn("file", "string", "the file it stands in"),
    TableColumn("line", "bigint", "its line, from 1"),
)

CONVERSATIONS = Table(
    "conversations",
    "One row for each part of a conversation: who spoke to whom.",
    (
        TableColumn(
            "conv",
            "string",
            "the conversation's id, the same in all its parts; with #2 and so on where several have one id",
        ),
        TableColumn("part", "int", "its part, from 1"),
        *PLACE,
        TableColumn("storm", "string", "the Storm version"),
        TableColumn("kind", "string", "bolt or spout"),
        TableColumn("component", "string", "the component's id in the topology"),
        TableColumn("task", "int", "the task's id"),
        TableColumn("worker", "string", "the worker, as the recorder named it; empty if it named none"),
        TableColumn("host", "string", "the machine; empty if the recording does not say"),
        TableColumn("topology", "string", "the topology's name; empty if the recording does not say"),
        TableColumn(
            "started", "double", "wall-clock time of t = 0, seconds since 1970; null if the recording does not say"
        ),
        TableColumn("timeout", "double", "the topology's message timeout, seconds"),
        TableColumn("closed", "boolean", "true if the part has its end"),
        TableColumn("counted", "bigint", "the number of events by its end; null if it has no end"),
        TableColumn("header", "binary", "the whole line, as it was written"),
    ),
)

EVENTS = Table(
    "events",
    "One row for each event of a conversation.",
    (
        TableColumn("conv", "string", "its conversation"),
        TableColumn("part", "int", "the part of it that it stands in"),
        TableColumn("seq", "bigint", "its number in it"),
        TableColumn("t", "double", "seconds since the conversation began"),
        TableColumn("ch", "string", "in, out, err, process or control"),
        TableColumn("kind", "string", "tuple, heartbeat, tick, next, emit, ack... (see `parsing.KINDS`)"),
        TableColumn("id", "string", "the tuple's id, or the message id as JSON; null where there is none"),
        TableColumn("comp", "string", "of a tuple: the component that emitted it; else null"),
        TableColumn("stream", "string", "of a tuple or an emit; else null"),
        TableColumn(
            "task", "int", "of a tuple: the task that emitted it; of an emit: the one it goes to directly; else null"
        ),
        TableColumn("anchors", "array<string>", "of an emit of a bolt: ids of tuples; else null"),
        TableColumn("tasks", "array<int>", "of a reply: the tasks that an emit went to; else null"),
        TableColumn("asks", "boolean", "of an emit: true if it wants task ids; else null"),
        TableColumn("values", "string", "of a tuple or an emit: its values as JSON; else null"),
        TableColumn(
            "says", "string", "of a log, an error or what happened: its text, cut at 1024 characters; else null"
        ),
        TableColumn("size", "bigint", "bytes of the message, or of a chunk"),
        *PLACE,
        TableColumn("raw", "binary", "the whole line, as it was written"),
    ),
    PlacedBy("conv", "t"),
)

QUARANTINE = Table(
    "quarantine",
    "One row for each line that is no event, header or end, or is a second copy: nothing is dropped in silence.",
    (
        *PLACE,
        TableColumn("reason", "string", "why it could not be read"),
        TableColumn("text", "string", "its first 200 characters"),
    ),
)

MARKS = Table(
    "marks",
    "One row for each thing that an acker could know of a root: from a topology's history, or inferred from taps.",
    (
        TableColumn(
            "run",
            "string",
            "the run of a topology: its name and when it began, or the folder of its history; root ids are its own",
        ),
        TableColumn("root", "bigint", "the root id; where it was inferred from taps, one that the audit made up"),
        TableColumn(
            "what", "string", "emit, made, ack, fail, lost, unheard; the end: acked, failed, timed out, or told fail"
        ),
        TableColumn("t", "double", "seconds since the run began; of taps, since 1970"),
        TableColumn("edge", "bigint", "the edge id; null where it is about the whole root"),
        TableColumn(
            "task", "int", "of an emit and its end: the spout's task; of an edge that is made: who gets it; else null"
        ),
        TableColumn(
            "id", "string", "of an emit: the message id as JSON; of an edge that is made: the tuple's id; else null"
        ),
        TableColumn("doubt", "int", "0 certain, 1 inferred and checked, 2 guessed"),
    ),
    PlacedBy("run", "t"),
)

ROOTS = Table(
    "roots",
    "One row for each tuple that a spout emitted with a message id: what became of its tree.",
    (
        TableColumn("run", "string", "the run of a topology"),
        TableColumn("root", "bigint", "the root id"),
        TableColumn("task", "int", "the spout's task; null if its emit is not in the recording"),
        TableColumn("message_id", "string", "the spout's message id as JSON; null if its emit is not in the recording"),
        TableColumn("emitted", "double", "when it was emitted; null if that is not in the recording"),
        TableColumn(
            "verdict",
            "string",
            "completed, failed, timed out, late ack, double ack, never acked, lost or open; uncertain: it timed out,"
            " and what was guessed of its tree can't be right, or its end may stand behind the cut of a recording",
        ),
        TableColumn("outcome", "string", "what the spout was told: acked, failed or timed out; null if nothing"),
        TableColumn("ended", "double", "when the spout was told; null if it was not"),
        TableColumn("latency", "double", "seconds from the emit to the outcome, by one clock; null without an outcome"),
        TableColumn("edges", "bigint", "tuples of its tree"),
        TableColumn("acks", "bigint", "acks of them"),
        TableColumn("fails", "bigint", "fails of them"),
        TableColumn("ack_val", "bigint", "XOR of all edges made and acked; 0 is no proof by itself"),
        TableColumn("open_edge", "bigint", "the first edge that nobody settled; null if there is none"),
        TableColumn("open_task", "int", "the task that has that tuple"),
        TableColumn("open_id", "string", "the id of that tuple"),
        TableColumn("open_since", "double", "when that tuple was emitted"),
        TableColumn("confidence", "string", "certain, high or low: how far the tree was inferred"),
    ),
    PlacedBy("run", "emitted"),
)

FILES = Table(
    "files",
    "One row for each file that was read: lines = headers + events + ends + quarantined.",
    (
        TableColumn("file", "string", "the file"),
        TableColumn("lines", "bigint", "its lines"),
        TableColumn("headers", "bigint", "those that begin a part of a conversation"),
        TableColumn("events", "bigint", "those that are events"),
        TableColumn("ends", "bigint", "those that end a part"),
        TableColumn("quarantined", "bigint", "the others"),
    ),
)

FINDINGS = Table(
    "findings",
    "One row for each breach of a rule: what `mlcheck lint` says of the same recordings.",
    (
        TableColumn("conv", "string", "the conversation"),
        TableColumn("seq", "bigint", "the event"),
        TableColumn("t", "double", "its time, seconds since the conversation began; null if it came long before"),
        TableColumn("rule", "string", "the rule, as `mlcheck explain` has it"),
        TableColumn("level", "string", "must, should or note"),
        TableColumn("subject", "string", "what it is about: a tuple id, a stream, a command"),
        TableColumn("message", "string", "a sentence"),
        TableColumn("offset", "bigint", "its place in the stream, in bytes"),
        TableColumn("related", "array<bigint>", "the events that explain it"),
        TableColumn("fates", "map<string,string>", "what becomes of it, by Storm version"),
        TableColumn("errors", "map<string,string>", "what Storm prints, by version"),
        TableColumn("fingerprint", "string", "the same for the same breach from run to run"),
        TableColumn("cause", "string", "what it comes of, as `mlcheck explain` has it; null where none is known"),
    ),
)

OUTLOOKS = Table(
    "outlooks",
    "How each conversation ends on each Storm version: the worst fate, or the first fatal one.",
    (
        TableColumn("conv", "string", "the conversation"),
        TableColumn("version", "string", "the Storm version"),
        TableColumn(
            "fate",
            "string",
            "survives, ignored, fails-tuple, loses-data, hangs, dies or unknown; unknown also where mlcheck does not"
            " know the version",
        ),
        TableColumn("seq", "bigint", "the event that decides; null for none"),
        TableColumn("rule", "string", "the rule that was broken; null for none"),
    ),
)

LEDGER = Table(
    "ledger",
    "One row for each tuple that a bolt was given, and for each tuple that a spout emitted with a message id.",
    (
        TableColumn("conv", "string", "the conversation"),
        TableColumn("id", "string", "the tuple's id; the message id as JSON"),
        TableColumn(
            "nth",
            "bigint",
            "the number of this delivery or emission of the id, from 1; 0 if the id was settled and never seen before",
        ),
        TableColumn("kind", "string", "bolt or spout: the component settles a bolt's tuples, Storm a spout's"),
        TableColumn("stream", "string", "its stream"),
        TableColumn("comp", "string", "of a bolt's tuple: the component that emitted it; else null"),
        TableColumn("source", "int", "of a bolt's tuple: the task that emitted it; else null"),
        TableColumn("seq", "bigint", "the event that delivered or emitted it; null if never seen"),
        TableColumn("t", "double", "its time, seconds since the conversation began; null if never seen"),
        TableColumn(
            "at",
            "double",
            "the same as wall-clock time, seconds since 1970; null if the recording does not say when it began",
        ),
        TableColumn("settled", "bigint", "how often the tuple was settled"),
        TableColumn("by", "string", "ack or fail, the first of them; null for none"),
        TableColumn("settled_seq", "bigint", "the event that did it first; null for none"),
        TableColumn("after", "double", "seconds until it was settled first; null for none"),
        TableColumn(
            "waiting", "double", "of those, the seconds in which the bolt still had earlier tuples; null for a spout"
        ),
        TableColumn("timeout", "double", "the message timeout, seconds"),
        TableColumn(
            "lateness",
            "string",
            "in-time; perhaps: after one message timeout, when Storm may have given it up; surely: after two",
        ),
        TableColumn(
            "verdict",
            "string",
            "once, twice, late, never; open: the recording ends sooner; free: a tick; unseen; unknown: a gap",
        ),
    ),
    PlacedBy("conv", "t"),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (FILES, CONVERSATIONS, EVENTS, QUARANTINE, FINDINGS, OUTLOOKS, LEDGER, MARKS, ROOTS, *SUMMARY)
}
"""Every table by its name."""

__all__ = [
    "CONVERSATIONS",
    "EVENTS",
    "FILES",
    "FINDINGS",
    "LEDGER",
    "MARKS",
    "OUTLOOKS",
    "PARTITIONS",
    "QUARANTINE",
    "ROOTS",
    "SUMMARY",
    "TABLES",
    "Table",
    "TableColumn",
]
