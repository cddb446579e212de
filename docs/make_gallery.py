"""Draw every picture of the gallery: ``python docs/make_gallery.py`` writes ``docs/images/*.png``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev import plots
from sev.datasets import load_german_credit

IMAGES = Path(__file__).parent / "images"
_TEXT = make_column_selector(dtype_exclude="number")


def fitted(X: pd.DataFrame, y: Any, **options: Any) -> Any:
    """A logistic regression on raw rows."""
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), _TEXT), remainder=StandardScaler())
    return make_pipeline(encode, LogisticRegression(max_iter=1000, **options)).fit(X, y)


def pictures() -> Iterator[tuple[str, Any]]:
    """Names and Axes, one after the other."""
    X, y = load_german_credit(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    explainer = sev.Explainer(fitted(X_train, y_train), X_train, y_train)
    many = explainer.explain(X_test)
    restricted = explainer.explain(X_test, restricted=["checking_status", "age", "personal_status_sex"])
    two = next(one for one in many if one.size == 2)
    yield "changes", two.plot()
    yield "hypercube", two.plot("hypercube")
    yield "score_path", max(many, key=lambda one: one.size or 0).plot("path")
    yield "hypercube_plus", explainer.explain_one(two.query, kind="plus").plot("hypercube")
    yield "sizes", plots.sizes({"all features": many, "three restricted": restricted})
    yield "feature_shares", plots.feature_shares({"all features": many, "three restricted": restricted})
    yield "together", restricted.plot_together()
    yield "flow", plots.flow(many, restricted, labels=("all features", "three restricted"))
    yield "tradeoff", plots.tradeoff(measured(X_train, X_test, y_train, y_test))
    yield from regions()
    table = compared(explainer, many)
    yield "methods", plots.methods(table)
    yield "flips", plots.flips(table)


def measured(X_train: pd.DataFrame, X_test: pd.DataFrame, y_train: Any, y_test: Any) -> pd.DataFrame:
    """Accuracy and mean size of a few models."""
    models = {
        f"L1, C = {C:g}": fitted(X_train, y_train, C=C, l1_ratio=1.0, solver="liblinear") for C in (0.1, 0.3, 1.0)
    }
    models["L2, C = 1"] = fitted(X_train, y_train)
    return pd.DataFrame(
        {
            "accuracy": {name: model.score(X_test, y_test) for name, model in models.items()},
            "mean_size": {
                name: sev.Explainer(model, X_train, y_train).explain(X_test).mean_size()
                for name, model in models.items()
            },
        }
    )


def regions() -> Iterator[tuple[str, Any]]:
    """Figure 1 of the paper: two features and a line between the classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["debt", "late payments"])
    y = (X["debt"] + 0.8 * X["late payments"] + rng.normal(0, 0.3, 400) > 0.9).astype(int)
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    rows = plots.plane({"debt": (-3, 4), "late payments": (-3, 4)}, n=161)
    for kind in ("plus", "minus"):
        yield f"regions_{kind}", plots.regions(explainer.explain(rows, kind=kind))


def compared(explainer: sev.Explainer, many: sev.Explanations, n_queries: int = 10) -> pd.DataFrame:
    """The smallest set beside two ways that people search by hand: the best single step each time, columns in order."""
    lines = []
    for query in np.flatnonzero(many.sizes >= 2)[:n_queries].tolist():
        start = time.perf_counter()
        one = explainer.explain_one(many[query].query)
        lines.append(("SEV", query, one.size, time.perf_counter() - start))
        start = time.perf_counter()
        greedy = one.path_scores(list(one.columns)[:8])
        lines.append(("greedy, 8 columns", query, _first_flip(greedy["positive"]), time.perf_counter() - start))
        start = time.perf_counter()
        mixed = one.vertices(list(one.columns)[:8])
        in_order = [tuple(one.columns)[:n] for n in range(9)]
        steps = mixed.set_index("changed")["positive"].reindex(pd.Index(in_order, tupleize_cols=False))
        lines.append(("columns in order", query, _first_flip(steps), time.perf_counter() - start))
    return pd.DataFrame(lines, columns=["method", "query", "flips", "seconds"])


def _first_flip(positive: pd.Series) -> float:
    crossed = np.flatnonzero(~positive.to_numpy(dtype=bool))
    return float(crossed[0]) if crossed.size else np.nan


def main() -> None:
    """Write the images, none of them large."""
    IMAGES.mkdir(exist_ok=True)
    for name, ax in pictures():
        path = IMAGES / f"{name}.png"
        ax.figure.savefig(path, dpi=110, metadata={"Software": None})
        plt.close(ax.figure)
        if path.stat().st_size > 120_000:
            raise SystemExit(f"{path} is larger than 120 KB")


if __name__ == "__main__":
    main()
