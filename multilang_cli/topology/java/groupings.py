"""Custom groupings, asked of Java: a program that holds them answers for each tuple."""

from __future__ import annotations

import select
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import msgspec

from multilang_cli.driver.supervisor import Supervisor
from multilang_cli.protocol.wire.encoding import ENCODER
from multilang_cli.topology.groupings import GroupingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.protocol.words.messages import Json


CHOICE_SECONDS = 30.0
"""Seconds that a choice is waited for, in which the whole topology waits; the program may still be starting."""


class CustomGroupings:
    """The program, started before any component so that no tuple waits for it. A context manager that ends it."""

    def __init__(self, command: Sequence[str], conf: Mapping[str, Any], tasks: Mapping[int, str]) -> None:
        """`tasks`: the component of each task."""
        self._command = list(command)
        self._first = {"conf": dict(conf), "tasks": {str(task): name for task, name in tasks.items()}}

    def __enter__(self) -> Self:
        """Start the program. Raises OSError."""
        self._supervisor = Supervisor("mlcheck-groupings-")
        self._process = self._supervisor.start(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        with suppress(GroupingError):
            self._say(self._first)
        return self

    def __exit__(self, *_: object) -> None:
        """End the program and what it started: a grouping may never give an answer."""
        if (stdin := self._process.stdin) is not None:
            with suppress(BrokenPipeError):
                stdin.close()
            self._process.stdin = None
        self._supervisor.end(self._process)

    def choose(self, where: Mapping[str, Json], values: Sequence[Json]) -> tuple[int, ...]:
        """The task ids for a tuple. `where`: source, stream, target, executor and task. Raises GroupingError."""
        self._say({**where, "values": list(values)})
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 (it is a pipe)
        poll = select.poll()
        poll.register(stdout, select.POLLIN)
        if not poll.poll(CHOICE_SECONDS * 1000):
            self._process.kill()
            raise GroupingError(f"the custom grouping of {where['target']} did not choose within {CHOICE_SECONDS:g} s")
        line = stdout.readline()
        answer = msgspec.json.decode(line) if line else "the program that was asked is gone"
        if not isinstance(answer, list):
            raise GroupingError(f"the custom grouping of {where['target']} throws: {answer}")
        return tuple(answer)

    def _say(self, message: Mapping[str, Any]) -> None:
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 (it is a pipe)
        try:
            stdin.write(f"{ENCODER.encode(message).decode()}\n")
            stdin.flush()
        except BrokenPipeError:
            raise GroupingError("the program that holds the custom groupings is gone") from None
