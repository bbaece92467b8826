"""The tables of the audit's last stage, as data: see ``tables``."""

from __future__ import annotations

from multilang_cli.audit.columns import Table, TableColumn

WHO = (
    TableColumn("topology", "string", "the topology's name; empty if the recording does not say"),
    TableColumn("component", "string", "the component's id in the topology"),
    TableColumn("task", "int", "the task's id"),
)
RUN = TableColumn("run", "string", "the run of the topology, as in the table roots")
WORKER = TableColumn("worker", "string", "the worker, or the machine where the recording does not name the worker")

RATES = Table(
    "rates",
    "What each task did in each hour.",
    (
        RUN,
        *WHO,
        WORKER,
        TableColumn(
            "hour",
            "timestamp",
            "the beginning of the hour, UTC; null if the recording does not say when it was, or names no time of a"
            " calendar",
        ),
        TableColumn("kind", "string", "bolt or spout"),
        TableColumn("seconds", "double", "from the first to the last event"),
        TableColumn("tuples", "bigint", "tuples that it was given, without ticks and heartbeats"),
        TableColumn("emits", "bigint", "tuples that it emitted"),
        TableColumn("acks", "bigint", "acks: by a bolt, or of a spout's tuples"),
        TableColumn("fails", "bigint", "fails, likewise"),
        TableColumn("errors", "bigint", "messages error, and messages that can't be read"),
        TableColumn("p50", "double", "seconds until half of its tuples were settled; null if none was"),
        TableColumn("p95", "double", "seconds until 95 of 100 were"),
        TableColumn("p99", "double", "seconds until 99 of 100 were"),
        TableColumn("slowest", "double", "seconds until the slowest was"),
        TableColumn("twice", "bigint", "tuples settled more than once"),
        TableColumn("late", "bigint", "tuples settled too late for certain"),
        TableColumn("never", "bigint", "tuples never settled"),
    ),
)

REPLAYS = Table(
    "replays",
    "Message ids that a spout emitted more than once in a run.",
    (
        RUN,
        *WHO,
        TableColumn("id", "string", "the message id as JSON"),
        TableColumn("emissions", "bigint", "how often it was emitted"),
        TableColumn("acked", "bigint", "how often it was acked"),
        TableColumn("failed", "bigint", "how often it failed"),
        TableColumn("first_at", "double", "the first emission, seconds since 1970; null if not known"),
        TableColumn("last_at", "double", "the last one"),
    ),
)

TIMEOUTS = Table(
    "timeouts",
    "Tuples that took longer than the message timeout, and where the time went.",
    (
        TableColumn("conv", "string", "the conversation"),
        TableColumn("id", "string", "the tuple's id; the message id as JSON"),
        TableColumn("nth", "bigint", "the number of this delivery or emission of the id"),
        *WHO,
        TableColumn("kind", "string", "bolt or spout"),
        TableColumn("after", "double", "seconds until it was settled"),
        TableColumn("timeout", "double", "the message timeout, seconds"),
        TableColumn("waiting", "double", "seconds in which the bolt still had earlier tuples; null for a spout"),
        TableColumn(
            "processing", "double", "seconds in which it was the oldest tuple that the bolt had; null for a spout"
        ),
        TableColumn("downstream", "double", "seconds in everything downstream of the spout; null for a bolt"),
    ),
)

SILENCES = Table(
    "silences",
    "Heartbeats that a bolt answered late, or never.",
    (
        TableColumn("conv", "string", "the conversation"),
        *WHO,
        TableColumn("seq", "bigint", "the heartbeat"),
        TableColumn("t", "double", "its time, seconds since the conversation began"),
        TableColumn("after", "double", "seconds until the sync; null if none came"),
        TableColumn("id", "string", "the oldest tuple that the bolt had then; null if there was none"),
        TableColumn("held", "double", "seconds for which the bolt had had that tuple; null if there was none"),
    ),
)

RESTARTS = Table(
    "restarts",
    "Ends of processes. Those of one worker that come close together are one row.",
    (
        TableColumn("topology", "string", "the topology's name"),
        WORKER,
        TableColumn("first_at", "double", "the first end, seconds since 1970"),
        TableColumn("last_at", "double", "the last end"),
        TableColumn("ends", "bigint", "how many processes ended"),
        TableColumn("tasks", "array<int>", "the tasks"),
        TableColumn("components", "array<string>", "their components"),
        TableColumn("why", "string", "how the first ended: its code or signal; null if it closed its stdout"),
        TableColumn("lost", "bigint", "tuples that were never settled because of it"),
    ),
)

KEYS = Table(
    "keys",
    "Keys of fields groupings: how many tuples each has, and to which task Java's hash sends it.",
    (
        TableColumn("topology", "string", "the topology's name"),
        TableColumn("component", "string", "the component that emits"),
        TableColumn("stream", "string", "the stream"),
        TableColumn("consumer", "string", "the component that is given them"),
        TableColumn("key", "string", "the values of the grouping's fields as JSON"),
        TableColumn("tuples", "bigint", "tuples with this key"),
        TableColumn("share", "double", "of all tuples of the stream, from 0 to 1"),
        TableColumn("task", "int", "the consumer's task up to Storm 2.5; null if the values have no such field"),
        TableColumn(
            "task_since_2_6", "int", "its task since Storm 2.6, which reads the numbers of JSON as other Java types"
        ),
        TableColumn("moves", "boolean", "true if they differ"),
    ),
)

DIALECTS = Table(
    "dialects",
    "Messages that die, hang, fail tuples or lose data on a Storm version: to be mended before an upgrade.",
    (
        TableColumn("version", "string", "the Storm version"),
        TableColumn("fate", "string", "dies, hangs, loses-data or fails-tuple"),
        TableColumn("rule", "string", "the rule, as `mlcheck explain` has it"),
        TableColumn("messages", "bigint", "how many messages"),
        TableColumn("conversations", "bigint", "in how many conversations"),
        TableColumn("components", "array<string>", "of which components"),
        TableColumn("today", "bigint", "how many of them do such harm on the version that was recorded, too"),
        TableColumn("conv", "string", "one conversation"),
        TableColumn("seq", "bigint", "and the event there"),
        TableColumn("message", "string", "what is wrong with it"),
    ),
)

QUALITY = Table(
    "quality",
    "One row for each thing that the other tables need of the recordings, and how often it does not hold.",
    (
        TableColumn("expectation", "string", "a sentence"),
        TableColumn("about", "string", "the table that shows more"),
        TableColumn("found", "bigint", "how often it does not hold, in lines, parts, events, tuples or trees"),
        TableColumn("passed", "boolean", "true if it always does"),
    ),
)

SUMMARY = (RATES, REPLAYS, TIMEOUTS, SILENCES, RESTARTS, KEYS, DIALECTS, QUALITY)
