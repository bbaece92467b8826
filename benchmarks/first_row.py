"""How soon a page of 100,000 events shows its first row, in a headless Chromium, beside a page of 20 events."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks.measure import Figure, Result, UnmeasuredError, interleaved
from tests.browser import documents
from tests.browser.browser import Browser
from tests.browser.pages import page_file

EVENTS = 100_000
ROUNDS = 5
MIB = 1024 * 1024
MARK = "performance.getEntriesByName('first-row')[0]?.startTime"
"""The page sets this mark when its first row is about to be painted; in ms since the navigation began."""


def run() -> Result:
    """Measure the first row."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = page_file(folder / "large.html", documents.large(EVENTS))
        small = page_file(folder / "small.html", documents.page(documents.conversation()))
        try:
            browser = Browser(folder)
        except AssertionError as error:
            raise UnmeasuredError(str(error)) from None
        try:
            taken = interleaved(
                ROUNDS, {"large": lambda: shown(browser, large), "small": lambda: shown(browser, small)}
            )
        finally:
            browser.close()
        size = large.stat().st_size / MIB
    rows = max(rows for _, rows in taken["large"])
    seconds, references = ([each for each, _ in taken[side]] for side in ("large", "small"))
    figure = Figure.of_rounds(
        f"first row of {EVENTS:,} events", seconds, "first row of 20 events", references, unit="s", better="lower"
    )
    notes = (
        f"from the start of the navigation, wall time; medians of {ROUNDS} interleaved rounds, the first included",
        f"the large page has {size:.1f} MiB, and {rows} rows in its DOM",
    )
    return Result("first-row", f"Chromium on any of {os.cpu_count()} CPUs", (figure,), notes)


def shown(browser: Browser, page: Path) -> tuple[float, int]:
    """Seconds until the first row, and how many rows then stand in the DOM."""
    browser.driver.get("about:blank")
    browser.driver.get(page.as_uri())
    browser.until(lambda: browser.js(MARK))
    return browser.js(MARK) / 1000, len(browser.seqs())
