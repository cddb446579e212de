"""Tree models through the public interface: read, proven, explained, alone and behind encoders."""

import warnings

import numpy as np
import pandas as pd
import pytest
from backends.trees.models import CASES, fitted, with_text
from backends.trees.problems import own_scores
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sev
from sev.exceptions import FallbackWarning, ReferenceWarning
from sev.testing import brute_force


def explainer_of(model, rows, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        return sev.Explainer(model, rows, labels)


@pytest.mark.parametrize("name", CASES)
def test_every_model_is_read_and_its_answers_hold(name):
    case = fitted(name)
    threshold = 0.0 if case.response == "decision_function" else 0.5
    labels = (own_scores(case.model, case.response)(case.rows) >= threshold).astype(int)
    if hasattr(case.model, "classes_"):
        labels = np.asarray(case.model.classes_)[labels]
    explainer = explainer_of(case.model, case.rows, labels)
    assert explainer.backend == "trees"
    many = explainer.explain(case.rows[:60])
    assert set(many.statuses) <= {"optimal", "not_target", "unexplainable"}
    pd.testing.assert_frame_equal(many.to_frame(), explainer.explain(case.rows[:60], n_jobs=2).to_frame())
    for one in many:
        if one.status == "optimal":
            one.verify()


@pytest.mark.parametrize("make", [GradientBoostingClassifier, RandomForestClassifier])
def test_a_pipeline_is_explained_on_its_raw_columns(make):
    frame, labels = with_text(categorical=False)
    encoder = make_column_transformer((OneHotEncoder(), ["c1", "c4"]), remainder="passthrough")
    pipeline = make_pipeline(encoder, make(n_estimators=20, max_depth=4, random_state=0)).fit(frame, labels)
    explainer = explainer_of(pipeline, frame, labels)
    assert explainer.backend == "trees"
    assert explainer.feature_names == tuple(frame.columns)
    reference = explainer.reference.iloc[0]
    compared = 0
    for one, (_, query) in zip(explainer.explain(frame[:40]), frame[:40].iterrows(), strict=True):
        if one.status == "not_target":
            continue

        def crosses(sets, query=query):
            mixed = pd.DataFrame([query.where(~chosen, reference) for chosen in sets]).astype(frame.dtypes)
            return pipeline.predict_proba(mixed)[:, 1] < 0.5

        size, sets = brute_force(crosses, len(frame.columns))
        assert one.size == size
        assert set(one.sets) == {tuple(frame.columns[list(found)]) for found in sets}
        compared += 1
    assert compared > 10


def test_a_model_that_cannot_be_read_is_a_black_box_and_says_why():
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    frame, labels = with_text(categorical=False)
    model = catboost.CatBoostClassifier(
        iterations=10, depth=3, one_hot_max_size=1, cat_features=["c1", "c4"], verbose=0, allow_writing_files=False
    ).fit(frame, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        with pytest.warns(FallbackWarning, match="OnlineCtr"):
            explainer = sev.Explainer(model, frame, labels)
    assert explainer.backend == "black box"
