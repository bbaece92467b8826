"""The Kafka spout's lag, for people."""
