"""The help of every command: examples first, panels where there are many options, each default once."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest

from multilang_cli.cli.commands import COMMANDS, GROUPS
from multilang_cli.cli.dispatch import dispatch
from multilang_cli.cli.examples import EXAMPLES
from multilang_cli.cli.help import MOST_IN_ONE_LIST
from multilang_cli.cli.options.table import Panel


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """What `--help` says, of each command."""
    texts = {}
    for words in COMMANDS:
        with redirect_stdout(StringIO()) as said:
            assert dispatch([*words.split(), "--help"]) == 0
        texts[words] = said.getvalue()
    return texts


def test_options_of_a_command_that_has_many_are_in_panels(helps: dict[str, str]) -> None:
    for words, text in helps.items():
        titles = re.findall(r"^(\S[^\n:]*):$", text, re.MULTILINE)
        assert titles[0] == "Examples", words
        many = len(re.findall(r"^  -", text, re.MULTILINE)) > MOST_IN_ONE_LIST
        assert titles[1:] == ([panel for panel in Panel if panel in titles] if many else ["Options"]), words
        assert not many or titles[1] == Panel.MOST_USED, words


def test_a_default_is_told_once(helps: dict[str, str]) -> None:
    for words, text in helps.items():
        for option in re.split(r"\n  (?=-)", text)[1:]:
            assert len(re.findall(r"Default:|\(the default\)| \[[\d.,]+\]", option)) <= 1, words
            assert not re.search(r" \[\d+[A-Za-z]+\]", option), f"{words}: a default is told as `Default: ...`"
    assert not re.search(r"\[default|INTEGER|<\w+ range>|\[x>", "".join(helps.values()))


def test_what_may_be_repeated_has_one_ellipsis(helps: dict[str, str]) -> None:
    assert [words for words, text in helps.items() if "...." in text] == []


def test_verbose_says_that_the_whole_result_is_shown(helps: dict[str, str]) -> None:
    """The screen of `run` names -v for all that it left out."""
    for words in ("run", "lint"):
        [option] = re.findall(r"\n  -v, --verbose +(.*?)(?=\n  -|\Z)", helps[words], re.DOTALL)
        assert re.match(r"Show (all|each)", option), words


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_of_a_group_has_an_example_of_each_of_its_commands(group: str) -> None:
    with redirect_stdout(StringIO()) as said:
        assert dispatch([group, "--help"]) == 0
    examples = said.getvalue().partition("\nExamples:\n")[2].partition("\n\n")[0].splitlines()
    members = [words for words in COMMANDS if words.split()[0] == group]
    assert examples == [f"  {EXAMPLES[words][0]}" for words in members]
    assert max(map(len, said.getvalue().splitlines())) <= 80
