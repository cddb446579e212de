"""Two threads over one: batches of trees through the public call, and the model's own ``predict_proba`` beside it.

Run ``SEV_DATA_HOME=... OMP_NUM_THREADS=1 python benchmarks/threads.py`` on a machine with two idle cores; ``--rows``
and ``--repeats`` make it shorter, and ``--results FILE`` writes a JSON file. Times are on the wall, the best of a few.

Gradient boosting of scikit-learn holds the GIL for as long as it predicts, and every row and every reported set is
scored by it: the last line shows what two threads make of that part alone, and its share says how much it is.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import _data
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from threadpoolctl import threadpool_limits

import sev


def best_on_the_wall(calls: dict, repeats: int) -> dict[str, float]:
    """Best seconds of each call, all of them in turn."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def in_two_threads(call, rows) -> None:
    """Call with each half of the rows, both at the same time."""
    threads = [threading.Thread(target=call, args=(half,)) for half in np.array_split(rows, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(how: str, n_rows: int, repeats: int) -> dict:
    train, test, labels, _, feature = _data.encoded("FICO")
    model = GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0).fit(train, labels)
    reference = _data.reference(train, labels, feature, how)
    explainer = sev.Explainer(model, train, labels, reference=reference, allow_positive_reference=True)
    assert explainer.backend == "trees", explainer.backend_reason
    positive = test[model.predict_proba(test)[:, 1] >= 0.5]
    rows = positive[np.resize(np.arange(len(positive)), n_rows)]
    explainer.explain(rows[:3000])
    times = best_on_the_wall(
        {
            "explain": partial(explainer.explain, rows),
            "n_jobs=2": partial(explainer.explain, rows, n_jobs=2),
            "two Python threads": partial(in_two_threads, explainer.explain, rows),
            "predict": partial(model.predict_proba, rows),
            "predict in two threads": partial(in_two_threads, model.predict_proba, rows),
        },
        repeats,
    )
    return {
        "reference": how,
        "rows": n_rows,
        "seconds": times["explain"],
        "n_jobs": times["explain"] / times["n_jobs=2"],
        "threads": times["explain"] / times["two Python threads"],
        "predict": times["predict"] / times["predict in two threads"],
        "share_of_model": 2 * times["predict"] / times["explain"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--results", type=Path, help="JSON file to write the figures to")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    lines = []
    for how in ("median", "mean"):
        line = measure(how, options.rows, options.repeats)
        lines.append(line)
        print(f"GBDT 200 x 3, FICO minus {how}, {line['rows']} rows: {line['seconds']:.2f} s in one thread")
        print(f"  two threads over one: n_jobs=2 {line['n_jobs']:.2f}, two Python threads {line['threads']:.2f}")
        print(f"  predict_proba alone {line['predict']:.2f}; two of them are {line['share_of_model']:.0%} of the call")
    if options.results:
        options.results.write_text(json.dumps({"lines": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
