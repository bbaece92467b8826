-- What the audit's tables events, ledger and roots hold, by duckdb, from the same recordings: one connection, no table kept
-- on disk. Ledger: each tuple that a bolt got, each that a spout emitted with an id, how often and when it was settled.
-- Roots: trees by the order between two tasks, as the k-th emission is the k-th tuple; nothing lost is looked for.
create temp table lines as
  select filename as file, conv, seq, t, ch, msg
  from read_json('FILES', format = 'newline_delimited', filename = true, columns = {
    conv: 'varchar', seq: 'bigint', t: 'double', ch: 'varchar', msg: 'json',
    transcript: 'varchar', component: 'varchar', task: 'integer', started_at: 'varchar'
  }) where seq is not null;
create temp table whose as
  select conv, task as me, epoch(started_at::timestamptz) as started, component = 'source' as spout
  from read_json('FILES', format = 'newline_delimited', columns = {
    conv: 'varchar', transcript: 'varchar', component: 'varchar', task: 'integer', started_at: 'varchar'
  }) where transcript is not null;
create temp table events as
  select file, conv, me, spout, seq, t, started, ch,
    case when ch = 'in' and json_type(msg) = 'ARRAY' then 'task-ids'
      when ch in ('in', 'out') then coalesce(msg ->> 'command', if((msg -> 'tuple') is null, 'other', 'tuple'))
      else msg ->> 'event' end as kind,
    coalesce(msg ->> 'id', '') as id, (msg ->> 'task')::integer as source, coalesce(msg ->> 'stream', 'default') as stream,
    (msg ->> 'anchors')::varchar[] as anchors, if(json_type(msg) = 'ARRAY', msg::varchar::integer[], null) as tasks,
    msg ->> 'tuple' as vals
  from lines join whose using (conv);
create temp table ledger as
  with numbered as (
    select *, sum(begins.begun::integer) over (partition by conv, id order by seq) as nth
    from (select *, {'begun': if(spout, kind = 'emit', ch = 'in' and kind = 'tuple'),
      'settles': kind in ('ack', 'fail') and (ch = 'in') = spout} as begins from events)
    where id != '' and (begins.begun or begins.settles)
  )
  select conv, id, nth, min(t) filter (begins.begun) as t, count(*) filter (begins.settles) as settled,
    min(t) filter (begins.settles) as settled_t, arg_min(kind, seq) filter (begins.settles) as how,
    any_value(stream) filter (begins.begun) as stream, any_value(source) filter (begins.begun) as source
  from numbered group by conv, id, nth;
create temp table roots as
  with recursive asked as (
    select conv, me, spout, started, seq, id, stream, anchors, vals,
      row_number() over (partition by conv order by seq) as nth from events where kind = 'emit'
  ), replies as (
    select conv, tasks, row_number() over (partition by conv order by seq) as nth from events where kind = 'task-ids'
  ), sent as (
    select * exclude (target), unnest(tasks) as target from (select *, null as target from asked join replies using (conv, nth))
  ), got as (
    select conv as receiver, source as me, stream, me as target, id as tuple,
      row_number() over (partition by source, stream, me order by started, seq) as k from events where ch = 'in' and kind = 'tuple'
  ), pairs as (
    select sent.*, receiver, tuple from (
      select *, row_number() over (partition by me, stream, target order by started, seq) as k from sent
    ) as sent left join got using (me, stream, target, k)
  ), tree as (
    select hash(conv, seq) as root, conv, seq, receiver, tuple from pairs where spout and id != ''
    union all
    select tree.root, below.conv, below.seq, below.receiver, below.tuple
    from tree join (select *, unnest(anchors) as anchor from pairs where not spout) as below
      on below.conv = tree.receiver and below.anchor = tree.tuple
  )
  select root, count(*) as edges, count(*) filter (ledger.how = 'ack') as acks, count(*) filter (ledger.how = 'fail') as fails,
    min(tuple) filter (ledger.settled = 0) as open
  from tree left join ledger on ledger.conv = receiver and ledger.id = tuple group by root;
