"""Waits for many processes at once, so that one thread can play Storm to all components of a topology."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Generic, TypeVar

from multilang_cli.driver.pipes import READY, Looking

if TYPE_CHECKING:
    from multilang_cli.driver.pipes import Ready
    from multilang_cli.driver.process import ComponentProcess

_BITS = _STDIN, _, _, _ENDED = 1, 2, 4, 8
"""Bits of a mask of `READY`: stdin, stdout, stderr, and the end of the process."""
_LOOK_EVERY = 0.02
"""Seconds between looks at the processes where the system can't wake us."""

Owner = TypeVar("Owner")


class ProcessSelector(Generic[Owner]):
    """Selects the processes that something can be done with now, each by its owner. Not for use by several threads.

    `looks`: it looks for a moment before it sleeps.
    """

    def __init__(self, *, looks: bool = False) -> None:
        self._poller = select.poll()
        self._looking = Looking(self._poller) if looks else None
        self._by_descriptor: dict[int, tuple[Owner, int]] = {}
        self._watched: dict[Owner, tuple[int | None, ...]] = {}
        self._without_pidfd: dict[Owner, ComponentProcess] = {}

    def watch(self, owner: Owner, process: ComponentProcess, *, write: bool, read: bool = True) -> None:
        """Tell `owner` of its process from now on: of stdin only if `write`, of stdout only if `read`.

        To be called again whenever that changes, and after anything that may have closed a pipe.
        """
        stdin, stdout, stderr, pidfd = process.descriptors()
        wanted = (stdin if write else None, stdout if read else None, stderr, pidfd)
        known = self._watched.get(owner)
        if wanted == known:
            return
        if pidfd is None:
            self._without_pidfd[owner] = process
        for bit, new, old in zip(_BITS, wanted, known or (None,) * len(_BITS), strict=True):
            if new != old:
                self._forget(old, owner)
                if new is not None:
                    self._by_descriptor[new] = (owner, bit)
                    self._poller.register(new, select.POLLOUT if bit == _STDIN else select.POLLIN)
        self._watched[owner] = wanted

    def forget(self, owner: Owner) -> None:
        """Tell `owner` of nothing any more; its process may have been ended before."""
        for fd in self._watched.pop(owner, ()):
            self._forget(fd, owner)
        self._without_pidfd.pop(owner, None)

    def _forget(self, fd: int | None, owner: Owner) -> None:
        # The number may be another process's by now.
        if fd is not None and self._by_descriptor.get(fd, (None, 0))[0] is owner:
            del self._by_descriptor[fd]
            self._poller.unregister(fd)

    def wait(self, timeout: float) -> list[tuple[Owner, Ready]]:
        """Wait until something can be done, at most `timeout` seconds; gives each owner with what it can do."""
        if self._without_pidfd:
            timeout = min(timeout, _LOOK_EVERY)
        masks: dict[Owner, int] = {}
        timeout = max(0.0, timeout)
        for fd, _ in self._looking.poll(timeout) if self._looking and timeout else self._poller.poll(timeout * 1000):
            owner, bit = self._by_descriptor[fd]
            masks[owner] = masks.get(owner, 0) | bit
        for owner, process in self._without_pidfd.items():
            if process.exited() is not None:
                masks[owner] = masks.get(owner, 0) | _ENDED
        return [(owner, READY[mask]) for owner, mask in masks.items()]
