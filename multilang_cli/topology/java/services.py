"""Storm's own modules that are no part of Storm itself: what each needs, by the package of its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class StormModule(NamedTuple):
    """A module. `service`: what must run outside. `artifact`: its Maven coordinates without a version, "" for none."""

    service: str
    artifact: str = ""


MODULES = {
    "org.apache.storm.kafka.spout.": StormModule("a Kafka broker", "org.apache.storm:storm-kafka-client"),
    "org.apache.storm.kafka.bolt.": StormModule("a Kafka broker", "org.apache.storm:storm-kafka-client"),
    "org.apache.storm.kafka.": StormModule("a Kafka broker and ZooKeeper"),
    "org.apache.storm.hbase.": StormModule("HBase"),
    "org.apache.storm.hdfs.": StormModule("HDFS", "org.apache.storm:storm-hdfs"),
    "org.apache.storm.jdbc.": StormModule("a database", "org.apache.storm:storm-jdbc"),
    "org.apache.storm.redis.": StormModule("Redis", "org.apache.storm:storm-redis"),
    "org.apache.storm.jms.": StormModule("a JMS broker", "org.apache.storm:storm-jms"),
    "org.apache.storm.elasticsearch.": StormModule("Elasticsearch"),
    "org.apache.storm.cassandra.": StormModule("Cassandra"),
    "org.apache.storm.mongodb.": StormModule("MongoDB"),
    "org.apache.storm.solr.": StormModule("Solr"),
    "org.apache.storm.hive.": StormModule("Hive"),
    "org.apache.storm.eventhubs.": StormModule("Azure Event Hubs"),
    "org.apache.storm.mqtt.": StormModule("an MQTT broker"),
}
"""By the beginning of a class's name, the more special before the others."""

_OWN = ("org.apache.storm.", "backtype.storm.", "java.")
_ELSEWHERE = ("org.apache.storm.flux.examples.", "org.apache.storm.flux.test.", "org.apache.storm.starter.")
"""Packages of Storm's examples, which are in jars of their own."""


def module_of(name: str) -> StormModule | None:
    """The module of a class; None if it is not of one of these."""
    return next((module for package, module in MODULES.items() if name.startswith(package)), None)


def is_no_part_of_storm(name: str) -> bool:
    """True if a class is certainly not in Storm's own jars."""
    return module_of(name) is not None or name.startswith(_ELSEWHERE) or not name.startswith(_OWN)


def needed_besides(absent: str, named: Sequence[str]) -> str:
    """A further sentence about what a file needs that names these classes; "" if the absent one tells."""
    modules = {name: module for name in named if (module := module_of(name)) is not None}
    if module_of(absent) or not modules:
        return ""
    name, module = next(iter(modules.items()))
    return f" It also needs {module.service}, for {name}."


def missing(name: str) -> str:
    """A sentence about a class that is in no jar."""
    module = module_of(name)
    if module is None:
        own = name.startswith(_OWN) and not name.startswith(_ELSEWHERE)
        where = "this Storm has no such class" if own else "it is in no jar that was given"
        return f"{name}: {where} (--jar my-topology.jar, --classpath, or Maven coordinates under dependencies)."
    found = f" ({module.artifact}:VERSION under dependencies)" if module.artifact else ""
    return (
        f"{name} needs {module.service}, and its module is in no jar that was given{found}; or put a stand-in in its "
        "place: a component of the same id, in a file that includes this one."
    )
