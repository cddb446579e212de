"""What happens between a package's answer and the number that is counted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from comparison.peers import loans, needs, stumps

import sev
from sev.comparison import _dice, _shap_tree
from sev.comparison._case import Case
from sev.comparison._coding import Coding
from sev.references import Background, Typical
from sev.space import FeatureSpace, TableForm


@pytest.mark.parametrize(
    ("values", "target", "expected"),
    [
        (np.array([[1.0, 1.0, 1.5]]), 1, [2.0, 1.5]),
        (np.array([[1.0, 1.0, 1.5]]), 0, [-2.0, -1.5]),
        (np.array([[[-1.0, 1.0], [-2.0, 2.0], [-3.0, 3.0]]]), 1, [3.0, 3.0]),
        ([np.array([[-1.0, -2.0, -3.0]]), np.array([[1.0, 2.0, 3.0]])], 0, [-3.0, -3.0]),
    ],
)
def test_values_of_a_block_add_up(values, target, expected):
    case = SimpleNamespace(space=["block", "number"], target_index=target)
    assert _shap_tree._by_feature(case, values, np.array([0, 0, 1])).tolist() == expected


@pytest.mark.parametrize(
    "values", [[0, 1, 1], [5, 5, 5], [0, 1, np.nan], [np.nan, 1, 1], [0, 1, 5], [0, 1, 5, np.nan]], ids=str
)
def test_a_column_is_a_category_where_its_reference_is_one_of_its_values(values):
    frame = pd.DataFrame({"column": np.array(values, dtype=float), "other": np.arange(len(values), dtype=float)})
    form, space = TableForm.of(frame), FeatureSpace.of(frame)
    everywhere = np.ones(len(frame), dtype=bool)
    background = Background(
        rows=frame, negatives=everywhere, form=form, space=space, is_positive=lambda rows: ~everywhere
    )
    reference = Typical("mean").fit(background).rows["column"].iloc[0]
    coded = Coding(form, space, frame, frame)
    assert (0 in coded.categorical) == (reference in values)
    assert coded.decode(coded.queries)["column"].equals(frame["column"])


def test_what_dice_only_rounds_is_the_querys_own_value():
    frame, _ = loans(50)
    query = frame.iloc[[7]].assign(income=61.23456789)
    case = SimpleNamespace(coding=Coding(TableForm.of(frame), FeatureSpace.of(frame), frame, query))
    frames = _dice._Frames(case)
    names = dict(zip(case.coding.names, frames.names, strict=True))
    found = frames.to_frame(case.coding.queries).astype({names["income"]: np.float32})
    found[names["income"]] = 61.23
    found[names["age"]] += 1
    restored = _dice._restore_values(case, frames, 0, found, {names["income"]: 2})
    assert restored["income"].iloc[0] == 61.23456789
    assert restored["age"].iloc[0] == query["age"].iloc[0] + 1
    assert restored["job"].iloc[0] == query["job"].iloc[0]
    found[names["income"]] = 61.3
    assert _dice._restore_values(case, frames, 0, found, {names["income"]: 2})["income"].iloc[0] == 61.3


@needs("lime")
def test_lime_says_the_same_of_a_row_each_time_it_is_asked():
    from sev.comparison import _lime

    frame, y = loans()
    model = stumps(frame, y)
    queries = frame[model.predict(frame) == 1].head(2).reset_index(drop=True)
    explainer = sev.Explainer(model, frame, y)
    case = Case(explainer=explainer, background=frame, labels=y, queries=queries, random_state=0)
    answer = _lime.prepare(case, {"num_samples": 100, "random_state": 0})
    first, other = answer(0).values, answer(1).values
    assert (answer(0).values == first).all()
    assert (first != other).any()


@needs("lime")
def test_weights_of_columns_that_move_together_add_up(monkeypatch):
    from sev.comparison import _lime

    class Counting:
        """Gives the first column the weight 1, the second 2, and so on."""

        base = None

        def __init__(self, *args, **options): ...

        def explain_instance(self, row, predict, **options):
            return SimpleNamespace(local_exp={1: [(place, place + 1.0) for place in range(len(row))]})

    monkeypatch.setattr("lime.lime_tabular.LimeTabularExplainer", Counting)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=["a", "b", "c"])
    explainer = sev.Explainer(
        lambda rows: np.asarray(rows)[:, 0], frame, groups={"ac": ["a", "c"]}, threshold=0.0, reference=[-1.0, 0, 0]
    )
    case = Case(explainer=explainer, background=frame, labels=None, queries=frame.iloc[[0]], random_state=0)
    values = dict(zip(explainer.feature_names, _lime.prepare(case, {})(0).values.tolist(), strict=True))
    weights = dict(zip(case.coding.names, range(1, 4), strict=True))
    assert values == {"ac": weights["a"] + weights["c"], "b": weights["b"]}


def test_scores_are_centred_on_the_threshold():
    X = pd.DataFrame({"x": np.linspace(0.0, 1.0, 11)})
    explainer = sev.Explainer(lambda rows: np.asarray(rows)[:, 0], X, threshold=0.2, reference=[0.0])
    case = Case(explainer=explainer, background=X, labels=None, queries=X, random_state=0)
    centred = case.centred(X)
    assert centred[[0, 2, 10]].tolist() == pytest.approx([0.0, 0.5, 1.0])
    assert (np.diff(centred) > 0).all()


def test_a_column_of_two_values_and_missing_ones_is_a_category_everywhere():
    """The mode is the reference of such a column, and methods of comparison see categories."""
    flags = [0.0, 0.0, 1.0, np.nan] * 10
    rows = pd.DataFrame({"flag": flags, "number": np.arange(40.0)})
    labels = np.arange(40) >= 20
    explainer = sev.Explainer(lambda X: (X["number"] >= 20).to_numpy(dtype=float), rows, labels, reference="mean")
    assert explainer.reference["flag"].tolist() == [0.0]  # a mean would be a third
    coding = Coding(explainer.form, explainer.space, rows, rows[:3])
    assert [coding.names[place] for place in coding.categorical] == ["flag"]
