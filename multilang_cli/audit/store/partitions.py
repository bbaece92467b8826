"""Partitions of long tables, by topology and by day: who asks for one of them reads no file of the others.

A folder for each, as Hive names it: `topology=NAME/day=2026-11-28`. Rows are parted where they are written.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from multilang_cli.audit.columns import PARTITIONS
from multilang_cli.audit.store.local_rows import local_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from multilang_cli.audit.columns import PlacedBy, Table

    Part = Callable[[pa.RecordBatch], Iterable[tuple[str, pa.RecordBatch]]]
    """Parts a batch: each piece of it with its folder, which is "" for none."""

BY = tuple(column.name for column in PARTITIONS)
LONGEST_NAME = 100
"""Characters of a topology's name that a folder is named by."""
DAY = 86_400.0
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_EPOCH = date(1970, 1, 1)
_LAST_DAY = (date.max - _EPOCH).days
_ESCAPED = re.compile(r'[\x00-\x1f\x7f"#%\'*/:=?\\{\[\]^]')
"""Characters that Spark writes as a percent sign and two digits in the name of a partition."""
_WHERE = "whose string, topology string, base double, began double"


class Placing(NamedTuple):
    """Facts of a conversation or a run that tell the partition of its rows.

    `base`: what its rows' times are added to, for seconds since 1970. `began`: when it began, for
    rows without a time. Both None if nobody knows.
    """

    topology: str
    base: float | None
    began: float | None


def placing(topology: str, started: float | None, *, absolute: bool = False) -> Placing:
    """Make them of a name and a beginning; `absolute`: the times of its rows are seconds since 1970 themselves."""
    name = topology
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}~{blake2b(name.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
    return Placing(name.encode("utf-8", "replace").decode(), 0.0 if absolute else started, started)


def parter(spark: SparkSession, table: Table, known: Mapping[str, Placing]) -> Part | None:
    """Parts batches of a table by what is known of conversations or runs; None for a table without partitions."""
    if table.placed_by is None:
        return None
    return partial(parted, by=table.placed_by, known=spark.sparkContext.broadcast(known))


def parted(batch: pa.RecordBatch, by: PlacedBy, known: Any) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The batch, parted: most have rows of one conversation and one day alone. `known`: has them as its `value`."""
    if not batch.num_rows:
        return
    keys = batch[by.key].dictionary_encode()
    whose = [known.value.get(key, Placing("", None, None)) for key in keys.dictionary.to_pylist()]
    times = batch[by.time]
    if len(whose) == 1 and not keys.null_count and not times.null_count:
        least, most = (_day(whose[0], each.as_py()) for each in pc.min_max(times).values())
        if least == most:
            yield _folder(whose[0].topology, least), batch
            return
    folders, which = _placed(keys, times, whose)
    for number, folder in enumerate(folders):
        yield folder, batch if len(folders) == 1 else batch.filter(pa.array(which == number))


def _placed(keys: Any, times: Any, whose: list[Placing]) -> tuple[list[str], Any]:
    """The folders of rows, and the number of that of each."""
    whose = [*whose, Placing("", None, None)]
    nth = pc.fill_null(keys.indices, len(whose) - 1).to_numpy(zero_copy_only=False)
    base, began = (
        np.array([_number(each) for each in column]) for column in zip(*(one[1:] for one in whose), strict=True)
    )
    seconds = base[nth] + times.to_numpy(zero_copy_only=False)
    seconds = np.where(np.isnan(seconds), began[nth], seconds)
    with np.errstate(invalid="ignore"):
        days = np.floor(seconds / DAY)
        days = np.where((days >= 0) & (days <= _LAST_DAY), days, -1).astype(np.int64)
    topologies = list(dict.fromkeys(one.topology for one in whose))
    numbers = {name: number * (_LAST_DAY + 2) for number, name in enumerate(topologies)}
    codes = np.array([numbers[one.topology] for one in whose])[nth] + days + 1
    found, which = np.unique(codes, return_inverse=True)
    placed = (divmod(code, _LAST_DAY + 2) for code in found.tolist())
    return [_folder(topologies[topology], day - 1 if day else None) for topology, day in placed], which


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _day(of: Placing, t: float) -> int | None:
    if of.base is None:
        return None
    day = (of.base + t) // DAY
    return int(day) if 0 <= day <= _LAST_DAY else None


def _folder(topology: str, day: int | None) -> str:
    name = _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", topology) or NO_VALUE
    when = NO_VALUE if day is None else (_EPOCH + timedelta(days=day)).isoformat()
    return f"{BY[0]}={name}/{BY[1]}={when}"


def with_partitions(rows: DataFrame, by: PlacedBy, known: Mapping[str, Placing]) -> DataFrame:
    """The same rows, with the columns of their partitions, for Spark to write."""
    told = local_rows(rows.sparkSession, [(key, *of) for key, of in known.items()], _WHERE)
    found = rows.join(F.broadcast(told), F.col(by.key) == F.col("whose"), "left")
    day = F.floor(F.expr(f"coalesce(base + `{by.time}`, began)") / DAY)
    of_time = F.date_add(F.expr("date'1970-01-01'"), day.cast("int"))
    columns = F.expr("nullif(topology, '')").alias(BY[0]), F.when(day.between(0, _LAST_DAY), of_time).alias(BY[1])
    return found.select(*rows.columns, *columns)
