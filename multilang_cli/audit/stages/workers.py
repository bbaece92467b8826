"""Daemon of Spark's Python workers: PySpark's own, which forks each, with what our tasks need imported before.

Without it, each worker imports the judge and Arrow anew: a second of CPU for each. No task of ours needs pandas, which
Arrow imports as soon as it is given a list: more than half of what the daemon's start would take.

Tasks make tuples by the thousand, and no circles of them: Python looks for those a hundred times less often, which
saves a fifth of what parsing takes.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module


class _WithoutPandas:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004 (Python gives them)
        """Raise ModuleNotFoundError for it."""
        if name == "pandas":
            raise ModuleNotFoundError("no task of the audit needs pandas", name=name)


OBJECTS_BETWEEN_LOOKS = 100_000
"""Containers that are made before Python looks for circles of them; 700 by default."""
GIVEN_BY_SPARK = "_SPARK_AUTH_SECRET"
"""Where an executor that is a process of its own has Spark's secret from: no component needs to have it from us."""
PRELOADED = ("channels", "events", "findings", "keys", "lines")

if __name__ == "__main__":
    os.environ.pop(GIVEN_BY_SPARK, None)
    sys.meta_path.insert(0, _WithoutPandas)
    for each in PRELOADED:
        import_module(f"multilang_cli.audit.stages.{each}")
    # What all workers share is not looked at again, so that it stays shared.
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_LOOKS, 20, 20)
    import_module("pyspark.daemon").manager()
