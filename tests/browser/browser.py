"""A headless Chromium, asked in the words of the tests."""

from __future__ import annotations

import json
import os
import shutil
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.browser.pages import page_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selenium.webdriver.remote.webelement import WebElement

os.environ["SE_OFFLINE"] = "true"

LIMIT = 20
"""Seconds after which something that does not come is missing."""
WATCH = """
window.seen = [];
addEventListener('securitypolicyviolation', (e) => seen.push(`policy: ${e.violatedDirective} ${e.blockedURI}`));
addEventListener('error', (e) => seen.push(`error: ${e.message}`), true);
addEventListener('unhandledrejection', (e) => seen.push(`rejection: ${e.reason}`));
for (const name of ['alert', 'confirm', 'prompt']) window[name] = () => seen.push(name);
"""
"""Runs before the page does: what must not happen is kept in `seen`."""


class Browser:
    """One Chromium, for one page after the other."""

    def __init__(self, folder: Path) -> None:
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        assert chromium, "chromium is not on PATH: start the tests with dev.py"
        assert driver, "chromedriver is not on PATH: start the tests with dev.py"
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.folder = folder
        self._past: list[str] = []
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self._cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def close(self) -> None:
        """End Chromium."""
        self.driver.quit()

    def open(self, document: Any, fragment: str = "", *, carried: str | None = None) -> None:
        """Open the page of `document`, once it shows it; with `carried`, once it says that it can't."""
        path = page_file(self.folder / "page.html", document, carried=carried)
        self._past += self._faults()
        self.driver.get("about:blank")
        self.driver.get(f"{path.as_uri()}{fragment}")
        self.until(lambda: self.all(".page" if carried is None else ".excuse"))

    def show_as(self, width: int = 1280, height: int = 900, scheme: str = "light", media: str = "") -> None:
        """The size of the window in pixels, the colour scheme that is preferred, and `media`: print, or a screen."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._cdp("Emulation.setDeviceMetricsOverride", **size)
        preferred = [{"name": "prefers-color-scheme", "value": scheme}]
        self._cdp("Emulation.setEmulatedMedia", features=preferred, media=media)

    def clipboard(self) -> str:
        """The text that was copied last."""
        self._cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        text: str = self.value_of("navigator.clipboard.readText().then(JSON.stringify)")
        return text

    def picture(self, quality: int) -> bytes:
        """What the window shows, as WebP; `quality` in percent."""
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": quality})
        return b64decode(shot["data"])

    def _cdp(self, command: str, **arguments: Any) -> None:
        self.driver.execute_cdp_cmd(command, arguments)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return self.driver.execute_script(f"return {expression}")

    def value_of(self, script: str) -> Any:
        """The value of what a script promises as JSON, in spite of the page's policy."""
        done = self.driver.execute_cdp_cmd(
            "Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True}
        )
        return json.loads(done["result"]["value"])

    def all(self, selector: str) -> list[WebElement]:
        """All elements of a CSS selector."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        """The first element of a CSS selector, which may be a moment in coming."""
        self.until(lambda: self.all(selector))
        return self.all(selector)[0]

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements of a selector, as they stand in the DOM, in view or not."""
        found: list[str] = self.js(
            f"[...document.querySelectorAll({selector!r})].map((e) => e.textContent.toWellFormed())"
        )
        return found

    def text(self, selector: str) -> str:
        """The text of the first element of a selector, which may be a moment in coming."""
        self.until(lambda: self.texts(selector))
        return self.texts(selector)[0]

    def button(self, label: str, inside: str = "body") -> WebElement:
        """The button, link or summary with this label or accessible name, which may be a moment in coming."""
        try:
            found: WebElement | None = self._wait.until(lambda _: self._button(label, inside))
        except TimeoutException:
            found = None
        assert found is not None, f"no button {label!r} in {inside}"
        return found

    def _button(self, label: str, inside: str) -> WebElement | None:
        for element in self.all(f":is({inside}) :is(button, a, summary, label)"):
            if label in {" ".join(element.text.split()), element.get_attribute("aria-label")}:
                return element
        return None

    def click(self, label: str, inside: str = "body") -> None:
        """Click the button with this label."""
        button = self.button(label, inside)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()

    def click_on(self, selector: str) -> None:
        """Click the first element of a selector."""
        element = self.one(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def type(self, selector: str, text: str) -> None:
        """Type into a field, in place of what stands there."""
        self.one(selector).send_keys(Keys.CONTROL, "a")
        self.one(selector).send_keys(text or Keys.DELETE)

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def until(self, condition: Callable[[], Any]) -> None:
        """Wait for `condition`."""
        self._wait.until(lambda _: condition())

    @property
    def _wait(self) -> WebDriverWait[Any]:
        """A page that is being drawn has what it is asked for not yet, or has just drawn it anew."""
        redrawn = (IndexError, StaleElementReferenceException)
        return WebDriverWait(self.driver, LIMIT, poll_frequency=0.02, ignored_exceptions=redrawn)

    def until_equal(self, ask: Callable[[], Any], wanted: Any) -> None:
        """Wait until `ask` gives `wanted`; else say what it gave last."""
        last: list[Any] = [None]

        def look(_: Any) -> bool:
            last[0] = ask()
            return bool(last[0] == wanted)

        try:
            self._wait.until(look)
        except Exception:
            assert last[0] == wanted
            raise

    def take_faults(self) -> list[str]:
        """What must not happen and did since this was asked last, on all pages."""
        faults, self._past = self._past + self._faults(), []
        return faults

    def _faults(self) -> list[str]:
        """On this page: errors, violations of the policy, dialogs, lines of the console."""
        lines: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [*(self.js("window.seen") or []), *(line["message"] for line in lines)]

    # What a page shows

    def seqs(self) -> list[int]:
        """The events whose rows stand in the DOM, from top to bottom."""
        rows: list[str] = self.js(
            "[...document.querySelectorAll('[data-row]')].sort((a, b) => a.getBoundingClientRect().top"
            " - b.getBoundingClientRect().top).map((e) => e.dataset.seq)"
        )
        return [int(seq) for seq in rows]

    def chosen(self) -> int | None:
        """The event that is chosen, if its row stands in the DOM."""
        seq = self.js("document.querySelector('[data-row].chosen')?.dataset.seq")
        return None if seq is None else int(seq)
