"""Spark's settings for a watch."""

from __future__ import annotations

import os

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
