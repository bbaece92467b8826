"""Accessibility of the pages, as axe finds it: light and dark, wide and narrow."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import documents
from tests.browser.test_kit import SOURCES, npm

if TYPE_CHECKING:
    from tests.browser.browser import Browser

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

AXE = """
axe.run({resultTypes: ["violations"]}).then((found) => JSON.stringify(found.violations.map(
  (each) => `${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`)))
"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, in the version that page_kit names."""
    home = tmp_path_factory.mktemp("axe")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / name, home / name)
    npm(home, "ci", "--ignore-scripts", "--prefer-offline")
    return (home / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def broken(browser: Browser, axe: str) -> Any:
    """The rules of axe that the page breaks, with the elements."""
    return browser.value_of(axe + ";" + AXE)


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")])
def test_pages_are_accessible(browser: Browser, axe: str, width: int, scheme: str) -> None:
    browser.show_as(width=width, scheme=scheme)
    browser.open(documents.everything())
    browser.until(browser.seqs)
    assert broken(browser, axe) == []


@pytest.mark.parametrize("document", [documents.library_matrix(), documents.audit()], ids=["matrix", "audit"])
def test_pages_of_commands_are_accessible(browser: Browser, axe: str, document: documents.Json) -> None:
    browser.show_as(width=390, scheme="dark")
    browser.open(document)
    browser.until(lambda: browser.all("table tbody tr"))
    assert broken(browser, axe) == []


def test_a_printed_page_is_accessible(browser: Browser, axe: str) -> None:
    browser.show_as(width=718, media="print")
    browser.open(documents.everything())
    browser.until(browser.seqs)
    assert broken(browser, axe) == []


def test_what_is_not_accessible_is_found(browser: Browser, axe: str) -> None:
    browser.open(documents.everything())
    browser.js("document.body.append(document.createElement('button'))")
    assert any(each.startswith("button-name: ") for each in broken(browser, axe))
