"""What credibility costs beside a plain ``explain``, GBDT 200 x 3 on FICO with an isolation forest of 100 trees.

Run ``SEV_DATA_HOME=... python benchmarks/credibility.py``. Seconds of the processor through the public ``explain``, one
thread; each line is divided by the time of a plain ``explain`` in the same run. The median is over calls of 20 rows
each. "listed" is the same search without the forest's own bound: sets that cross are listed size by size and measured
one by one.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
from _timing import clock
from sklearn.ensemble import GradientBoostingClassifier
from threadpoolctl import threadpool_limits

import sev

N_ROWS = 2_000
N_LISTED = 200


class Listed:
    """The default measure as a function, of which no bound is known."""

    def __init__(self, explainer: sev.Explainer) -> None:
        self._credibility = explainer.tasks[0].fitted_credibility

    def __call__(self, rows):
        """How ordinary rows are."""
        measure = self._credibility.measure
        return measure.ordinariness(measure.encode(rows))


def report(name: str, seconds: float, plain: float, many: sev.Explanations) -> None:
    """Print one line, for the time that all rows would take."""
    more = np.mean(many.sizes > many.sizes_without_limit)
    sizes = f"{np.nanmean(many.sizes):.2f} instead of {np.nanmean(many.sizes_without_limit):.2f}"
    undecided = np.mean(np.isin(many.statuses, ["undecided", "feasible"]))
    print(
        f"{name:27s}{seconds / N_ROWS * 1e6:9.1f} us a row {seconds / plain:6.1f} times; mean size {sizes}, larger for "
        f"{more:.0%}, not proven {undecided:.1%}",
        flush=True,
    )


def median_of_calls(explainer: sev.Explainer, rows: pd.DataFrame, n_rows: int = 20) -> float:
    """Median seconds a row of many calls with few rows each."""
    parts = [rows.iloc[first : first + n_rows] for first in range(0, len(rows), n_rows)]
    return (
        float(np.median([clock(lambda part=part: explainer.explain(part, min_credibility=0.05), 1) for part in parts]))
        / n_rows
    )


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    X, y = sev.datasets.fetch_heloc(return_X_y=True)
    X = X.astype(float)
    model = GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0).fit(X, y)
    explainer = sev.Explainer(model, X, y)
    rows = X[model.predict(X) == model.classes_[1]].iloc[:N_ROWS]
    plain = clock(lambda: explainer.explain(rows), 5)
    print(f"plain explain              {plain / len(rows) * 1e6:9.1f} us a row")
    begin = time.process_time()
    explainer.tasks[0].fitted_credibility  # noqa: B018
    print(f"fitting the isolation forest {time.process_time() - begin:.2f} s, once")
    seconds = clock(lambda: explainer.explain(rows).credibilities, 3)
    print(f"with credibilities         {seconds / len(rows) * 1e6:9.1f} us a row {seconds / plain:6.1f} times")
    for least in (0.01, 0.05, 0.1, 0.25, 0.5):
        seconds = clock(lambda least=least: explainer.explain(rows, min_credibility=least), 3 if least <= 0.05 else 1)
        many = explainer.explain(rows, min_credibility=least)
        report(f"min_credibility={least:g}", seconds, plain, many)
    print(f"min_credibility=0.05, median {median_of_calls(explainer, rows) * 1e6:7.1f} us a row")
    listed = sev.Explainer(model, X, y, credibility=Listed(explainer))
    some = rows.iloc[:N_LISTED]
    for least in (0.05, 0.1):
        seconds = clock(lambda least=least: listed.explain(some, min_credibility=least), 1)
        many = listed.explain(some, min_credibility=least)
        report(f"listed, {least:g}", seconds * N_ROWS / N_LISTED, plain, many)
    for order in ("closest", "credible"):
        seconds = clock(lambda order=order: explainer.explain(rows, order=order), 3)
        print(f"order={order:20s} {seconds / len(rows) * 1e6:9.1f} us a row {seconds / plain:6.1f} times")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
