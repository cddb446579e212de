"""Small tables for the tests of training."""

from __future__ import annotations

import numpy as np
import pandas as pd


def numbers(n_rows: int = 300, n_columns: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns that all matter, so that a plain model needs several of them."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_columns))
    return rows, (rows.sum(axis=1) + rng.normal(size=n_rows) > 0).astype(int)


def raw(n_rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, text, booleans, categories, a constant and missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "home": rng.choice(["own", "rent", "free"], n_rows),
            "age": rng.integers(18, 80, n_rows),
            "income": np.where(rng.random(n_rows) < 0.1, np.nan, rng.lognormal(3.0, 0.5, n_rows)),
            "member": rng.random(n_rows) < 0.5,
            "region": pd.Categorical(rng.choice(["n", "s", "e", None], n_rows)),
            "constant": 1.0,
        }
    )
    score = (
        (frame["age"] - 50) / 15.0
        - np.nan_to_num(frame["income"] - 22.0) / 10.0
        + frame["member"]
        + (frame["home"] == "rent")
    )
    return frame, (score + rng.normal(size=n_rows) > 0.8).to_numpy().astype(int)
