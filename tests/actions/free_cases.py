"""Tables, models and limits for tests of free values."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from actions.naive import spread
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

import sev

NUMBERS = ["b", "d", "e"]


def table(seed):
    generator = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "b": generator.integers(0, 6, 150),
            "d": generator.integers(0, 4, 150).astype(float),
            "e": generator.integers(-2, 3, 150),
            "job": generator.choice(["x", "y", "z"], 150),
        }
    )
    score = rows.b - rows.d + rows.e * generator.normal() + rows.job.map({"x": 1.5, "y": 0.0, "z": -1.5})
    score += generator.normal(size=150) * 0.5
    return rows, (score > score.quantile(0.6)).astype(int).to_numpy()


def encoded(model, numbers=None):
    return make_pipeline(
        make_column_transformer((numbers or StandardScaler(), NUMBERS), (OneHotEncoder(sparse_output=False), ["job"])),
        model,
    )


def bumpy(table):
    """A score without any form that a reader knows."""
    b, d, e = (table[name].to_numpy(dtype=float) for name in NUMBERS)
    margins = np.sin(2 * b) + np.abs(d - 1.5) - 0.4 * e * b + (table["job"] == "x").to_numpy() - 0.6
    return 1 / (1 + np.exp(-margins))


def library(package, name, **options):
    """A model of a package that need not be installed."""
    return getattr(pytest.importorskip(package), name)(**options, random_state=0, n_jobs=1)


class Falling:
    """Fits a model whose score falls where that of the trees inside it rises."""

    def __init__(self, inner):
        self._inner = inner

    def fit(self, rows, labels):
        self._inner.fit(rows, 1 - labels)
        return CalibratedClassifierCV(FrozenEstimator(self._inner)).fit(rows, labels)


MODELS = {
    "linear": lambda: encoded(LogisticRegression(C=3.0)),
    "additive": lambda: encoded(GaussianNB()),
    "bins": lambda: encoded(
        LogisticRegression(), KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
    ),
    "trees": lambda: encoded(GradientBoostingClassifier(n_estimators=12, random_state=0)),
    "forest": lambda: encoded(RandomForestClassifier(7, max_depth=4, random_state=0)),
    "binned trees": lambda: encoded(
        GradientBoostingClassifier(n_estimators=12, random_state=0),
        KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    ),
    "falling": lambda: Falling(encoded(GradientBoostingClassifier(n_estimators=12, random_state=0))),
    "lightgbm": lambda: encoded(library("lightgbm", "LGBMClassifier", n_estimators=9, min_child_samples=5, verbose=-1)),
    "xgboost": lambda: encoded(library("xgboost", "XGBClassifier", n_estimators=9, max_depth=3)),
    "networks": lambda: encoded(MLPClassifier((5,), max_iter=500, tol=1e-2, random_state=0)),
    "function": lambda: bumpy,
}
#: Families in which one feature more seldom costs less.
ADDITIVE = ("linear", "additive", "bins")
#: Families whose search proves a range for every value.
WITH_RANGES = ("linear", "trees", "forest", "falling", "lightgbm", "xgboost")
RULES = {
    "b + d <= 6": lambda row: row["b"] + row["d"] <= 6,
    "job == 'z' -> e <= 0": lambda row: row["job"] != "z" or row["e"] <= 0,
}


def random_entries(generator):
    entries = {"frozen": [], "increase": [], "decrease": [], "within": {}, "allowed": {}, "costs": {}}
    for name in NUMBERS:
        kind = generator.integers(0, 7)
        entries["costs"][name] = float(generator.integers(1, 4)) + 0.001 * float(generator.integers(1, 99))
        if kind == 0:
            entries["frozen"].append(name)
        elif kind in (1, 2):
            entries["increase" if kind == 1 else "decrease"].append(name)
        elif kind == 3:
            entries["within"][name] = ("percent", -50.0, 60.0)
        elif kind == 4:
            entries["within"][name] = ("change", -2.0, 1.0)
        elif kind == 5:
            entries["within"][name] = ("between", 0.0, 2.0)
    entries["allowed"].update(
        [{}, {"job": ["x", "y"]}, {"job": {"x": ["z"], "y": ["x", "z"]}}][generator.integers(0, 3)]
    )
    return entries


def as_actions(entries, rules=()):
    within = {
        name: sev.between(low, high)
        if kind == "between"
        else tuple(f"{end:+}{'%' if kind == 'percent' else ''}" for end in (low, high))
        for name, (kind, low, high) in entries["within"].items()
    }
    return sev.Actions(**{**entries, "within": within}, rules=list(rules))


class Case:
    """A fitted model with limits, and every row that can be made of the values of its table, scored once."""

    def __init__(self, family, seed, with_rules):
        self.rows, self.labels = table(seed)
        self.points, self.model, self.scores = scored_points(family, seed)
        self.entries = random_entries(np.random.default_rng(seed))
        self.rules = list(RULES) if with_rules else []
        records = self.points.to_dict("records") if with_rules else []
        self._kept = {text: np.array([RULES[text](point) for point in records]) for text in self.rules}
        self.explainer = sev.Explainer(
            self.model,
            self.rows,
            self.labels,
            actions=as_actions(self.entries, self.rules),
            allow_positive_reference=True,
        )

    @classmethod
    @cache
    def of(cls, family, seed, with_rules):
        return cls(family, seed, with_rules)

    def within(self, cells):
        """Which of the points have only these values."""
        chosen = [self.points[name].isin(values) for name, values in zip(self.points.columns, cells, strict=True)]
        return np.logical_and.reduce(chosen)

    def crossing(self, query, cells, threshold):
        """The points of these values, and which of them are permitted and across the decision."""
        inside = self.within(cells)
        good = self.scores < threshold
        for text in self.rules:
            if RULES[text](query):
                good &= self._kept[text]
        return self.points[inside], good[inside]


@cache
def fitted(family, seed):
    """The model of a family, fitted on the table of a seed, and the function that scores rows by it."""
    model = MODELS[family]()
    if not hasattr(model, "fit"):
        return model, model
    model = model.fit(*table(seed))
    return model, lambda frame: model.predict_proba(frame)[:, 1]


@cache
def scored_points(family, seed):
    """Every row that can be made of the values of a table, the model fitted on the table, and its scores."""
    rows, _ = table(seed)
    model, score = fitted(family, seed)
    options = [
        sorted(set(rows[name])) if name == "job" else range(int(rows[name].min()), int(rows[name].max()) + 1)
        for name in rows.columns
    ]
    points = pd.DataFrame(list(product(*options)), columns=list(rows.columns)).astype(rows.dtypes.to_dict())
    return points, model, score(points)


def costs_of(rows, query, points, entries):
    """What each point costs, from a query."""
    costs = np.zeros(len(points))
    for name in rows.columns:
        far = (points[name] != query[name]).to_numpy(dtype=float)
        if name != "job":
            far = np.abs(points[name].to_numpy(dtype=float) - query[name]) / spread(rows[name])
        costs += entries["costs"].get(name, 1.0) * far
    return costs
