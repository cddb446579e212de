"""Ranges of curves and networks: every point, the others anywhere in theirs, by the model's own prediction."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import sev

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning"),
]
NUMBERS = ["a", "b", "c", "k"]
ACTIONS = sev.Actions(within={"a": ("-1", "+1.5"), "c": ("-40%", "+10%")})


def table(seed):
    generator = np.random.default_rng(seed)
    rows = pd.DataFrame(generator.normal(size=(240, 3)) * [1, 5, 20] + [0, 10, 100], columns=list("abc"))
    rows["k"] = generator.integers(0, 40, 240)
    rows["job"] = generator.choice(["x", "y"], 240)
    score = np.sin(2 * rows.a) + np.cos(rows.b / 3) + (rows.c - 100) ** 2 / 300 + np.sin(rows.k / 5) + (rows.job == "x")
    return rows, (score + 0.3 * generator.normal(size=240) > 1.7).to_numpy().astype(int)


def encoded(numbers, model=None):
    return make_pipeline(
        make_column_transformer((numbers, NUMBERS), (OneHotEncoder(sparse_output=False), ["job"])),
        model or LogisticRegression(max_iter=2000),
    )


def cubes():
    powers = make_pipeline(StandardScaler(), PolynomialFeatures(3, include_bias=False))
    return make_pipeline(
        make_column_transformer(*((powers, [name]) for name in NUMBERS), (OneHotEncoder(sparse_output=False), ["job"])),
        LogisticRegression(max_iter=2000),
    )


def boosting():
    glassbox = pytest.importorskip("interpret.glassbox")
    return glassbox.ExplainableBoostingClassifier(interactions=0, max_bins=32, outer_bags=1, random_state=0)


def network(*widths, activation="relu"):
    return encoded(StandardScaler(), MLPClassifier(widths, activation=activation, max_iter=300, random_state=0))


def bins():
    return KBinsDiscretizer(6, encode="onehot-dense", quantile_method="averaged_inverted_cdf")


MODELS = {
    "splines": lambda: encoded(make_pipeline(StandardScaler(), SplineTransformer(n_knots=6, degree=3))),
    "linear splines": lambda: encoded(make_pipeline(SimpleImputer(), SplineTransformer(n_knots=5, degree=1))),
    "bins": lambda: encoded(make_pipeline(StandardScaler(), bins())),
    "squares": lambda: encoded(StandardScaler(), GaussianNB()),
    "cubes": cubes,
    "boosting": boosting,
    "network": lambda: network(12),
    "deep network": lambda: network(16, 12, 8),
    "smooth network": lambda: network(10, activation="tanh"),
}
NETWORKS = ("network", "deep network", "smooth network")


def fitted(name, seed=0):
    rows, labels = table(seed)
    model = MODELS[name]().fit(rows, labels)
    return rows, model, sev.Explainer(model, rows, labels, actions=ACTIONS, allow_positive_reference=True)


def points_of(change, is_integer, generator):
    """Corners first, then a dense grid and random values."""
    if change.enough is None:
        return [change.new] * 2, [change.new] * 120
    if isinstance(change.enough, tuple):
        return list(change.enough[:2]) * 2, generator.choice(list(change.enough), 120).tolist()
    low, high = change.enough.low, change.enough.high
    inside = np.concatenate([np.linspace(low, high, 80), generator.uniform(low, high, 40)])
    if is_integer:
        low, high = np.ceil(low), np.floor(high)
        inside = np.clip(np.round(inside), low, high)
    generator.shuffle(inside)
    return [low, high], inside.tolist()


def points_of_ranges(one, number, query, rows, generator):
    """Rows with every changed feature somewhere in its range."""
    changes = one.changes_of(number)
    ends, inside = {}, {}
    for name, change in changes.items():
        assert change.enough is None or change.new in change.enough
        ends[name], inside[name] = points_of(change, rows[name].dtype.kind == "i", generator)
    corners = [dict(zip(changes, values, strict=True)) for values in product(*(ends[name][:2] for name in changes))]
    filled = [{name: inside[name][place] for name in changes} for place in range(120)]
    return pd.DataFrame([{**query, **point} for point in corners + filled]).astype(rows.dtypes.to_dict())


def ranges_of(many, queries):
    return [
        (one, number, query)
        for one, query in zip(many, queries.to_dict("records"), strict=True)
        for number in range(len(one.sets))
    ]


def count_wrong(many, queries, rows, model):
    """Points of all ranges that the model does not take across, and how many features have a range of how many."""
    generator = np.random.default_rng(0)
    points, n_ranges, n_features = [], 0, 0
    for one, number, query in ranges_of(many, queries):
        changes = one.changes_of(number)
        n_features += len(changes)
        n_ranges += sum(change.enough is not None for change in changes.values())
        points.append(points_of_ranges(one, number, query, rows, generator))
    scores = model.predict_proba(pd.concat(points, ignore_index=True))[:, 1]
    return int((scores >= 0.5).sum()), n_ranges, n_features


@pytest.mark.parametrize("name", list(MODELS))
def test_every_point_of_every_range_changes_the_decision(name):
    rows, model, explainer = fitted(name)
    queries = rows.iloc[:50]
    for minimise in ("features", "cost"):
        many = explainer.explain(queries, values="any", minimise=minimise)
        wrong, n_ranges, n_features = count_wrong(many, queries, rows, model)
        assert wrong == 0
        assert n_ranges == n_features
        assert n_features > 8
        if name not in NETWORKS and minimise == "features":
            assert set(many.values_searched) == {"all"}
    widths = [
        change.enough.high - change.enough.low
        for one, number, _ in ranges_of(explainer.explain(queries, values="any"), queries)
        for change in one.changes_of(number).values()
        if isinstance(change.enough, sev.explanations.Interval)
    ]
    assert np.mean(np.array(widths) > 0) > 0.8


@pytest.mark.parametrize("name", ["splines", "bins", "squares"])
def test_ranges_of_one_curve_end_where_the_decision_turns(name):
    """A little beyond an end that is not a limit the model decides as before: the ranges are the widest."""
    rows, model, explainer = fitted(name)
    queries = rows.iloc[:60]
    beyond = []
    for one, number, query in ranges_of(explainer.explain(queries, values="any"), queries):
        for feature, change in one.changes_of(number).items():
            if one.size > 1 or feature in ("job", "k"):
                continue
            enough, little = change.enough, 1e-6 * rows[feature].std()
            if not enough.low_is_limit:
                beyond.append({**query, feature: enough.low - little})
            if not enough.high_is_limit:
                beyond.append({**query, feature: enough.high + little})
    assert len(beyond) > 5
    assert (model.predict_proba(pd.DataFrame(beyond).astype(rows.dtypes.to_dict()))[:, 1] >= 0.5).all()


def test_broken_bounds_are_seen(monkeypatch):
    """Each bound made wrong on purpose gives ranges with points that do not change the decision."""
    from sev.backends.free import _curves, _network_ranges

    reaches = _curves.Piece.reaches
    rows, model, explainer = fitted("splines")
    with monkeypatch.context() as patch:
        patch.setattr(_curves.Piece, "reaches", lambda self, at, level, sign: reaches(self, at, level - 0.3, sign))
        assert count_wrong(explainer.explain(rows[:50], values="any"), rows[:50], rows, model)[0]
    with monkeypatch.context() as patch:
        patch.setattr(_curves, "_fit_piece", lambda *args, fit=_curves._fit_piece: no_turns(fit(*args)))
        rows, model, explainer = fitted("cubes")
        assert count_wrong(explainer.explain(rows, values="any"), rows, rows, model)[0]
    rows, model, explainer = fitted("network")
    with monkeypatch.context() as patch:
        bounds = _network_ranges.bounds_of_margin
        patch.setattr(_network_ranges, "bounds_of_margin", lambda *args: bounds(*args) - 0.3)
        assert count_wrong(explainer.explain(rows[:50], values="any"), rows[:50], rows, model)[0]


def no_turns(piece):
    from dataclasses import replace

    return None if piece is None else replace(piece, turns=np.zeros(0))


def test_what_is_not_known_has_no_range():
    """A function of the user's own may do anything between the values that were seen."""
    rows, labels = table(0)
    waves = FunctionTransformer(np.sin)
    for model in (LogisticRegression(max_iter=2000), MLPClassifier((8,), max_iter=300, random_state=0)):
        fitted_model = encoded(make_pipeline(StandardScaler(), waves), model).fit(rows, labels)
        explainer = sev.Explainer(fitted_model, rows, labels, allow_positive_reference=True)
        many = explainer.explain(rows.iloc[:40], values="any")
        named = {name for one in many if one.size for name in one.enough}
        assert not named & {"a", "b", "c"}
        assert "candidates" in many.values_searched
        assert count_wrong(many, rows.iloc[:40], rows, fitted_model)[0] == 0
