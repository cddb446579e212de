"""Every test here has its own home and cache; the published files come from SEV_DATA_HOME, or the test is skipped."""

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

DATA_HOME = os.environ.get("SEV_DATA_HOME")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home without SEV_DATA_HOME; returns the folder that is the cache there."""
    monkeypatch.delenv("SEV_DATA_HOME", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    for variable in ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(home))
    from sev.datasets._home import cache_home

    assert cache_home().is_relative_to(home)
    return cache_home()


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Set SEV_DATA_HOME for good and return the path of a published file; skip where it is absent."""

    def set_home(*files: str) -> Path:
        found = [Path(DATA_HOME, file) for file in files if Path(DATA_HOME, file).is_file()] if DATA_HOME else []
        if not found:
            pytest.skip(f"needs the published data: set SEV_DATA_HOME to a folder with {' or '.join(files)}")
        monkeypatch.setenv("SEV_DATA_HOME", str(DATA_HOME))
        return found[0]

    return set_home


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**kwargs: object) -> None:
        raise AssertionError(f"OpenML was asked: {kwargs}")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)


@pytest.fixture
def n_encoded() -> Callable[[pd.DataFrame], int]:
    """The paper's count: a number is one column, a two-valued text one, an n-valued text n."""

    def count(X: pd.DataFrame) -> int:
        values = [1 if pd.api.types.is_numeric_dtype(X[name]) else X[name].nunique(dropna=False) for name in X]
        return sum(1 if n == 2 else n for n in values)

    return count


@pytest.fixture
def reference() -> Callable[[pd.DataFrame, pd.Series, list[str]], dict[str, object]]:
    """Means (two digits) and modes over the rows of the negative class, as the paper prints them."""

    def compute(X: pd.DataFrame, y: pd.Series, names: list[str]) -> dict[str, object]:
        negative = X.loc[y == 0, names]
        return {
            name: round(column.mean(), 2) if pd.api.types.is_numeric_dtype(column) else column.mode()[0]
            for name, column in negative.items()
        }

    return compute
