"""A real Kafka on this machine, for tests and the demo: brokers in KRaft mode, on loopback, from Maven's artifacts."""
