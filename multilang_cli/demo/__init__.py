"""Demonstrations: a tour of mlcheck, and the Kafka spout on a broker of its own."""
