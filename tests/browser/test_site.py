"""The site in a browser: light and dark as is preferred, wide and narrow, and accessible as axe sees it."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_accessible import axe, broken
from tests.command import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.browser import Browser

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
__all__ = ["axe"]

THEME = ("landmark-unique: ", "scrollable-region-focusable: ")
"""The theme's own: two lists in its menu have one name, and code is reached by keys only where there is a mouse."""


PROSE = """(() => {
  const copy = document.querySelector('article').cloneNode(true);
  for (const code of copy.querySelectorAll('pre, code')) code.remove();
  return copy.textContent;
})()"""
"""What an article says outside of code."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, built anew."""
    folder = tmp_path_factory.mktemp("site")
    command = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder))
    subprocess.run(command, cwd=ROOT, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_site_is_accessible(browser: Browser, axe: str, site: str, width: int, scheme: str) -> None:
    browser.show_as(width=width, scheme=scheme)
    for page in ("", "tutorials/hang/", "protocol/bolt/"):
        browser.driver.get(site + page)
        holds(browser, axe, width, scheme)


def test_a_table_breaks_no_option_and_no_page_shows_an_escape(browser: Browser, site: str) -> None:
    browser.show_as(width=390, scheme="light")
    browser.driver.get(f"{site}features-anchors/")
    browser.until(lambda: browser.all("td .option"))
    assert (
        browser.js("[...document.querySelectorAll('td .option')].filter(e => e.getClientRects().length > 1).length")
        == 0
    )
    for page in ("matrix/matrix/", "reference/rules/"):
        browser.driver.get(site + page)
        browser.until(lambda: browser.all("article"))
        assert browser.js(PROSE) not in ("", None)
        assert "\\:" not in browser.js(PROSE)
        assert "\\<" not in browser.js(PROSE)


def holds(browser: Browser, axe: str, width: int, scheme: str) -> None:
    browser.until(lambda: browser.all("article"))
    assert browser.js("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
    assert [each for each in broken(browser, axe) if not each.startswith(THEME)] == []
    assert browser.js("document.documentElement.scrollWidth") <= width
