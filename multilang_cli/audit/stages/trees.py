"""Trees of tuples, inferred from taps, which never see a root. All is keyed by numbers: few texts are moved about.

What can be inferred: Storm keeps the order between two tasks, so the k-th tuple that task A emitted to task B on a
stream is the k-th that B got from A on it. Which tasks an emit went to stands in the reply with task ids, or in a
direct emit; where nobody asked, equal values are taken for each other in their order. Hashes of values check it all.

A conversation is known by its place `n` in the order in which they began; an emission and a tuple by the hashes that
their root and their edge have in the table marks.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.clocks import Passage, compared, offsets
from multilang_cli.audit.marks import CERTAIN, HIGH, LOW
from multilang_cli.audit.stages.channels import PAIRS, SIDES, align_channels
from multilang_cli.audit.stages.equals import TreeLeg, told_apart
from multilang_cli.audit.stages.people import Life, Person, lives, people, run_ends, several_lives, torn_tasks
from multilang_cli.audit.store.local_rows import local_rows
from multilang_cli.audit.tables import MARKS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.clocks import ComparedClock
    from multilang_cli.audit.stages.facts import AuditFacts

MOST_IN_A_ROW = 64
"""Tuples in a row, from a spout's on, that are followed."""
COMPARED = 100_000
"""Events, about, of which the values are compared to tell clocks from each other, where there are more."""
LEAST_COMPARED = 32
"""Tuples between two conversations from which their clocks are told then, at least."""
FEW_WRONG = 0.02
"""Of tuples that are inferred, the part that may be paired wrongly."""
_NAMES = [column.name for column in MARKS.columns]
_ASKING = "coalesce(task, 0) = 0 and coalesce(asks, true)"
_SIDES = [column.name for column in SIDES]
_PAIRS = [column.name for column in PAIRS.columns]
_WHOSE = "conv string, n int, run string, role string, component string, me int, started double, gap boolean"
_LIVES = "n int, run string, ahead double, last double, over boolean, torn boolean"
_LEGS = list(TreeLeg._fields)
_BEHIND_CUT = "coalesce(heard - t < timeout, false)"
"""The recording of the task ends before it had the tuple for as long as the timeout: its end may stand behind that."""
_NO_EDGE = ("cast(null as bigint) as edge", "cast(null as int) as task", "cast(null as string) as id")


def marks_of_taps(facts: AuditFacts, events: DataFrame, runs: Collection[str] | None = None) -> DataFrame:
    """The table marks, inferred from the table events, of conversations that `facts` has; `runs`: of these alone.

    Parts of it are computed at once, and kept by executors: not for a cluster that takes executors away meanwhile.
    """
    spark = events.sparkSession
    known = [each for each in people(facts) if runs is None or each.run in runs]
    if not known:
        return local_rows(spark, [], MARKS.ddl)
    if several_lives(known):
        clocks = _clocks(events, known, facts)
        known = [each for each in people(facts, clocks) if runs is None or each.run in runs]
    whose = _whose(spark, known)
    said = _placed(events, whose, known)
    # What is used several times is kept when it is first computed, by the job that needs it; where all that is joined
    # with it is joined by one key, it is kept by that.
    sent = _sent(said, whose, _gaps(events, known)).localCheckpoint(eager=False)
    paired = _pairs(sent, said, known).repartition("emission").localCheckpoint(eager=False)
    met = _met(paired)
    names = {each.n: each.conv for each in known}
    fastest = {(names[row.sender], names[row.receiver]): row.least for row in met if row.least is not None}
    lived = lives(known, offsets(fastest, [each.conv for each in known if each.role == "spout"]))
    depth = deepest({(row.sender, row.receiver) for row in met}, {each.n for each in known if each.role == "spout"})
    ends = local_rows(spark, run_ends(known, lived), "run string, run_end double, timeout double")
    torn = local_rows(spark, torn_tasks(known, lived), "run string, target int, heard double")
    alive = _lives(said, lived)
    told, settles = _of_spouts(said, alive), _settles(said, alive)
    first, children = _first_level(said, paired), _children(sent, paired)
    tree = _trees(first, children, depth)
    if any(row.equals for row in met):
        told, settles = told.localCheckpoint(eager=False), settles.localCheckpoint(eager=False)
        tree = told_apart(tree, children, paired, told=told, settles=settles, levels=depth or MOST_IN_A_ROW)
    return _marks(told, settles, tree, alive, ends=F.broadcast(ends), torn=F.broadcast(torn))


def _whose(spark: SparkSession, known: Sequence[Person]) -> DataFrame:
    rows = [(p.conv, p.n, p.run, p.role, p.component, p.me, p.started, p.gap or p.unordered) for p in known]
    return F.broadcast(local_rows(spark, rows, _WHOSE))


def _clocks(events: DataFrame, known: Sequence[Person], facts: AuditFacts) -> dict[str, ComparedClock]:
    """The clocks of these conversations, from a part of what passed between them where that puts all lives in order."""
    some = sum(facts.spans[each.conv].number for each in known) // COMPARED
    if some > 1:
        passed = [each for each in _passages(events, known, some) if each.number >= LEAST_COMPARED]
        clocks = compared(passed)
        mine = {each.conv for each in known}
        if not any(each.unordered for each in people(facts, clocks) if each.conv in mine):
            return clocks
    return compared(_passages(events, known))


def _passages(events: DataFrame, known: Sequence[Person], some: int = 1) -> list[Passage]:
    """Tuples between conversations, of values that a task emitted once: who got which is sure, whatever clocks say.

    Of how long it took the lower quartile is usual: neither what waited in queues moves it, nor a few that are wrong,
    as where one of two emits of the same values was not recorded. `some`: one in so many values is looked at.
    """
    said = events.where("kind in ('emit', 'tuple')").join(_whose(events.sparkSession, known), "conv")
    keyed = said.selectExpr(
        "n", "kind = 'emit' as emits", "started + t as at",
        "xxhash64(run, if(kind = 'emit', me, task), stream, values) as key",
    ).where(f"key % {some} = 0")  # fmt: skip
    sent = keyed.where("emits").groupBy("key")
    once = sent.agg(F.expr("max(n) as sender"), F.expr("max(at) as sent_at"), F.expr("count(*) as often"))
    passed = (
        keyed.where("not emits").join(once.where("often = 1"), "key").selectExpr("sender", "n", "at - sent_at as took")
    )
    usual = passed.groupBy("sender", "n").agg(
        F.expr("percentile_approx(took, 0.25) as took"), F.expr("count(*) as number")
    )
    names = {each.n: each.conv for each in known}
    return [Passage(names[row.sender], names[row.n], row.took, row.number) for row in usual.collect()]


def _placed(events: DataFrame, whose: DataFrame, known: Sequence[Person]) -> DataFrame:
    """Events that matter here, each once, with whose they are."""
    said = events.where("kind in ('emit', 'task-ids', 'tuple', 'ack', 'fail')")
    doubled = [(each.conv,) for each in known if each.doubled]
    if doubled:
        which = F.broadcast(local_rows(events.sparkSession, doubled, "conv string"))
        again = said.join(which, "conv", "left_semi").dropDuplicates(["conv", "seq"])
        said = said.join(which, "conv", "left_anti").unionByName(again)
    return said.join(whose, "conv").withColumn("at", F.expr("started + t"))


def _lives(said: DataFrame, lived: Sequence[Life]) -> DataFrame:
    return F.broadcast(local_rows(said.sparkSession, lived, _LIVES))


# --- emissions and what became of them --------------------------------------------------------------------------------


def _gaps(events: DataFrame, known: Sequence[Person]) -> DataFrame | None:
    """The number of each event that has none right before it, of conversations with gaps; None if no one has any."""
    torn = [(each.conv, each.n) for each in known if each.gap]
    if not torn:
        return None
    whose = F.broadcast(local_rows(events.sparkSession, torn, "conv string, n int"))
    numbers = events.join(whose, "conv").select("n", "seq", "kind")
    before = "lag(seq) over (partition by n order by seq)"
    told = numbers.selectExpr("n", "seq", f"kind = 'gap' or seq > {before} + 1 as behind_gap")
    return told.where("behind_gap").select("n", "seq", "behind_gap")


def _numbered(rows: DataFrame, gaps: DataFrame | None) -> tuple[DataFrame, str]:
    """Emits that ask for task ids, and replies, each with its number `nth` among these; and the key that they share.

    The n-th reply answers the n-th emit. Where lines are missing it is counted from there on anew: a reply before any
    emit belongs to one that stands before the gap, and where replies outnumber emits nobody knows which is which.
    """
    if gaps is None:
        turn = "over (partition by n order by seq)"
        nth = f"case when asking then count_if(asking) {turn} when not emits then count_if(not emits) {turn} end as nth"
        return rows.selectExpr("*", nth), "n"
    torn = rows.withColumn("behind_gap", F.lit(False)).unionByName(gaps, allowMissingColumns=True)
    piece = "count_if(behind_gap) over (partition by n order by seq, behind_gap desc) as piece"
    turn = "over (partition by n, piece order by seq)"
    asked = torn.selectExpr("*", piece).where("not behind_gap").selectExpr("*", f"count_if(asking) {turn} as asked")
    answered = asked.selectExpr("*", f"count_if(not emits and asked > 0) {turn} as answered")
    known = answered.selectExpr("*", "max(answered > asked) over (partition by n, piece) as unknown")
    nth = "case when unknown then null when asking then asked when not emits and asked > 0 then answered end as nth"
    return known.selectExpr("*", nth), "n, piece"


def _sent(said: DataFrame, whose: DataFrame, gaps: DataFrame | None) -> DataFrame:
    """One row for each emit and task it went to; `target` null where that is not known."""
    rows = said.where("kind in ('emit', 'task-ids')").selectExpr(
        "n", "seq", "stream", "at", "tasks", "task", "kind = 'emit' as emits",
        f"kind = 'emit' and {_ASKING} as asking", "xxhash64(values) as hash",
        "transform(array_distinct(anchors), each -> xxhash64(conv, each)) as anchors",
    )  # fmt: skip
    numbered, key = _numbered(rows, gaps)
    # An emit and its reply stand side by side then: a window for each pair would cost more than all else here.
    behind = f"over (partition by {key} order by nth, emits desc)"
    answered = numbered.selectExpr("*", f"if(lead(nth) {behind} = nth, lead(tasks) {behind}, null) as reply")
    # An emit to nobody has an empty reply: it made no edge.
    target = "explode(coalesce(if(asking, reply, if(task > 0, array(task), null)), array(cast(null as int)))) as target"
    told = answered.where("emits").selectExpr("n", "seq", "stream", "at", "hash", "anchors", target)
    # What is the same for a whole conversation is joined again, rather than moved with each emit.
    return told.join(whose, "n").selectExpr(
        "n", "seq", "run", "me", "role", "stream", "at", "gap", "hash", "xxhash64(conv, seq) as emission", "anchors",
        "target", "xxhash64(conv, seq, target) as edge", "xxhash64(run, me, stream, target) as channel",
    )  # fmt: skip


def _pairs(sent: DataFrame, said: DataFrame, known: Sequence[Person]) -> DataFrame:
    """The table pairs: each emission to a task that was recorded, with the tuple that it became."""
    spark = sent.sparkSession
    tuples = said.where("kind = 'tuple'")
    got = tuples.selectExpr(
        "xxhash64(run, task, stream, me) as channel", "true as got", "n", "seq", "xxhash64(values) as hash", "gap",
        "at", "cast(null as bigint) as emission", "me as target", "xxhash64(conv, id) as edge", "id",
    )  # fmt: skip
    recorded = F.broadcast(local_rows(spark, sorted({(each.run, each.me) for each in known}), "run string, target int"))
    left = sent.where("target is not null").join(recorded, ["run", "target"], "left_semi")
    ends = left.selectExpr("*", "false as got", "cast(null as string) as id").select(_SIDES)
    streams = {knows: set[tuple[str, int, str]]() for knows in (False, True)}
    for knows, *stream in sent.selectExpr("target is not null", "run", "me", "stream").distinct().collect():
        streams[knows].add(tuple(stream))
    used = sent.where("target is not null").select("channel").distinct()
    both = ends.unionByName(got.join(F.broadcast(used), "channel", "left_semi").select(_SIDES))
    aligned = both.repartition("channel").sortWithinPartitions("channel").mapInArrow(align_channels, PAIRS.ddl)
    if not streams[False]:
        return aligned
    unsure = F.broadcast(local_rows(spark, sorted(streams[False]), "run string, me int, stream string"))
    heard = tuples.selectExpr(
        "run", "task as me", "stream", "component as by", "me as target", "n", "seq", "at",
        "xxhash64(values) as hash", "xxhash64(conv, id) as edge", "id",
    ).join(unsure, ["run", "me", "stream"], "left_semi")  # fmt: skip
    if streams[False] & streams[True]:
        # Where some replies are missing, what they told of is among the tuples that no other emission became.
        aligned = aligned.localCheckpoint(eager=False)
        heard = heard.join(aligned.where("receiver is not null").select("edge"), "edge", "left_anti")
        # Spark can't tell columns of `sent` from its own behind what is kept, unless they are made anew.
        heard = heard.select([F.col(name).alias(name) for name in heard.columns])
    return aligned.unionByName(_by_values(sent.where("target is null"), heard))


def _by_values(sent: DataFrame, got: DataFrame) -> DataFrame:
    """Edges where no task is known: the k-th emission of some values is the k-th tuple of these values, in each bolt.

    High if as many were got as were sent, and by one task alone, as with a fields grouping; else low.
    """
    window = "partition by run, me, stream, {0}hash order by n, seq"
    whole = "partition by run, me, stream, {0}hash"
    said = sent.selectExpr(
        "*", f"row_number() over ({window.format('')}) as k", f"count(*) over ({whole.format('')}) as often"
    )
    heard = got.selectExpr(
        "*",
        f"row_number() over ({window.format('by, ')}) as k",
        f"count(*) over ({whole.format('by, ')}) as often",
        f"min(target) over ({whole.format('by, ')}) = max(target) over ({whole.format('by, ')}) as alone",
    )
    consumers = F.broadcast(got.select("run", "me", "stream", "by").distinct())
    legs = said.join(consumers, ["run", "me", "stream"]).alias("s")
    keys = ["run", "me", "stream", "hash", "by", "k"]
    return legs.join(heard.alias("g"), keys, "left").selectExpr(
        "s.emission as emission", "s.n as sender", "s.at as sent_at", "g.target as target",
        "coalesce(g.edge, s.edge) as edge", "g.n as receiver", "g.at as got_at", "g.id as id",
        f"if(g.alone and s.often = g.often, {HIGH}, {LOW}) as doubt", "g.id is null and false as later",
        "cast(null as bigint) as equals",
    )  # fmt: skip


def _met(paired: DataFrame) -> list[Any]:
    """By sender and receiver, the least time that a tuple took between them, null if none is sure; any with `equals`.

    Where lines are missing a few are paired wrongly, and one of them would move a clock by seconds.
    """
    pairs = paired.where("receiver is not null").groupBy("sender", "receiver")
    certain = f"min(got_at - sent_at) filter (where doubt = {CERTAIN})"
    inferred = f"percentile_approx(got_at - sent_at, {FEW_WRONG}) filter (where doubt < {LOW})"
    equals = F.expr("count(equals) > 0 as equals")
    return pairs.agg(F.expr(f"coalesce({certain}, {inferred}) as least"), equals).collect()


def deepest(met: Collection[tuple[int, int]], spouts: Collection[int]) -> int:
    """Levels of tuples in a row, at most, from spouts on, if these senders met these receivers; 0 if it is a circle.

    Nobody knows then.
    """
    receivers: dict[int, set[int]] = {}
    for sender, receiver in met:
        receivers.setdefault(sender, set()).add(receiver)
    level, depth = set(spouts), 1
    while level := {receiver for sender in level for receiver in receivers.get(sender, ())}:
        depth += 1
        if depth > min(len(receivers) + 2, MOST_IN_A_ROW):
            return 0
    return depth


def _children(sent: DataFrame, paired: DataFrame) -> DataFrame:
    """The table pairs of what bolts emitted, by the edge of each tuple that it was anchored to, `anchor`."""
    anchored = sent.where("role = 'bolt'").select("emission", F.explode("anchors").alias("anchor"))
    children = anchored.repartition("emission").distinct().join(paired, "emission")
    return children.repartition("anchor").sortWithinPartitions("anchor").localCheckpoint(eager=False)


def _first_level(said: DataFrame, paired: DataFrame) -> DataFrame:
    """The tuples that spouts emitted with a message id: each is the root of a tree."""
    roots = said.where("role = 'spout' and kind = 'emit' and id is not null")
    level = roots.selectExpr("xxhash64(conv, seq) as emission").join(paired, "emission")
    return level.withColumn("root", F.col("emission")).select(_LEGS)


def _trees(level: DataFrame, children: DataFrame, depth: int) -> DataFrame:
    """Every tuple of every root's tree: level by level, from the first. `depth`: levels, 0 for unknown."""
    found: list[DataFrame] = []
    for _ in range(depth or MOST_IN_A_ROW):
        # Each level's plan would hold those of all above it, and the driver would take minutes over them: so each is
        # kept when it is first computed and its plan forgotten. What is kept so is on the executors alone: one that is
        # lost takes the audit with it, which then is to be run again.
        level = level.localCheckpoint(eager=False)
        if not depth and not level.count():
            break
        found.append(level)
        above = level.where("receiver is not null").selectExpr("root", "edge as anchor", "doubt as doubt_above")
        level = (
            children.join(above, "anchor")
            .withColumn("doubt", F.expr("greatest(doubt, doubt_above)"))
            .groupBy(_LEGS[:-1])
            .agg(F.expr("max(doubt) as doubt"))
            .select(_LEGS)
        )
    return reduce(lambda one, two: one.unionByName(two), found) if found else level


# --- marks ------------------------------------------------------------------------------------------------------------


def _marks(
    told: DataFrame, settles: DataFrame, tree: DataFrame, lived: DataFrame, *, ends: DataFrame, torn: DataFrame
) -> DataFrame:
    """The table marks. `lived`: lives; `ends`: by run, how far it was recorded; `torn`: tasks that lack something."""
    senders = lived.selectExpr("n as sender", "run", "ahead", "torn as guessed")
    torn = torn.withColumn("missed", F.lit(True))
    legs = tree.join(senders, "sender").withColumn("t", F.expr("sent_at - ahead"))
    made = legs.selectExpr("run", "root", "'made' as what", "t", "edge", "target as task", "id", "doubt")
    timed = legs.join(ends.select("run", "run_end", "timeout"), "run", "left").join(torn, ["run", "target"], "left")
    nowhere = timed.where("receiver is null and (later or run_end - t >= timeout)")
    # Where lines are missing, one that may be another's loss may be no loss at all, unless its tree timed out of it.
    doubted = f"if(doubt = {LOW} and (guessed or missed is not null), array('lost', 'unheard'), array('lost'))"
    what = f"explode(if({_BEHIND_CUT} and not later, array('unheard'), {doubted})) as what"
    lost = nowhere.selectExpr("run", "root", what, "t", *_of_edge("doubt"))
    parts = [told, made, lost, _settled(settles, timed, lived)]
    return reduce(lambda one, two: one.unionByName(two), parts).select(_NAMES)


def _of_edge(doubt: str) -> tuple[str, ...]:
    return ("edge", *_NO_EDGE[1:], doubt)


def _of_spouts(said: DataFrame, lived: DataFrame) -> DataFrame:
    """Emissions of spouts with a message id, and what each was told of it: the n-th end is that of the n-th emit."""
    clock = lived.select("n", "ahead")
    rows = said.where("role = 'spout' and (kind = 'emit' and id is not null or kind in ('ack', 'fail'))")
    turn = "over (partition by n, id order by seq)"
    numbered = rows.join(clock, "n").selectExpr(
        "run", "n", "id", "me", "kind", "at - ahead as t", "xxhash64(conv, seq) as emission",
        f"if(kind = 'emit', count_if(kind = 'emit') {turn}, count_if(kind != 'emit') {turn}) as nth",
    )  # fmt: skip
    both = numbered.groupBy("run", "n", "me", "id", "nth").agg(
        F.expr("max(emission) filter (where kind = 'emit') as root"),
        F.expr("max(t) filter (where kind = 'emit') as emitted"),
        F.expr("max(t) filter (where kind != 'emit') as ended"),
        F.expr("max(kind = 'ack') as acked"),
    )
    known = both.where("root is not null")
    what = (
        "inline(array(struct('emit' as what, emitted as t, true as first),"
        " struct(if(acked, 'acked', 'told fail') as what, ended as t, false as first)))"
    )
    told = known.selectExpr("run", "root", "me as task", "id", what).where("t is not null")
    names = ("run", "root", "what", "t", _NO_EDGE[0], "task", "if(first, id, null) as id", f"{CERTAIN} as doubt")
    return told.selectExpr(*names)


def _settles(said: DataFrame, lived: DataFrame) -> DataFrame:
    """Acks and fails of bolts, by the edge of the tuple."""
    rows = said.where("role = 'bolt' and kind in ('ack', 'fail')").join(lived.select("n", "ahead"), "n")
    return rows.selectExpr("xxhash64(conv, id) as edge", "kind", "at - ahead as settled_t")


def _settled(settles: DataFrame, legs: DataFrame, lived: DataFrame) -> DataFrame:
    """Tuples that bolts settled, and those that died with their task: its life ended, and it had not settled them.

    Of others, those whose end may stand behind the cut of a recording.
    """
    over = lived.where("over").selectExpr("n as receiver", "last")
    unheard = f"{_BEHIND_CUT} as unheard"
    had = legs.where("receiver is not null").selectExpr("run", "root", "edge", "receiver", "doubt", "t", unheard)
    both = had.join(settles, "edge", "left").join(over, "receiver", "left")
    known = both.where("kind is not null or last is not null or unheard")
    what = "coalesce(kind, if(last is not null, 'lost', 'unheard')) as what"
    return known.selectExpr("run", "root", what, "coalesce(settled_t, last, t) as t", *_of_edge("doubt"))
