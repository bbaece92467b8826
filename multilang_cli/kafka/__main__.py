"""``python -m multilang_cli.kafka``: the Kafka spout, as ``mlcheck-kafka-spout``."""

from multilang_cli.kafka.command import main

if __name__ == "__main__":
    main()
