"""Alerts reach each place that was named, and one that can't be told is named without its secret."""

from __future__ import annotations

import json
import os
import time
from base64 import b64encode
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import islice, repeat
from socketserver import StreamRequestHandler, TCPServer, ThreadingTCPServer
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from multilang_cli.audit.console.watching import WatchFlags, watch_given
from multilang_cli.audit.watch import sinks
from multilang_cli.audit.watch.alerts import Alert
from multilang_cli.audit.watch.sinks import SinkError, Sinks, sink_of
from multilang_cli.terminal.exits import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NO_SPARK: Any = None
"""Only a topic needs it."""
LOST = Alert(
    id="00ff", verdict="lost", topology="words", component="sentences", task=1, run="r", root=7, message_id='"1"',
    outcome=None, open_component="split", open_task=3, open_id="a\x1b[2J", open_since=1.5,
)  # fmt: skip
COUNTS = {("words", "sentences", "lost"): 3, ('a"b\\c\n', "", "failed"): 1}


@contextmanager
def server(*answers: int, heads: list[str] | None = None) -> Iterator[tuple[str, list[bytes]]]:
    """A webhook on this machine that gives these answers, and what it was told."""
    told: list[bytes] = []
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        """Takes any POST."""

        def do_POST(self) -> None:
            """Note the body, and give the next answer."""
            if heads is not None:
                heads.append(self.headers["Authorization"])
            told.append(self.rfile.read(int(self.headers["Content-Length"])))
            code = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(code)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as httpd:
        Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}/hook/s3cret", told
        httpd.shutdown()


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinks, "PAUSES", (0.0, 0.0))


def test_a_webhook_is_asked_again_and_told_once_it_answers() -> None:
    with server(503, 200) as (url, told):
        sink_of(url).tell(NO_SPARK, [LOST, LOST], COUNTS)
    assert len(told) == 2
    [alert, _] = json.loads(told[-1])
    assert (alert["id"], alert["open_component"], alert["open_task"]) == ("00ff", "split", 3)


def test_texts_of_a_recording_are_bounded_wherever_they_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kafka and webhooks refuse what is too large, and the watch would end there each time that it is started."""
    huge = "\x1b" * 20_000
    alert = structs.replace(LOST, topology=huge, component=huge, run=huge, message_id=huge, open_id=huge, why=huge)
    with server(200) as (url, told):
        sink_of(url).tell(NO_SPARK, [alert] * 100, COUNTS)
    assert len(told) > 1
    assert sum(len(json.loads(body)) for body in told) == 100
    assert max(map(len, told)) < 1024 * 1024
    sink_of("console").tell(NO_SPARK, [alert], COUNTS)
    [line] = capsys.readouterr().out.splitlines()
    assert len(line) < 64 * 1024
    assert json.loads(line)["id"] == LOST.id
    sink_of(f"prometheus={tmp_path / 'made.prom'}").tell(NO_SPARK, [alert], {(huge, huge, "lost"): 1})
    assert (tmp_path / "made.prom").stat().st_size < 64 * 1024


@contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """What answers each request with these bytes, whatever they are."""

    class Handler(StreamRequestHandler):
        """Reads the head, and answers."""

        def handle(self) -> None:
            """Answer."""
            while self.rfile.readline().strip():
                pass
            self.wfile.write(answer)

    with TCPServer(("127.0.0.1", 0), Handler) as tcpd:
        Thread(target=tcpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{tcpd.server_address[1]}/s3cret"
        tcpd.shutdown()


NO_HTTP = [
    b"\x1b[2Jgarbage\r\n\r\n",
    b"HTTP/1.1 999999 x\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    b"HTTP/1.1 200 OK\r\na: " + b"b" * 100_000 + b"\r\n\r\n",
]


@pytest.mark.parametrize("answer", NO_HTTP, ids=range(len(NO_HTTP)))
def test_a_webhook_that_speaks_no_http_is_told_as_one_that_takes_nothing(answer: bytes) -> None:
    with raw_server(answer) as url, pytest.raises(SinkError, match=r"/\.\.\.: ") as refused:
        sink_of(url).tell(NO_SPARK, [LOST], COUNTS)
    assert "s3cret" not in str(refused.value)
    assert "\x1b" not in str(refused.value)


def _drips() -> Iterator[bytes]:
    yield from (bytes([each]) for each in b"HTTP/1.1 200 OK\r\n")
    while True:
        yield b"x"


@pytest.mark.parametrize(
    "parts", [_drips, lambda: repeat(b"HTTP/1.1 100 Continue\r\n\r\n")], ids=["drips", "says that it will"]
)
def test_a_webhook_whose_answer_never_ends_is_not_waited_for(
    parts: Callable[[], Iterator[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "LONGEST_SECONDS", 0.3)

    class Handler(StreamRequestHandler):
        """Answers for as long as it is listened to."""

        def handle(self) -> None:
            """Answer."""
            with suppress(OSError):
                while self.rfile.readline().strip():
                    pass
                for part in islice(parts(), 80):
                    self.wfile.write(part)
                    time.sleep(0.01)

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as tcpd:
        Thread(target=tcpd.serve_forever, daemon=True).start()
        with pytest.raises(SinkError, match=r"/\.\.\.: no whole answer in 0\.3 s; "):
            sink_of(f"http://127.0.0.1:{tcpd.server_address[1]}/s3cret").tell(NO_SPARK, [LOST], COUNTS)
        tcpd.shutdown()
    for thread in enumerate_threads():
        if thread.name == sinks.ASKING:
            thread.join(5)


def test_a_password_in_the_url_of_a_webhook_is_for_its_server_alone() -> None:
    heads: list[str] = []
    with server(200, heads=heads) as (url, _):
        sink_of(url.replace("//", "//me:s3cret%40here@")).tell(NO_SPARK, [LOST], COUNTS)
    assert heads == ["Basic " + b64encode(b"me:s3cret@here").decode()]
    gone = sink_of("http://me:s3cret@127.0.0.1:1/")
    with pytest.raises(SinkError, match="refused") as refused:
        gone.tell(NO_SPARK, [LOST], COUNTS)
    assert "s3cret" not in str(refused.value)


NO_URLS = [
    "http://[::1",
    "https://me:s3cret@h:port/",
    "http://h:99999/",
    f"http://{'a' * 70}.org/",
    "http://h/a b",
    "http://h/\xfc",
]


@pytest.mark.parametrize("place", NO_URLS)
def test_a_url_that_is_none_is_refused_without_its_secrets(place: str) -> None:
    with pytest.raises(SinkError, match=r"--to https?://") as refused:
        sink_of(place)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("code", [500, 404, 302])
def test_a_webhook_that_does_not_take_them_is_named_without_its_path(code: int) -> None:
    with server(code) as (url, told):
        places = Sinks([sink_of(url)])
        with pytest.raises(SinkError, match=rf"http://127\.0\.0\.1/\.\.\.: it answers {code}") as refused:
            places.tell(NO_SPARK, [LOST], COUNTS)
    assert "s3cret" not in str(refused.value)
    assert places.failed is refused.value
    assert len(told) == 3


def test_the_console_has_lines_that_move_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    sink_of("console").tell(NO_SPARK, [LOST], COUNTS)
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert json.loads(said)["open_id"] == "a\x1b[2J"


def test_prometheus_counts_all_that_was_told(tmp_path: Path) -> None:
    path = tmp_path / "mlcheck.prom"
    sink_of(f"prometheus={path}").tell(NO_SPARK, [], COUNTS)
    assert path.read_text().splitlines()[1:] == [
        r'mlcheck_alerts_total{topology="a\"b\\c\\n",component="",verdict="failed"} 1',
        'mlcheck_alerts_total{topology="words",component="sentences",verdict="lost"} 3',
    ]
    with pytest.raises(SinkError, match="No such file or directory"):
        sink_of(f"prometheus={tmp_path}/none/x.prom").tell(NO_SPARK, [], COUNTS)


def test_prometheus_counts_replace_no_pipe_and_follow_no_link(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    (tmp_path / "a.prom.new").symlink_to(tmp_path / "kept")
    sink_of(f"prometheus={tmp_path}/a.prom").tell(NO_SPARK, [], COUNTS)
    assert (tmp_path / "kept").read_text() == "mine"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    sink_of(f"prometheus={tmp_path}/pipe").tell(NO_SPARK, [], COUNTS)
    assert b"mlcheck_alerts_total" in os.read(reader, 4096)
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("place", ["", "prometheus=", "kafka://broker", "https://", "mailto:me", "CONSOLE"])
def test_a_place_that_is_none_is_refused_before_spark_is_started(place: str, tmp_path: Path) -> None:
    flags = WatchFlags(source=str(tmp_path), output=tmp_path / "out", to=(place,))
    with pytest.raises(CommandError, match="--to"):
        watch_given(flags)
