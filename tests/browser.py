"""Headless Chromium for tests of pages, or the reason why there is none."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--window-size=1280,900"),
    # containers often have a shared memory that is too small for pictures of a page
    "--disable-dev-shm-usage",
)


@contextmanager
def chromium() -> Iterator[Any]:
    """A driver that logs console messages and requests; skips the test where there is no browser."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver_path = shutil.which("chromedriver")
    if browser is None or driver_path is None:
        pytest.skip("no Chromium: install Debian's packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in _FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield driver
    finally:
        driver.quit()


def open_page(driver: Any, path: Any) -> None:
    """Open a report and wait until its table is there."""
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(path.as_uri())
    wait_for(driver, "return document.documentElement.dataset.ready", "true")


def wait_for(driver: Any, script: str, expected: Any, seconds: float = 120) -> None:
    """Run a script until it returns what is expected."""
    end = time.monotonic() + seconds
    while (found := driver.execute_script(script)) != expected:
        assert time.monotonic() < end, f"{script!r} still gives {found!r}, not {expected!r}"
        time.sleep(0.05)


def requests(driver: Any) -> list[str]:
    """Addresses that the page has asked for since it was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
