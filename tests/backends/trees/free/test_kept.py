"""What a search over any values keeps for the next row, and for the ranges of the same row."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sev


@pytest.fixture(scope="module")
def explainer_and_rows():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        {
            "amount": rng.normal(size=300),
            "age": rng.integers(18, 80, size=300),
            "colour": rng.choice(["red", "green", "blue"], size=300),
            "shape": rng.choice(["round", "square"], size=300),
        }
    )
    score = rows["amount"] + rows["age"] / 40 - (rows["colour"] == "red") + (rows["shape"] == "round")
    label = (score > score.median()).astype(int)
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=20, random_state=0)).fit(rows, label)
    return sev.Explainer(model, rows, label), rows


@pytest.fixture
def transforms(explainer_and_rows, monkeypatch):
    """The number of rows of each call of the transformer."""
    explainer, _ = explainer_and_rows
    calls = []
    kind = type(explainer.model[0])
    transform = kind.transform
    monkeypatch.setattr(kind, "transform", lambda self, rows: calls.append(len(rows)) or transform(self, rows))
    return calls


def test_the_ranges_of_a_row_need_no_further_encoding(explainer_and_rows, transforms):
    explainer, rows = explainer_and_rows
    many = explainer.explain(rows, values="any")
    row = int(np.flatnonzero(np.diff(many.answers.offsets) > 1)[0])
    one = explainer.explain(rows.iloc[[row]], values="any")[0]
    transforms.clear()
    alone = [one.enough_of(number) for number in range(len(one.sets))]
    assert transforms == []
    assert alone == [many[row].enough_of(number) for number in range(len(one.sets))]
    assert any(alone)


def test_the_values_of_categories_are_encoded_once_for_all_rows(explainer_and_rows, transforms):
    explainer, rows = explainer_and_rows
    refused = rows[explainer.model.predict(rows) == 1].index.tolist()
    expected = list(explainer.explain(rows.loc[refused[:20]], values="any"))
    ranges = [one.enough for one in expected]
    counts = []
    for place, row in enumerate(refused[:20]):
        transforms.clear()
        one = explainer.explain(rows.loc[[row]], values="any")[0]
        assert set(one.sets) == set(expected[place].sets)
        assert one.enough == ranges[place]
        counts.append(len(transforms))
    # the score of the row, its encoding compared with that, its cells, and the scores of the results
    assert max(counts[1:]) <= 4


def test_rows_with_other_dtypes_are_encoded_anew(explainer_and_rows):
    explainer, rows = explainer_and_rows
    refused = rows[explainer.model.predict(rows) == 1].index[:8]
    plain = explainer.explain(rows.loc[refused], values="any")
    for place, row in enumerate(refused):
        wide = rows.loc[[row]].astype({"age": float})
        one = explainer.explain(wide, values="any")[0]
        assert one.sets == plain[place].sets
        again = explainer.explain(rows.loc[[row]], values="any")[0]
        assert again.sets == plain[place].sets
