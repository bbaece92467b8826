"""The Kafka spout and bolt: shell components, by the semantics of Storm's KafkaSpout and KafkaBolt.

``assignment``, ``start``, ``partition_manager`` and ``coordinator`` decide (pure); ``reader`` and the stores talk to
Kafka and ZooKeeper, ``questions`` in a thread where it may take long, ``spout`` to Storm. ``bolt/``: the bolt, whose
``mapping`` is pure; ``local/``: a real broker on this machine; ``console/``: the lag, shown.
"""
