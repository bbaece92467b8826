"""Makes a script on which the sides differ as small as it can be, while it differs in the same way.

Starting a Storm takes seconds. So each round tries many edits at once, of all the scripts that are being shrunk; the
next one tries those that did no harm together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.differential.generate import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.differential.scripts import Script

    Ask = Callable[[dict[str, Script]], dict[str, set[str]]]
    """Plays scripts to both sides: the sorts of differences that each shows, by its name."""

WINDOWS = (1, 4, 16)
"""Tokens that are left out at a time: ``,"key":value`` is four."""
PLAIN = frozenset({b'"x"', b'""', b"1", b"0", b"x", b"null", b"true", b"false", b"end", b"\n", b" "})
"""Tokens that are as plain as can be."""
COMMANDS = (b"emit", b"ack", b"fail", b"log", b"error", b"sync", b"metrics", b"command")
ROUNDS = 8
FEW = 2
"""Outputs of a script, up to which not only whole ones are left out."""


@dataclass(frozen=True)
class Edit:
    """Of one text, the tokens from `start` to `stop` become `new`."""

    text: int
    start: int
    stop: int
    new: bytes = b""


def texts_of(script: Script) -> list[bytes]:
    """What is edited: the outputs, or the pid."""
    return [script.pid] if script.pid is not None else list(script.outputs)


def edits_of(script: Script) -> Iterator[Edit]:
    """What may make a script smaller: whole outputs left out, runs of tokens, tokens made plainer."""
    texts = texts_of(script)
    for number, text in enumerate(texts):
        tokens = tokens_of(text)
        if len(texts) > 1:
            yield Edit(number, 0, len(tokens))
        if len(texts) > FEW:
            continue
        # The last token is the terminator.
        for size in WINDOWS:
            for start in range(0, len(tokens) - size, max(1, size // 2)):
                yield Edit(number, start, start + size)
        for at, token in enumerate(tokens):
            for plain in plainer(token):
                yield Edit(number, at, at + 1, plain)


def plainer(token: bytes) -> Iterator[bytes]:
    """What may stand for a token and says less: a shorter string, a smaller number."""
    inside = token[1:-1]
    if token in PLAIN or inside in COMMANDS or token in COMMANDS:
        return
    if token[:1] == b'"' == token[-1:] and len(token) > 3:
        yield from (b'"x"', b'"' + inside[: len(inside) // 2] + b'"', b'"' + inside[len(inside) // 2 :] + b'"')
    elif token[:1].isalnum() and len(token) > 1:
        yield b"1"


def edited(script: Script, edits: list[Edit]) -> Script:
    """The script after some edits; one that touches what another has changed already is left out."""
    texts = texts_of(script)
    tokens = [tokens_of(text) for text in texts]
    touched: set[tuple[int, int]] = set()
    news: dict[tuple[int, int], bytes] = {}
    for edit in edits:
        mine = {(edit.text, at) for at in range(edit.start, edit.stop)}
        if not mine & touched:
            touched |= mine
            news[edit.text, edit.start] = edit.new
    kept = [
        b"".join(news.get((n, at), b"") if (n, at) in touched else token for at, token in enumerate(mine))
        for n, mine in enumerate(tokens)
    ]
    if script.pid is not None:
        return replace(script, pid=kept[0])
    return replace(script, outputs=tuple(text for text in kept if text) or script.outputs[:1])


def weight(script: Script) -> tuple[int, int, int]:
    """How much a script says: outputs, tokens, bytes."""
    texts = texts_of(script)
    return len(texts), sum(len(tokens_of(each)) for each in texts), sum(map(len, texts))


def shrink(scripts: dict[str, tuple[Script, str]], ask: Ask) -> dict[str, Script]:
    """The smallest scripts found that still show their sort of difference, by name."""
    now = {name: script for name, (script, _) in scripts.items()}
    going = set(now)
    for _ in range(ROUNDS):
        good = _harmless({name: list(edits_of(now[name])) for name in sorted(going)}, now, scripts, ask)
        together = {name: list(_mixes(edits)) for name, edits in good.items()}
        tried = {f"{n}.{i}": edited(now[n], mix) for n, mixes in together.items() for i, mix in enumerate(mixes)}
        shown = ask(tried) if tried else {}
        going = set()
        for name, mixes in together.items():
            keys = [f"{name}.{number}" for number in range(len(mixes))]
            held = [tried[key] for key in keys if scripts[name][1] in shown.get(key, ())]
            best = min(held, key=weight, default=now[name])
            if weight(best) < weight(now[name]):
                now[name] = best
                going.add(name)
        if not going:
            break
    return now


def _harmless(
    edits: dict[str, list[Edit]],
    now: dict[str, Script],
    scripts: dict[str, tuple[Script, str]],
    ask: Ask,
) -> dict[str, list[Edit]]:
    """The edits after which a script still shows what it is to show, the largest first."""
    tried = {f"{n}.{i}": edited(now[n], [edit]) for n, mine in edits.items() for i, edit in enumerate(mine)}
    shown = ask(tried)
    return {
        name: sorted(
            (edit for i, edit in enumerate(mine) if scripts[name][1] in shown.get(f"{name}.{i}", ())),
            key=lambda edit: weight(edited(now[name], [edit])),
        )
        for name, mine in edits.items()
    }


def _mixes(good: list[Edit]) -> Iterator[list[Edit]]:
    """Edits to make together: all, and fewer and fewer of them, down to the best one."""
    count = len(good)
    while count:
        yield good[:count]
        yield good[-count:] if count < len(good) else [*good[1:], good[0]]
        count = count * 2 // 3
