"""A folder that grows, audited into Delta tables: a run, one that stops amid its tables, and the one after it.

Prints the rows of all tables, by name: of Delta, as the newest manifest counts them, and as Delta alone shows them; and
of Parquet, made at once. Run apart from other tests: a Java that runs takes no more packages.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from multilang_cli.audit import inputs, pipeline
from multilang_cli.audit.session import LITTLE, session
from multilang_cli.audit.store.delta_tables import delta_settings
from multilang_cli.audit.store.stored import stored_tables
from multilang_cli.audit.tables import TABLES
from tests.audit.generator.taps import transcripts
from tests.audit.generator.trees import EVERYTHING, TreesPlan
from tests.audit.test_audit_again import lay, rows
from tests.pages import TWICE, recorded

PARTED = [name for name, table in TABLES.items() if table.placed_by]
PLAN = TreesPlan(roots=30, weights=EVERYTHING)
ODD = "it's\\"
"""The end of a file's name, of which SQL would make something else."""


def main(home: Path) -> None:
    folder, out = home / "in", home / "out"
    folder.mkdir()
    spark = session("local[2]", delta_settings() | {"spark.default.parallelism": "2"}, size=LITTLE)

    def audit(into: Path, table_format: inputs.TableFormat) -> None:
        """One run on the folder as it is now."""
        plan = inputs.AuditPlan(inputs.find([str(folder)]), table_format=table_format)
        pipeline.run(spark, plan, str(into), lambda _: None)

    (grows, whole), *others = sorted(transcripts(PLAN).items())
    lay(folder, [*others[:-1], (f"{ODD}-{grows}", whole[: len(whole) // 2])])
    audit(out, "delta")
    before = rows(stored_tables(spark, str(out)))
    lay(folder, [others[-1], (f"{ODD}-{grows}", whole)])
    (out / "quality").rename(home / "quality")
    (out / "quality").write_bytes(b"")
    try:
        audit(out, "delta")
    except Exception as error:  # noqa: BLE001 (whatever Java says of it)
        stopped = type(error).__name__
    else:
        stopped = ""
    (out / "quality").unlink()
    (home / "quality").rename(out / "quality")
    kept = rows(stored_tables(spark, str(out))) == before
    # What the run that stopped has read of this is not there for the next one.
    (folder / f"{ODD}-{grows}").write_bytes(whole[: 3 * len(whole) // 4])
    recorded(folder / "twice.ndjson", TWICE)
    audit(out, "delta")
    audit(home / "parquet", "parquet")
    names = sorted(path.name for path in out.iterdir() if (path / "_delta_log").is_dir())
    alone = {name: spark.read.format("delta").load(str(out / name)) for name in names}
    found = {
        "stopped": stopped,
        "kept": kept,
        "counted": rows(stored_tables(spark, str(out))),
        "alone": rows({name: alone[name].drop("topology", "day") if name in PARTED else alone[name] for name in names}),
        "partitions": sorted(spark.sql(f"describe detail delta.`{out}/ledger`").collect()[0].partitionColumns),
        "parquet": rows(stored_tables(spark, str(home / "parquet"))),
    }
    sys.stdout.write(json.dumps(found) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
