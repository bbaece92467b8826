"""The page of an audit in a browser: a document that `mlcheck audit run --report html=PATH` made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from multilang_cli.catalogue import schemas
from tests.browser import documents

if TYPE_CHECKING:
    from tests.browser.browser import Browser

pytestmark = pytest.mark.browser

DOCUMENT = documents.audit()


def test_the_page_of_an_audit_shows_all_its_parts(browser: Browser) -> None:
    assert schemas.explain(DOCUMENT, "page") == []
    browser.open(DOCUMENT)
    assert browser.text(".verdict") == "not conformant"
    assert browser.text(".cause").startswith("2 tuples that were settled more than once")
    assert browser.texts(".section > h2") == [section["title"] for section in DOCUMENT["sections"]]
    assert "could not be shown" not in browser.text("main")
    assert "sentences" in browser.text("[data-section=topology]")
    assert "ack-twice" in browser.text("[data-section=dialects]")
