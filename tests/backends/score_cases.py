"""Rows, explainers and a comparison that the tests of scores, labels and decisions share."""

import warnings

import numpy as np
from oracle import assert_equals_oracle

import sev
from sev.exceptions import FallbackWarning


def data(seed=0, n_rows=200, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(2)
    strength = X[:, 0] + 0.7 * X[:, 1] - X[:, 2] + rng.normal(scale=0.7, size=n_rows)
    return X, np.digitize(strength, np.quantile(strength, np.linspace(0, 1, n_classes + 1)[1:-1]))


def explainer_of(model, X, y=None, **options):
    """With whatever reference the model takes; a black box is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        options = {"reference": "median", "allow_positive_reference": True, **options}
        return sev.Explainer(model, X, y, **options)


def compare_with_definition(explainer, X, score, n_rows=10):
    features = {name: (name,) for name in explainer.feature_names}
    many = explainer.explain(X)
    rows = np.flatnonzero(many.statuses != "not_target")[:n_rows]
    assert rows.size
    for row in rows:
        assert_equals_oracle(many[int(row)], lambda frame: score(frame.to_numpy(float)), features)
