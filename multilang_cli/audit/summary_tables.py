"""The tables of the audit's last stage, as data: see ``tables``."""

from __future__ import annotations

from multilang_cli.audit.columns import Column, Table

WHO = (
    Column("topology", "string", "the topology's name; empty if nobody said"),
    Column("component", "string", "the component's id in the topology"),
    Column("task", "int", "the task's id"),
)
WORKER = Column("worker", "string", "the worker, or, where nobody named it, the machine")

RATES = Table(
    "rates",
    "What each task did in each hour.",
    (
        *WHO,
        WORKER,
        Column("hour", "timestamp", "the hour it began in, UTC; null if the recording does not say when it was"),
        Column("kind", "string", "bolt or spout"),
        Column("seconds", "double", "from the first to the last event"),
        Column("tuples", "bigint", "tuples that it was given, without ticks and heartbeats"),
        Column("emits", "bigint", "tuples that it emitted"),
        Column("acks", "bigint", "acks: by a bolt, or of a spout's tuples"),
        Column("fails", "bigint", "fails, likewise"),
        Column("errors", "bigint", "messages error, and messages that can't be read"),
        Column("p50", "double", "seconds until half of its tuples were settled; null if none was"),
        Column("p95", "double", "seconds until 95 of 100 were"),
        Column("p99", "double", "seconds until 99 of 100 were"),
        Column("slowest", "double", "seconds until the slowest was"),
        Column("twice", "bigint", "tuples settled more than once"),
        Column("late", "bigint", "tuples settled too late for certain"),
        Column("never", "bigint", "tuples never settled"),
    ),
)

REPLAYS = Table(
    "replays",
    "Message ids that a spout emitted more than once.",
    (
        *WHO,
        Column("id", "string", "the message id as JSON"),
        Column("emissions", "bigint", "how often it was emitted"),
        Column("acked", "bigint", "how often it was acked"),
        Column("failed", "bigint", "how often it failed"),
        Column("first_at", "double", "the first emission, seconds since 1970; null if not known"),
        Column("last_at", "double", "the last one"),
    ),
)

TIMEOUTS = Table(
    "timeouts",
    "Tuples that took longer than the message timeout, and where the time went.",
    (
        Column("conv", "string", "the conversation"),
        Column("id", "string", "the tuple's id; the message id as JSON"),
        Column("nth", "bigint", "which delivery or emission of it"),
        *WHO,
        Column("kind", "string", "bolt or spout"),
        Column("after", "double", "seconds until it was settled"),
        Column("timeout", "double", "the message timeout, seconds"),
        Column("waiting", "double", "seconds behind earlier tuples in the component; null for a spout"),
        Column("processing", "double", "seconds in which it was the oldest under way; null for a spout"),
        Column("downstream", "double", "seconds in everything behind a spout; null for a bolt"),
    ),
)

SILENCES = Table(
    "silences",
    "Heartbeats that a bolt answered late, or never.",
    (
        Column("conv", "string", "the conversation"),
        *WHO,
        Column("seq", "bigint", "the heartbeat"),
        Column("t", "double", "its time, seconds since the conversation began"),
        Column("after", "double", "seconds until the sync; null if none came"),
        Column("id", "string", "the oldest tuple under way then; null if there was none"),
        Column("held", "double", "seconds for which the bolt had had that tuple; null if there was none"),
    ),
)

RESTARTS = Table(
    "restarts",
    "Ends of processes, those of one worker that come close together in one row.",
    (
        Column("topology", "string", "the topology's name"),
        WORKER,
        Column("first_at", "double", "the first end, seconds since 1970"),
        Column("last_at", "double", "the last end"),
        Column("ends", "bigint", "how many processes ended"),
        Column("tasks", "array<int>", "the tasks"),
        Column("components", "array<string>", "their components"),
        Column("why", "string", "how the first ended: its code or signal; null if it closed its stdout"),
        Column("lost", "bigint", "tuples that were never settled because of it"),
    ),
)

KEYS = Table(
    "keys",
    "Keys of fields groupings: how many tuples each has, and to which task Java's hash sends it.",
    (
        Column("topology", "string", "the topology's name"),
        Column("component", "string", "the component that emits"),
        Column("stream", "string", "the stream"),
        Column("consumer", "string", "the component that is given them"),
        Column("key", "string", "the values of the grouping's fields as JSON"),
        Column("tuples", "bigint", "tuples with this key"),
        Column("share", "double", "of all tuples of the stream, from 0 to 1"),
        Column("task", "int", "the consumer's task up to Storm 2.5; null if the values have no such field"),
        Column("task_since_2_6", "int", "its task since Storm 2.6, which makes other numbers of JSON's"),
        Column("moves", "boolean", "true if they differ"),
    ),
)

DIALECTS = Table(
    "dialects",
    "Messages that die, hang, fail tuples or lose data on a Storm version: to be mended before an upgrade.",
    (
        Column("version", "string", "the Storm version"),
        Column("fate", "string", "dies, hangs, loses-data or fails-tuple"),
        Column("rule", "string", "the rule, as `mlcheck explain` has it"),
        Column("messages", "bigint", "how many messages"),
        Column("conversations", "bigint", "in how many conversations"),
        Column("components", "array<string>", "of which components"),
        Column("today", "bigint", "how many of them fare no better on the version that was recorded"),
        Column("conv", "string", "one conversation"),
        Column("seq", "bigint", "and the event there"),
        Column("message", "string", "what is wrong with it"),
    ),
)

SUMMARY = (RATES, REPLAYS, TIMEOUTS, SILENCES, RESTARTS, KEYS, DIALECTS)
