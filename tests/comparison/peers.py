"""What the tests of comparisons share: small models whose answers are known, and a skip where a package is absent."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

TEXT = ["colour", "job"]


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [name for name in packages if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {missing}: pip install 'sev[compare]'")


def loans(n_rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], n_rows, p=[0.5, 0.3, 0.2]),
            "age": rng.integers(18, 80, n_rows),
            "income": rng.normal(30.0, 10.0, n_rows),
            "job": rng.choice(["none", "clerk", "smith", "cook"], n_rows),
            "late": rng.integers(0, 4, n_rows),
        }
    )
    signal = (
        (frame["colour"] == "red") * 1.5
        - (frame["job"] == "none") * 2.0
        + (frame["age"] - 45) / 20
        + (frame["income"] - 30) / 10
        + frame["late"] * 0.7
    )
    return frame, (signal + rng.normal(size=n_rows) > 1.2).to_numpy().astype(int)


def stumps(frame: pd.DataFrame, y: np.ndarray, **options) -> object:
    """Trees of one split: the margin is a sum over columns, so an order by contribution is the best there is."""
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), TEXT), remainder="passthrough")
    model = GradientBoostingClassifier(n_estimators=30, max_depth=1, random_state=0, **options)
    return make_pipeline(encode, model).fit(frame, y)


#: Scores of three features that are present or not. Alone, the first matters most; but only without the second is the
#: decision undone.
GAME = {
    (0, 0, 0): 0.0,
    (1, 0, 0): 0.49,
    (0, 1, 0): 0.0,
    (0, 0, 1): 0.0,
    (1, 1, 0): 0.9,
    (1, 0, 1): 0.45,
    (0, 1, 1): 0.5,
    (1, 1, 1): 1.0,
}


def game(rows: np.ndarray) -> np.ndarray:
    return np.array([GAME[tuple(np.asarray(row).round().astype(int).tolist())] for row in rows])
