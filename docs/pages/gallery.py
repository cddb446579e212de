"""Draw every picture of the gallery: ``python docs/pages/gallery.py`` writes ``docs/images/*.png``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev import plots
from sev.datasets import load_german_credit

DOCS = Path(__file__).parents[1]
IMAGES = DOCS / "images"
COMPARISON = DOCS / "comparison.md"
MARKS = ("<!-- table of methods -->", "<!-- end -->")
NAMES = {
    "sev": "SEV-",
    "shap-tree": "SHAP-C (tree)",
    "shap-kernel": "SHAP-C (kernel)",
    "lime": "LIME-C",
    "dice": "DiCE (random)",
}
_TEXT = make_column_selector(dtype_exclude="number")


def fitted(X: pd.DataFrame, y: Any, **options: Any) -> Any:
    """A logistic regression on raw rows."""
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), _TEXT), remainder=StandardScaler())
    return make_pipeline(encode, LogisticRegression(max_iter=1000, **options)).fit(X, y)


def decisions() -> Iterator[tuple[str, Any]]:
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


def measured(X_train: pd.DataFrame, X_test: pd.DataFrame, y_train: Any, y_test: Any) -> pd.DataFrame:
    """Accuracy and mean size of a few models."""
    models = {
        f"L1, C = {C:g}": fitted(X_train, y_train, C=C, l1_ratio=1.0, solver="liblinear") for C in (0.1, 0.3, 1.0)
    }
    models["L2, C = 1"] = fitted(X_train, y_train)
    return sev.compare(models, X_test, y_test, X_train=X_train, y_train=y_train, kinds=["minus"])


def regions() -> Iterator[tuple[str, Any]]:
    """Figure 1 of the paper: two features and a line between the classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["debt", "late payments"])
    y = (X["debt"] + 0.8 * X["late payments"] + rng.normal(0, 0.3, 400) > 0.9).astype(int)
    explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    rows = plots.plane({"debt": (-3, 4), "late payments": (-3, 4)}, n=161)
    for kind in ("plus", "minus"):
        yield f"regions_{kind}", plots.regions(explainer.explain(rows, kind=kind))


def methods() -> Iterator[tuple[str, Any]]:
    """SHAP, LIME and DiCE beside the smallest sets, on refusals of boosted trees; the table goes into comparison.md."""
    X, y = load_german_credit(return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), _TEXT), remainder="passthrough")
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0))
    table = sev.compare_methods(model.fit(X_train, y_train), X_train, y_train, X_test, max_queries=40)
    write_table(table)
    table["method"] = table["method"].map(NAMES)
    yield "methods", plots.methods(table)
    yield "flips", plots.flips(table)


def write_table(table: pd.DataFrame) -> None:
    """Put the means of a comparison between the two marks of comparison.md."""
    lines = ["| method | features changed, mean | largest | proven not minimal | no answer | median ms | set-up ms |"]
    lines += ["| --- " * 7 + "|"]
    for method, found in table.groupby("method", sort=False):
        larger = (found["minimal"] == False).fillna(False).mean()  # noqa: E712 - missing is neither
        lines.append(
            f"| {NAMES[method]} | {found['flips'].mean():.2f} | {found['flips'].max():.0f} | {larger:.0%} | "
            f"{found['flips'].isna().mean():.0%} | {1e3 * found['seconds'].median():.1f} | "
            f"{1e3 * found['setup_seconds'].iloc[0]:.0f} |"
        )
    text = COMPARISON.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    COMPARISON.write_text("\n".join([before + MARKS[0], *lines, MARKS[1] + after]), encoding="utf-8")


def main(wanted: list[str]) -> None:
    """Write the images, none of them large; all of them, or ``python docs/pages/gallery.py methods``."""
    IMAGES.mkdir(exist_ok=True)
    groups = {"decisions": decisions, "regions": regions, "methods": methods}
    for name, ax in (picture for group in wanted or groups for picture in groups[group]()):
        path = IMAGES / f"{name}.png"
        ax.figure.savefig(path, dpi=110, metadata={"Software": None})
        plt.close(ax.figure)
        if path.stat().st_size > 120_000:
            raise SystemExit(f"{path} is larger than 120 KB")


if __name__ == "__main__":
    main(sys.argv[1:])
