"""A real server and a real browser for the journeys: `sev app` as a person starts it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from page_driver import LABELS, Page, loan_rows, pipeline, served
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import sev


@pytest.fixture(scope="session")
def loan_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two explainers and a table of decisions."""
    folder = tmp_path_factory.mktemp("loans")
    X, y = loan_rows()
    linear = pipeline(LogisticRegression(max_iter=1000)).fit(X, y)
    trees = pipeline(GradientBoostingClassifier(n_estimators=30, max_depth=3, random_state=0)).fit(X, y)
    sev.Explainer(linear, X, y, restricted=["age"], labels=LABELS).save(folder / "loans.sev")
    sev.Explainer(trees, X, y, restricted=["age"], labels=LABELS).save(folder / "trees.sev")
    loan_rows(300, seed=1)[0].to_csv(folder / "applicants.csv", index=False)
    (folder / "codes.json").write_text(
        json.dumps({"duration": {"code": "D01", "text": "Duration of the loan too long"}})
    )
    return folder


@pytest.fixture(scope="session")
def address(loan_files: Path) -> Iterator[str]:
    """One server for all journeys."""
    with served(loan_files / "loans.sev", loan_files / "trees.sev", "--data", loan_files / "applicants.csv") as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all journeys."""
    with chromium() as driver:
        yield driver


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Page]:
    one = Page(browser, address)
    yield one
    one.run("try { localStorage.clear(); sessionStorage.clear() } catch (error) { /* about:blank */ }")
