"""The same refused applicants, explained by sev, SHAP, LIME and DiCE: seconds, and features changed until it flips.

``sev.compare_methods`` on one logistic regression over raw German Credit columns, one query at a time, and sev once
more in a batch of all test rows.
"""

import json
import time
import warnings

import pandas as pd

import sev
from sev.demo import train

QUERIES = 12
METHODS = ("sev", "shap-kernel", "lime", "dice")


def seconds_in_batch(explainer: sev.Explainer, rows: pd.DataFrame) -> float:
    """Seconds for one refusal when all rows are explained together."""
    explainer.explain(rows)  # compiled kernels are loaded
    start = time.perf_counter()
    many = explainer.explain(rows)
    return (time.perf_counter() - start) / int((many.sizes >= 1).sum())


def main() -> None:
    warnings.simplefilter("ignore")  # of the peers, about their own dependencies
    model, X_train, X_test, y_train, _ = train()
    queries = X_test[model.predict_proba(X_test)[:, 1] >= 0.5].iloc[:QUERIES]
    lines = sev.compare_methods(model, X_train, y_train, queries, methods=METHODS, max_queries=None)
    by_method = lines.groupby("method", sort=False)
    table = pd.DataFrame(
        {
            "median_ms": 1e3 * by_method["seconds"].median(),
            "mean_features": by_method["flips"].mean(),
            "unflipped": by_method["flips"].apply(lambda flips: flips.isna().sum()),
        }
    )
    batch = 1e3 * seconds_in_batch(sev.Explainer(model, X_train, y_train), X_test)
    table.loc["sev, in batch"] = [batch, *table.loc["sev", ["mean_features", "unflipped"]]]
    table.insert(1, "times_sev", table["median_ms"] / table.loc["sev", "median_ms"])
    print(f"{QUERIES} refused applicants")
    print(table.round(2).to_string())
    print(json.dumps(table.to_dict("index")))


if __name__ == "__main__":
    main()
