"""Secrets that are glued to an option of one letter, in the words of a command."""

from __future__ import annotations

import pytest

from multilang_cli.transcript.secrets import hide_words, in_words


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["mysql", "-u", "root", "-phunter"], ["mysql", "-u", "root", "-p***"]),
        (["/usr/bin/mysqldump", "-phunter"], ["/usr/bin/mysqldump", "-p***"]),
        (["sh", "-c", "mysql -phunter d | x"], ["sh", "-c", "mysql -p*** d | x"]),
        (["python3", "bolt.py", "-phunter22"], ["python3", "bolt.py", "-p***"]),
        (["python3", "bolt.py", "-p8080", "-partitions"], ["python3", "bolt.py", "-p8080", "-partitions"]),
        (["cp", "-pr", "a", "b"], ["cp", "-pr", "a", "b"]),
        (["mysql", "-P", "3306"], ["mysql", "-P", "3306"]),
        (["find", ".", "-print0"], ["find", ".", "-print0"]),
    ],
    ids=" ".join,
)
def test_words(words: list[str], shown: list[str]) -> None:
    assert hide_words(words) == shown
    assert bool(in_words(words)) == (words != shown)
