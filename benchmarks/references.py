"""References with several rows beside one: clusters, the best of five, and nearest rows, GBDT 200 x 3 on FICO.

Run ``SEV_DATA_HOME=... python benchmarks/references.py``. Seconds of the processor through the public ``explain``, one
thread; each line is divided by the time with one reference in the same run.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _timing import clock
from sklearn.ensemble import GradientBoostingClassifier
from threadpoolctl import threadpool_limits

import sev
from sev.references import Best, Clusters, Nearest

N_ROWS = 3_000
N_BACKGROUND = 100_000


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    X, y = sev.datasets.fetch_heloc(return_X_y=True)
    X = X.astype(float)
    model = GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0).fit(X, y)
    positive = X[model.predict(X) == model.classes_[1]]
    rows = positive.iloc[np.arange(N_ROWS) % len(positive)].reset_index(drop=True)
    explainers = {
        "one reference": sev.Explainer(model, X, y),
        "Clusters(5)": sev.Explainer(model, X, y, reference=Clusters(5)),
        "Best(Clusters(5))": sev.Explainer(model, X, y, reference=Best(Clusters(5))),
        "Nearest()": sev.Explainer(model, X, y, reference=Nearest()),
    }
    one = None
    for name, explainer in explainers.items():
        seconds = clock(lambda explainer=explainer: explainer.explain(rows), 3 if name == "Nearest()" else 7)
        one = one or seconds
        many = explainer.explain(rows)
        print(
            f"{name:20s} {seconds / len(rows) * 1e6:8.1f} us a row {seconds / one:6.2f} times one reference, "
            f"{len(explainer.reference)} rows, mean size {many.mean_size():.2f}"
        )
    rng = np.random.default_rng(0)
    more = X.iloc[rng.integers(0, len(X), N_BACKGROUND)].reset_index(drop=True)
    more = pd.DataFrame(more + rng.normal(0, 0.01, more.shape), columns=X.columns)
    nearest = sev.Explainer(model, more, reference=Nearest())
    seconds = clock(lambda: nearest.explain(rows.iloc[:500]), 2)
    print(f"Nearest() among {len(nearest.reference):,} rows: {seconds / 500 * 1e3:.2f} ms a row")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
