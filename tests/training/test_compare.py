"""Models side by side."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from training.tables import numbers

import sev
from sev.exceptions import InputError


def fitted(**options):
    rows, labels = numbers()
    return LogisticRegression(**options).fit(rows, labels), rows, labels


def test_figures_are_those_of_scikit_learn_and_the_explainer():
    model, rows, labels = fitted()
    line = sev.compare({"it": model}, rows, labels).loc["it"]
    scores = model.predict_proba(rows)[:, 1]
    assert line["accuracy"] == model.score(rows, labels)
    assert line["auc"] == roc_auc_score(labels, scores)
    assert line["brier"] == brier_score_loss(labels, scores)
    assert line["positive_rate"] == model.predict(rows).mean()
    explainer = sev.Explainer(model, rows, labels, reference="mean")
    for kind in ("plus", "minus"):
        explained = explainer.explain(rows, kind=kind)
        assert line[f"sev_{kind}"] == explained.mean_size()
        assert line[f"share_of_one_{kind}"] == pytest.approx(explained.summary()["share_of_one"])


def test_restricted_features_add_their_own_columns():
    model, rows, labels = fitted()
    line = sev.compare({"it": model}, rows, labels, restricted=["x0", "x1"], kinds=["minus"]).loc["it"]
    explained = sev.Explainer(model, rows, labels, reference="mean").explain(rows, restricted=["x0", "x1"])
    assert line["sev_restricted"] == explained.mean_size("all_features")
    assert line["unexplainable_restricted"] > 0.0
    assert line["sev_minus"] < line["sev_restricted"]
    assert "sev_plus" not in line


def test_a_positive_reference_leaves_no_sev_plus():
    model, rows, labels = fitted()
    model.intercept_ = model.intercept_ + 10.0
    line = sev.compare({"it": model}, rows, labels).loc["it"]
    assert np.isnan(line["sev_plus"])
    assert line["reference_score"] > 0.5


def test_nobody_positive():
    model, rows, labels = fitted()
    model.intercept_ = model.intercept_ - 100.0
    line = sev.compare({"it": model}, rows, labels).loc["it"]
    assert line["positive_rate"] == 0.0
    assert np.isnan(line["sev_minus"])


def test_the_background_may_be_another():
    model, rows, labels = fitted()
    other = sev.compare({"it": model}, rows[:100], labels[:100], X_train=rows, y_train=labels)
    own = sev.compare({"it": model}, rows[:100], labels[:100])
    assert other.loc["it", "reference_score"] != own.loc["it", "reference_score"]


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [({}, {}, "no models to compare"), (None, {"kinds": ["both"]}, "kinds"), (None, {"X_train": [[0.0] * 4]}, "both")],
)
def test_wrong_use_is_refused(models, options, message):
    model, rows, labels = fitted()
    with pytest.raises(InputError, match=message):
        sev.compare({"it": model} if models is None else models, rows, labels, **options)


def test_rows_and_labels_must_have_the_same_length():
    model, rows, labels = fitted()
    with pytest.raises(InputError, match="has 300 rows but y has 299: they must have the same length"):
        sev.compare({"it": model}, rows, labels[:-1], X_train=rows, y_train=labels)
