"""Custom groupings, asked of Java: a program that holds them answers for each tuple."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Self

import msgspec

from multilang_cli.topology.groupings import GroupingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from multilang_cli.protocol.words.messages import Json


class CustomGroupings:
    """The program, started when the first tuple asks. A context manager that ends it."""

    def __init__(self, command: Sequence[str], conf: Mapping[str, Any], tasks: Mapping[int, str]) -> None:
        """`tasks`: the component of each task."""
        self._command = command
        self._first = {"conf": dict(conf), "tasks": {str(task): name for task, name in tasks.items()}}
        self._process: subprocess.Popen[bytes] | None = None
        self._encode = msgspec.json.Encoder(decimal_format="number").encode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the program. It ends by itself when nobody can ask it any more."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def choose(self, where: Mapping[str, Json], values: Sequence[Json]) -> tuple[int, ...]:
        """The task ids for a tuple. `where`: source, stream, target, executor and task. Raises GroupingError."""
        if self._process is None:
            self._process = subprocess.Popen(
                list(self._command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._say(self._first)
        self._say({**where, "values": list(values)})
        assert self._process.stdout is not None  # noqa: S101 (it is a pipe)
        line = self._process.stdout.readline()
        answer = msgspec.json.decode(line) if line else "the program that was asked is gone"
        if not isinstance(answer, list):
            raise GroupingError(f"the custom grouping of {where['target']} throws: {answer}")
        return tuple(answer)

    def _say(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None  # noqa: S101 (it is there)
        assert self._process.stdin is not None  # noqa: S101 (it is a pipe)
        try:
            self._process.stdin.write(self._encode(message) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise GroupingError("the program that holds the custom groupings is gone") from None
