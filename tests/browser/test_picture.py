"""The picture of a page in the docs has the words that the page has today."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

import pytest

from tests.command import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.browser import Browser

pytestmark = pytest.mark.browser


def test_the_picture_of_a_page_is_what_chromium_shows(browser: Browser, tmp_path: Path) -> None:
    pictures = runpy.run_path(str(ROOT / ".ci" / "pictures.py"))
    pictures["shown_by"](pictures["PAGE"], tmp_path)
    kept = (pictures["PICTURES"] / "report.txt").read_text(encoding="utf-8")
    for scheme in pictures["SCHEMES"]:
        assert pictures["open_page"](browser, tmp_path / "report.html", scheme) == kept
        assert browser.picture(pictures["QUALITY"])[8:12] == b"WEBP"
