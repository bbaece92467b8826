"""Common ground of confluent-kafka's clients: they log nothing themselves, and errors are sentences."""

from __future__ import annotations

import logging

from confluent_kafka import KafkaError

QUIET = logging.getLogger("mlcheck.kafka")
"""Takes what librdkafka logs, and keeps it: it would go to stderr in forms of its own, settings included."""
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False


def said(error: object) -> str:
    """An error of the client in words, with Kafka's name for it."""
    if isinstance(error, Exception) and error.args and isinstance(error.args[0], KafkaError):
        error = error.args[0]
    return f"{error.str()} ({error.name()})" if isinstance(error, KafkaError) else str(error)
