"""Options of a tap, and the names of its files. Standard library only: it is read before the component runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(".mlcheck") / "tap"
"""Where recordings go by default."""
RING_MESSAGES = 1000
"""Messages that are kept by default."""
ROTATE = 64 * 1024 * 1024
"""Bytes of a part by default."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


class TapPlan(NamedTuple):
    """Options of a tap.

    `folder` for recordings. `storm`: the version to judge for, "" for the newest. `kind`: "" to find out. `ring`: how
    many messages to keep until the end; 0 to record all of them, in parts of `rotate_size` bytes and `rotate_age`
    seconds at most (0: no bound), of which the last `keep` stay (0: all). `status`: a file, or a directory for it.
    `kafka`: HOST:PORT/TOPIC where transcripts go instead; "" for files. `warned`: it was said that nothing is recorded.
    """

    command: tuple[str, ...]
    folder: Path = FOLDER
    storm: str = ""
    kind: str = ""
    ring: int = RING_MESSAGES
    rotate_size: int = ROTATE
    rotate_age: float = 0.0
    keep: int = 0
    sample: float = 1.0
    status: Path | None = None
    verbose: bool = False
    kafka: str = ""
    warned: bool = False


def name_of(component: str, task: int | None, started_at: str, pid: int) -> str:
    """A name for a conversation that no other has on this machine, and that is fit for a file.

    `started_at`: ISO 8601, as in the header; `pid` of the tap.
    """
    words = [component, "" if task is None else str(task), re.sub(r"[-:]|\..*|\+.*", "", started_at), str(pid)]
    return "-".join(_UNSAFE.sub("_", word)[:60] for word in words if word)
