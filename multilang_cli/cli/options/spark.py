"""The options of Spark, of all commands that start it."""

from multilang_cli.cli.options.table import OptionTable, flag, text, texts

SPARK: OptionTable = {
    "master": text("--master", "URL", "Spark's master: local[4], spark://HOST:PORT or yarn.", "local[*]"),
    "spark_conf": texts("--spark-conf", "K=V", "A setting of Spark's. May be repeated."),
    "spark_log": flag("--spark-log", "Show what Spark logs."),
}
