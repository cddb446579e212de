"""What tests of the page share: people who ask for a loan, `sev app` as a process, what a person does on the page."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev

READY = "return document.getElementById('sev')?.dataset.ready"


def loan_rows(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """People who ask for a loan, and whether they were refused."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(19, 75, n),
            "duration": rng.integers(4, 72, n),
            "amount": rng.integers(250, 18000, n),
            "income": rng.normal(2500, 800, n).round(0),
            "purpose": rng.choice(["car", "education", "furniture", "repairs"], n),
            "savings": rng.choice(["none", "some", "much"], n),
        }
    )
    risk = (
        0.05 * X["duration"]
        + X["amount"] / 6000
        - X["income"] / 1200
        - 1.2 * (X["savings"] == "much")
        - 0.02 * X["age"]
    )
    return X, (risk + rng.normal(0, 0.3, n) > risk.median()).astype(int).to_numpy()


def pipeline(final: Any) -> Any:
    """A model on raw columns."""
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    return make_pipeline(encode, final)


LABELS = sev.Labels(
    features={
        "age": "the age",
        "duration": "the duration in months",
        "amount": "the amount",
        "income": "the monthly income",
    },
    classes={0: "approved", 1: "refused"},
)


def _wait_until_open(address: str) -> None:
    port = int(address.rstrip("/").rpartition(":")[2])
    end = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            assert time.monotonic() < end, f"{address} does not answer"
            time.sleep(0.05)


@contextmanager
def served(*arguments: str | Path) -> Iterator[str]:
    """The address of a page that `sev app` serves until the block ends."""
    pytest.importorskip("fastapi", reason="the extra app is not installed")
    command = [sys.executable, "-m", "sev.cli", "app", *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()  # the one with the address; what is being loaded goes to stderr
            found = re.search(r"http://\S+", line)
            if found is None:
                messages.seek(0)
                pytest.fail(f"no address: {line}{messages.read()}")
            _wait_until_open(found[0])
            yield found[0]
        finally:
            process.terminate()
            process.wait(120)
            process.stdout.close()


class Page:
    """What a person does on the page, and what they see."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, fragment: str = "", *, width: int = 1280, height: int = 900) -> Page:
        self.driver.set_window_size(width, height)
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(self.address + fragment)
        self.wait(lambda: self.run(READY) == "true", "the page to be ready")
        return self

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: Any, what: str = "", seconds: float = 120) -> Any:
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, f"waited in vain for {what}: {self.text('.sev')[-1500:]}"
            time.sleep(0.03)
        return found

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def texts(self, selector: str) -> list[str]:
        return self.run("return [...document.querySelectorAll(arguments[0])].map(one => one.innerText)", selector)

    def choose(self, selector: str, value: str) -> None:
        self.run(
            "const one = document.querySelector(arguments[0]); one.value = arguments[1];"
            "one.dispatchEvent(new Event('change', {bubbles: true}))",
            selector,
            value,
        )

    def type(self, selector: str, words: str) -> None:
        box = self.find(selector)
        box.clear()
        box.send_keys(words)

    def pick(self, row: int) -> None:
        """Open a row of the table and wait for its answer."""
        self.wait(lambda: self.texts(".option .name"), "the list")
        self.run("document.querySelectorAll('.option')[arguments[0]].click()", row)
        self.settled()

    def settled(self) -> None:
        """Wait until the newest answer is on the screen."""
        self.wait(
            lambda: self.run(
                "const app = document.getElementById('sev').page?.app;"
                "return Boolean(app && app.session.answer && !app.session.stale)"
            ),
            "an answer",
        )

    def state(self) -> dict[str, Any]:
        return self.run("return document.getElementById('sev').page.store.get()")

    def answer(self) -> dict[str, Any]:
        return self.run("return document.getElementById('sev').page.app.session.answer")
