"""Places that a watch tells its alerts: stdout, a topic, a webhook, a file for Prometheus. Each at least once.

A batch whose alerts could not be told is done again, so whoever takes them knows an alert by its id.
"""

from __future__ import annotations

import re
import sys
import time
from base64 import b64encode
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import msgspec
from msgspec.structs import asdict, replace

from multilang_cli.protocol.words.shortening import bounded
from multilang_cli.reports.escape import escape, escape_json
from multilang_cli.reports.formats.registry import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

    from multilang_cli.audit.watch.alerts import Alert

KAFKA = re.compile(r"kafka://([^/]+)/([\w.-]+)")
KINDS = "console, kafka://HOST:PORT/TOPIC, https://..., prometheus=FILE"
ANSWER_SECONDS = 10.0
"""Seconds in which a webhook has to say something."""
LONGEST_SECONDS = 30.0
"""Seconds that a webhook has to answer, however it does: a byte at a time, or that it will."""
ASKING = "mlcheck-webhook"
"""The thread that waits for an answer."""
_PLAIN = re.compile(r"[!-~]+")
MOST_OF_TEXT = 1000
"""Characters of a text of an alert that are told: names are a recording's, and Kafka takes no message over 1 MB."""
MOST_TOLD = 512 * 1024
"""Bytes of alerts that are posted together, about."""
PAUSES = (1.0, 4.0)
"""Seconds before it is asked again."""
Told = tuple[str, str, str]
"""Topology, component and verdict, by which Prometheus counts."""


class SinkError(Exception):
    """A place that can't be told alerts; the message says which, and why."""


class AlertSink(Protocol):
    """A place for alerts."""

    def tell(self, spark: SparkSession, alerts: Sequence[Alert], counts: Mapping[Told, int]) -> None:
        """Tell them; `counts`: of all that were told since the watch began, these too. Raises SinkError."""


class Sinks:
    """Several places. `failed`: of the one that could not be told; Spark tells of it only with stacks of its own."""

    def __init__(self, sinks: Sequence[AlertSink] = ()) -> None:
        self._sinks = sinks
        self.failed: SinkError | None = None

    def tell(self, spark: SparkSession, alerts: Sequence[Alert], counts: Mapping[Told, int]) -> None:
        """Tell all of them. Raises SinkError."""
        try:
            for sink in self._sinks:
                sink.tell(spark, alerts, counts)
        except SinkError as error:
            self.failed = error
            raise


def sink_of(text: str) -> AlertSink:
    """The place that an option names. Raises SinkError."""
    if text == "console":
        return Console()
    if (topic := KAFKA.fullmatch(text)) is not None:
        return KafkaTopic(*topic.groups())
    if text.startswith(("http://", "https://")):
        return Webhook(text)
    if text.startswith("prometheus=") and text != "prometheus=":
        return PrometheusFile(Path(text.partition("=")[2]))
    raise SinkError(f"--to {escape(text[:60])!r}: expected one of {KINDS}")


def _line(alert: Alert) -> str:
    texts = {name: bounded(value, MOST_OF_TEXT) for name, value in asdict(alert).items() if isinstance(value, str)}
    return escape_json(msgspec.json.encode(replace(alert, **texts)).decode())


def _together(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines in lists that a webhook takes."""
    kept: list[str] = []
    size = 0
    for line in lines:
        kept.append(line)
        size += len(line)
        if size >= MOST_TOLD:
            yield kept
            kept, size = [], 0
    if kept:
        yield kept


class Console:
    """Lines of JSON on stdout."""

    def tell(self, spark: SparkSession, alerts: Sequence[Alert], counts: Mapping[Told, int]) -> None:  # noqa: ARG002
        """Write them."""
        sys.stdout.write("".join(f"{_line(alert)}\n" for alert in alerts))
        sys.stdout.flush()


class KafkaTopic:
    """A topic: the key is the alert's id, the value its JSON."""

    def __init__(self, servers: str, topic: str) -> None:
        self._to = {"kafka.bootstrap.servers": servers, "topic": topic}

    def tell(self, spark: SparkSession, alerts: Sequence[Alert], counts: Mapping[Told, int]) -> None:  # noqa: ARG002
        """Write them by Spark's own producer."""
        if alerts:
            rows = spark.createDataFrame([(each.id, _line(each)) for each in alerts], "key string, value string")
            rows.write.format("kafka").options(**self._to).save()


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none: alerts go where the command line says, and nowhere else."""


class Webhook:
    """A URL that takes a list of alerts as JSON by POST, and answers with 2xx. Its path may be secret: not told."""

    def __init__(self, url: str) -> None:
        scheme = url.partition(":")[0]
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
            host.encode("idna")
        except ValueError:
            # What it says quotes the URL, secrets and all.
            raise SinkError(f"--to {scheme}://...: this is no URL: see its host and port") from None
        if not host:
            raise SinkError(f"--to {scheme}://...: there is no host in it")
        if not _PLAIN.fullmatch(url):
            raise SinkError(f"--to {scheme}://...: spaces and letters beyond ASCII are to be written as %XX in a URL")
        self._headers = {"Content-Type": "application/json", "User-Agent": "mlcheck"}
        user, at, _ = parts.netloc.rpartition("@")
        if at:
            self._headers["Authorization"] = f"Basic {b64encode(unquote_to_bytes(user)).decode()}"
        self._named = f"{scheme}://{escape(host)}/..."
        bare = f"[{host}]" if ":" in host else host
        self._url = parts._replace(netloc=bare if port is None else f"{bare}:{port}", fragment="").geturl()

    def tell(self, spark: SparkSession, alerts: Sequence[Alert], counts: Mapping[Told, int]) -> None:  # noqa: ARG002
        """Post them in lists, each thrice if need be."""
        for lines in _together(map(_line, alerts)):
            self._post(f"[{','.join(lines)}]".encode())

    def _post(self, body: bytes) -> None:
        asked = Request(self._url, body, self._headers)  # noqa: S310 (http or https)
        for pause in (*PAUSES, None):
            if not (why := _refusal_in_time(asked)):
                return
            if pause is not None:
                time.sleep(pause)
        raise SinkError(f"--to {self._named}: {why}; the batch is done again when the watch is started again")


def _refusal_in_time(asked: Request) -> str:
    """The same, also where the answer as a whole takes too long: the limit of a socket is that of each part of it."""
    found: list[str] = []
    asking = Thread(target=lambda: found.append(_refusal(asked)), name=ASKING, daemon=True)
    asking.start()
    asking.join(LONGEST_SECONDS)
    return f"no whole answer in {LONGEST_SECONDS:g} s" if asking.is_alive() else found[0]


def _refusal(asked: Request) -> str:
    """The reason for which it does not take what is posted; "" if it does."""
    try:
        with build_opener(_NoRedirect).open(asked, timeout=ANSWER_SECONDS):
            return ""
    except HTTPError as error:
        error.close()
        return f"it answers {error.code}"
    except HTTPException:
        return "what it answers is no HTTP"
    except (URLError, OSError) as error:
        return escape(str(getattr(error, "reason", error)))[:200]


class PrometheusFile:
    """A file of node_exporter's textfile collector, replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def tell(self, spark: SparkSession, alerts: Sequence[Alert], counts: Mapping[Told, int]) -> None:  # noqa: ARG002
        """Write the counts."""
        lines = ["# TYPE mlcheck_alerts_total counter"]
        for told, number in sorted(counts.items()):
            named = zip(("topology", "component", "verdict"), told, strict=True)
            labels = ",".join(f'{name}="{_label(value)}"' for name, value in named)
            lines.append(f"mlcheck_alerts_total{{{labels}}} {number}")
        try:
            self._path.parent.stat()
            write_whole(self._path, "".join(f"{line}\n" for line in lines).encode())
        except OSError as error:
            raise SinkError(f"--to prometheus={escape(str(self._path))}: {error.strerror}") from None


def _label(value: str) -> str:
    return escape(bounded(value, MOST_OF_TEXT)).replace("\\", "\\\\").replace('"', '\\"')
