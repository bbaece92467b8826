"""Completion as people meet it: a shell with the script sourced is asked what comes next."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue import schemas
from multilang_cli.catalogue.loader import load_causes, load_rules, load_versions
from multilang_cli.catalogue.written import load_sentences
from multilang_cli.cli.candidates import print_candidates
from multilang_cli.cli.commands import COMMANDS, GROUPS
from multilang_cli.cli.completion import SHELLS
from multilang_cli.cli.options.values import VALUES
from multilang_cli.reports.formats.registry import FORMATS
from multilang_cli.scaffold.writing import languages
from multilang_cli.suite.cases.case import load_cases
from tests.command import ROOT, mlcheck, refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.component

CONFIG = '[[component]]\nname = "words"\ncommand = ["true"]\n\n[[component]]\nname = "counts"\ncommand = ["true"]\n'
CASES = [case.id for case in load_cases()]
FIRST_WORDS = {words.split()[0] for words in COMMANDS}

BASH = """\
source <(mlcheck completion bash)
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_mlcheck mlcheck
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """\
autoload -Uz compinit && compinit -u -D
source <(mlcheck completion zsh)
compadd() {{ while [[ $1 == -[PS] ]]; do shift 2; done; [[ $1 == -a ]] && print -l -- ${{(P)2}}; }}
compset() {{ : }}
_files() {{ print FILES }}
words=({words}) CURRENT=$#words
_mlcheck
"""
FISH = """\
mlcheck completion fish | source
complete -C {line}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A directory with a configuration, a file, and mlcheck as PATH finds it."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "mlcheck"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m multilang_cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "mlcheck.toml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "a file.ndjson").touch()
    return tmp_path


def call(command: list[str], home: Path) -> list[str]:
    """The lines that `command` prints; whatever it says on stderr would stand in someone's prompt."""
    path = os.pathsep.join([str(home / "bin"), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(home), "TERM": "dumb"}
    done = subprocess.run(
        command, cwd=home, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


def in_bash(home: Path, *words: str) -> list[str]:
    quoted = shlex.join(["mlcheck", *words])
    return call(["bash", "--norc", "-c", BASH.format(words=quoted)], home)


def candidates(home: Path, *words: str) -> list[str]:
    """What the scripts are answered."""
    done = mlcheck("completion", "candidates", "--", *words, cwd=home)
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if line]


EXPECTED: list[tuple[tuple[str, ...], set[str]]] = [
    (("",), FIRST_WORDS),
    (("ex",), {"explain"}),
    (("list", ""), {"rules", "cases", "host-cases", "protocol", "versions", "--kills"}),
    (("schema", "v"), {"validate"}),
    (("--",), {"--version", "--help"}),
    (("run", "--nothing-like-it"), set()),
    (("run", "--exc"), {"--exclude"}),
    (("lint", "--str"), {"--strict"}),
    (("tap", "--record-"), {"--record-all"}),
    (("tap", "--kind", ""), {"bolt", "spout", "auto"}),
    (("explain", ""), {*load_rules(), *(cause.id for cause in load_causes()), *CASES, *load_sentences()}),
    (("explain", "bolt.ack.on"), {"bolt.ack.once"}),
    (("explain", "--color", ""), {"auto", "always", "never"}),
    (("run", "--storm", ""), {"all", *(version.id for version in load_versions())}),
    (("run", "-k", "bolt.heartbeat"), {"bolt.heartbeat", *(id_ for id_ in CASES if id_.startswith("bolt.heartbeat."))}),
    (("run", "--exclude", "spout.sy"), {"spout.sync", *(id_ for id_ in CASES if id_.startswith("spout.sy"))}),
    (("run", "--report", ""), {f"{name}=" for name in FORMATS}),
    (("run", "--report", "junit=", "--kind", "b"), {"bolt"}),
    (("run", "--kind", ""), {"bolt", "spout", "auto"}),
    (("run", "--settles", "on"), {"on-tick", "on-next"}),
    (("run", "--accepts", "n"), {"null", "nested"}),
    (("run", "--limit", "pid"), {"pid=", "pid-file="}),
    (("run", "--component", ""), {"words", "counts"}),
    (("schema", "show", "messages/e"), {"messages/emit", "messages/error"}),
    (("schema", "validate", ""), set(schemas.names())),
    (("new", ""), {"bolt", "spout", "testee"}),
    (("new", "bolt", "--language", ""), set(languages())),
    (("completion", ""), set(SHELLS)),
    (("run", "a word's end", "--timeo"), {"--timeout"}),
    (("run", "--", "--ki"), set()),
]


def in_process(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """What the scripts are answered, without a process for each."""
    print_candidates(words)
    said = capsys.readouterr()
    assert said.err == ""
    return said.out.split()


@pytest.mark.sample(12)
@pytest.mark.parametrize(("words", "expected"), EXPECTED, ids=[" ".join(words) for words, _ in EXPECTED])
def test_what_can_stand_there_is_offered(
    words: tuple[str, ...],
    expected: set[str],
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    assert set(in_process(capsys, *words)) == expected


def test_bash(home: Path) -> None:
    for words, expected in EXPECTED[::5]:
        assert set(in_bash(home, *words)) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "--storm", "=", "2.8"), {"2.8.3"}),
        (("run", "--report", "="), {f"{name}=" for name in FORMATS}),
        (("run", "--report", "=", "junit", "="), set()),
        (("run", "--report", "json", "=", "x", "--kind", "="), {"bolt", "spout", "auto"}),
        (("run", "--report", "json", "=", "--kind", "b"), {"bolt"}),
    ],
)
def test_bash_parts_words_at_the_equals_sign(words: tuple[str, ...], expected: set[str], home: Path) -> None:
    assert set(in_bash(home, *words)) == expected


def test_every_option_of_run_is_offered(home: Path) -> None:
    told = mlcheck("run", "--help", cwd=home).stdout.partition("Most used:")[2]
    first = [line.split() for line in told.splitlines() if line.startswith("  -")]
    options = {word.strip(",").split("/")[0] for words in first for word in words[:2] if word.startswith("--")}
    assert len(options) > 20
    assert options <= set(in_bash(home, "run", "--"))


@pytest.mark.sample(6)
def test_every_source_of_values_is_one_that_a_command_asks(home: Path) -> None:
    helps = {name: mlcheck(*name.split(), "--help", cwd=home).stdout for name in COMMANDS if name not in GROUPS}
    for key in VALUES:
        command = " ".join(key.split()[:-1])
        assert command in COMMANDS or any(f"{key} " in text for text in helps.values()), key


@pytest.mark.parametrize(
    "config", ["no toml [", '[[component]]\nname = "$(touch pwned)"\ncommand = ["true"]\n', "component = 1"]
)
def test_a_broken_or_hostile_configuration_offers_nothing(config: str, home: Path) -> None:
    (home / "mlcheck.toml").write_text(config, encoding="utf-8")
    assert candidates(home, "run", "--component", "") == []
    assert not (home / "pwned").exists()


@pytest.mark.parametrize(
    "words", [(), ("no-such",), ("run", "--no-such", ""), ("list", "no-such", ""), ("run", "'", '"')]
)
def test_nonsense_is_no_error(words: tuple[str, ...], home: Path) -> None:
    candidates(home, *words)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh(home: Path) -> None:
    def asked(*words: str) -> set[str]:
        return set(call(["zsh", "-f", "-c", ZSH.format(words=shlex.join(["mlcheck", *words]))], home))

    assert asked("") == FIRST_WORDS
    assert asked("run", "--report", "") == {f"{name}=" for name in FORMATS}
    assert asked("explain", "ack-t") == {"ack-twice"}
    assert asked("run", "") == {"FILES"}


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(home: Path) -> None:
    def asked(line: str) -> set[str]:
        return set(call(["fish", "--no-config", "-c", FISH.format(line=json.dumps(line))], home))

    assert asked("mlcheck ") == FIRST_WORDS
    assert asked("mlcheck run --storm=2.8") == {"--storm=2.8.3"}
    assert asked("mlcheck explain ack-t") == {"ack-twice"}
    assert asked("mlcheck lint a") == {"a file.ndjson"}


@pytest.mark.parametrize("words", [("bsh",), ("bash", "more"), ("powershell",)])
def test_another_shell_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    ran = mlcheck("completion", *words, cwd=tmp_path)
    assert ran.returncode == 2
    assert words[-1] in refusal(ran)
