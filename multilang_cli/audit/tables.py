"""The tables of the audit, as data: every column, its type and what it means. Docs and schemas are made from it.

Types are Spark SQL's names. A column that may be null says so in its meaning.
"""

from __future__ import annotations

from multilang_cli.audit.columns import Column, Table
from multilang_cli.audit.summary_tables import SUMMARY

PLACE = (
    Column("file", "string", "the file it stands in"),
    Column("line", "bigint", "its line, from 1"),
)

CONVERSATIONS = Table(
    "conversations",
    "One row for each part of a conversation: who spoke to whom.",
    (
        Column(
            "conv",
            "string",
            "the conversation's id, the same in all its parts; #2 and so on is added where others have it",
        ),
        Column("part", "int", "its part, from 1"),
        *PLACE,
        Column("storm", "string", "the Storm version"),
        Column("kind", "string", "bolt or spout"),
        Column("component", "string", "the component's id in the topology"),
        Column("task", "int", "the task's id"),
        Column("worker", "string", "the worker, as the recorder named it; empty if it did not"),
        Column("host", "string", "the machine; empty if nobody said"),
        Column("topology", "string", "the topology's name; empty if nobody said"),
        Column("started", "double", "wall-clock time of t = 0, seconds since 1970; null if nobody said"),
        Column("timeout", "double", "the topology's message timeout, seconds"),
        Column("closed", "boolean", "true if the part was closed: nothing of it was lost"),
        Column("header", "binary", "the whole line, as it was written"),
    ),
)

EVENTS = Table(
    "events",
    "One row for each event of a conversation.",
    (
        Column("conv", "string", "its conversation"),
        Column("part", "int", "the part of it that it stands in"),
        Column("seq", "bigint", "its number in it"),
        Column("t", "double", "seconds since the conversation began"),
        Column("ch", "string", "in, out, err, process or control"),
        Column("kind", "string", "tuple, heartbeat, tick, next, emit, ack... (see `parsing.KINDS`)"),
        Column("id", "string", "the tuple's id, or the message id as JSON; null where there is none"),
        Column("comp", "string", "of a tuple: the component that emitted it; else null"),
        Column("stream", "string", "of a tuple or an emit; else null"),
        Column(
            "task", "int", "of a tuple: the task that emitted it; of an emit: the one it goes to directly; else null"
        ),
        Column("anchors", "array<string>", "of an emit of a bolt: ids of tuples; else null"),
        Column("tasks", "array<int>", "of a reply: the tasks that an emit went to; else null"),
        Column("asks", "boolean", "of an emit: true if it wants task ids; else null"),
        Column("values", "string", "of a tuple or an emit: its values as JSON; else null"),
        Column("says", "string", "of a log, an error or what happened: its text, cut at 1024 characters; else null"),
        Column("size", "bigint", "bytes of the message, or of a chunk"),
        *PLACE,
        Column("raw", "binary", "the whole line, as it was written"),
    ),
)

QUARANTINE = Table(
    "quarantine",
    "One row for each line that is no event, header or end, or stands in a second copy: nothing is dropped in silence.",
    (
        *PLACE,
        Column("reason", "string", "why it could not be read"),
        Column("text", "string", "its first 200 characters"),
    ),
)

MARKS = Table(
    "marks",
    "One row for each thing that an acker could know of a root: from a topology's history, or inferred from taps.",
    (
        Column("run", "string", "the run of a topology: root ids are its own"),
        Column("root", "bigint", "the root id; of a tap's, one that was made up"),
        Column("what", "string", "emit, made, ack, fail, lost; the end: acked, failed, timed out, or told fail"),
        Column("t", "double", "seconds since the run began; of taps, since 1970"),
        Column("edge", "bigint", "the edge id; null where it is about the whole root"),
        Column(
            "task", "int", "of an emit and its end: the spout's task; of an edge that is made: who gets it; else null"
        ),
        Column(
            "id", "string", "of an emit: the message id as JSON; of an edge that is made: the tuple's id; else null"
        ),
        Column("doubt", "int", "0 certain, 1 inferred and checked, 2 guessed"),
    ),
)

ROOTS = Table(
    "roots",
    "One row for each tuple that a spout emitted with a message id: what became of its tree.",
    (
        Column("run", "string", "the run of a topology"),
        Column("root", "bigint", "the root id"),
        Column("task", "int", "the spout's task; null if its emit is not in the recording"),
        Column("message_id", "string", "the spout's message id as JSON; null if its emit is not in the recording"),
        Column("emitted", "double", "when it was emitted; null if that is not in the recording"),
        Column("verdict", "string", "completed, failed, timed out, late ack, double ack, never acked, lost or open"),
        Column("outcome", "string", "what the spout was told: acked, failed or timed out; null if nothing"),
        Column("ended", "double", "when the spout was told; null if it was not"),
        Column("latency", "double", "seconds from the emit to the outcome, by one clock; null without an outcome"),
        Column("edges", "bigint", "tuples of its tree"),
        Column("acks", "bigint", "acks of them"),
        Column("fails", "bigint", "fails of them"),
        Column("ack_val", "bigint", "XOR of all edges made and acked; 0 is no proof by itself"),
        Column("open_edge", "bigint", "the first edge that nobody settled; null if there is none"),
        Column("open_task", "int", "who holds that one"),
        Column("open_id", "string", "its tuple id"),
        Column("open_since", "double", "when it was made"),
        Column("confidence", "string", "certain, high or low: how far the tree was inferred"),
    ),
)

FILES = Table(
    "files",
    "One row for each file that was read: lines = headers + events + ends + quarantined.",
    (
        Column("file", "string", "the file"),
        Column("lines", "bigint", "its lines"),
        Column("headers", "bigint", "those that begin a part of a conversation"),
        Column("events", "bigint", "those that are events"),
        Column("ends", "bigint", "those that end a part"),
        Column("quarantined", "bigint", "the others"),
    ),
)

FINDINGS = Table(
    "findings",
    "One row for each breach of a rule: what `mlcheck lint` says of the same recordings.",
    (
        Column("conv", "string", "the conversation"),
        Column("seq", "bigint", "the event"),
        Column("t", "double", "its time, seconds since the conversation began; null if it came long before"),
        Column("rule", "string", "the rule, as `mlcheck explain` has it"),
        Column("level", "string", "must, should or note"),
        Column("subject", "string", "what it is about: a tuple id, a stream, a command"),
        Column("message", "string", "a sentence"),
        Column("offset", "bigint", "its place in the stream, in bytes"),
        Column("related", "array<bigint>", "the events that explain it"),
        Column("fates", "map<string,string>", "what becomes of it, by Storm version"),
        Column("errors", "map<string,string>", "what Storm prints, by version"),
        Column("fingerprint", "string", "the same for the same breach from run to run"),
    ),
)

OUTLOOKS = Table(
    "outlooks",
    "How each conversation ends on each Storm version: the worst fate, or the first fatal one.",
    (
        Column("conv", "string", "the conversation"),
        Column("version", "string", "the Storm version"),
        Column(
            "fate",
            "string",
            "survives, ignored, fails-tuple, loses-data, hangs, dies; unknown also for a version that is",
        ),
        Column("seq", "bigint", "the event that decides; null for none"),
        Column("rule", "string", "the rule that was broken; null for none"),
    ),
)

LEDGER = Table(
    "ledger",
    "One row for each tuple that a bolt was given, and for each tuple that a spout emitted with a message id.",
    (
        Column("conv", "string", "the conversation"),
        Column("id", "string", "the tuple's id; the message id as JSON"),
        Column("nth", "bigint", "which delivery or emission of this id, from 1; 0: what was settled was never seen"),
        Column("kind", "string", "bolt or spout: who settles a bolt's is the component; a spout's, Storm"),
        Column("stream", "string", "its stream"),
        Column("comp", "string", "of a bolt's: the component that emitted it; else null"),
        Column("source", "int", "of a bolt's: the task that emitted it; else null"),
        Column("seq", "bigint", "the event that delivered or emitted it; null if never seen"),
        Column("t", "double", "its time, seconds since the conversation began; null if never seen"),
        Column(
            "at",
            "double",
            "the same as wall-clock time, seconds since 1970; null if the recording began nobody knows when",
        ),
        Column("settled", "bigint", "how often it was settled"),
        Column("by", "string", "ack or fail, the first of them; null for none"),
        Column("settled_seq", "bigint", "the event that did it first; null for none"),
        Column("after", "double", "seconds until it was settled first; null for none"),
        Column(
            "waiting", "double", "of those, seconds for which earlier tuples of a bolt were under way; null for a spout"
        ),
        Column("timeout", "double", "the message timeout, seconds"),
        Column(
            "lateness",
            "string",
            "in-time; perhaps: after one message timeout, when Storm may have given it up; surely: after two",
        ),
        Column(
            "verdict",
            "string",
            "once, twice, late, never; open: the recording ends sooner; free: a tick; unseen; unknown: a gap",
        ),
    ),
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
    "QUARANTINE",
    "ROOTS",
    "SUMMARY",
    "TABLES",
    "Column",
    "Table",
]
