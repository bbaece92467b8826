"""One Chromium for all tests of the browser; what a page says on the console fails its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.browser import Browser

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("pages"))
    yield started
    started.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    chromium.show_as()
    yield chromium
    assert chromium.take_faults() == []
