"""What is loaded once, by however many threads at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

from multilang_cli.catalogue.once import once

THREADS = 8


def test_one_of_many_threads_loads() -> None:
    loads: list[str] = []
    together = Barrier(THREADS)

    @once
    def load(name: str) -> list[str]:
        loads.append(name)
        Event().wait(0.02)  # the others may come
        return [name]

    def ask(_: int) -> list[str]:
        together.wait()
        return load("a")

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(ask, range(THREADS)))
    assert all(each is found[0] for each in found)
    assert loads == ["a"]
    assert load("b") == ["b"]
    assert loads == ["a", "b"]
