"""Numbers of more digits than Python reads: in messages, options and versions they are refused, not fallen over."""

from __future__ import annotations

import pytest

from multilang_cli.protocol.storm.dialects.java import value_text
from multilang_cli.protocol.storm.reading import read
from multilang_cli.protocol.words.messages import Malformed
from multilang_cli.subject.config import ConfigError
from multilang_cli.subject.flag_values import settles
from multilang_cli.topology.flux.errors import FluxError
from multilang_cli.topology.flux.substitution import Substitution
from multilang_cli.transcript.format import check_version

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        '{{"command":"emit","anchors":[],"tuple":["a"],"task":"{}"}}',
        '{{"command":"emit","anchors":[],"tuple":["a"],"task":{}}}',
        '{{"command":"emit","anchors":[],"tuple":[1e{}]}}',
        '{{"command":"log","msg":"a","level":"{}"}}',
        '{{"pid":"{}"}}',
        '{{"pid":{}}}',
        "{{command:emit,tuple:[{}]}}",
        "{}",
        "{{'command':'ack','id':{}}}",
        '{{"command":"ack","id":{}}}',
        '{{"command":"emit","anchors":[{0}],"id":{0},"tuple":[0x{0}]}}',
    ],
)
@pytest.mark.parametrize("expecting_pid", [True, False])
def test_a_message(text: str, expecting_pid: bool) -> None:
    read_as = read(text.format(DIGITS).encode(), expecting_pid=expecting_pid)
    assert isinstance(read_as, Malformed) or "1e" in text


@pytest.mark.parametrize("value", [10**5000, -(10**5000)], ids=["above", "below"])
def test_what_java_would_write_out(value: int) -> None:
    assert value_text(value) == "an integer of 16,610 bits"


def test_an_option() -> None:
    with pytest.raises(ConfigError, match="--settles: there is no"):
        settles(f"after-{DIGITS}")
    assert settles("after-0007") == "after-7"


def test_a_version() -> None:
    assert check_version(f"{DIGITS}.0").endswith("is no version of the format")


def test_an_index_of_a_flux_file() -> None:
    with pytest.raises(FluxError, match="the property a has 2 elements, and no element 9999999999"):
        Substitution({"a": "['x','y']"}, None, "2.8.3").apply(f"${{a[{DIGITS}]}}", "t.yaml")
