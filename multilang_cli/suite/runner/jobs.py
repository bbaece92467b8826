"""Cases one after another or several at once; their results come in the order of the cases either way."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from multilang_cli.driver.reaper import REAPER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")

_LATE_STARTS_WITHIN = 0.2
"""Seconds after which what was started while the rest was being ended is ended too."""


class Jobs(Generic[T]):
    """Calls each of `plays`, `jobs` at a time, in threads if that is more than one. Use it in a ``with`` statement.

    Leaving it early ends every component that a thread still plays with, so no thread lives on; nothing is lost
    that had finished before.
    """

    def __init__(self, plays: Sequence[Callable[[], T]], jobs: int) -> None:
        self.finished: dict[int, T] = {}
        """What came back so far, by position; complete only once the statement is left."""
        self._plays = plays
        self._pool = ThreadPoolExecutor(jobs) if jobs > 1 else None
        self._futures: list[Future[T]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self.finished = {n: future.result() for n, future in enumerate(self._futures) if _came_back(future)}
            try:
                _abandon(self._pool, self._futures)
            except KeyboardInterrupt:
                _abandon(self._pool, self._futures)
                raise

    def __iter__(self) -> Iterator[T]:
        if self._pool is None:
            for number, play in enumerate(self._plays):
                self.finished[number] = play()
                yield self.finished[number]
            return
        for play in self._plays:
            self._futures.append(self._pool.submit(play))
        for future in self._futures:
            yield future.result()


def _came_back(future: Future[T]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _abandon(pool: ThreadPoolExecutor, futures: list[Future[T]]) -> None:
    """End what still runs: its component is killed, so that its thread has nothing left to wait for."""
    pool.shutdown(wait=False, cancel_futures=True)
    left = {future for future in futures if not future.done()}
    while left:
        REAPER.close()
        left = wait(left, _LATE_STARTS_WITHIN).not_done
