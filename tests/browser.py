"""A real browser for tests: Debian's chromium. A page must neither report an error nor ask the network for anything."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
LOCAL = ("file:", "data:", "blob:", "about:")


class Browser:
    """A browser with one tab. `driver` is selenium's."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, *, dark: bool = False, medium: Literal["screen", "print"] = "screen") -> None:
        """Opens a file as a reader with these settings sees it."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._tell("Emulation.setEmulatedMedia", media=medium, features=[scheme])
        self.driver.get(path.resolve().as_uri())

    def resize(self, width: int, height: int = 900) -> None:
        """Gives the page this many CSS pixels."""
        self._tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def without_scripts(self, off: bool = True) -> None:
        """Takes JavaScript from the pages that are opened from now on, or gives it back."""
        self._tell("Emulation.setScriptExecutionDisabled", value=off)

    def run(self, script: str, *arguments: object) -> Any:
        """The value of a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def picture(self, target: Path, *, whole: bool = True) -> Path:
        """A screenshot as PNG: of the whole page, or of the window."""
        found = self._tell("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        target.write_bytes(base64.b64decode(found["data"]))
        return target

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, and requests that leave the machine, since the last call."""
        found = [f"{line['level']}: {line['message']}" for line in self.driver.get_log("browser")]
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                found += [] if address.startswith(LOCAL) else [f"request: {address}"]
        return found

    def _tell(self, method: str, **parameters: object) -> Any:
        return self.driver.execute_cdp_cmd(method, parameters)


@contextmanager
def started() -> Iterator[Browser]:
    """A browser without a window, gone at the end. Skips the test where there is none."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs chromium and its driver: make tools")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        yield Browser(driver)
    finally:
        driver.quit()


@contextmanager
def watched(browser: Browser) -> Iterator[Browser]:
    """The browser for one test, in the usual size; at its end nothing may have been complained about."""
    browser.resize(1100)
    browser.without_scripts(False)
    browser.complaints()
    yield browser
    assert browser.complaints() == []
