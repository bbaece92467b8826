"""Why a component ended or failed a tuple, by the last that it wrote: the exception, as its language shows one."""

from __future__ import annotations

import re

_LONGEST = 160
"""Characters of a cause that are told."""

_EXCEPTIONS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # Ruby: the message stands in its first line, the class behind it.
        r"^\S+:\d+:in .*?: (?P<text>.+ \([A-Z][\w:]*\))$",
        # Java and Kotlin; .NET and Mono.
        r"^Exception in thread \S+ (?P<text>[\w.$]+(?:: .*)?)$",
        r"^Unhandled [Ee]xception[.:]\s+(?P<text>[\w.]+: .*)$",
        # Go.
        r"^(?:panic|fatal error): (?P<text>.*)$",
        # Rust: since 1.73 the message has a line of its own.
        r"^thread '.*' (?:\(\d+\) )?panicked at \S+:\d+:\d+:\n(?P<text>.+)$",
        r"^thread '.*' panicked at '(?P<text>.+)', \S+$",
        # PHP.
        r"(?:^|: )(?:PHP )?Fatal error:\s+(?P<text>.+?)(?: in \S+:\d+)?$",
        r"^(?:PHP )?(?:Warning|Notice):\s+(?P<text>Undefined .+?)(?: in \S+ on line \d+)?$",
        # C++.
        r"^terminate called after throwing an instance of '[^']+'\n\s*what\(\):\s+(?P<text>.+)$",
        # Python, and JavaScript above its stack; with a module or package before its name.
        r"^(?:Uncaught )?(?P<text>(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b(?: \[\w+\])?(?:: .*)?)$",
        # Perl.
        r"^(?P<text>.+ at \S+ line \d+)\.?$",
    )
)
"""How an exception looks that nobody caught, a language after the other."""

_OF_A_FIELD = re.compile(
    r"KeyError|AttributeError|NoMethodError|NameError|ReferenceError|NoSuchField|KeyNotFound|key not found|"
    r"[Uu]ndefined (?:method|index|array key|property|offset|variable|local variable|field)|Can't locate object method|"
    r"has no (?:attribute|field|member)|properties of undefined|property '\w+' of undefined|is not a valid field|"
    r"unknown field|no such (?:field|column|key|member)|missing (?:field|key)|not in (?:index|fields)|does not exist"
)
"""Words of an exception that looked for a value by a name that is not there."""


def cause_in(*texts: str) -> str:
    """The exception that the first of `texts` with one ends with, in a line; "" if none tells one."""
    for text in texts:
        found = [match for each in _EXCEPTIONS for match in each.finditer(text.replace("\r\n", "\n"))]
        if found:
            return _short(max(found, key=lambda match: match.end())["text"])
    return ""


def last_line(text: str) -> str:
    """The last line that holds anything."""
    lines = text.strip().splitlines()
    return _short(lines[-1]) if lines else ""


def misses_a_field(cause: str) -> bool:
    """True if a name was looked for that is not there, such as that of a field."""
    return _OF_A_FIELD.search(cause) is not None


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
