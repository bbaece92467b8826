"""Secrets in settings and texts: known by the name of its key, by its shape, or because the user says so."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from multilang_cli.catalogue.secrets import load_secrets
from multilang_cli.transcript.given import GIVEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from multilang_cli.catalogue.secrets import Where

HIDDEN = "***"
_NO_SPACE = "\0"
"""What stands for a space in a word: no word of a command has one."""
_NOTHING = (None, "", True, False)
_SAYS_NAME = ("name", "key")
"""Keys that hold the name of a setting, where its `value` stands beside them: in lists of variables."""
_NAMES, _NAME = 2_048, 128
"""Names that are remembered, and characters of each: every task of a topology is told the same conf."""
_LEAST_ESCAPED, _AT_ONCE, _DEPTH = 4, 65_536, 3
"""Characters of a secret that is escaped, at least; those of a text that are read at once; escapes within escapes."""
_MOST_WITHIN = 8
"""Pairs that are looked at within one that is none of a secret: each may go over all of it."""

_ESCAPED = re.compile(
    r"%(2[0-9a-f]|3[a-f]|40|5[b-d]|7[b-d])|&(quot|lt|gt|amp|apos|#3[49]|#x2[27]);|\\[ux](?:00)?(2[0-9a-f]|3[a-f])"
    r"|\\([\"'\\/nrt])",
    re.IGNORECASE,
)
_TELLING = re.compile(r"%3[ad]|%22|&(?:quot|lt|#3[49]|#x2[27]);|\\[ux](?:00)?(?:2[267]|3[ad])|\\[\"'n]", re.IGNORECASE)
"""One of these stands where a name and its value are escaped."""
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}

Found = dict[str, list[Any]]
"""Secrets by the key that told them."""


def is_name(key: str, names: re.Pattern[str] | None = None) -> bool:
    """True if the value of a key of settings is secret. `names`: other names than the usual ones."""
    usual = names or load_secrets().keys
    return (_is_name if len(key) <= _NAME else _is_name.__wrapped__)(key, usual, GIVEN.names)


@lru_cache(maxsize=_NAMES)
def _is_name(key: str, names: re.Pattern[str], given: tuple[re.Pattern[str], ...]) -> bool:
    if any(name.search(key) for name in given):
        return True
    return names.search(key) is not None and load_secrets().harmless.search(key) is None


def redacted(conf: Mapping[str, Any], names: re.Pattern[str] | None = None) -> tuple[dict[str, Any], Found]:
    """A copy of `conf` with ``***`` for every secret, at any depth, and the secrets by the key that told them."""
    found: Found = {}
    return {key: _hidden(key, value, names, found) for key, value in conf.items()}, found


def _hidden(key: str, value: Any, names: re.Pattern[str] | None, found: Found) -> Any:
    if is_name(key, names) and value not in _NOTHING:
        if value != HIDDEN:
            found.setdefault(key, []).append(value)
        return HIDDEN
    if isinstance(value, str):
        return hide(value, "settings", lambda _, secret: found.setdefault(key, []).append(secret))
    if isinstance(value, dict):
        items: dict[str, Any] = value
        others = _named(items) if "value" in items else {}
        return {name: _hidden(others.get(name, name), item, names, found) for name, item in items.items()}
    if isinstance(value, list):
        words = hide_words(value, lambda _, secret: found.setdefault(key, []).append(secret))
        return [_hidden("", item, names, found) for item in words]
    return value


def _named(value: Mapping[str, Any]) -> Mapping[str, str]:
    """Other names for the keys of a mapping that has a `value`, where what stands beside that says what it is of."""
    said: str | None = next((value[each] for each in _SAYS_NAME if isinstance(value.get(each), str)), None)
    return {} if said is None else {"value": said, **dict.fromkeys(_SAYS_NAME, "")}


def without_secrets(conf: Mapping[str, Any]) -> dict[str, Any]:
    """`conf` without the keys whose values hold a secret, or held one where it is hidden now."""
    clean = redacted(conf)[0]
    return {key: value for key, value in conf.items() if clean[key] == value and not _is_hidden_in(value)}


def _is_hidden_in(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_is_hidden_in, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and HIDDEN in value


def hide(text: str, where: Where, tell: Callable[[str, str], object] | None = None) -> str:
    """`text` with ``***`` for what looks like a secret `where` it stands. `tell` is given key and secret of each."""
    text = _by_shapes(text, where, tell)
    if not _is_escaped(text):
        return text
    parts = (text[at : at + _AT_ONCE] for at in range(0, len(text), _AT_ONCE))
    return "".join(_by_meaning(part, _Unescaped(part), where, tell) for part in parts)


class _Unescaped:
    """A text with its escapes read, as in a URL, in HTML or in JSON. `said`: what it says."""

    def __init__(self, text: str) -> None:
        self._starts, self._lost = [0], [0]
        parts: list[str] = []
        done = size = 0
        for match in _ESCAPED.finditer(text):
            parts += [text[done : match.start()], _character(match)]
            size += match.start() - done + 1
            done = match.end()
            self._starts.append(size)
            self._lost.append(done - size)
        self.said = "".join([*parts, text[done:]])

    def place(self, at: int) -> int:
        """The place in the text of one in what it says."""
        return at + self._lost[bisect_right(self._starts, at) - 1]


def _is_escaped(text: str) -> bool:
    """True if there may be a name and a value in a text that are escaped."""
    return _TELLING.search(text) is not None


def _character(match: re.Match[str]) -> str:
    if match[4]:
        return _CONTROL.get(match[4].lower(), match[4])
    return html.unescape(match[0].lower()) if match[2] else chr(int(match[1] or match[3], 16))


def _by_meaning(text: str, meant: _Unescaped, where: Where, tell: Callable[[str, str], object] | None) -> str:
    """A text without the secrets that it shows once its escapes are read."""
    found: set[str] = set()

    def note(key: str, secret: str) -> None:
        """Remember a secret; one of few characters stands in too many places."""
        if len(secret) >= _LEAST_ESCAPED:
            found.add(secret)
            if tell is not None:
                tell(key, secret)

    deeper = meant.said
    for _ in range(_DEPTH):
        _by_shapes(deeper, where, note)
        if not _is_escaped(deeper):
            break
        deeper = _Unescaped(deeper).said
    if not found:
        return text
    shown, done = [], 0
    for match in re.finditer("|".join(re.escape(each) for each in sorted(found, key=len, reverse=True)), meant.said):
        shown += [text[done : meant.place(match.start())], HIDDEN]
        done = meant.place(match.end())
    return "".join([*shown, text[done:]])


@lru_cache(maxsize=_NAMES)
def _possible(text: str, where: Where) -> int:
    """The shapes, as bits, of which `text` has a hint: the same values of conf are given to each component."""
    lower, possible = text.lower(), 0
    for common, hints in load_secrets().hints[where]:
        if common in lower:
            for hint, bits in hints:
                if hint in lower:
                    possible |= bits
    return possible


def _by_shapes(text: str, where: Where, tell: Callable[[str, str], object] | None) -> str:
    known = load_secrets()
    names = known.settings if where == "settings" else known.text

    def replace(match: re.Match[str]) -> str | None:
        """The match without its secret, if it is one; None if its key is the name of none."""
        groups = match.groupdict()
        key, secret = groups.get("key"), groups["secret"]
        if key is not None and not is_name(key, names):
            return None
        if not secret or HIDDEN in secret or known.placeholders.fullmatch(secret.strip()):
            return match[0]
        if tell is not None:
            tell(key or "", secret)
        begin, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return match[0][:begin] + HIDDEN + match[0][end:]

    possible = (_possible if len(text) <= _NAME else _possible.__wrapped__)(text, where)
    for number, (_, pattern) in enumerate(known.shapes[where]):
        if possible >> number & 1:
            text = _replaced(pattern, text, replace)
    return text


def _replaced(pattern: re.Pattern[str], text: str, replace: Callable[[re.Match[str]], str | None]) -> str:
    """`text` with other matches. What a match whose key names no secret holds may begin another: `a=password=x`."""
    shown, done, at, within, reach = [], 0, 0, 0, 0
    while (match := pattern.search(text, at)) is not None:
        new = replace(match)
        if new is not None:
            shown += [text[done : match.start()], new]
            done = at = match.end()
            continue
        within = within + 1 if match.start() < reach else 0
        reach = max(reach, match.end())
        at = match.end("key") if within < _MOST_WITHIN else match.end()
    return "".join([*shown, text[done:]])


def hide_words(words: Sequence[Any], tell: Callable[[str, str], object] | None = None) -> list[Any]:
    """The words of a command with ``***`` for secrets: values of options with such names, and what has a shape."""
    shown: list[Any] = []
    option, before = "", ""
    program = str(words[0]).rpartition("/")[2] if words else ""
    for word in words:
        if not isinstance(word, str):
            shown.append(word)
        elif option and not word.startswith("-") and word and HIDDEN not in word:
            shown.append(HIDDEN)
            if tell is not None:
                tell(option, word)
        else:
            clean = hide(word, "settings", tell)
            lead = program if word.startswith("-") else before and f"{program} {before}"
            shown.append(_behind(lead, word, tell) if clean == word else clean)
        option = word if isinstance(word, str) and _is_option(word) else ""
        before = word if isinstance(word, str) and word.startswith("-") else ""
    return shown


def _behind(option: str, word: str, tell: Callable[[str, str], object] | None) -> str:
    """A word of a command without what is secret because of the option before it, or of its program."""
    if not option:
        return word
    # A space in a word parts no words.
    said = f"{option} {word.replace(' ', _NO_SPACE)}"
    told = None if tell is None else lambda key, secret: tell(key, secret.replace(_NO_SPACE, " "))
    clean = hide(said, "settings", told)
    return clean[len(option) + 1 :].replace(_NO_SPACE, " ") if clean.startswith(f"{option} ") else word


def _is_option(word: str) -> bool:
    """True for an option whose value is the next word, and secret."""
    plain = word.startswith("-") and "=" not in word and len(word.split()) == 1
    return plain and is_name(word.lstrip("-"), load_secrets().settings)


def in_words(words: Sequence[str]) -> Found:
    """The secrets of a command, by the options that name them."""
    found: Found = {}
    hide_words(words, lambda key, secret: found.setdefault(key, []).append(secret))
    return found


def declare(settings: Iterable[Mapping[str, Any]], words: Sequence[str] = ()) -> None:
    """Hide the secrets of settings and of a command's words wherever the command of this process writes."""
    if GIVEN.open:
        GIVEN.learn(redacted({"": [dict(each) for each in settings]})[1])
        GIVEN.learn(in_words(words))


def texts_of(value: Any) -> Iterable[str]:
    """Every text and every number in a value, as text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_of(item)
