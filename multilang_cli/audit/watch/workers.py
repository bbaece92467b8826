"""Daemon of Spark's Python workers for a watch, and the settings of Spark's that name it.

The daemon is PySpark's own, with what its stateful tasks need imported before.
"""

from __future__ import annotations

import os
from importlib import import_module

PRELOADED = ("pandas", "pyspark.sql.streaming.stateful_processor", "multilang_cli.audit.watch.processor")

STATE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Each partition is a store of its own, for as long as there is the checkpoint.
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
    "spark.python.daemon.module": "multilang_cli.audit.watch.workers",
}
"""Spark's settings for a watch: a store that Python's timers can be kept in."""

if __name__ == "__main__":
    for each in PRELOADED:
        import_module(each)
    import_module("pyspark.daemon").manager()
