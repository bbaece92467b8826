"""Damage done to made recordings on their way: lines lost, doubled, swapped, files cut, badly packed."""

from __future__ import annotations

import gzip
import zlib
from random import Random
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPENING = 3
"""Lines of a file that are left alone: its header and the handshake."""


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """`lost`, `doubled`, `swapped`: shares of lines. `cut`: tasks whose last file ends amid a line, at three quarters.

    `packed`: tasks whose files are packed and have a wrong checksum. `twice`: tasks that have two taps.
    """

    seed: int = 1
    lost: float = 0.0
    doubled: float = 0.0
    swapped: float = 0.0
    cut: tuple[int, ...] = ()
    packed: tuple[int, ...] = ()
    twice: tuple[int, ...] = ()


def damaged(files: Mapping[str, tuple[int, bytes]], damage: Damage) -> dict[str, bytes]:
    """The files by their names, each given with its task."""
    last = {task: name for name, (task, _) in sorted(files.items())}
    found: dict[str, bytes] = {}
    for name, (task, file) in files.items():
        if task in damage.twice:
            conv = name.removesuffix(".ndjson")
            other = file.replace(f'"conv":"{conv}"'.encode(), f'"conv":"{conv}-beside"'.encode())
            found[f"{conv}-beside.ndjson"] = other
        text = _lines(file, damage, Random(damage.seed ^ zlib.crc32(name.encode())))  # noqa: S311 (no secrets)
        if task in damage.cut and last[task] == name:
            text = text[: len(text) * 3 // 4]
        if task in damage.packed:
            packed = gzip.compress(text, mtime=0)
            found[f"{name}.gz"] = packed[:-8] + bytes(each ^ 0xFF for each in packed[-8:-4]) + packed[-4:]
        else:
            found[name] = text
    return found


def _lines(file: bytes, damage: Damage, random: Random) -> bytes:
    lines = file.splitlines(keepends=True)
    # What a process came to stands last, and is left alone too.
    kept, last = lines[:_OPENING], lines[_OPENING:][-1:]
    middle = lines[_OPENING : len(lines) - len(last)]
    found: list[bytes] = []
    for line in middle:
        if random.random() < damage.lost:
            continue
        found.append(line)
        if random.random() < damage.doubled:
            found.append(line)
        if len(found) > 1 and random.random() < damage.swapped:
            found[-1], found[-2] = found[-2], found[-1]
    return b"".join(kept + found + last)
