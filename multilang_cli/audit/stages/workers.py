"""Daemon of Spark's Python workers: PySpark's own, which forks each, with what our tasks need imported before.

Without it, each worker imports the judge and Arrow anew: a second of CPU for each. No task of ours needs pandas, which
Arrow imports as soon as it is given a list: more than half of what the daemon's start would take.
"""

from __future__ import annotations

import sys
from importlib import import_module


class _WithoutPandas:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004 (Python gives them)
        """Raise ModuleNotFoundError for it."""
        if name == "pandas":
            raise ModuleNotFoundError("no task of the audit needs pandas", name=name)


PRELOADED = ("channels", "events", "findings", "keys", "lines")

if __name__ == "__main__":
    sys.meta_path.insert(0, _WithoutPandas)
    for each in PRELOADED:
        import_module(f"multilang_cli.audit.stages.{each}")
    import_module("pyspark.daemon").manager()
