"""A secret that is known is found in the ways in which components of any language write it."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from multilang_cli.protocol.storm.reading import read_frame
from multilang_cli.protocol.wire.framing import Framer
from multilang_cli.protocol.words.events import Event
from multilang_cli.transcript.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

ODD = "hunter2&<pä/'x=9>"
LINES = "type: of an account\nkey: zbcdEFGH1234567890zbcd\n  ZYXWvuts0987654321ZYXW\nend\n"


def _go(text: str) -> str:
    return "".join(f"\\u{ord(each):04x}" if each in "&<>" else each for each in text)


def _gson(text: str) -> str:
    return "".join(f"\\u{ord(each):04x}" if each in "&<>='" else each for each in text)


WRITINGS: dict[str, Callable[[str], str]] = {
    "JSON of Go": _go,
    "JSON of Gson": _gson,
    "JSON of PHP": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON with codes in capitals": lambda text: json.dumps(text)[1:-1].replace("e4", "E4"),
    "HTML of Python": html.escape,
    "HTML of Go": lambda text: html.escape(text).replace("&#x27;", "&#39;"),
    "bytes of Python": lambda text: repr(text.encode()),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in capitals": lambda text: text.encode().hex().upper(),
    "array of Java, Python or Rust": lambda text: str(list(text.encode())),
    "array of Go": lambda text: f"[{' '.join(map(str, text.encode()))}]",
}


@pytest.mark.parametrize("write", WRITINGS.values(), ids=WRITINGS)
def test_a_secret_is_hidden_as_other_languages_write_it(write: Callable[[str], str]) -> None:
    shown = Redactor({"db.password": ODD}).line(f"with {write(ODD)} and more")
    assert "***" in shown
    assert len(shown) < len("with '***' and more") + 2


@pytest.mark.parametrize("write", [_go, _gson], ids=["Go", "Gson"])
def test_a_secret_in_a_message_is_hidden_as_other_languages_write_it(write: Callable[[str], str]) -> None:
    raw = f'{{"command":"emit","tuple":["{write(ODD)}"]}}\nend\n'.encode()
    changed, keys = Redactor({"db.password": ODD}).event(Event(7, 0.1, "out", read_frame(Framer().feed(raw)[0]), raw))
    assert keys == ("db.password",)
    assert json.loads(changed.raw[:-5])["tuple"] == ["***"]


@pytest.mark.parametrize("secret", ["hunter2hunter2\n", " hunter2hunter2\r\n", "918273\n"], ids=range(3))
def test_a_secret_is_known_without_the_blanks_around_it(secret: str) -> None:
    """As of a file, whose last line end goes where it is read."""
    assert Redactor({"db.password": secret}).line(f"it is {secret.strip()}, read") == "it is ***, read"


def test_a_line_of_a_secret_of_several_is_hidden_by_itself() -> None:
    redactor = Redactor({"service.credentials": LINES})
    told = "".join(f"INFO | {line}\n" for line in LINES.splitlines())
    assert redactor.line(told) == "INFO | ***\nINFO | ***\nINFO |   ***\nINFO | end\n"
    assert redactor.line(repr(LINES.split("\n"))) == "['***', '***', '  ***', 'end', '']"
    assert redactor.line("a type: of an animal") == "a type: of an animal"


@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_secret_is_hidden_in_base64_that_is_cut_into_lines(width: int, end: str) -> None:
    secret = "".join(f"{number:03d} of hunter2, " for number in range(19))
    whole = b64encode((secret + end).encode()).decode()
    lines = [whole[at : at + width] for at in range(0, len(whole), width)]
    shown = Redactor({"service.credentials": secret}).line("\n".join(lines)).split("\n")
    assert all("***" in line and len(line) < 12 for line in shown)
