"""Hostile text in every field: it is shown, and nothing of it is run, loaded or followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import documents

if TYPE_CHECKING:
    from tests.browser.browser import Browser

pytestmark = pytest.mark.browser

FIXED = {"page", "made_at", "type", "id", "ack_val", "direction", "style", "align", "section"}
"""Keys that other fields refer to, or without which a section would only be a sentence."""
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "javascript:alert(1)",
    "\"'><svg onload=alert(1)>",
    "</style><style>*{display:none}</style>",
    "${alert(1)}{{alert(1)}}",
    "\ud800 \u202e gnp.exe \x00\x1b[31m",
    "__proto__",
    "a" * 4_000,
]


def poisoned(value: Any, text: str, key: str = "") -> Any:
    """The same with `text` in every string, but for those that hold it together."""
    if isinstance(value, dict):
        return {name: poisoned(item, text, name) for name, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, text, key) for item in value]
    return text if isinstance(value, str) and key not in FIXED else value


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_only_text(browser: Browser, text: str) -> None:
    document = poisoned(documents.everything(), text)
    browser.open(document)
    assert "could not be shown" not in browser.text("main")
    for section in range(len(document["sections"])):
        browser.js(f"document.querySelectorAll('.section')[{section}].scrollIntoView()")
        browser.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    browser.until(lambda: browser.all("[data-row]") or browser.js("scrollTo(0, 0)"))
    assert counted(browser, "img, iframe, object, link, base, form") == 0
    assert (counted(browser, "script"), counted(browser, "style")) == (2, 1)
    assert counted(browser, "a", "!e.href.startsWith(location.href.split('#')[0] + '#')") == 0
    assert counted(browser, "*", "[...e.attributes].some((a) => /^on/.test(a.name))") == 0


def counted(browser: Browser, selector: str, condition: str = "true") -> int:
    """How many elements of a selector fulfil a condition on `e`."""
    number: int = browser.js(f"[...document.querySelectorAll({selector!r})].filter((e) => {condition}).length")
    return number


@pytest.mark.parametrize(
    "to",
    [
        "javascript:alert(1)",
        "https://example.org/",
        "//example.org",
        "talk/1/2",
        "talk/-1",
        "TALK",
        "nowhere",
        "",
        "a b",
        "__proto__",
    ],
)
def test_what_is_no_target_is_no_link(browser: Browser, to: str) -> None:
    table = {**documents.TABLE, "rows": [[{"text": "here", "to": to}, "", 1]]}
    browser.open(documents.page(table, documents.conversation()))
    assert browser.texts("tr[data-table-row] a") == []
    assert browser.text("tr[data-table-row] td") == "here"


@pytest.mark.parametrize(
    "fragment", ["#<img src=x onerror=alert(1)>", "#javascript:alert(1)", "#__proto__/1", "#%", "#talk/999999999999999"]
)
def test_a_hostile_fragment_leads_nowhere(browser: Browser, fragment: str) -> None:
    browser.open(documents.everything(), fragment)
    assert browser.chosen() == 13


@pytest.mark.parametrize(
    "value", [None, 7, [], {}, {"constructor": 1}, {"type": "img", "props": {"src": "x"}}, [["a"]]]
)
def test_values_of_other_types_where_texts_belong_are_no_harm(browser: Browser, value: Any) -> None:
    table = {
        **documents.TABLE,
        "title": value,
        "note": value,
        "rows": [[value, {"text": value, "tone": value, "to": value}, value]],
    }
    browser.open(
        documents.page(table, documents.TEXT, subtitle=value, title=value, verdict={"text": value, "tone": value})
    )
    assert "This command runs the same case again." in browser.text("main")
    assert browser.all("img") == []
