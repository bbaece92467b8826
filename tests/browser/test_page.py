"""The frame of a page: what is seen first, links, sections that are not known or damaged, pages that can't be shown."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue import schemas
from tests.browser import documents
from tests.browser.pages import packed

if TYPE_CHECKING:
    from tests.browser.browser import Browser

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("document", [documents.everything(), documents.page(), documents.large(40)])
def test_documents_of_these_tests_hold_to_the_schema(document: documents.Json) -> None:
    assert schemas.explain(document, "page") == []


def test_the_first_screen_says_verdict_cause_and_first_finding(browser: Browser) -> None:
    browser.open(documents.everything())
    assert browser.js("document.title") == "split_bolt.py"
    assert browser.text(".verdict") == "not conformant"
    assert browser.text(".cause").startswith('It acks tuple "2" twice')
    finding = browser.one(".first-finding")
    assert "ack-twice" in finding.text
    assert finding.rect["y"] + finding.rect["height"] < 900
    assert browser.chosen() == 13
    assert "Settle in one place" in browser.text(".detail")
    assert browser.one("[data-seq='13']").rect["y"] < 900
    assert browser.all("main > h1") == [], "the static part is gone"


def test_every_section_stands_under_its_title(browser: Browser) -> None:
    document = documents.everything()
    browser.open(document)
    assert browser.texts(".section > h2") == [section["title"] for section in document["sections"]]
    assert browser.texts("nav a") == browser.texts(".section > h2")
    assert "could not be shown" not in browser.text("main")


def test_a_link_leads_to_its_section_and_is_the_address(browser: Browser) -> None:
    browser.open(documents.everything())
    browser.click("Cases", "nav")
    browser.until(lambda: browser.js("location.hash") == "#cases")
    browser.until(lambda: 0 <= browser.one("[data-section=cases]").rect["y"] - browser.js("scrollY") < 100)


@pytest.mark.parametrize(("fragment", "chosen"), [("#talk/4", 4), ("#talk/19", 19), ("#talk", 13), ("#nowhere/3", 13)])
def test_a_fragment_opens_the_page_at_its_event(browser: Browser, fragment: str, chosen: int) -> None:
    browser.open(documents.everything(), fragment)
    browser.until_equal(browser.chosen, chosen)


def test_a_fragment_of_an_event_that_is_not_there_says_so(browser: Browser) -> None:
    browser.open(documents.everything(), "#talk/99")
    browser.until_equal(lambda: browser.text(".said"), "There is no event 99 in this conversation.")


def test_the_back_button_leads_back(browser: Browser) -> None:
    browser.open(documents.everything(), "#talk/4")
    browser.click("Show event 13")
    browser.until_equal(browser.chosen, 13)
    browser.driver.back()
    browser.until_equal(browser.chosen, 4)


@pytest.mark.parametrize("kind", ["timeline", "constructor", "__proto__", ""])
def test_an_unknown_type_of_section_is_a_sentence(browser: Browser, kind: str) -> None:
    browser.open(documents.page({"id": "new", "type": kind, "title": "From the future"}, documents.TEXT))
    assert browser.text("[data-section=new] p") == f'This part is of the type "{kind}", which this page cannot show.'
    assert "This command runs the same case again." in browser.text("main")


@pytest.mark.parametrize("index", range(len(documents.everything()["sections"])))
def test_a_damaged_section_is_a_sentence_and_the_others_stay(browser: Browser, index: int) -> None:
    document = deepcopy(documents.everything())
    section = document["sections"][index]
    document["sections"][index] = {key: section[key] for key in ("id", "type", "title")}
    browser.open(document)
    titles = browser.js("[...document.querySelectorAll('.section')].map((e) => e.textContent.includes('could not be'))")
    assert titles == [at == index for at in range(len(document["sections"]))]


def test_events_in_columns_of_different_length_are_a_sentence(browser: Browser) -> None:
    document = documents.page(deepcopy(documents.conversation()))
    document["sections"][0]["events"]["t"].pop()
    browser.open(document)
    assert "the columns of events differ in length" in browser.text("main")


def test_an_empty_document_says_that_there_is_nothing(browser: Browser) -> None:
    browser.open(documents.page())
    assert browser.text("main") == "There is nothing to show: the document has no sections."


def test_an_empty_conversation_says_so(browser: Browser) -> None:
    browser.open(documents.page(documents.Talk().section("talk", "Nothing")))
    assert "Nothing was said." in browser.text("main")
    assert "No findings." in browser.text("main")


@pytest.mark.parametrize(
    ("carried", "reason"),
    [
        ("", "the page carries no document"),
        ("%%%", "correctly encoded"),
        ("AAAA", ""),
    ],
)
def test_a_damaged_page_keeps_its_static_part_and_says_why(browser: Browser, carried: str, reason: str) -> None:
    browser.open(None, carried=carried)
    assert browser.text(".excuse").startswith("Only the summary is shown, because ")
    assert reason in browser.text(".excuse")
    assert browser.text("main > h1") == "The page without its script"


def test_a_document_of_another_format_is_not_guessed_at(browser: Browser) -> None:
    browser.open(None, carried=packed({**documents.page(), "page": "2.0"}))
    assert "its document has the format 2.0, this page shows 1.x" in browser.text(".excuse")


def test_the_page_is_light_or_dark_as_the_user_prefers(browser: Browser) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        browser.show_as(scheme=scheme)
        browser.open(documents.everything())
        ground = browser.js("getComputedStyle(document.body).backgroundColor")
        shades[scheme] = sum(int(part) for part in ground[4:-1].split(","))
    assert shades["light"] > 600
    assert shades["dark"] < 150


@pytest.mark.parametrize("width", [360, 700, 1000, 1600])
def test_no_width_needs_to_be_scrolled_sideways(browser: Browser, width: int) -> None:
    browser.show_as(width=width)
    browser.open(documents.everything())
    browser.js("scrollTo(0, document.body.scrollHeight)")
    browser.until(lambda: browser.all("svg"))
    assert browser.js("document.documentElement.scrollWidth") <= width


PAPER = 718
"""The width of A4 between its margins, in pixels."""
NODES = [{"id": f"n{number}", "label": f"a component of a long name {number}"} for number in range(12)]
EDGES = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(11)]
WIDE = documents.page(
    {"id": "graph", "type": "graph", "title": "Topology", "nodes": NODES, "edges": EDGES, "direction": "LR"}
)
ON_PAPER = {
    "all": documents.everything(),
    "matrix": documents.library_matrix(),
    "audit": documents.audit(),
    "wide": WIDE,
}
CUT = """[...document.querySelectorAll('.table-scroll, .graph')].filter((e) => e.firstElementChild).filter((e) => {
  const inner = e.firstElementChild.getBoundingClientRect(), outer = e.getBoundingClientRect();
  return inner.right > outer.right + 1 || (!e.matches('.many') && inner.bottom > outer.bottom + 1);
}).map((e) => e.getAttribute('aria-label') ?? e.className)"""


@pytest.mark.parametrize("document", ON_PAPER.values(), ids=ON_PAPER)
def test_paper_cuts_nothing_off(browser: Browser, document: documents.Json) -> None:
    browser.show_as(width=PAPER, media="print")
    browser.open(document)
    browser.until(lambda: browser.all("svg, table"))
    assert browser.js(CUT) == []
    assert browser.js("document.documentElement.scrollWidth") <= PAPER
