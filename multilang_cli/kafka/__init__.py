"""The Kafka spout: a shell component that reads Kafka, by the semantics of Storm's KafkaSpout."""
