from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from multilang_cli.catalogue.locate import data_path
from multilang_cli.protocol.words.verdicts import ACKERS
from multilang_cli.subject import config as config_file
from multilang_cli.subject import flag_values, settings
from multilang_cli.subject.config import Config, ConfigError
from multilang_cli.subject.options import Component, InputSource
from multilang_cli.subject.reproduce import words_of
from multilang_cli.subject.samples import samples_of
from multilang_cli.subject.settings import Flags

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
        (Flags(command=("x",), env=("=x",)), "--env: expected NAME=VALUE, or NAME"),
        (Flags(command=("x",), inputs=("a",)), "--input: expected COMPONENT:field,field"),
        (Flags(command=("x",), inputs=("a:b:c:d",)), "--input: expected COMPONENT:field,field"),
        (Flags(command=("x",), inputs=("a:b,b",)), "no field twice"),
        (Flags(command=("x",), inputs=("__tick:b",)), "no name of Storm's own"),
        (Flags(command=("x",), inputs=("a:b", "a:default:c")), "--input: the source a is declared twice"),
        (Flags(command=("x",), inputs=("a:b",), kind="spout"), "--input: a spout reads from no source"),
        (Flags(command=("x",), inputs=("a:b,c",), tuples=("[1]",)), "[1] has 1 value; fields of a: 2 (b, c)"),
        (Flags(command=("x",), inputs=("abc:b",), tuples=("abd=[1]",)), "no source 'abd'; did you mean abc?"),
        (Flags(command=("x",), tuples=("abd=[1]",)), "tell it with --input abd:FIELD,..."),
        (Flags(command=("x",), inputs=("a:s:b",), tuples=("a:t=[1]",)), "the source 'a' has no stream 't'"),
        (Flags(command=("x",), streams=("a",)), "--stream: expected NAME:field,field"),
        (
            Flags(command=("x",), streams=("a:b:c",)),
            "--stream: fields are parted by commas, as in 'a:b,c', not 'a:b:c'",
        ),
        (Flags(command=("x",), streams=("a:b,b",)), "no field twice"),
        (Flags(command=("x",), streams=("a:b", "c:d", "a:c!direct")), "--stream: the stream a is declared twice"),
        (Flags(command=("x",), streams=("a:b!dirct",)), "with !direct at the end if it is direct"),
        (Flags(command=("x",), limits=("synk=1",)), "--limit: there is no 'synk'; did you mean sync?"),
        (Flags(command=("x",), limits=("sync=-1",)), "--limit sync: '-1': expected seconds, a finite number above 0"),
        (Flags(command=("x",), limits=("sync=nan",)), "--limit sync: 'nan': expected seconds, a finite number above 0"),
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
        (Flags(), {"MLCHECK_TIMEOUT": "inf"}, "MLCHECK_TIMEOUT: 'inf': expected seconds, a finite number above 0"),
        (Flags(), {"MLCHECK_STRICT": "maybe"}, "MLCHECK_STRICT: expected 1 or 0"),
        (Flags(seed="x"), {}, "--seed: expected a whole number"),
        (Flags(jobs="0"), {}, "--jobs: expected a whole number from 1, not 0"),
        (Flags(), {"MLCHECK_JOBS": "all"}, "MLCHECK_JOBS: expected a whole number, not 'all'"),
        (Flags(retries="-1"), {}, "--retries: expected a whole number from 0, not -1"),
        (Flags(exclude=("@absent",)), {}, "--exclude @absent: can't be read"),
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


def test_tuples_of_named_sources_keep_their_order() -> None:
    flags = Flags(
        command=("x",),
        inputs=("a:x", "b:late:y,z", "c:"),
        tuples=("b=[1, 2]", '["=["]', "c=[]", "b:late=[3, 4]", ' ["b=[1]"]'),
    )
    (component,) = settings.components(flags, Config())
    assert [(each.component, each.stream, each.values) for each in samples_of(component)] == [
        ("b", "late", [1, 2]),
        ("a", "default", ["=["]),
        ("c", "default", []),
        ("b", "late", [3, 4]),
        ("a", "default", ["b=[1]"]),
    ]
    words = words_of(flags, component, settings.run_options(flags, {}, Config()), Config())
    assert words[-16:-12] == ("--tuple", "b=[1, 2]", "--tuple", '["=["]')
    assert words[-6:] == ("--input", "a:x", "--input", "b:late:y,z", "--input", "c:")


def test_flags_stand_for_the_sources_and_samples_of_the_file() -> None:
    own = Component(
        command=("x",),
        name="own",
        sources=(InputSource("a", fields=("x",), samples=([1],)), InputSource("b", samples=([2],))),
    )
    config = Config(components=(own,))

    def fed(**flags: Any) -> list[tuple[str, Any]]:
        (component,) = settings.components(Flags(component="own", **flags), config)
        return [(each.component, each.values) for each in samples_of(component)]

    assert fed() == [("a", [1]), ("b", [2])]
    assert fed(inputs=("b:y", "c:z")) == [("b", [2])]
    assert fed(tuples=("[3]",)) == [("a", [3])]
    assert fed(tuples=("b=[3]",)) == [("b", [3])]


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


def test_jobs_are_said_by_flag_environment_or_file_and_not_repeated() -> None:
    config = Config(settings={"jobs": 2})
    assert settings.run_options(Flags(), {}, config).jobs == 2
    assert settings.run_options(Flags(), {"MLCHECK_JOBS": "3"}, config).jobs == 3
    options = settings.run_options(Flags(jobs="4"), {"MLCHECK_JOBS": "3"}, config)
    assert options.jobs == 4
    words = words_of(Flags(ackers="0"), Component(command=("x",)), options, config)
    assert words == ("mlcheck", "run", "--kind", "bolt", "--ackers", "0")


def test_switches_are_options_of_the_run_and_repeated_where_a_case_alone_is_changed() -> None:
    flags = Flags(command=("x",), fail_fast=True, record_all=True, real_ticks=True, exhaustive=True, strict=False)
    options = settings.run_options(flags, {}, Config(settings={"strict": True}))
    assert options.fail_fast
    assert options.record_all
    words = words_of(flags, Component(command=("x",)), options, Config(settings={"strict": True}))
    assert words == ("mlcheck", "run", "--kind", "bolt", "--no-strict", "--real-ticks", "--exhaustive")


def test_ackers_are_a_key_of_conf() -> None:
    flags = Flags(command=("x",), conf=("a=1", f"{ACKERS}=5"), ackers="0")
    (component,) = settings.components(flags, Config())
    assert component.conf == {"a": 1, ACKERS: 0}


@pytest.mark.parametrize("name", ["mlcheck.toml", "pyproject.toml"])
def test_known_failures_are_those_of_the_flag_else_of_the_file(tmp_path: Path, name: str) -> None:
    lead = "tool.mlcheck." if name == "pyproject.toml" else ""
    (tmp_path / name).write_text(
        f"[[{lead}component]]\ncommand = 'x'\n[[{lead}component]]\ncommand = 'y'\nknown_failures = 'lists/y.txt'\n"
    )
    config = config_file.load(tmp_path / name)
    assert [each.known_failures for each in settings.components(Flags(), config)] == [
        "",
        str(tmp_path / "lists" / "y.txt"),
    ]
    (chosen,) = settings.components(Flags(component="component2", known_failures="z.txt"), config)
    assert chosen.known_failures == "z.txt"
    (own,) = settings.components(Flags(command=("z",)), config)
    assert own.known_failures == ""


def test_a_part_of_a_testee_is_chosen_by_its_name(tmp_path: Path) -> None:
    folder = str(data_path("conformance", "testees", "perl"))
    config = Config(tmp_path / "mlcheck.toml", {}, (Component(command=("x",), name="bolt"),))
    for name in ("bolt", "storm.perl-bolt"):
        (chosen,) = settings.components(Flags(testees=(folder,), component=name, known_failures="k.txt"), config)
        assert (chosen.name, chosen.testee, chosen.known_failures) == ("storm.perl-bolt", "bolt", "k.txt")
    with pytest.raises(ConfigError, match=r"the testee has no part 'bold'; there are storm\.perl-bolt, storm"):
        settings.components(Flags(testees=(folder,), component="bold"), config)


def test_the_gate_is_for_one_component_and_a_whole_run() -> None:
    one, two = (Component(command=("x",)),), (Component(command=("x",)), Component(command=("y",)))
    settings.check_gate(Flags(), two)
    settings.check_gate(Flags(known_failures="k.txt", include=("bolt",)), one)
    for flags, chosen, words in (
        (Flags(known_failures="k.txt"), two, "--known-failures: a file belongs to one component, and these are 2"),
        (Flags(write_known_failures="k.txt"), two, "--write-known-failures: a file belongs to one component"),
        (Flags(write_known_failures="k.txt", fail_fast=True), one, "only a whole run tells what fails; leave -x out"),
    ):
        with pytest.raises(ConfigError, match=words):
            settings.check_gate(flags, chosen)
