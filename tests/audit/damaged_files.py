"""Recordings that anything may have happened to on their way, and what the audit must still read of them. Seeded."""

from __future__ import annotations

import gzip
import re
import zlib
from contextlib import suppress
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import zstandard

from multilang_cli.audit.line_judge import judge_lines
from multilang_cli.audit.stages import events, lines
from multilang_cli.audit.stages.lines import FilePiece
from multilang_cli.audit.store.parquet_files import tuples_of
from tests.audit.generator.taps import transcripts
from tests.audit.generator.trees import EVERYTHING, TreesPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

ORIGINALS = tuple(transcripts(TreesPlan(roots=30, weights=EVERYTHING)).values())
_OTHER = re.compile(r"line (\d+) says something else of event ")
_ODD = (
    b"\0", b"\n", b"\r", b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 3000, b"9" * 400, b'"', b"\\ud800", b"{}", b"null", b"}",
    b"\n\n\n", b"1e999", b"-", b"\xc3", b'{"transcript":"1"}\n', b'{"end":{}}\n', b"\0" * 4096, b" ", b"NaN",
)  # fmt: skip


def _span(file: bytes, random: Random, most: int = 400) -> tuple[int, int]:
    start = random.randrange(len(file))
    return start, min(len(file), start + random.randrange(1, most))


def _flipped(file: bytes, random: Random) -> bytes:
    changed = bytearray(file)
    for _ in range(random.randrange(1, 9)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _removed(file: bytes, random: Random) -> bytes:
    start, end = _span(file, random)
    return file[:start] + file[end:]


def _put_in(file: bytes, random: Random) -> bytes:
    at, _ = _span(file, random)
    return file[:at] + random.choice(_ODD) + file[at:]


def _zeroed(file: bytes, random: Random) -> bytes:
    start, end = _span(file, random)
    return file[:start] + bytes(end - start) + file[end:]


def _again(file: bytes, random: Random) -> bytes:
    start, end = _span(file, random, 2000)
    at, _ = _span(file, random)
    return file[:at] + file[start:end] + file[at:]


def _mixed(file: bytes, random: Random) -> bytes:
    other = random.choice(ORIGINALS)
    start, end = _span(other, random, 2000)
    at, _ = _span(file, random)
    return file[:at] + other[start:end] + file[at:]


def _cut(file: bytes, random: Random) -> bytes:
    return file[: random.randrange(len(file))]


def _joined(file: bytes, random: Random) -> bytes:
    pieces = file.split(b"\n")
    at = random.randrange(max(1, len(pieces) - 1))
    return b"\n".join([*pieces[:at], b"".join(pieces[at : at + 2]), *pieces[at + 2 :]])


_CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flipped, _removed, _put_in, _zeroed, _again, _mixed, _cut, _joined,
)  # fmt: skip


def damaged_file(seed: int) -> tuple[str, bytes, bytes]:
    """A name, the bytes of the file, and what is in it as far as it can be unpacked."""
    random = Random(seed)  # noqa: S311 (no secrets)
    text = random.choice(ORIGINALS)
    for _ in range(random.randrange(1, 4)):
        text = random.choice(_CHANGES)(text, random) or b"\n"
    match random.randrange(4):
        case 0:
            packed = gzip.compress(text, mtime=0)
            return "damaged.ndjson.gz", *_torn(packed, text, random)
        case 1:
            return "damaged.ndjson.zst", *_torn(zstandard.compress(text), text, random)
        case _:
            return "damaged.ndjson", text, text


def _torn(packed: bytes, text: bytes, random: Random) -> tuple[bytes, bytes]:
    """Half of what is packed is whole; the other half ends too soon, or has a byte that is wrong."""
    if random.random() < 0.5:
        return packed, text
    at = random.randrange(20, len(packed))
    torn = packed[:at] + random.choice((b"", bytes([packed[at] ^ 0xFF]) + packed[at + 1 :]))
    return torn, _unpacked(torn)


def _unpacked(torn: bytes) -> bytes:
    """All that can be had of it, byte by byte, up to the end of a line."""
    gzipped = torn.startswith(b"\x1f\x8b")
    unpacker: Any = zlib.decompressobj(31) if gzipped else zstandard.ZstdDecompressor().decompressobj()
    found = bytearray()
    with suppress(zlib.error, zstandard.ZstdError):
        for at in range(len(torn)):
            found += unpacker.decompress(torn[at : at + 1])
    return bytes(found[: found.rfind(b"\n") + 1])


def wrong_in(path: Path, text: bytes) -> list[str]:
    """What the audit reads wrongly of a file; `text`: all that is in it. What it reads is judged too."""
    piece = FilePiece(str(path), 0, None if path.suffix in {".gz", ".zst"} else path.stat().st_size)

    def read() -> Iterator[pa.RecordBatch]:
        """Its lines, once more."""
        return lines._read(piece)

    names = [column.name for column in events.OUTLINE.columns]
    heads = [dict(zip(names, row, strict=True)) for row in tuples_of(events._outline_batches(read()))]
    known = events.outline_of([[row[name] for name in events.OF_OUTLINE] for row in heads])
    shared = SimpleNamespace(value=known)
    taken = [row for batch in events._event_batches(read(), shared) for row in batch.to_pylist()]
    unread = [row for batch in events._quarantine_batches(read(), shared, None) for row in batch.to_pylist()]
    bad = {row["line"]: row["reason"] for row in unread}
    told = [row["nth"] for row in heads if row["what"] != "size" and row["nth"] not in bad]
    _judge(heads, taken, list(bad))
    count = sum(known.lines.values())
    wrong = [f"line {number} is not read" for number in range(count + 1, len(text.split(b"\n")))]
    if sorted([*(row["line"] for row in taken), *bad, *told]) != list(range(1, count + 1)):
        wrong.append(f"of {count} lines {len(taken)} are events, {len(bad)} in quarantine, {len(told)} headers or ends")
    return wrong + [f"line {number} is lost: {why}" for number, why in _lost(text, bad)]


def _judge(heads: list[dict[str, Any]], taken: list[dict[str, Any]], bad: list[int]) -> None:
    """Judge all of it, damaged lines in each conversation."""
    places = {(row["conv"], row["part"], -1, "header", row["header"]) for row in heads if row["what"] == "header"}
    places |= {(row["conv"], row["part"], row["line"], "event", row["raw"]) for row in taken}
    places |= {(conv, part, line, "damaged", b"") for line in bad for conv, part, *_ in list(places)}
    for _ in judge_lines((conv, part, what, raw) for conv, part, _, what, raw in sorted(places)):
        pass


def _lost(text: bytes, bad: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Lines that nothing is wrong with and that are in quarantine; they may be where they came before, or no header.

    And where a line before it has taken its number: nobody can know which of the two is the event.
    """
    good = {line for original in ORIGINALS for line in original.split(b"\n")} - {b""}
    seen: set[bytes] = set()
    begun: set[bytes] = set()
    lines = text.split(b"\n")
    for number, line in enumerate(lines, 1):
        conv = line.partition(b'"conv":"')[2].partition(b'"')[0]
        if line in good:
            if number in bad and line not in seen and conv in begun and not _taken(line, bad[number], lines, bad):
                yield number, bad[number]
            begun |= {conv} if b'"transcript"' in line else set()
        seen.add(line)


def _taken(line: bytes, why: str, lines: list[bytes], bad: Mapping[int, str]) -> bool:
    """True if another line counts as this event, and is one."""
    if (said := _OTHER.match(why)) is None or int(said[1]) in bad:
        return False
    other, mine = msgspec.json.decode(lines[int(said[1]) - 1]), msgspec.json.decode(line)
    return bool(other != mine and (other["conv"], other["seq"]) == (mine["conv"], mine["seq"]))
