"""The audit: what became of every tuple of a cluster, from its recordings, on Spark.

``inputs``; ``parsing`` and ``line_judge`` (pure, on executors); ``stages/``: functions of tables, whose columns are
data in ``tables``; ``pipeline`` runs them on what ``stored_state`` holds; ``store/``: the manifest and files of what
was written. ``watch/``: what is still being recorded (``heard``, ``ledger`` and ``following`` are pure, ``processor``
is Spark's side of the state); ``console/``: the commands; ``page``: the HTML.
"""
