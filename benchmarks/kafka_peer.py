"""Storm's own Kafka spout, storm-kafka-client's, as a peer: its jars, and a topology with it for a LocalCluster."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from tests.storm.build import LIBRARIES, PLUGIN, STORM, run_tool
from tests.storm.cluster import link

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Path = LIBRARIES.with_name("kafka-client")
JARS = (f"org.apache.storm:storm-kafka-client:{STORM}", "org.apache.kafka:kafka-clients:3.9.1")
"""The second is the newest whose consumer has what the first calls. The rest a LocalCluster has."""
PACKAGE = "org.apache.storm.kafka.spout"
ACK_BOLT = {"id": "bolt", "className": "mlcheck.cluster.AckBolt"}
"""A bolt in Java that acks."""
STRINGS = "org.apache.kafka.common.serialization.StringDeserializer"


def class_path() -> str:
    """Its jars, brought by Maven once. Raises BuildError."""
    paths = []
    for artifact in JARS:
        _, name, version = artifact.split(":")
        paths.append(FOLDER / f"{name}-{version}.jar")
        if not paths[-1].exists():
            run_tool(["mvn", "-q", "-B", f"{PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={FOLDER}"])
    return os.pathsep.join(map(str, paths))


def flux(servers: str, topic: str, pending: int, bolt: dict[str, Any]) -> dict[str, Any]:
    """The topology: its defaults, a consumer group that is new, and a bolt."""
    told = {"group.id": f"bench-{time.time_ns()}", "key.deserializer": STRINGS, "value.deserializer": STRINGS}
    return {
        "config": {"topology.acker.executors": 1, "topology.max.spout.pending": pending},
        "components": [
            {
                "id": "builder",
                "className": f"{PACKAGE}.KafkaSpoutConfig$Builder",
                "constructorArgs": [servers, [topic]],
                "configMethods": [{"name": "setProp", "args": list(item)} for item in told.items()],
            },
            {
                "id": "config",
                "className": f"{PACKAGE}.KafkaSpoutConfig",
                "constructorArgs": [{"ref": "builder"}],
            },
        ],
        "spouts": [{"id": "spout", "className": f"{PACKAGE}.KafkaSpout", "constructorArgs": [{"ref": "config"}]}],
        "bolts": [bolt],
        "streams": [link("spout", "bolt")],
    }
