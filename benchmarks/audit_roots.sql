-- The roots stage as duckdb has it: one group-by, and edge by edge for those that it does not settle.
with whole as (
  select run, root,
    coalesce(bit_xor(edge) filter (where what in ('made', 'ack')), 0) as ack_val,
    sum(case what when 'made' then 1 when 'ack' then -1 else 0 end * coalesce(edge & 4294967295, 0)) as low,
    sum(case what when 'made' then 1 when 'ack' then -1 else 0 end * coalesce(edge >> 32, 0)) as high,
    count(*) filter (where what = 'made') as edges,
    count(*) filter (where what = 'ack') as acks,
    count(*) filter (where what = 'fail') as fails,
    count(*) filter (where what = 'lost') as losses,
    min(t) filter (where what = 'emit') as emitted,
    min(t) filter (where what in ('acked', 'failed', 'timed out')) as ended,
    min(what) filter (where what in ('acked', 'failed', 'timed out')) as outcome,
    max(t) filter (where what = 'ack') as last_ack,
    min(t) filter (where what = 'fail') as first_fail,
    max(t) as last,
    max(task) filter (where what = 'emit') as task,
    max(id) filter (where what = 'emit') as message_id,
    max(doubt) as doubt
  from read_parquet('MARKS') group by run, root
), judged as (
  select *, ack_val = 0 and low = 0 and high = 0 and edges = acks and fails = 0 and losses = 0 as balanced,
    balanced and coalesce(outcome, 'acked') = 'acked' as clean
  from whole
), edges as (
  select run, root, edge, count(*) filter (where what in ('ack', 'fail')) as settled,
    min(t) filter (where what = 'lost') as gone, min(t) filter (where what = 'made') as made,
    max(task) filter (where what = 'made') as holder, max(id) filter (where what = 'made') as tuple_id
  from read_parquet('MARKS') semi join (select run, root from judged where not clean) using (run, root)
  where edge is not null group by run, root, edge
), exact as (
  select run, root, max(settled) > 1 as twice,
    min({'made': made, 'edge': edge, 'holder': holder, 'id': tuple_id, 'gone': gone})
      filter (where settled = 0) as open
  from edges group by run, root
)
select outcome, clean, twice, open.gone, count(*), sum(ended - emitted)
from judged left join exact using (run, root) group by all;
