"""Random outputs from the grammar, from what is recorded of real Storm, and from mutations of both. Seeded."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from multilang_cli.catalogue.oracle import oracle_cases
from tests.differential.grammar import GRAMMARS, MUTATIONS, ODD_TOKENS

if TYPE_CHECKING:
    from random import Random

    from tests.differential.values import Grammar

DEEPEST = 24
"""Expansions within each other, from which on the first alternative is taken: it is the shortest."""
LONGEST = 4000
"""Bytes of an output, at most: long ones say nothing that short ones don't."""
RECORDED_SHARE = 0.15
"""The part of the outputs that begins as one whose effect is recorded."""

_SYMBOL = re.compile(r"<([a-z-]+)>")
_OTHER_NAME = re.compile(r"\$(?!ID[0-9])")
_TOKEN = re.compile(rb'\nend\n|\$ID[0-9]|"(?:[^"\\]|\\.)*"|[A-Za-z0-9_.+-]+|\s+|.', re.DOTALL)


def expand(grammar: Grammar, symbol: str, random: Random, depth: int = 0) -> str:
    """One text that `symbol` may stand for."""
    rule = grammar[symbol]
    if depth > DEEPEST:
        text = rule[0][1]
    else:
        text = random.choices([text for _, text in rule], [weight for weight, _ in rule])[0]
    return _SYMBOL.sub(
        lambda match: expand(grammar, match[1], random, depth + 1) if match[1] in grammar else match[0], text
    )


def output(kind: str, random: Random) -> bytes:
    """What a component of `kind` (bolt, spout; pid for a first message) prints at once."""
    while True:
        if kind != "pid" and random.random() < RECORDED_SHARE:
            data = random.choice(recorded())
        else:
            data = expand(GRAMMARS[kind], "output", random).encode("utf-8", "surrogateescape")
        data = mutate(data, random)
        if kind != "bolt":
            # Nobody fills these in: there are no tuples.
            data = data.replace(b"$ID", b"70")
        if len(data) <= LONGEST:
            return data


def mutate(data: bytes, random: Random) -> bytes:
    """`data`, or something near it."""
    what = random.choices([name for _, name in MUTATIONS], [weight for weight, _ in MUTATIONS])[0]
    tokens = tokens_of(data)
    if what == "none" or not tokens:
        return data
    at = random.randrange(len(tokens))
    odd = random.choice(ODD_TOKENS).encode("utf-8", "surrogateescape")
    if what == "delete-token":
        del tokens[at]
    elif what == "double-token":
        tokens.insert(at, tokens[at])
    elif what == "swap-tokens":
        other = random.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif what == "replace-token":
        tokens[at] = odd
    elif what == "insert-token":
        tokens.insert(at, odd)
    else:
        return _mutate_byte(what, data, random)
    return b"".join(tokens)


def _mutate_byte(what: str, data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    if what == "cut":
        return data[:at] + b"\nend\n"
    new = bytes([random.randrange(256)]) if what == "change-byte" else b""
    return data[:at] + new + data[at + 1 :]


def tokens_of(data: bytes) -> list[bytes]:
    """The tokens of a text that need be no JSON; joined they are the text."""
    return _TOKEN.findall(data)


@cache
def recorded() -> tuple[bytes, ...]:
    """The outputs that were played to Storm or its parsers before, of cases and of the dialects' tests."""
    steps = [step["raw"] for case in oracle_cases().values() for step in case["steps"] if "raw" in step]
    said = [
        text.encode("utf-8", "surrogatepass") for text in steps if "over" not in text and not _OTHER_NAME.search(text)
    ]
    dialects = json.loads((Path(__file__).parents[1] / "data" / "dialects.json").read_text(encoding="utf-8"))
    said += [each["raw"].encode("latin-1") for each in dialects["shell"]]
    for each in dialects["parse"]:
        if "$" in each["text"]:
            continue
        text = each["text"].encode("utf-8", "surrogatepass")
        said += [text + b"\nend\n", b'{"command":"emit","tuple":["x",' + text + b"]}\nend\n"]
    return tuple(dict.fromkeys(said))
