"""``python -m multilang_cli.kafka.bolt``: the Kafka bolt, as ``mlcheck-kafka-bolt``."""

from multilang_cli.kafka.command import bolt_main

if __name__ == "__main__":
    bolt_main()
