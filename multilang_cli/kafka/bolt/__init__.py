"""The Kafka bolt: a shell bolt that writes tuples to a topic."""
