"""A pipeline's transform is run once for scoring and encoding a row, and only where that changes nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import sev
from sev.exceptions import FallbackWarning

CALLS: list[int] = []


def counted(rows):
    CALLS.append(len(rows))
    return rows


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(3)
    X = pd.DataFrame(generator.normal(size=(300, 4)), columns=list("abcd"))
    y = (X.sum(axis=1) + generator.normal(size=300) > 0).astype(int)
    return X, y


def test_one_row_is_transformed_for_its_score_and_for_the_check_of_its_sets(rows):
    X, y = rows
    model = make_pipeline(FunctionTransformer(counted), StandardScaler(), LogisticRegression()).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    positive = X[model.predict(X) == 1]
    explainer.explain_one(positive.iloc[0])
    CALLS.clear()
    explainer.explain_one(positive.iloc[1])
    assert len(CALLS) == 2


class Cautious(Pipeline):
    """A pipeline that does more than ask its last step."""

    def predict_proba(self, X):
        outputs = super().predict_proba(X)
        lower = outputs[:, 1] * (1 - 1e-13)  # close enough to be read as a logistic regression
        return np.column_stack([1 - lower, lower])


def test_a_pipeline_that_changes_its_outputs_is_asked_itself(rows):
    X, y = rows
    model = Cautious([("scale", StandardScaler()), ("fit", LogisticRegression())]).fit(X, y)
    with pytest.warns(FallbackWarning, match="Cautious overrides `predict_proba` of Pipeline"):
        explainer = sev.Explainer(model, X, y)
    assert explainer.backend == "black box"
    many = explainer.explain(X)
    # the last bit may differ with the rows that a score is computed beside
    np.testing.assert_allclose(many.to_frame()["score"], model.predict_proba(X)[:, 1], rtol=1e-13)


def test_a_mixed_batch_gives_the_scores_of_the_model(rows):
    X, y = rows
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    many = explainer.explain(X)
    # the last bit may differ with the rows that a score is computed beside
    np.testing.assert_allclose(many.to_frame()["score"], model.predict_proba(X)[:, 1], rtol=1e-13)
    alone = [explainer.explain_one(X.iloc[row]).features for row in range(20)]
    assert [many[row].features for row in range(20)] == alone
