"""The options of Spark, of all commands that start it."""

from typing import Annotated

import typer

Master = Annotated[
    str, typer.Option("--master", metavar="URL", help="Spark's master: local[4], spark://HOST:PORT or yarn.")
]
SparkConf = Annotated[
    list[str] | None, typer.Option("--spark-conf", metavar="K=V", help="A setting of Spark's. May be repeated.")
]
SparkLog = Annotated[bool, typer.Option("--spark-log", help="Show what Spark logs.")]
