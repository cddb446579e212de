"""Linear models: rows explained per second, as a multiple of one ``predict_proba`` of the same rows; memory for a
million rows.

Run ``python benchmarks/linear.py`` (``--rows``, ``--columns`` to change the table).
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression

import sev


def make(n_rows: int, n_columns: int, seed: int = 0) -> tuple[LogisticRegression, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    weights = rng.normal(size=n_columns)
    y = (X[:20_000] @ weights + 2 * rng.normal(size=min(n_rows, 20_000)) > 0).astype(int)
    return LogisticRegression().fit(X[:20_000], y), X, y


def best_of(call, repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def speed(n_rows: int, n_columns: int) -> list[dict]:
    model, X, y = make(n_rows, n_columns)
    explainer = sev.Explainer(model, X[:20_000], y)
    explainer.explain(X[:10])
    predict = best_of(lambda: model.predict_proba(X))
    calls = {
        "SEV-": lambda: explainer.explain(X),
        "SEV+": lambda: explainer.explain(X, kind="plus"),
        "SEV(R)": lambda: explainer.explain(X, restricted=["x0", "x1", "x2"]),
        "SEV- with the table of all sets": lambda: explainer.explain(X[: n_rows // 10]).to_frame(),
    }
    lines = []
    for name, call in calls.items():
        seconds = best_of(call, 2)
        rows = n_rows // 10 if "table" in name else n_rows
        lines.append(
            {
                "what": name,
                "rows_per_second": rows / seconds,
                "predict_proba_times": seconds / (predict * rows / n_rows),
            }
        )
    return lines


MEMORY = """
import resource, numpy as np, sev
from benchmarks_linear import make
model, X, y = make({rows}, {columns})
explainer = sev.Explainer(model, X[:20_000], y)
explainer.explain(X[:10])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
many = explainer.explain(X)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((X.nbytes + max(0, after - before) * 1024) / X.nbytes)
"""


def memory(n_rows: int, n_columns: int) -> float:
    """Input plus all that explaining adds to the peak, as a multiple of the input; in a process of its own."""
    from pathlib import Path

    code = MEMORY.format(rows=n_rows, columns=n_columns).replace(
        "from benchmarks_linear import make",
        f"import runpy; make = runpy.run_path({str(Path(__file__))!r})['make']",
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--columns", type=int, default=30)
    options = parser.parse_args()
    lines = speed(options.rows, options.columns)
    print(f"{options.rows} x {options.columns}, one process")
    for line in lines:
        times = f"{line['predict_proba_times']:6.1f} x predict_proba"
        print(f"{line['what']:34s} {line['rows_per_second']:>12,.0f} rows/s {times}")
    peak = memory(1_000_000, options.columns)
    print(f"peak memory for a million rows: {peak:.2f} x the input")
    print(json.dumps({"speed": lines, "peak_memory_multiple": peak}))


if __name__ == "__main__":
    main()
