from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multilang_cli.catalogue import schemas
from multilang_cli.subject import config, flag_values, settings, toml_lines
from multilang_cli.subject.config import Config, ConfigError
from multilang_cli.subject.options import Component, RunOptions, StreamDeclaration
from multilang_cli.subject.profiles import LIMITS
from multilang_cli.subject.reproduce import words_of
from multilang_cli.subject.settings import Flags

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 65534

WHOLE = """
storm = "2.5"
timeout = 2.5
strict = true
seed = 7
record = "recordings"
suites = ["mine"]

[[component]]
name = "split"
kind = "bolt"
command = ["ruby", "split.rb"]
cwd = "resources"
samples = [["a b", 1], [["x"], {y = 2}]]
accepts = ["null"]
settles = "on-tick"
features = ["heartbeat"]
pid = "foreign"
task = 4

[component.conf]
"topology.x" = {a = [1]}

[component.env]
LANG = "C"

[component.streams.default]
fields = ["word"]
schema = {type = "array"}

[component.streams.jobs]
fields = []
direct = true

[component.limits]
settle = 3
frame = 1024

[component.metrics]
words = "count"

[[component]]
command = "spout.py"
"""

# The file, the key path, words of the message, the line.
BAD: list[tuple[str, str, str, int | None]] = [
    ("storm = 2.8\n", "storm", "expected: the Storm version", 1),
    ("\ntimeout = 0\n", "timeout", "expected: seconds", 2),
    ("strict = 'yes'\n", "strict", "'yes' is not of type 'boolean'", 1),
    ("seed = 1.5\n", "seed", "1.5 is not of type 'integer'", 1),
    ("strom = '1.2'\n", "strom", "did you mean storm?", 1),
    ("nothing = 1\n", "nothing", "known are storm, timeout", 1),
    ("[component]\ncommand = 'x'\n", "component", "is not of type 'array'", 1),
    ("[[component]]\nname = 'x'\n", "component[0]", "the key 'command' is missing", 1),
    ("[[component]]\ncommand = []\n", "component[0].command", "expected: a file alone", 2),
    ("[[component]]\ncommand = ['a', 1]\n", "component[0].command[1]", "1 is not of type 'string'", 2),
    ("[[component]]\ncommand = 'x'\nkind = 'blot'\n", "component[0].kind", "'blot' is not one of", 3),
    ("[[component]]\ncommand = 'x'\nsamples = [['a'], 'b']\n", "component[0].samples[1]", "one tuple, as an array", 3),
    ("[[component]]\ncommand = 'x'\nsamples = [[1], []]\n", "component[0].samples[1]", "one tuple, as an array", 3),
    ("[[component]]\ncommand = 'x'\nsamples = [[1979-05-27]]\n", "component[0].samples[0][0]", "as a string", 3),
    ("[[component]]\ncommand = 'x'\nconf.a = nan\n", "component[0].conf.a", "no JSON number", 3),
    (
        "[[component]]\ncommand='x'\n[[component]]\ncommand='y'\ntask = 0\n",
        "component[1].task",
        "whole number from 1",
        5,
    ),
    (
        "[[component]]\ncommand='x'\n[component.limits]\nhartbeat = 1\n",
        "component[0].limits.hartbeat",
        "did you mean heartbeat?",
        4,
    ),
    ("[[component]]\ncommand='x'\n[component.env]\nA = 1\n", "component[0].env.A", "is not of type 'string'", 4),
    (
        "[[component]]\ncommand='x'\n[component.streams.default]\nfield = ['a']\n",
        "component[0].streams.default.field",
        "did you mean fields?",
        4,
    ),
    (
        "[[component]]\ncommand='x'\n[component.streams.a]\nschema = {type = 'arry'}\n",
        "component[0].streams.a.schema.type",
        "no JSON Schema",
        4,
    ),
    (
        "[[component]]\ncommand='x'\n[[component.sources]]\nstream='x'\n",
        "component[0].sources[0]",
        "'component' is missing",
        3,
    ),
    (
        "[[component]]\ncommand='x'\n[[component.sources]]\ncomponent='a'\n[[component.sources]]\ncomponent='__acker'\n",
        "component[0].sources[1].component",
        "none of Storm's own",
        6,
    ),
    (
        "[[component]]\ncommand='x'\nsamples = [[1]]\n[[component.sources]]\ncomponent='a'\nfields=['x', 'y']\n",
        "component[0].sources",
        "[1] has 1 value; fields of a: 2 (x, y).",
        4,
    ),
    (
        "[[component]]\ncommand='x'\nkind='spout'\n[[component.sources]]\ncomponent='a'\n",
        "component[0].sources",
        "a spout reads from no source",
        4,
    ),
    (
        "[[component]]\ncommand='x'\n[[component.sources]]\ncomponent='a'\ngrouping={type='FIELDS'}\n",
        "component[0].sources[0].grouping",
        "'fields' is missing",
        5,
    ),
    (
        "[[component]]\ncommand='x'\n[[component.sources]]\ncomponent='a'\ngrouping={type='ALL', fields=['x']}\n",
        "component[0].sources[0].grouping.fields",
        "expected: no fields: only FIELDS is by fields",
        5,
    ),
    (
        (
            "[[component]]\ncommand='x'\n[[component.sources]]\ncomponent='a'\nfields=['x']\n"
            "grouping={type='FIELDS', fields=['y']}\n"
        ),
        "component[0].sources",
        "a is grouped by 'y', which is none of its fields.",
        3,
    ),
    ("[[component]]\ncommand='x'\nmetrics = {w = 'sum'}\n", "component[0].metrics.w", "'sum' is not one of", 3),
    ("[[component]]\ncommand='x'\nname = '../up'\n", "component[0].name", "letters, digits", 3),
    (
        "[[component]]\nname='a'\ncommand='x'\n[[component]]\ncommand='y'\nname='a'\n",
        "component[1].name",
        "two components are named 'a'",
        6,
    ),
    ("storm = \n", "", "no TOML: Invalid value at column 9", 1),
    ("storm = '1'\nstorm = '2'\n", "", "Cannot overwrite a value", 2),
]


def load(tmp_path: Path, text: str, name: str = config.NAME) -> Config:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return config.load(path)


def test_whole_file(tmp_path: Path) -> None:
    loaded = load(tmp_path, WHOLE)
    assert loaded.components[0] == Component(
        name="split",
        kind="bolt",
        command=("ruby", "split.rb"),
        cwd=str(tmp_path / "resources"),
        samples=(["a b", 1], [["x"], {"y": 2}]),
        accepts=("null",),
        settles="on-tick",
        features=("heartbeat",),
        pid="foreign",
        task=4,
        conf={"topology.x": {"a": [1]}},
        env={"LANG": "C"},
        streams={
            "default": StreamDeclaration(("word",), schema={"type": "array"}),
            "jobs": StreamDeclaration((), direct=True),
        },
        limits={"settle": 3, "frame": 1024},
        metrics={"words": "count"},
    )
    assert loaded.components[1] == Component(name="component2", kind="auto", command=("spout.py",), cwd=str(tmp_path))
    options = settings.run_options(Flags(), {}, loaded)
    assert options == RunOptions(
        storm="2.5",
        timeout=2.5,
        strict=True,
        seed=7,
        record=str(tmp_path / "recordings"),
        suites=(str(tmp_path / "mine"),),
    )


@pytest.mark.parametrize("bad", BAD, ids=[f"{bad[1]}-{bad[2][:12]}" for bad in BAD])
@pytest.mark.parametrize("name", [config.NAME, config.PYPROJECT])
def test_bad_file(tmp_path: Path, bad: tuple[str, str, str, int | None], name: str) -> None:
    text, path, words, line = bad
    if name == config.PYPROJECT:
        text = text.replace("[[component", "[[tool.mlcheck.component").replace("[component", "[tool.mlcheck.component")
        text = f"[tool.mlcheck]\n{text}"
        line = line and line + 1
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text, name)
    place = f"{tmp_path / name}:{line}: " if line else f"{tmp_path / name}: "
    assert str(raised.value).startswith(f"{place}{path}")
    assert words in str(raised.value)


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / config.NAME).write_bytes(b"storm = '\xff'")
    with pytest.raises(ConfigError, match="byte 9 is no UTF-8"):
        config.load(tmp_path / config.NAME)


def test_is_found_upwards(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert config.find(below) is None
    (tmp_path / config.PYPROJECT).write_text("[project]\nname = 'x'\n")
    assert config.find(below) is None
    (tmp_path / config.PYPROJECT).write_text("[tool.mlcheck]\n")
    assert config.find(below) == tmp_path / config.PYPROJECT
    (tmp_path / config.NAME).write_text("")
    assert config.find(below) == tmp_path / config.NAME
    (tmp_path / "a" / ".git").mkdir()
    assert config.find(below) is None


def test_what_another_user_put_into_everybodys_folder_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, mode, counts in (("mine", 0o700, True), ("sticky", 0o1755, True), ("shared", 0o1777, False)):
        below = tmp_path / name / "below"
        below.mkdir(parents=True)
        below.parent.chmod(mode)
        own = tmp_path / config.NAME
        own.touch()
        # A link of another's may lead to a file of one's own.
        (below.parent / config.NAME).symlink_to(own)
        (below.parent / config.PYPROJECT).write_text("[tool.mlcheck]\n")
        assert config.find(below) == below.parent / config.NAME
        try:
            for each in (config.NAME, config.PYPROJECT):
                os.chown(below.parent / each, NOBODY, NOBODY, follow_symlinks=False)
        except PermissionError:
            monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
        found = below.parent / config.NAME if counts else own
        assert [config.find(below), config.find(below.parent)] == [found, found]
        monkeypatch.undo()


def test_flags_over_environment_over_file(tmp_path: Path) -> None:
    loaded = load(tmp_path, "storm = '1'\ntimeout = 1\nseed = 1\n")
    environ = {"MLCHECK_TIMEOUT": "2", "MLCHECK_SEED": "2", "MLCHECK_STRICT": "yes", "MLCHECK_RECORD": ""}
    options = settings.run_options(Flags(seed="3"), environ, loaded)
    assert (options.storm, options.timeout, options.seed, options.strict) == ("1", 2.0, 3, True)
    assert options.record == RunOptions().record
    assert settings.run_options(Flags(strict=False), environ, loaded).strict is False


def test_flags_change_a_component_of_the_file(tmp_path: Path) -> None:
    flags = Flags(
        component="split",
        tuples=('["c", 2]',),
        conf=("topology.y=[1]", "topology.z=a b"),
        env=("X=a=b",),
        streams=("jobs:id,name!direct",),
        limits=("sync=1.5", "frame=9"),
        kind="spout",
    )
    (changed,) = settings.components(flags, load(tmp_path, WHOLE))
    assert changed.samples == (["c", 2],)
    assert changed.conf == {"topology.x": {"a": [1]}, "topology.y": [1], "topology.z": "a b"}
    assert changed.env == {"LANG": "C", "X": "a=b"}
    assert changed.streams is not None
    assert changed.streams["jobs"] == StreamDeclaration(("id", "name"), direct=True)
    assert changed.streams["default"].fields == ("word",)
    assert changed.limits == {"settle": 3, "frame": 9.0, "sync": 1.5}
    assert (changed.kind, changed.command) == ("spout", ("ruby", "split.rb"))


def test_unknown_component_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no component 'spilt'; did you mean split\?"):
        settings.components(Flags(component="spilt"), load(tmp_path, WHOLE))


def test_limits_of_the_schema_are_those_of_the_suite() -> None:
    limits = schemas.load("config")["$defs"]["limits"]["properties"]
    assert set(limits) == {*LIMITS, "grace", *flag_values.BYTES}


def test_every_key_is_described() -> None:
    schema = schemas.load("config")
    shapes = [schema, *schema["$defs"].values()]
    bare = [
        key
        for shape in shapes
        for key, value in shape.get("properties", {}).items()
        if len(value) and not (value.get("description") or "$ref" in value)
    ]
    assert bare == []


def test_component_and_schema_have_the_same_keys() -> None:
    said = set(schemas.load("config")["$defs"]["component"]["properties"])
    assert said == set(Component.__struct_fields__) - {"testee", "made_up"}


def test_what_repeats_a_run(tmp_path: Path) -> None:
    loaded = load(tmp_path, WHOLE)
    flags = Flags(
        component="split", conf=("x=1", "db.password=hunter2"), timeout="9", tuples=('["a b"]',), strict=False
    )
    (component,) = settings.components(flags, loaded)
    words = words_of(flags, component, settings.run_options(flags, {}, loaded), loaded)
    assert words[:6] == ("mlcheck", "run", "--component", "split", "--kind", "bolt")
    assert words[6:] == (
        "--timeout", "9.0", "--no-strict", "--tuple", '["a b"]', "--conf", "x=1", "--conf", "db.password=***",
    )  # fmt: skip


KEYS = st.text(st.characters(codec="ascii", exclude_characters="\x7f\x00", exclude_categories=["Cc"]), min_size=1)


@given(st.lists(KEYS, min_size=1, max_size=4), st.integers(0, 3))
def test_line_of_a_key(keys: list[str], blank: int) -> None:
    dotted = ".".join(json.dumps(key) for key in keys)
    text = f"{chr(10) * blank}{dotted} = 1\n"
    if any(mark in key for key in keys for mark in '"='):
        return
    assert toml_lines.line_of(text, tuple(keys)) == blank + 1
    assert toml_lines.line_of(text, ("absent",)) is None or keys[0] == "absent"


def test_line_of_a_table_inside_a_list_of_tables() -> None:
    text = "[[a]]\nx = 1\n[[a.b]]\ny = 2\n[[a]]\n[[a.b]]\n[[a.b]]\ny = 3\n[a.b.c]\nz = 1\n"
    assert toml_lines.line_of(text, ("a", 0, "x")) == 2
    assert toml_lines.line_of(text, ("a", 0, "b", 0, "y")) == 4
    assert toml_lines.line_of(text, ("a", 1, "b", 1, "y")) == 8
    assert toml_lines.line_of(text, ("a", 1, "b", 1, "c", "z")) == 10
