"""A small table with every kind of column, and a pipeline on it."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

NUMBERS = ["age", "income"]
TEXTS = ["branch", "home"]


def rows(n_rows=300, seed=0):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": generator.integers(18, 90, n_rows),
            "income": generator.normal(50, 10, n_rows).round(2),
            "branch": generator.choice(["007", "01", "x"], n_rows),
            "home": pd.Categorical(generator.choice(["own", "rent"], n_rows)),
        }
    )
    frame.loc[3, "income"] = np.nan
    return frame


def labels(frame):
    return np.where((frame["age"] > 50) ^ (frame["branch"] == "007"), "refused", "granted")


def pipeline(model=None):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), TEXTS), (numbers, NUMBERS))
    frame = rows()
    return make_pipeline(encode, LogisticRegression() if model is None else model).fit(frame, labels(frame))


def explainer(model=None, **options):
    import sev

    frame = rows()
    return sev.Explainer(pipeline(model), frame, labels(frame), **options)
