"""Texts that people hand over: whatever they hold, they are read or refused with file and line, soon and in bounds."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from multilang_cli.catalogue.texts import TextError, _line, json_value, toml_value
from multilang_cli.catalogue.yaml_texts import yaml_value
from multilang_cli.subject.documents import documents
from multilang_cli.topology.flux.errors import FluxError
from multilang_cli.topology.flux.substitution import Substitution
from multilang_cli.topology.flux.yaml_tree import load
from tests.test_hostile_texts import cpu_bound

if TYPE_CHECKING:
    from pathlib import Path

READ = {"yaml": yaml_value, "toml": toml_value, "json": json_value}
DEEP = "[" * 200_000 + "]" * 200_000
ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(10)
)

REFUSED = [
    ("yaml", f"a: 1\nb: {DEEP}", "f:2: no YAML: nested too deep: more than 200 levels"),
    ("yaml", "".join(" " * i + "-\n" for i in range(300)), "f:201: no YAML: nested too deep: more than 200 levels"),
    ("yaml", '{"a":' * 300 + "1" + "}" * 300, "f:1: no YAML: nested too deep: more than 200 levels"),
    ("yaml", ALIASES, "f:6: no YAML: more than 500,000 values, aliases written out"),
    ("yaml", "b:\n  a: 1\n  c: 2\n  'a': 3", "f:4: no YAML: the key 'a' stands here twice"),
    ("yaml", "a: &a [*a]", "f:1: no YAML: an alias stands in what it names"),
    ("yaml", "a: " + "9" * 5001, "f:1: no YAML: a number may have 1000 characters"),
    ("yaml", "a: 1\nb: " + ":".join(["59"] * 3000), "f:2: no YAML: a number may have 1000 characters"),
    ("yaml", "a: 0x" + "f" * 5000, "f:1: no YAML: a number may have 1000 characters"),
    ("yaml", "a: .nan", "f:1: no YAML: .nan is no JSON number"),
    ("yaml", "a: !!int x", "f:1: no YAML: 'x' is no number"),
    ("yaml", "a: !!bool x", "f:1: no YAML: neither true nor false"),
    ("yaml", "a: !!timestamp x", "f:1: no YAML: a value with the tag 'tag:yaml.org,2002:timestamp', which "),
    ("yaml", "!!set {a, b}", "f:1: no YAML: a value with the tag 'tag:yaml.org,2002:set', which is not for such"),
    ("yaml", 'a: !!python/object/apply:os.system ["true"]', "f:1: no YAML: a value with the tag "),
    ("yaml", "[1, 2]: 3", "f:1: no YAML: a key must be a string"),
    ("yaml", "a: \x00", "f: no YAML: control characters are not allowed at position 3"),
    ("yaml", "a: [1", "f:2: no YAML: did not find expected ',' or ']'"),
    ("yaml", "a: [" + "1," * 500_001 + "1]", "f:1: no YAML: more than 500,000 values, aliases written out"),
    ("toml", "# " + "x" * 2**22, "f: it is larger than 4 MiB, which is all that is read"),
    ("json", "[" + "[]," * 1_000_000 + "1]", "f: it holds more than 2,000,000 values, which is all that is read"),
    ("toml", f"a = {DEEP}", "f:1: nested too deep: more than 200 levels"),
    ("toml", "b = 1\na = " + "[" * 201 + "]" * 201, "f:2: nested too deep: more than 200 levels"),
    ("toml", "b = 1\n[" + ".".join(["a"] * 20_000) + "]", "f:2: a key of more than 200 parts"),
    ("toml", '"a" . ' * 300 + "b = 1", "f:1: a key of more than 200 parts"),
    ("toml", "b = '['\na = " + "9" * 5001, "f:2: a number may have 1000 digits"),
    ("toml", "a = 0x" + "f" * 5000, "f:1: a number may have 1000 digits"),
    ("toml", "a = 1\nb = x\n", "f:2: no TOML: Invalid value at column 5"),
    ("toml", "a = 1\na = 2", "f: no TOML: Cannot overwrite a value (at end of document)"),
    ("toml", "a = 2001-99-99", "f"),
    ("json", DEEP, "f: nested too deep: more than 200 levels"),
    ("json", '{"a":' * 300 + "1" + "}" * 300, "f: nested too deep: more than 200 levels"),
    ("json", "[" + "9" * 5001 + "]", "f: no JSON: a number may have 1000 digits"),
    ("json", '{"a": "[[[",\n"b": ' + DEEP + "}", "f:2: nested too deep: more than 200 levels"),
    ("json", "[\n" + "9" * 5001 + "]", "f:2: no JSON: a number may have 1000 digits"),
    ("json", '["\\ud800"]', "f: \\ud800 is half of a character (a lone surrogate), which UTF-8 can't say"),
    ("json", '[1,\n{"\\uDC00": 1}]', "f:2: \\udc00 is half of a character"),
    ("json", "[NaN]", "f: no JSON: NaN is no JSON number"),
    ("json", "[1e999]", "f: no JSON: 1e999 is too large for a number"),
    ("json", "[1,\n2", "f:2: no JSON: Expecting ',' delimiter at column 2"),
]


@pytest.mark.parametrize(("notation", "text", "why"), REFUSED, ids=range(len(REFUSED)))
def test_what_can_do_harm_is_refused_with_its_place(notation: str, text: str, why: str) -> None:
    with pytest.raises(TextError, match=f"^{re.escape(why)}"):
        READ[notation](text, "f")


def test_what_stands_in_a_string_is_no_value() -> None:
    assert json_value(json.dumps([",:[" * 700_000, '\\"']), "f") == [",:[" * 700_000, '\\"']


def test_lines_of_many_values_are_not_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    for count, place in ((2, f"{path}:2"), (500_001, str(path))):
        path.write_text("[\n" + "1," * count + "1]")
        assert [each.place("/1") for each in documents(str(path))] == [place]


def test_what_is_read_is_what_json_says() -> None:
    text = "1: 2001-01-01\nnull: [~, yes, 0x1f, 1_000, 1.5, 1:30, 白雪, <]\n<<: {b: 2001-99-99}\n"
    assert yaml_value(text, "f") == {
        "b": "2001-99-99",
        "1": "2001-01-01",
        "null": [None, True, 31, 1000, 1.5, 90, "白雪", "<"],
    }


@pytest.mark.long
@pytest.mark.parametrize("notation", READ)
@given(text=st.text() | st.text(alphabet="[]{}:,-?&*!|>'\"#<=. \n\t019aeE+x~", max_size=60))
@example(text="")
@example(text="&a : *a")
@example(text="a: &b !!map\n  <<: *b")
def test_any_text_is_read_or_refused(notation: str, text: str) -> None:
    try:
        value = READ[notation](text, "f")
    except TextError as error:
        assert str(error).startswith("f")  # noqa: PT017 (no text must raise)
    else:
        json.dumps(value, allow_nan=False, default=str if notation == "toml" else None)


@pytest.mark.parametrize("text", [f"a: {DEEP}", "a: !!timestamp x", ALIASES, "a: &a [*a]"], ids=range(4))
def test_a_flux_file_is_refused_as_well(text: str) -> None:
    with pytest.raises(FluxError, match=r"f:\d"):
        load(text, "f")


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("${a}", "1"),
        ("x ${a} y ${b} z", "x ${a} y 2 z"),
        ("${a}}", "${a}}"),
        ("${} ${a", "${} ${a"),
        ("${b} ${}", "${b} ${}"),
        ("${" * 100_000, "${" * 100_000),
        ("[" * 200_000, "[" * 200_000),
    ],
    ids=range(7),
)
def test_a_line_is_substituted_in_one_look(line: str, becomes: str) -> None:
    assert Substitution({"a": "1", "b": "2"}, None, "2.8.3").apply(line, "f") == becomes


@pytest.mark.parametrize("unit", ['\\"', "\\'", '\\"a'])
def test_no_text_is_looked_through_for_long(unit: str) -> None:
    """Where what is too deep stands: strings that no quote ends were looked through again from each of their quotes."""
    with cpu_bound(10.0):
        assert _line(unit * 200_000 + "\n" + "[" * 5000) == 2
