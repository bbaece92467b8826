"""Daemon of Spark's Python workers: PySpark's own, which forks each, with what our tasks need imported before.

Without it, each worker imports the judge and Arrow anew: a second of CPU for each.
"""

from __future__ import annotations

from pyspark.daemon import manager

from multilang_cli.audit.stages import channels, events, findings, keys, lines

PRELOADED = (channels, events, findings, keys, lines)

if __name__ == "__main__":
    manager()  # type: ignore[no-untyped-call]
