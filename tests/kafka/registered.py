"""Orders as Avro, Protobuf and JSON Schema have them, and a user's schemes that read them with the client library."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

if TYPE_CHECKING:
    from multilang_cli.kafka.partition_manager import KafkaRecord

URL = "REGISTRY_URL"
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "string"}, {"name": "amount", "type": "int"}],
    }
)
JSON_SCHEMA = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Order",
        "type": "object",
        "properties": {"id": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["id", "amount"],
    }
)


def _order_class() -> Any:
    """The class that protoc makes of ``message Order { string id = 1; int32 amount = 2; }``."""
    pool = DescriptorPool()
    text, number = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_INT32
    fields = [
        FieldDescriptorProto(name="id", number=1, type=text, label=FieldDescriptorProto.LABEL_OPTIONAL),
        FieldDescriptorProto(name="amount", number=2, type=number, label=FieldDescriptorProto.LABEL_OPTIONAL),
    ]
    order = DescriptorProto(name="Order", field=fields)
    pool.Add(FileDescriptorProto(name="order.proto", syntax="proto3", message_type=[order]))
    return GetMessageClass(pool.FindMessageTypeByName("Order"))


Order = _order_class()
PROTOBUF = {"use.deprecated.format": False}


def client(url: str) -> SchemaRegistryClient:
    """The library's client, which gives up soon: Storm waits meanwhile."""
    return SchemaRegistryClient({"url": url, "timeout": 1, "max.retries": 0})


@cache
def deserializer(kind: str) -> Any:
    """The library's own of a kind."""
    registry = client(os.environ[URL])
    if kind == "avro":
        return AvroDeserializer(registry)
    if kind == "json":
        return JSONDeserializer(JSON_SCHEMA, schema_registry_client=registry)
    return ProtobufDeserializer(Order, PROTOBUF, registry)


def written(kind: str, url: str, topic: str, order: dict[str, Any]) -> bytes:
    """An order as the library's serializer of a kind writes it, its schema told to the registry."""
    context = SerializationContext(topic, MessageField.VALUE)
    registry = client(url)
    if kind == "avro":
        made: Any = AvroSerializer(registry, AVRO)(order, context)
    elif kind == "json":
        made = JSONSerializer(JSON_SCHEMA, registry)(order, context)
    else:
        made = ProtobufSerializer(Order, registry, PROTOBUF)(Order(**order), context)
    return bytes(made)


def _read(kind: str, record: KafkaRecord) -> Any:
    return deserializer(kind)(record.value, SerializationContext(record.topic, MessageField.VALUE))


def avro(record: KafkaRecord) -> list[list[Any]]:
    """The scheme ``python:tests.kafka.registered:avro``."""
    order = _read("avro", record)
    return [[order["id"], order["amount"]]]


def json_schema(record: KafkaRecord) -> list[list[Any]]:
    """The scheme ``python:tests.kafka.registered:json_schema``."""
    order = _read("json", record)
    return [[order["id"], order["amount"]]]


def protobuf(record: KafkaRecord) -> list[list[Any]]:
    """The scheme ``python:tests.kafka.registered:protobuf``."""
    order = _read("protobuf", record)
    return [[order.id, order.amount]]
