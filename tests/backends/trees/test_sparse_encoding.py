"""Encoders of categories that return sparse matrices, as scikit-learn's do by default: trees behind them are read."""

import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sev
from sev.exceptions import FallbackWarning


def test_trees_behind_a_sparse_encoding_are_read_and_proven():
    generator = np.random.default_rng(0)
    rows = pd.DataFrame({"town": generator.choice(list("abcdefgh"), 300), "job": generator.choice(list("uvwxyz"), 300)})
    rows["debt"] = generator.normal(size=300)
    labels = ((rows.debt > 0.2) | rows.town.isin(["a", "b"])).astype(int)
    encoder = make_column_transformer((OneHotEncoder(), ["town", "job"]), remainder="passthrough", sparse_threshold=1.0)
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=8, random_state=0)).fit(rows, labels)
    assert hasattr(model[:-1].transform(rows), "toarray")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        explainer = sev.Explainer(model, rows, labels)
    many = explainer.explain(rows, values="any")
    assert set(many.values_searched) <= {"all"}
    many.verify(explainer)
