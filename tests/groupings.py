"""Random values for groupings, and what mlcheck's groupings choose for them."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.loader import load_rulebook
from multilang_cli.protocol.storm import dialects
from multilang_cli.topology.groupings import ChooserContext, chooser
from multilang_cli.topology.model import Grouping, GroupingType

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS: tuple[tuple[str, GroupingType], ...] = (("fields", "FIELDS"), ("partial", "PARTIAL_KEY"))
MOST = 8
ASTRAL = "aZ0 _é人\U0001f600\ud800\u2028"


def dice(seed: int = 1) -> Random:
    """The same random numbers each time."""
    return Random(seed)  # noqa: S311 (no secrets)


def random_texts(count: int, random: Random, *, beyond_long: bool) -> list[str]:
    """Texts of arrays of one to nine values; `beyond_long`: with integers that need a BigInteger."""
    return [_array(random, beyond_long=beyond_long) for _ in range(count)]


def _array(random: Random, *, beyond_long: bool) -> str:
    return (
        f"[{','.join(_text(random, 2, beyond_long=beyond_long) for _ in range(random.choice([1, 1, 1, 2, 3, 4, 9])))}]"
    )


def _text(random: Random, depth: int, *, beyond_long: bool) -> str:
    kind = random.randrange(8 if depth else 6)
    if kind == 0:
        return random.choice(["true", "false", "null", "0", "-0.0", "1e300", "-1"])
    if kind in (1, 2):
        bits = random.choice([8, 31, 32, 33, 63, 90 if beyond_long else 62])
        return str(random.choice([1, -1]) * random.getrandbits(bits))
    if kind == 3:
        return random.choice(["{:.3f}", "{!r}", "{:.17e}"]).format(random.uniform(-1e6, 1e6))
    if kind in (4, 5):
        return json.dumps("".join(random.choices(ASTRAL, k=random.randint(0, 9))))
    parts = [_text(random, depth - 1, beyond_long=beyond_long) for _ in range(random.randint(0, 3))]
    if kind == 6:
        return f"[{','.join(parts)}]"
    return "{" + ",".join(f'"k{index}":{part}' for index, part in enumerate(parts)) + "}"


def choices(storm: str, texts: Sequence[str]) -> list[dict[str, Any]]:
    """What mlcheck chooses for each text, in the form of the oracle's answers (``oracle/choose.py``)."""
    version = load_rulebook().version(storm)
    ready: dict[tuple[GroupingType, int], list[Any]] = {}
    found = []
    for text in texts:
        values = dialects.parse(text, version.dialect).value
        answer = {}
        for name, kind in KINDS:
            fields = tuple(f"f{index}" for index in range(len(values)))
            key = (kind, len(values))
            if key not in ready:
                wheres = [ChooserContext(fields, tuple(range(many)), version, dice()) for many in range(1, MOST + 1)]
                ready[key] = [chooser(Grouping(kind, fields), where) for where in wheres]
            answer[name] = [each(values)[0] for each in ready[key]]
        found.append(answer)
    return found
