"""Print the matrix of languages and classic mistakes: what a reader reads first, and whether that is right.

``python -m tests.mistakes [LANGUAGE[:MISTAKE]...]``; exit code 1 if a cell is wrong.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mistakes.playing import COMMANDS, changes, languages, play, wrong_with


def cell(what: tuple[str, str]) -> tuple[str, str, str, bool]:
    """One language and one mistake."""
    language, name = what
    with tempfile.TemporaryDirectory(prefix="mistake-") as folder:
        seen = play(language, name, Path(folder))
    wrong = wrong_with(name, seen)
    return language, name, wrong or f"{seen.headline}{f' ({seen.place})' if seen.place else ''}", not wrong


def main(words: list[str]) -> int:
    """Play the cells that are asked for, all by default."""
    asked = [word.partition(":")[::2] for word in words] or [(language, "") for language in languages()]
    cells = [
        (language, name)
        for language, only in asked
        if shutil.which(COMMANDS[language][0][0])
        for name in changes(language)
        if only in {"", name}
    ]
    right = 0
    with ThreadPoolExecutor(2) as pool:
        for language, name, text, good in pool.map(cell, cells):
            right += good
            sys.stdout.write(f"{'ok   ' if good else 'WRONG'} {language:10} {name:28} {text}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{right} of {len(cells)} right\n")
    return int(right != len(cells))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
