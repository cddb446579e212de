"""The pictures of the what-if page, taken in Chromium: ``python docs/pages/what_if.py``.

``sev app`` serves the bundled loan data; one refused applicant, under limits, is shown in light and dark colours and on
a phone, with the curve, the letter and the groups.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

IMAGES = Path(__file__).parents[1] / "images"
SECONDS = 60.0
#: What the page shows: an applicant whose checking account is fixed and whose duration may only fall.
STATE = {
    "row": 26,
    "view": "one",
    "mode": "any",
    "limits": {"checking_status": {"frozen": True}, "duration": {"direction": "down"}},
}
READY = "return document.getElementById('sev')?.dataset.ready === 'true'"
SETTLED = """
const app = document.getElementById("sev").page?.app;
const waits = [...document.querySelectorAll("td, dd, .change")].some((one) => one.innerText.includes("…"));
return Boolean(app?.session.answer && !app.session.stale) && !waits;
"""
HAS_GROUPS = "return document.querySelectorAll('.groups tbody tr').length > 1"


@contextmanager
def served() -> Iterator[str]:
    """The address of ``sev app`` on the bundled data, until the block ends."""
    command = [sys.executable, "-uc", "from sev.cli import main; main()", "app"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise SystemExit("sev app did not start: run `sev app` to see why.")
        yield found[0]
    finally:
        process.terminate()
        process.wait(SECONDS)


@contextmanager
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


class Camera:
    """Opens the page in a state and takes a picture of the window or of a part of it."""

    def __init__(self, driver: Any, address: str) -> None:
        self._driver, self._address = driver, address

    def open(self, state: dict[str, Any], width: int, height: int, theme: str = "light") -> None:
        """Show a state, in a window of this size and in these colours."""
        window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", window)
        colours = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", colours)
        link = base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")
        self._driver.get("about:blank")
        self._driver.get(f"{self._address}#s={link}")
        self._wait(lambda: self._driver.execute_script(READY))
        self._wait(lambda: self._driver.execute_script(SETTLED if state["view"] == "one" else HAS_GROUPS))
        time.sleep(3.0)  # prices of limits, and groups that are not counted yet, come after the answer

    def _wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end:
                raise SystemExit("The page did not answer.")
            time.sleep(0.1)

    def take(self, name: str, selector: str | None = None) -> None:
        """Write a picture of the window, or of one element, with few colours so that it is small."""
        if selector is None:
            content = self._driver.get_screenshot_as_png()
        else:
            element = self._driver.find_element("css selector", selector)
            # the bar at the top would cover a part of it
            self._driver.execute_script("document.querySelector('.top').style.position = 'static'")
            self._driver.execute_script("arguments[0].scrollIntoView()", element)
            content = element.screenshot_as_png
        picture = Image.open(BytesIO(content)).convert("RGB").quantize(128, dither=Image.Dither.NONE)
        picture.save(IMAGES / f"{name}.png", optimize=True)
        print(f"written: {IMAGES / name}.png")


def main() -> None:
    """Take all pictures."""
    with served() as address, browser() as driver:
        camera = Camera(driver, address)
        camera.open(STATE, 1280, 900)
        camera.take("page")
        camera.open(STATE, 1280, 900, "dark")
        camera.take("page_dark")
        camera.open(STATE, 390, 844)
        camera.take("page_phone")
        for tab in ("curve", "letter"):
            camera.open({**STATE, "tab": tab}, 1280, 900)
            camera.take(f"page_{tab}", "section:has(> [role=tablist])")
        camera.open({"view": "groups", "by": "credit_history"}, 1280, 640)
        camera.take("page_groups")


if __name__ == "__main__":
    main()
