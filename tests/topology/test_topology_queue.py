"""The queue of a run: opened, pending, confirmed; and what hostile clients do to it, which is nothing."""

from __future__ import annotations

import json
import socket
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.topology.queue.server import MOST_REQUEST, Queue, QueueServer

if TYPE_CHECKING:
    from collections.abc import Iterator

COWS = ["the cow", ["jumped", 1], {"over": None}]
TRIES = 10_000


class Client:
    """A connection to the queue."""

    def __init__(self, server: QueueServer) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(server.address)
        self._file = self._socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def answer(self) -> Any:
        """The next answer; None if the server has hung up."""
        line = self._file.readline()
        return json.loads(line) if line else None

    def ask(self, do: str, **more: Any) -> Any:
        self.send(json.dumps({"do": do, **more}).encode() + b"\n")
        return self.answer()

    def counts(self) -> tuple[int, int, int]:
        told = self.ask("count")
        return told["waiting"], told["pending"], told["confirmed"]

    def until(self, counts: tuple[int, int, int]) -> None:
        """Ask until it is so: the server learns of a closed connection when it reads."""
        assert any(self.counts() == counts for _ in range(TRIES))

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@pytest.fixture
def server() -> Iterator[QueueServer]:
    with QueueServer(COWS) as started:
        yield started


@pytest.fixture
def client(server: QueueServer) -> Iterator[Client]:
    with Client(server) as connected:
        yield connected


def test_a_message_is_opened_pending_and_confirmed(client: Client) -> None:
    assert client.counts() == (3, 0, 0)
    assert client.ask("open") == {"id": 1, "message": "the cow"}
    assert client.counts() == (2, 1, 0)
    assert client.ask("confirm", id=1) == {}
    assert client.counts() == (2, 0, 1)


def test_messages_come_in_order_and_then_nothing(client: Client) -> None:
    assert [client.ask("open")["message"] for _ in COWS] == COWS
    assert client.ask("open") == {}
    assert client.ask("put", message="moon") == {"id": 4}
    assert client.ask("open") == {"id": 4, "message": "moon"}


def test_an_aborted_message_waits_before_all_others(client: Client) -> None:
    client.ask("open")
    client.ask("open")
    assert client.ask("abort", id=2) == {}
    assert client.ask("open")["id"] == 2


def test_all_pending_messages_of_a_client_that_is_gone_wait_again_in_their_order(server: QueueServer) -> None:
    with Client(server) as other:
        assert other.ask("open")["id"] == 1
        gone = Client(server)
        assert [gone.ask("open")["id"] for _ in range(2)] == [2, 3]
        other.ask("put", message="later")
        gone.close()
        other.until((3, 1, 0))
        assert [other.ask("open").get("id") for _ in range(4)] == [2, 3, 4, None]


@pytest.mark.parametrize("do", ["confirm", "abort"])
def test_only_who_opened_a_message_may_close_it_and_once(server: QueueServer, do: str) -> None:
    with Client(server) as mine, Client(server) as other:
        mine.ask("open")
        assert other.ask(do, id=1) == {"error": "message 1 is not yours"}
        assert mine.ask(do, id=2) == {"error": "message 2 is not yours"}
        assert mine.ask(do, id=1) == {}
        assert mine.ask(do, id=1) == {"error": "message 1 is not yours"}


HOSTILE = {
    "empty": b"",
    "cut": b'{"do": "open"',
    "no text": b'\xff\xfe{"do": "open"}',
    "null": b"null",
    "list": b'["open"]',
    "number": b"1e999",
    "unknown": b'{"do": "drop"}',
    "no command": b'{"id": 1}',
    "list for command": b'{"do": ["open"]}',
    "no id": b'{"do": "confirm"}',
    "text for id": b'{"do": "confirm", "id": "1"}',
    "true for id": b'{"do": "confirm", "id": true}',
    "fraction for id": b'{"do": "confirm", "id": 1.0}',
    "far id": b'{"do": "confirm", "id": ' + b"9" * 4000 + b"}",
    "too many digits": b'{"do": "confirm", "id": ' + b"9" * 5000 + b"}",
    "deep": b"[" * 100_000,
    "no message": b'{"do": "put"}',
    "NUL": b"\0" * 100,
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_hostile_lines_get_an_error_and_change_nothing(client: Client, line: bytes) -> None:
    client.ask("open")
    client.send(line + b"\n")
    assert list(client.answer()) == ["error"]
    assert client.counts() == (2, 1, 0)


def test_a_line_without_end_is_not_read_for_ever(server: QueueServer) -> None:
    with Client(server) as other:
        hostile = Client(server)
        hostile.ask("open")
        hostile.send(b"x" * MOST_REQUEST)
        assert hostile.answer() is None
        other.until((3, 0, 0))
        hostile.close()


def test_a_request_that_was_cut_by_the_end_is_none(server: QueueServer) -> None:
    with Client(server) as other:
        cut = Client(server)
        cut.ask("open")
        cut.send(b'{"do": "confirm", "id": 1}')
        cut.close()
        other.until((3, 0, 0))


def test_the_largest_request_is_taken(client: Client) -> None:
    frame = len(b'{"do": "put", "message": ""}\n')
    assert client.ask("put", message="x" * (MOST_REQUEST - frame)) == {"id": 4}


def test_many_clients_share_all_messages_and_none_twice() -> None:
    def work(server: QueueServer) -> list[int]:
        mine = []
        with Client(server) as client:
            while opened := client.ask("open"):
                mine.append(opened["id"])
                assert client.ask("confirm", id=opened["id"]) == {}
        return mine

    with QueueServer(range(200)) as server, ThreadPoolExecutor(4) as pool:
        found = [number for numbers in pool.map(work, [server] * 4) for number in numbers]
    assert sorted(found) == list(range(1, 201))
    assert server.queue.confirmed == 200


def test_nothing_is_left_of_it(server: QueueServer) -> None:
    with QueueServer() as other:
        address = Path(other.address)
        assert address.exists()
        assert other.address != server.address
    assert not address.parent.exists()


@given(
    st.lists(st.tuples(st.sampled_from(["open", "confirm", "abort", "leave", "put"]), st.integers(0, 2)), max_size=60)
)
def test_no_message_is_ever_lost_or_there_twice(steps: list[tuple[str, int]]) -> None:
    queue = Queue(range(5))
    done: list[int] = []
    put = 5
    for what, who in steps:
        mine = [number for number, (client, _) in queue.pending.items() if client == who]
        if what == "open":
            opened = queue.open(who)
            assert opened is None or opened[0] not in done
        elif what == "put":
            put += 1
            assert queue.put("more") == put
        elif what == "leave":
            queue.leave(who)
        elif mine and what == "confirm":
            assert queue.confirm(who, mine[0])
            done.append(mine[0])
        elif mine:
            assert queue.abort(who, mine[0])
            assert queue.waiting[0][0] == mine[0]
        everything = [*(number for number, _ in queue.waiting), *queue.pending, *done]
        assert sorted(everything) == list(range(1, put + 1))


def test_a_long_path_of_temporary_files_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket's path has little more than 100 bytes."""
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with QueueServer(COWS) as server:
        with Client(server) as client:
            assert client.counts() == (len(COWS), 0, 0)
        folder = Path(server.address).parent
        assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert not folder.exists()
