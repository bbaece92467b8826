"""The Kafka spout: its decisions on their own, and the whole of it on a real broker."""
