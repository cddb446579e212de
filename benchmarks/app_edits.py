"""From an edit in the form to the new answer on the screen, in a real browser.

Run ``OMP_NUM_THREADS=1 python benchmarks/app_edits.py``. German Credit (20 raw columns, categories among them) in a
pipeline with gradient boosting of 200 trees of depth 3; ``sev app`` serves it, Chromium shows it. Each edit is an input
event on a field of the form; its time ends in the frame after the one in which the new answer was drawn. ``--mode any``
searches all permitted values, ``--actions`` serves an explainer with a frozen feature and one-way ones. ``--rows
1000000`` measures how long it takes to paint a table of so many rows in Parquet instead.
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sev

#: Targets in milliseconds.
MEDIAN, HIGHEST = 100, 200

EDIT = """
const [feature, value, done] = arguments;
const { app } = document.getElementById("sev").page;
const node = document.querySelector(`[data-feature="${feature}"] .control`);
const field = node.querySelector("input[type=number]") ?? node.querySelector("select");
const begin = performance.now();
const end = () => {
  if (app.session.stale) return;
  handlers.pop();
  const finish = () => done([performance.now() - begin, app.session.answer.milliseconds]);
  requestAnimationFrame(() => requestAnimationFrame(finish));
};
const handlers = window.benchmarkHandlers ??= (() => {
  const kept = [];
  app.on("answer", () => kept.at(-1)?.());
  return kept;
})();
handlers.push(end);
field.value = field.tagName === "SELECT" ? Number(value) % field.options.length : value;
field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input"));
if (!app.session.stale) { handlers.pop(); done(null); }
"""


def make_files(folder: Path, actions: sev.Actions | None, n_rows: int | None = None) -> str:
    """An explainer and a table, of which it returns the name."""
    X, y = sev.datasets.load_german_credit(return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0))
    sev.Explainer(model.fit(X_train, y_train), X_train, y_train, actions=actions).save(folder / "trees.sev")
    if n_rows is None:
        X_test.to_csv(folder / "rows.csv", index=False)
        return "rows.csv"
    X_test.sample(n_rows, replace=True, random_state=0).to_parquet(folder / "rows.parquet", index=False)
    return "rows.parquet"


def start_browser() -> Any:
    """A driver of headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--window-size=1280,900",
    ):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def start_server(folder: Path, table: str) -> tuple[subprocess.Popen[str], str]:
    """The process and its address, once it accepts connections."""
    command = [sys.executable, "-m", "sev.cli", "app", str(folder / "trees.sev"), "--data", str(folder / table)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
    assert found, "the server told no address"
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", int(found[1])), timeout=5).close()
            break
        except OSError:
            time.sleep(0.1)
    return process, found[0]


def measure(driver: Any, address: str, edits: int, mode: str) -> np.ndarray:
    """Milliseconds of each edit, and of these those that the service took."""
    driver.set_script_timeout(60)
    driver.get(address)
    ready = (
        "const session = document.getElementById('sev')?.page?.app.session;"
        "return Boolean(session && session.answer && !session.stale)"
    )
    while not driver.execute_script(ready):
        time.sleep(0.1)
    # the statuses of the table are computed in the background at first
    while "known so far" in driver.execute_script("return document.querySelector('.decisions .note').innerText"):
        time.sleep(0.2)
    driver.execute_script("document.getElementById('sev').page.store.update({mode: arguments[0]})", mode)
    time.sleep(1)
    rng = np.random.default_rng(0)
    numbers = {"duration": (4, 72), "credit_amount": (250, 18000), "age": (19, 75), "installment_rate": (1, 4)}
    choices = ["checking_status", "purpose", "savings", "employment_since", "credit_history"]
    times = []
    while len(times) < edits:
        if rng.random() < 0.7:
            feature = str(rng.choice(list(numbers)))
            value = int(rng.integers(*numbers[feature]))
        else:
            feature, value = str(rng.choice(choices)), int(rng.integers(0, 10))
        found = driver.execute_async_script(EDIT, feature, value)
        if found is not None:
            times.append(found)
        time.sleep(0.15)  # a person who types, and the prices that follow each answer
    return np.array(times)


def measure_paint(driver: Any, address: str, visits: int = 5) -> np.ndarray:
    """Milliseconds until the page is painted, and until the first answer is there, for each visit."""
    times = []
    for _ in range(visits):
        driver.get("about:blank")
        driver.get(address)
        answered = (
            "const page = document.getElementById('sev')?.page; return page?.app.session.answer && performance.now()"
        )
        while not (until := driver.execute_script(answered)):
            time.sleep(0.01)
        paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        times.append((driver.execute_script(paint), until))
    return np.array(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--mode", choices=["reference", "typical", "any"], default="reference")
    parser.add_argument("--actions", action="store_true", help="some features are frozen or go one way only")
    parser.add_argument("--rows", type=int, help="measure the first paint with a table of so many rows")
    given = parser.parse_args()
    actions = sev.Actions(frozen=["age"], decrease=["duration", "credit_amount"]) if given.actions else None
    with tempfile.TemporaryDirectory() as name:
        table = make_files(Path(name), actions, given.rows)
        process, address = start_server(Path(name), table)
        driver = start_browser()
        try:
            if given.rows:
                for paint, answer in measure_paint(driver, address):
                    print(f"painted after {paint:.0f} ms (target 1000), answered after {answer:.0f} ms")
                return
            times = measure(driver, address, given.edits, given.mode)
        finally:
            driver.quit()
            process.terminate()
            process.wait(30)
    for label, column, targets in (
        ("edit to screen", 0, (MEDIAN, HIGHEST)),
        ("of these, the service", 1, (None, None)),
    ):
        middle, high = np.percentile(times[:, column], [50, 95])
        told = f" (targets {targets[0]} and {targets[1]})" if targets[0] else ""
        print(f"{label}: median {middle:.0f} ms, 95 % below {high:.0f} ms{told}, {len(times)} edits, mode {given.mode}")


if __name__ == "__main__":
    main()
