"""Daemon of Spark's Python workers for a watch: PySpark's own, with what its stateful tasks need imported before."""

from __future__ import annotations

from importlib import import_module

PRELOADED = ("pandas", "pyspark.sql.streaming.stateful_processor", "multilang_cli.audit.watch.processor")

if __name__ == "__main__":
    for each in PRELOADED:
        import_module(each)
    import_module("pyspark.daemon").manager()
