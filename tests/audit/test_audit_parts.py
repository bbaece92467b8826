"""Parts of a recording that are cut, damaged or missing: the audit's judge blames whom lint blames, and nobody else."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import pyarrow.compute as pc
import pytest

from multilang_cli.audit.line_judge import judge_lines
from multilang_cli.audit.outline import AGAIN
from multilang_cli.audit.stages import events, lines
from multilang_cli.audit.stages.lines import FilePiece
from multilang_cli.audit.store.parquet_files import tuples_of
from multilang_cli.catalogue.loader import example_profile, load_rulebook
from multilang_cli.judging.linting import judge_transcripts
from multilang_cli.protocol.judge.conversation import Conversation
from tests import notation
from tests.recording import HEADER as ANY_HEADER
from tests.recording import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    import pyarrow as pa

    from multilang_cli.audit.line_judge import Place

HEADER = msgspec.structs.replace(ANY_HEADER, profile=example_profile("bolt"))
_TOLD = '> {{"id":"{0}","comp":"s","stream":"default","task":2,"tuple":["a"]}}\n'
_SAID = '< {{"command":"emit","anchors":["{0}"],"tuple":["a",1]}}\n> [4]\n< {{"command":"ack","id":"{0}"}}\n'
TALKS = {
    "right": "".join(f"{_TOLD}{_SAID}".format(n) for n in range(9)),
    "pipelined": "".join(map(_TOLD.format, range(9))) + "".join(map(_SAID.format, range(9))),
    "acks twice": "".join(f"{_TOLD}{_SAID}".format(n) for n in range(9)) + '< {"command":"ack","id":"8"}\n',
    "acks nothing": "".join(f"{_TOLD}{_SAID}".format(n) for n in range(9)) + '< {"command":"ack","id":"x"}\n',
    "dies": "".join(f"{_TOLD}{_SAID}".format(n) for n in range(9)) + '! {"event": "exited", "code": 1}\n',
    "is dismissed": "".join(f"{_TOLD}{_SAID}".format(n) for n in range(9))
    + '! {"event": "stdin-closed"}\n! {"event": "exited", "code": 1}\n',
}
"""What is said in three parts."""
ALLOWED = {"acks twice": "ack-twice", "acks nothing": "ack-unknown", "dies": "exited"}
"""What is wrong in them."""
_GAP = b'{"conv":"c1","seq":0,"t":0.5,"ch":"control","msg":{"event":"gap","why":"no room"}}\n'
CUTS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "whole": lambda part: part,
    "no end": lambda part: part[:-1],
    "cut": lambda part: [*part[:-3], part[-3][:20] + b"\n"],
    "cut amid": lambda part: [*part[:-3], part[-3][:20]],
    "gap before": lambda part: [part[0], _GAP, *part[2:]],
    "gap and no end": lambda part: [part[0], _GAP, *part[2:-1]],
    "missing": lambda _: [],
    "damaged": lambda part: [*part[:4], b"{}}\n", *part[5:]],
    "damaged at last": lambda part: [*part[:-2], b"{}}\n", part[-1]],
    "damaged and swapped": lambda part: [*part[:3], b"{}}\n", part[6], part[5], part[4], *part[7:]],
    "begins late": lambda part: [part[0], *part[3:]],
    "ends early": lambda part: [*part[:-3], part[-1]],
    "nothing but its end": lambda part: [part[0], part[-1]],
}
"""What becomes of the lines of a part."""
TRIED = 30
"""Changes of several parts that are tried, of a thousand."""


def _parts(talk: str, *, snapshots: bool) -> list[list[bytes]]:
    """The lines of a talk in three parts, each closed."""
    said, judge, parts = notation.parse(talk), Conversation(HEADER.profile, load_rulebook()), []
    third = len(said) // 3
    for part, some in enumerate((said[:third], said[third : 2 * third], said[2 * third :]), start=1):
        snapshot = judge.snapshot() if part > 1 and snapshots else None
        judge.feed_all(some)
        header = msgspec.structs.replace(HEADER, part=part, snapshot=snapshot)
        parts.append(written(some, header).splitlines(keepends=True))
    return parts


def _changed(part: list[bytes], name: str) -> list[bytes]:
    """The part after that; a gap has the number of an event that is lost."""
    seq = b'"seq":%d' % msgspec.json.decode(part[1])["seq"]
    return [line.replace(b'"seq":0', seq) if line == _GAP else line for line in CUTS[name](part)]


def places_of(path: Path) -> Iterator[Place]:
    """The lines of a file in the order in which the stage findings gives them to the judge."""
    piece = FilePiece(str(path), 0, path.stat().st_size)

    def read() -> Iterator[pa.RecordBatch]:
        """Its lines, once more."""
        return lines._read(piece)

    def rows(batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
        """Rows of batches."""
        return [row for batch in batches for row in batch.to_pylist()]

    names = [column.name for column in events.OUTLINE.columns]
    heads = [dict(zip(names, row, strict=True)) for row in tuples_of(events._outline_batches(read()))]
    known = SimpleNamespace(value=events.outline_of([[row[name] for name in events.OF_OUTLINE] for row in heads]))
    headers = (batch.filter(pc.equal(batch["what"], "header")) for batch in events._outline_batches(read()))
    conversations = rows(events._conversation_batches(headers, known))
    happened = rows(events._event_batches(read(), known))
    bad = [row["line"] for row in rows(events._quarantine_batches(read(), known, None)) if AGAIN not in row["reason"]]
    since = {
        part: min(row["line"] for row in happened if row["part"] == part) for part in {row["part"] for row in happened}
    }
    damaged = [(part, line) for part, first in since.items() for line in bad if line > first]
    hurt = {part for part, _ in damaged}
    found: list[tuple[int, int, int, str, bytes]] = [
        (row["part"], -1, 0, "header", row["header"]) for row in conversations
    ]
    found += [(row["part"], 2**63 - 1, 2, "end", b"") for row in conversations if row["closed"]]
    found += [(part, line, 1, "damaged", b"") for part, line in damaged]
    found += [(row["part"], row["line" if row["part"] in hurt else "seq"], 1, "event", row["raw"]) for row in happened]
    for part, _, _, what, raw in sorted(found):
        yield HEADER.conv, part, what, raw


def _cuts() -> Iterator[tuple[str, ...]]:
    """Each change of each part alone, and some of those of several."""
    yield from sorted({tuple(order) for cut in CUTS for order in permutations((cut, "whole", "whole"))})
    yield from Random(7).sample(list(product(CUTS, repeat=3)), TRIED)  # noqa: S311 (no secrets)


def _blamed(path: Path) -> list[tuple[str, int | None]]:
    judged = judge_transcripts([path], load_rulebook())
    return [(each.rule, each.seq) for subject in judged.subjects for each in subject.findings]


@pytest.mark.parametrize("snapshots", [True, False], ids=["snapshots", "none"])
@pytest.mark.parametrize("name", TALKS)
def test_both_judges_blame_the_same(name: str, snapshots: bool, tmp_path: Path) -> None:
    parts = _parts(TALKS[name], snapshots=snapshots)
    path, wrong = tmp_path / "t.ndjson", {}
    for cuts in _cuts():
        text = b"".join(b"".join(_changed(part, cut)) for part, cut in zip(parts, cuts, strict=True))
        if text.startswith(b'{"transcript"'):
            path.write_bytes(text)
            lint = _blamed(path)
            audit = [(row["rule"], row["seq"]) for row in judge_lines(places_of(path)) if "version" not in row]
            if lint != audit or {rule for rule, _ in audit} - {ALLOWED.get(name)}:
                wrong[cuts] = lint, audit
    assert wrong == {}


def test_who_dies_behind_a_lost_beginning_did_not_die_at_its_start(tmp_path: Path) -> None:
    first, second, third = _parts(
        f"{_TOLD}{_SAID}".format(0) + _TOLD.format(1) + '! {"event": "exited", "code": 1}\n', snapshots=True
    )
    path = tmp_path / "t.ndjson"
    path.write_bytes(b"".join([first[0], *second, *third]))
    [subject] = judge_transcripts([path], load_rulebook()).subjects
    rows = [row for row in judge_lines(places_of(path)) if "version" not in row]
    assert ([cause.id for cause in subject.causes], [row["cause"] for row in rows]) == (["dies-of-a-tuple"],) * 2
