"""The grammar's values: strings, numbers and what is taken for them, right and wrong in all the ways that are known."""

from __future__ import annotations

Grammar = dict[str, tuple[tuple[int, str], ...]]
"""Weighted expansions by name: see ``grammar``."""

VALUES: Grammar = {
    "value": (
        (8, '"<chars>"'),
        (8, "<number>"),
        (2, "true"),
        (2, "false"),
        (2, "null"),
        (2, "[<values>]"),
        (2, "{<members>}"),
        (2, "<odd-value>"),
    ),
    "values": ((1, ""), (4, "<value>"), (3, "<value>,<values>")),
    "odd-value": (
        (1, "True"),
        (1, "None"),
        (1, "NaN"),
        (1, "Infinity"),
        (1, "-Infinity"),
        (1, "undefined"),
        (1, "'<chars>'"),
        (1, "<chars>"),
        (1, '"<chars>'),
        (1, '<chars>"'),
        (1, "nul"),
        (1, "TRUE"),
        (1, "(1,2)"),
        (1, "u'x'"),
        (1, "`x`"),
        (1, '"a" "b"'),
        (1, "1 2"),
        (1, ""),
        (1, "/*c*/1"),
        (1, "1//c\n"),
        (1, "new Date()"),
    ),
    "number": (
        (6, "<digit>"),
        (4, "<digits>"),
        (3, "-<digits>"),
        (3, "<digits>.<digits>"),
        (2, "<digits>e<digit>"),
        (1, "-<digits>.<digits>E-<digit>"),
        (1, "+<digit>"),
        (1, "0<digits>"),
        (1, "-0"),
        (1, "-0.0"),
        (1, ".<digit>"),
        (1, "<digit>."),
        (1, "-"),
        (1, "0x1F"),
        (1, "1e400"),
        (1, "-1e400"),
        (1, "1e-400"),
        (1, "2147483647"),
        (1, "2147483648"),
        (1, "-2147483649"),
        (1, "9223372036854775807"),
        (1, "9223372036854775808"),
        (1, "-9223372036854775808"),
        (1, "-9223372036854775809"),
        (1, "<digits><digits><digits><digits><digits><digits>"),
        (1, "0.<digits><digits><digits><digits><digits>"),
        (1, "0.30000000000000004"),
        (1, "1_000"),
        (1, "1e"),
        (1, "1.5.5"),
        (1, "--1"),
        (1, "1L"),
        (1, "1f"),
        (1, "\u0661"),
    ),
    "digits": ((2, "<digit>"), (3, "<digit><digits>")),
    "digit": tuple((1, str(digit)) for digit in range(10)),
    "chars": ((3, ""), (10, "<char><chars>")),
    "char": (
        *((2, letter) for letter in "abcxyz019 _-."),
        *(
            (1, text)
            for text in (r"\n", r"\t", r"\"", r"\\", r"\/", r"\u0041", r"\u00e9", r"\ud83d\ude00", r"\r", r"\b")
        ),
        *((1, text) for text in (r"\ud800", r"\udc00", r"\q", r"\u12", r"\x41", r"\'", r"\0", r"\u0000", r"\U0041")),
        *(
            (1, text)
            for text in ("é", "人", "😀", "\u2028", "\x7f", "\x85", "\xa0", "\ufeff", "\ufffd", "\ufffe", "e\u0301")
        ),
        *((1, text) for text in ("\t", "\x01", "\0", "\x1a", "\x1f", "\b", "\f", "\v", "\r", "\n")),
        *(
            (1, text)
            for text in ("\udcff", "\udcc3", "\udced\udca0\udc80", "\udcc0\udc80", "\udcf0\udc9f\udc98", "\udce9")
        ),
        *((1, text) for text in ("'", "/", "{", "}", "[", "]", ":", ",", "#", "//", "/*", "*/", "<")),
        (1, "\nend\n"),
        (1, " end"),
        (1, "\n end\n"),
    ),
}
