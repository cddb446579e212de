"""Neural networks: the search against the naive one on the same queries, and its peers beside it.

For each data set a Pipeline of one-hot encoder, scaler and a perceptron of two layers of 128 is fitted and its
positives in the test part are explained. *Naive* asks the network for one vertex at a time, on rows that are encoded
already, and stops at the first set that crosses; the search here lists all minimum sets, from raw rows, and proves them
minimal. Both look at sets of up to ``--max-size`` features, so both answer the same question; the answers are compared.
Everything runs on one core, and times are processor times, so that other work on the machine does not count.

Run ``python benchmarks/networks.py``; data sets that are not on this machine are left out.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import sev
from sev import datasets

#: Queries that the naive search answers too: as many as it gets through in about a minute.
QUERIES = {"COMPAS": 400, "German": 60, "Adult": 400, "FICO": 40}

DATA: dict[str, Callable[..., Any]] = {
    "COMPAS": datasets.fetch_compas,
    "German": datasets.load_german_credit,
    "Adult": datasets.fetch_adult,
    "FICO": datasets.fetch_heloc,
}


def fit(X: pd.DataFrame, y: pd.Series) -> Pipeline:
    encoder = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")),
    )
    network = MLPClassifier((128, 128), early_stopping=True, max_iter=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(encoder, network).fit(X, y)


def naive_size(
    network: MLPClassifier, query: np.ndarray, reference: np.ndarray, columns: list[np.ndarray], max_size: int
) -> int | None:
    """SEV- of one encoded row, one prediction at a time."""
    active = [own for own in columns if (query[own] != reference[own]).any()]
    for size in range(1, min(max_size, len(active)) + 1):
        for chosen in combinations(active, size):
            vertex = query.copy()
            for own in chosen:
                vertex[own] = reference[own]
            if network.predict_proba(vertex[None])[0, 1] < 0.5:
                return size
    return None


@contextmanager
def seconds() -> Iterator[list[float]]:
    spent = []
    started = time.process_time()
    yield spent
    spent.append(time.process_time() - started)


def encoded_columns(model: Pipeline, explainer: sev.Explainer) -> list[np.ndarray]:
    """Encoded columns of each feature, by their names."""
    names = [name.split("__", 1)[1] for name in model[0].get_feature_names_out()]
    return [
        np.array([place for place, name in enumerate(names) if name == feature or name.startswith(f"{feature}_")])
        for feature in explainer.feature_names
    ]


def kernel_shap(model: Pipeline, reference: np.ndarray, queries: np.ndarray) -> float | None:
    """Milliseconds a row for KernelSHAP with the same single reference; None when it is not installed."""
    try:
        import shap
    except ModuleNotFoundError:
        return None
    explainer = shap.KernelExplainer(lambda rows: model[-1].predict_proba(rows)[:, 1], reference[None])
    with seconds() as spent:
        explainer.shap_values(queries, silent=True)
    return 1e3 * spent[0] / len(queries)


def dice(model: Pipeline, X: pd.DataFrame, y: pd.Series, queries: pd.DataFrame) -> float | None:
    """Milliseconds a row for one random counterfactual of DiCE; None when it is not installed."""
    try:
        import dice_ml
    except ModuleNotFoundError:
        return None
    numbers = X.select_dtypes("number").columns.tolist()
    data = dice_ml.Data(dataframe=X.assign(outcome=y), continuous_features=numbers, outcome_name="outcome")
    explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random")
    with seconds() as spent, redirect_stderr(StringIO()):  # its progress bars
        for row in range(len(queries)):
            explainer.generate_counterfactuals(
                queries.iloc[[row]], total_CFs=1, desired_class="opposite", random_seed=0, verbose=False
            )
    return 1e3 * spent[0] / len(queries)


def compare(name: str, n_queries: int, max_size: int) -> dict[str, Any]:
    X, y = DATA[name](return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    model = fit(X_train, y_train)
    explainer = sev.Explainer(model, X_train, y_train)
    positive = X_test[model.predict_proba(X_test)[:, 1] >= 0.5]
    queries = positive.iloc[:n_queries]
    explainer.explain(queries.iloc[:2], max_size=1)  # imports
    with seconds() as ours:
        answers = explainer.explain(queries, max_size=max_size)

    encoded, reference = model[0].transform(queries), model[0].transform(explainer.reference)[0]
    columns = encoded_columns(model, explainer)
    with seconds() as naive:
        sizes = [naive_size(model[-1], row, reference, columns, max_size) for row in encoded]
    np.testing.assert_array_equal(np.array(sizes, dtype=float), answers.sizes)

    few = min(5, len(queries))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap_ms = kernel_shap(model, reference, encoded[:few])
        dice_ms = dice(model, X_train, y_train, queries.iloc[:few])
    return {
        "data": name,
        "accuracy": round(model.score(X_test, y_test), 3),
        "queries": len(queries),
        "mean SEV-": round(float(np.nanmean(answers.sizes)), 2),
        "deeper": int(np.isnan(answers.sizes).sum()),
        "ours ms/query": round(1e3 * ours[0] / len(queries), 3),
        "naive ms/query": round(1e3 * naive[0] / len(queries), 1),
        "ours s": round(ours[0], 3),
        "naive s": round(naive[0], 1),
        "naive / ours": round(naive[0] / ours[0]),
        "KernelSHAP ms": None if shap_ms is None else round(shap_ms, 1),
        "DiCE ms": None if dice_ms is None else round(dice_ms, 1),
    }


def memory(name: str) -> pd.DataFrame:
    """Peak memory of deeper and deeper searches of one batch: flat in the number of vertices."""
    X, y = DATA[name](return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=0)
    model = fit(X_train, y_train)
    explainer = sev.Explainer(model, X_train, y_train)
    positive = X_test[model.predict_proba(X_test)[:, 1] >= 0.5].iloc[:60]
    shallow = explainer.explain(positive, max_size=5)
    deep = positive[np.isnan(shallow.sizes)].iloc[:2]
    n_features = len(explainer.feature_names)
    rows = []
    for size in range(1, 9):
        tracemalloc.start()
        with seconds() as spent:
            explainer.explain(deep, max_size=size)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        n_vertices = sum(len(deep) * _choose(n_features, k) for k in range(1, size + 1))
        rows.append(
            {
                "max_size": size,
                "vertices, at most": n_vertices,
                "seconds": round(spent[0], 2),
                "peak MB": round(peak / 1e6, 1),
            }
        )
    return pd.DataFrame(rows)


def _choose(n: int, k: int) -> int:
    result = 1
    for step in range(k):
        result = result * (n - step) // (step + 1)
    return result


def everything(name: str, n_queries: int, time_limit: float) -> dict[str, Any]:
    """All positives up to ``n_queries`` without a limit on size, with a time limit a row."""
    X, y = DATA[name](return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=0)
    model = fit(X_train, y_train)
    explainer = sev.Explainer(model, X_train, y_train)
    positive = X_test[model.predict_proba(X_test)[:, 1] >= 0.5].iloc[:n_queries]
    result: dict[str, Any] = {"data": name, "queries": len(positive)}
    for kind in ("minus", "plus"):
        with seconds() as spent:
            answers = explainer.explain(positive, kind=kind, time_limit=time_limit)
        sign = "-" if kind == "minus" else "+"
        result[f"SEV{sign} mean"] = round(float(np.nanmean(answers.sizes)), 2)
        result[f"SEV{sign} max"] = int(np.nanmax(answers.sizes))
        result[f"SEV{sign} proven"] = int(np.isin(answers.statuses, ["optimal", "unexplainable"]).sum())
        result[f"SEV{sign} ms/query"] = round(1e3 * spent[0] / len(positive), 2)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, help="queries that the naive search answers too, at most")
    parser.add_argument("--max-size", type=int, default=4, help="sets looked at by both searches")
    parser.add_argument("--all-queries", type=int, default=200, help="queries answered without a limit on size")
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds a row there")
    options = parser.parse_args()
    threadpool_limits(1)
    compared, unlimited, deepest = [], [], None
    for name in DATA:
        try:
            compared.append(compare(name, min(QUERIES[name], options.queries or QUERIES[name]), options.max_size))
            unlimited.append(everything(name, options.all_queries, options.time_limit))
            deepest = name
        except datasets.DatasetNotFoundError as error:
            print(f"{name} is left out: {error}")
    with pd.option_context("display.width", 250, "display.max_columns", 30):
        print(f"\nBoth searches, sets of up to {options.max_size} features; sizes are equal on every query")
        print(pd.DataFrame(compared).to_string(index=False))
        print(f"\nAll sizes, all minimum sets, {options.time_limit:g} s a row")
        print(pd.DataFrame(unlimited).to_string(index=False))
        if deepest is not None:
            print(f"\nMemory of two deep rows of {deepest}, by largest size")
            print(memory(deepest).to_string(index=False))


if __name__ == "__main__":
    main()
