from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.suite import flag_values, settings
from multilang_cli.suite.config import Config, ConfigError
from multilang_cli.suite.settings import Flags

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (Flags(command=("x",), kind="blot"), "--kind: there is no 'blot'; did you mean bolt?"),
        (Flags(command=("x",), pid="mine"), "--pid: there is no 'mine'; known are own, foreign."),
        (Flags(command=("x",), settles="late"), "--settles: there is no 'late'"),
        (Flags(command=("x",), task="0"), "--task: 0 is no task id"),
        (Flags(command=("x",), task="three"), "--task: expected a whole number, not 'three'"),
        (Flags(command=("x",), tuples=("[1",)), "--tuple: no JSON: "),
        (Flags(command=("x",), tuples=("[NaN]",)), "--tuple: no JSON: NaN is no JSON number"),
        (Flags(command=("x",), tuples=('"a"',)), "expected a tuple, a JSON array of values"),
        (Flags(command=("x",), tuple_files=("absent",)), "--tuples absent: can't be read: No such file"),
        (Flags(command=("x",), conf=("novalue",)), "--conf: expected K=V, not 'novalue'"),
        (Flags(command=("x",), conf_files=("absent",)), "--conf-file absent: can't be read"),
        (Flags(command=("x",), env=("=x",)), "--env: expected K=V"),
        (Flags(command=("x",), streams=("a",)), "--stream: expected NAME:field,field"),
        (Flags(command=("x",), streams=("a:b,b",)), "no field twice"),
        (Flags(command=("x",), limits=("synk=1",)), "--limit: there is no 'synk'; did you mean sync?"),
        (Flags(command=("x",), limits=("sync=-1",)), "--limit sync: '-1' is not above 0"),
        (Flags(command=("x",), limits=("sync=nan",)), "--limit sync: 'nan' is not above 0"),
        (Flags(command=("x",), limits=("frame=0",)), "--limit frame: expected bytes"),
        (Flags(component="split"), "no mlcheck.toml was found"),
        (Flags(), "which component?"),
    ],
)
def test_bad_flags(flags: Flags, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        settings.components(flags, Config())
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("flags", "environ", "words"),
    [
        (Flags(timeout="soon"), {}, "--timeout: expected seconds, a number above 0, not 'soon'"),
        (Flags(), {"MLCHECK_TIMEOUT": "inf"}, "MLCHECK_TIMEOUT: 'inf' is not above 0"),
        (Flags(), {"MLCHECK_STRICT": "maybe"}, "MLCHECK_STRICT: expected 1 or 0"),
        (Flags(seed="x"), {}, "--seed: expected a whole number"),
    ],
)
def test_bad_options(flags: Flags, environ: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        settings.run_options(flags, environ, Config())
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["a"]\n\n["b", 2]\n', [["a"], ["b", 2]]),
        ('[["a"],\n ["b", 2]]', [["a"], ["b", 2]]),
        ('["a\u2028b"]', [["a\u2028b"]]),
    ],
)
def test_tuples_of_a_file(tmp_path: Path, text: str, expected: list[list[Any]]) -> None:
    path = tmp_path / "tuples"
    path.write_text(text, encoding="utf-8")
    assert flag_values.samples_of_file(str(path)) == expected


def test_bad_line_of_tuples(tmp_path: Path) -> None:
    path = tmp_path / "tuples"
    path.write_text('["a"]\n{"b": 1}\n')
    with pytest.raises(ConfigError, match=r"tuples:2: expected a tuple"):
        flag_values.samples_of_file(str(path))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("storm.yaml", "a.b: [1, x]\nd: 2020-01-01\n"),
        ("c.json", '{"a.b": [1, "x"], "d": "2020-01-01"}'),
        ("c.toml", "'a.b' = [1, 'x']\nd = 2020-01-01\n"),
    ],
)
def test_conf_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert flag_values.conf_file(str(tmp_path / name)) == {"a.b": [1, "x"], "d": "2020-01-01"}
