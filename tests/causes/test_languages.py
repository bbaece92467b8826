"""The language of a command is that of the program that speaks, not of the shell that starts it."""

from __future__ import annotations

import pytest

from multilang_cli.causes.languages import language_of, words_of

COMMANDS = {
    ("python3.11", "-u", "bolt.py"): "python",
    ("./bolt.rb",): "ruby",
    ("perl", "bolt"): "perl",
    ("bash", "bolt.sh"): "shell",
    ("bash", "bolt"): "shell",
    ("/bin/bash", "-c", "ulimit -f 9; exec php bolt.php x"): "php",
    ("sh", "-c", "exec node ."): "javascript",
    ("sh", "-c", "read line; echo x"): "shell",
    ("php", "-r", "include 'bolt.inc';"): "php",
    ("Rscript", "bolt.R"): "r",
    ("gawk", "-f", "bolt"): "awk",
    ("./bolt.awk",): "awk",
    ("elixir", "bolt.exs"): "elixir",
    ("./bolt.escript",): "erlang",
    ("ocaml", "unix.cma", "bolt.ml"): "ocaml",
    ("guile", "-s", "bolt"): "scheme",
    ("swipl", "bolt.pl"): "prolog",
    ("raku", "bolt.pl"): "raku",
    ("sbcl", "--script", "bolt.lisp"): "lisp",
    ("./bolt",): "",
}


@pytest.mark.parametrize(("argv", "language"), COMMANDS.items(), ids=str)
def test_the_language_of_a_command(argv: tuple[str, ...], language: str) -> None:
    assert language_of(argv) == language


def test_what_a_shell_is_given_are_words_of_the_command() -> None:
    assert "bolt.php" in words_of(["sh", "-c", "exec php bolt.php"])
