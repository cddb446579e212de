"""scikit-learn's own classifiers on numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.draw import Rng, classifier, labels_of, numbers, own_score, split
from contracts.fuzz.recipes._registry import recipe
from contracts.fuzz.setups import Setup
from sklearn import ensemble, linear_model, naive_bayes, svm, tree
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier


def random_groups(rng: Rng, columns: list[Any]) -> dict[str, list[Any]] | None:
    """Sometimes two or three columns that move as one."""
    if len(columns) < 3 or rng.random() < 0.7:
        return None
    chosen = rng.choice(len(columns), int(rng.integers(2, min(4, len(columns)))), replace=False)
    return {"together": [columns[place] for place in sorted(chosen)]}


def on_numbers(rng: Rng, model: Any, rows: np.ndarray, labels: np.ndarray, **known: Any) -> Setup:
    """Fit a model on an array or a DataFrame of numbers."""
    table: Any = rows
    if rng.random() < 0.5:
        table = pd.DataFrame(rows, columns=[f"c{place}" for place in range(rows.shape[1])])
    background, y, queries = split(table, labels)
    columns = list(range(rows.shape[1])) if table is rows else list(table.columns)
    return classifier(
        rng, model.fit(background, y), background, y, queries, groups=random_groups(rng, columns), **known
    )


LINEAR = {
    "logistic": lambda: linear_model.LogisticRegression(),
    "svc": lambda: svm.LinearSVC(random_state=0, max_iter=200),
    "ridge": lambda: linear_model.RidgeClassifier(),
    "sgd": lambda: linear_model.SGDClassifier(random_state=0, max_iter=20),
    "huber": lambda: linear_model.SGDClassifier(loss="modified_huber", random_state=0, max_iter=20),
    "perceptron": lambda: linear_model.Perceptron(random_state=0, max_iter=20),
    "discriminant": lambda: LinearDiscriminantAnalysis(),
    "gaussian": lambda: naive_bayes.GaussianNB(),
    "bernoulli": lambda: naive_bayes.BernoulliNB(),
}

TREES = {
    "tree": lambda: tree.DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: ensemble.RandomForestClassifier(8, max_depth=4, random_state=0),
    "extra": lambda: ensemble.ExtraTreesClassifier(8, max_depth=4, random_state=0),
    "bagging": lambda: ensemble.BaggingClassifier(n_estimators=5, random_state=0),
    "boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0),
    "ada": lambda: ensemble.AdaBoostClassifier(n_estimators=6, random_state=0),
    "hist": lambda: ensemble.HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=3, random_state=0),
}

OTHERS = {
    "neighbours": lambda: KNeighborsClassifier(5),
    "voting": lambda: ensemble.VotingClassifier(
        [("a", naive_bayes.GaussianNB()), ("b", tree.DecisionTreeClassifier(max_depth=3, random_state=0))],
        voting="soft",
    ),
    "quadratic": lambda: QuadraticDiscriminantAnalysis(reg_param=0.5),
    "kernel": lambda: svm.SVC(),
    "network": lambda: MLPClassifier((5,), max_iter=15, random_state=0),
}


def pick(rng: Rng, table: dict[str, Any]) -> Any:
    """A fresh model of a random kind."""
    return table[str(rng.choice(list(table)))]()


@recipe
def linear_models(rng: Rng) -> Setup:
    rows = numbers(rng)
    return on_numbers(rng, pick(rng, LINEAR), rows, labels_of(rng, rows), rounding=1e-9)


@recipe
def tree_models(rng: Rng) -> Setup:
    rows = numbers(rng)
    return on_numbers(rng, pick(rng, TREES), rows, labels_of(rng, rows))


@recipe
def trees_with_missing_values(rng: Rng) -> Setup:
    rows = numbers(rng, missing=0.15)
    model = pick(rng, {name: TREES[name] for name in ("tree", "forest", "hist")})
    return on_numbers(rng, model, rows, labels_of(rng, rows))


@recipe
def other_models(rng: Rng) -> Setup:
    rows = numbers(rng)
    return on_numbers(rng, pick(rng, OTHERS), rows, labels_of(rng, rows), rounding=1e-9)


@recipe
def several_classes(rng: Rng) -> Setup:
    rows = numbers(rng)
    model = pick(rng, {**{name: LINEAR[name] for name in ("logistic", "svc", "gaussian")}, **TREES})
    return on_numbers(rng, model, rows, labels_of(rng, rows, 3), rounding=1e-9, vary_threshold=False)


@recipe
def each_row_as_its_own_class(rng: Rng) -> Setup:
    """Every row is explained, as the class that is predicted for it, against the reference of that class."""
    rows = numbers(rng)
    n_classes = int(rng.choice([2, 3]))
    background, y, queries = split(rows, labels_of(rng, rows, n_classes))
    model = pick(rng, {"logistic": LINEAR["logistic"], "gaussian": LINEAR["gaussian"], **TREES}).fit(background, y)
    by_class = [own_score(model, place, "predict_proba", n_classes) for place in range(n_classes)]
    return Setup(
        model=model,
        background=background,
        y=y,
        queries=queries,
        score=by_class[0],
        by_class=by_class,
        threshold=0.5 if n_classes == 2 else 0.0,
        options={"target": "predicted"},
        rounding=1e-9,
    )


@recipe
def support_vectors_one_against_one(rng: Rng) -> Setup:
    """Decision values of pairs of classes are no scores of classes."""
    rows = numbers(rng)
    labels = labels_of(rng, rows, int(rng.choice([3, 3, 4])))
    background, y, queries = split(rows, labels)
    model = svm.SVC(decision_function_shape="ovo", C=3.0).fit(background, y)
    target = int(rng.integers(len(model.classes_)))

    def score(table: Any) -> np.ndarray:
        return np.where(model.predict(table) == target, 1.0, -1.0)

    return Setup(
        model=model,
        background=background,
        y=y,
        queries=queries,
        score=score,
        threshold=0.0,
        options={"target": target},
        predict=lambda table: model.predict(table) == target,
        decisions_only=True,
    )


@recipe
def integer_weights_and_exact_ties(rng: Rng) -> Setup:
    """Sums of small integers: scores on the threshold are exact whatever the order of the sum."""
    rows = rng.integers(-2, 3, (70, int(rng.integers(2, 7)))).astype(float)
    background, y, queries = split(rows, labels_of(rng, rows))
    model = svm.LinearSVC(random_state=0, max_iter=50).fit(background, y)
    model.coef_ = rng.integers(-2, 3, model.coef_.shape).astype(float)
    model.intercept_ = rng.integers(-1, 2, model.intercept_.shape).astype(float)
    return classifier(rng, model, background, y, queries, free_reference=False, order_tolerance=0.0)


@recipe
def products_beyond_the_largest_float(rng: Rng) -> Setup:
    """A weight times a value overflows, and the model's probability is 0 or 1.

    In one column only: where two overflow in opposite directions, the order of a sum decides about its sign.
    """
    rows = rng.integers(-2, 3, (70, int(rng.integers(2, 5)))).astype(float)
    scale = np.where(np.arange(rows.shape[1]) == rng.integers(rows.shape[1]), 1e200, 1.0)
    background, y, queries = split(rows * scale, labels_of(rng, rows))
    model = linear_model.LogisticRegression(max_iter=20).fit(background / scale, y)
    model.coef_ = rng.integers(1, 3, model.coef_.shape) * np.where(scale > 1, 1e120, 1.0)
    model.intercept_ = np.array([-1.0])
    return classifier(
        rng, model, background, y, queries, free_reference=False, vary_threshold=False, may_fail=True, rounding=1e-9
    )
