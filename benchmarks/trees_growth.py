"""How the search over tree ensembles grows, its worst cases, and how long a process takes to its first answer.

``python benchmarks/trees_growth.py --results FILE.json --picture FILE.svg``; ``--part growth|worst|start`` does one
part and adds it to the file. Made-up data; LightGBM because it trains fast. Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from _timing import clock
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits
from trees import Setting

from sev import Status
from sev.backends.trees._backend import Link, TreeBackend
from sev.backends.trees._encoding import to_numbers
from sev.backends.trees._forest import Tree, build_forest


def rows_and_labels(p: int):
    rng = np.random.default_rng(p)
    rows = rng.normal(size=(3000, p))
    return rows, (rows[:, : min(p, 20)].sum(axis=1) + rng.normal(size=3000) > 0).astype(int)


def train(p: int, n_trees: int, depth: int):
    import lightgbm

    rows, labels = rows_and_labels(p)
    model = lightgbm.LGBMClassifier(
        n_estimators=n_trees, max_depth=depth, num_leaves=2**depth, min_child_samples=5, learning_rate=0.05,
        n_jobs=1, verbose=-1,
    )  # fmt: skip
    return model.fit(rows, labels), rows


def batch(model, rows) -> float:
    """Microseconds a row, for the positive ones among 600, the reference being the median of the negative ones."""
    negative = rows[model.predict_proba(rows)[:, 1] < 0.5]
    setting = Setting(model, rows[:600], np.median(negative, axis=0), np.arange(rows.shape[1]), "minus")
    setting.backend.solve(setting.problem)
    return clock(lambda: setting.backend.solve(setting.problem), 3) / len(setting.rows) * 1e6


def by_size() -> dict:
    """Microseconds a row against SEV: rows further up need larger sets to come down to a reference in the middle."""
    model, rows = train(20, 200, 3)
    reference = np.median(rows[model.predict_proba(rows)[:, 1] < 0.5], axis=0)
    times: dict = {}
    for shift in (0.0, 0.15, 0.3, 0.5, 0.7):
        setting = Setting(model, 0.7 * rows + shift, 0.4 * reference, np.arange(20), "minus")
        sizes = setting.backend.solve(setting.problem).sizes()
        for size in range(1, 13):
            some = np.flatnonzero(sizes == size)
            if some.size < 3:
                continue
            few = np.resize(some, 400)  # the same number for each size, so that the tables are made for all
            problem = replace(
                setting.problem, queries=setting.problem.queries[few], active=setting.problem.active[few],
                evaluate=lambda rows, sets, few=few, setting=setting: setting.evaluate(few[rows], sets),
            )  # fmt: skip
            setting.backend.solve(problem)
            times.setdefault(size, []).append(clock(lambda p=problem, s=setting: s.backend.solve(p), 2) / 400 * 1e6)
    return {size: float(np.median(some)) for size, some in sorted(times.items())}


def growth() -> dict:
    return {
        "trees (depth 3, 20 features)": {n: batch(*train(20, n, 3)) for n in (100, 200, 400, 800, 1600, 3200)},
        "depth (200 trees, 20 features)": {d: batch(*train(20, 200, d)) for d in (2, 3, 4, 6, 8, 10)},
        "features (200 trees, depth 3)": {p: batch(*train(p, 200, 3)) for p in (10, 20, 50, 100, 200)},
        "SEV (200 trees, depth 3, 20 features)": by_size(),
    }


def chain(columns, value: float) -> Tree:
    """``value`` where all columns are above one half."""
    depth = len(columns)
    inner = np.arange(depth)
    left, right = np.full(2 * depth + 1, -1), np.full(2 * depth + 1, -1)
    left[inner], right[inner] = depth + 1 + inner, inner + 1
    values, column = np.zeros(2 * depth + 1), np.zeros(2 * depth + 1, dtype=np.int64)
    values[depth], column[inner] = value, columns
    return Tree(left=left, right=right, column=column, threshold=np.full(2 * depth + 1, 0.5), value=values)


class EqualWeights:
    """Every set of ``size`` of p features crosses and no smaller one; trees that cancel pull the bounds apart."""

    def __init__(self, p: int, size: int, width: int):
        rng = np.random.default_rng(1)
        trees = [chain([column], -1.0) for column in range(p)]
        for _ in range(400):
            some = list(rng.choice(p, width - 1, replace=False))
            last = 0 if width == 3 else int(rng.choice(np.setdiff1d(np.arange(p), some)))
            trees += [chain([*some, last], 0.02), chain(some, -0.02), chain(some, 0.02)]
        forest = build_forest(trees, n_columns=p, base=size - 0.5)
        self.backend = TreeBackend(forest=forest, encoder=to_numbers, link=Link("linear", 1.0), noise=1e-13)

    def predict_proba(self, rows):
        score = self.backend.margins(np.ascontiguousarray(rows, dtype=float)) + 0.5
        return np.column_stack([1 - score, score])


def ending(setting, row: int) -> dict:
    problem = setting.one(row)
    solution = setting.backend.solve(problem)
    seconds = clock(lambda: setting.backend.solve(problem), 1)
    status = Status.from_code(int(solution.status[0]))
    return {"seconds": seconds, "status": str(status), "lower_bound": int(solution.lower_bound[0]),
            "best": int(solution.sizes()[0]) if solution.has_set[0] else None}  # fmt: skip


def worst() -> dict:
    """Seconds of single rows that are made to be hard, and how their search ended."""
    figures = {}
    sizes = [(20, 10, 3), (32, 16, 3), (40, 20, 3), *((p, p // 2, 5) for p in (16, 20, 22, 24, 28))]
    for p, size, width in sizes:
        model = EqualWeights(p, size, width)
        import trees

        known = trees.reader_for
        trees.reader_for = lambda model: lambda model, response: model.backend
        setting = Setting(model, np.zeros((1, p)), np.ones(p), np.arange(p), "minus")
        trees.reader_for = known
        setting.problem = replace(setting.problem, low=-1e-12, high=1e-12)
        figures[f"equal weights, {p} features, {size} needed, cubes of {width}"] = ending(setting, 0)
    rows, labels = rows_and_labels(20)
    model = RandomForestClassifier(100, random_state=0).fit(rows[:2000], labels[:2000])
    scores = model.predict_proba(rows)[:, 1]
    reference = rows[np.where(scores < 0.5, scores, -1).argmax()]
    setting = Setting(model, rows[2000:2300], reference, np.arange(20), "minus")
    ends = [ending(setting, row) for row in range(len(setting.rows))]
    slowest = max(ends, key=lambda end: end["seconds"])
    figures[f"random forest, reference just below the threshold, slowest of {len(ends)} rows"] = slowest
    return figures


FIRST = """
import time; begin = time.process_time(); wall = time.perf_counter()
import numpy as np, pandas, sklearn.ensemble{imports}
rows = np.random.default_rng(0).normal(size=(500, 8)); y = (rows.sum(axis=1) > 0).astype(int)
middle, pause = time.process_time(), time.perf_counter()
model = sklearn.ensemble.GradientBoostingClassifier(n_estimators=20).fit(rows, y)
begin += time.process_time() - middle; wall += time.perf_counter() - pause
{then}
print(time.process_time() - begin, time.perf_counter() - wall)
"""


def start() -> dict:
    """Seconds of processes that import what they need and explain 500 rows; the floor imports and stops."""
    codes = {
        "first": FIRST.format(imports=", sev", then="sev.Explainer(model, rows, y).explain(rows)"),
        "imports_alone": FIRST.format(imports="", then=""),
    }
    # As in an installed package, Python's own bytecode is kept.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    figures: dict = {name: [] for name in codes}
    for _ in range(4):
        for name, code in codes.items():
            out = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            figures[name].append([float(number) for number in out.stdout.split()])
    best = {name: np.min(times, axis=0) for name, times in figures.items()}
    return {
        **{f"{name}_seconds": times[0] for name, times in best.items()},
        **{f"{name}_wall_seconds": times[1] for name, times in best.items()},
    }


def draw(figures: dict, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    fig, axes = plt.subplots(1, len(figures), figsize=(13, 3.4), layout="constrained")
    for axis, (name, points) in zip(axes, figures.items(), strict=True):
        at, values = [float(key) for key in points], list(points.values())
        axis.plot(at, values, marker="o", color="#1f5a8a")
        many = max(at) / min(at) > 12
        axis.set_xscale("log" if many else "linear")
        axis.set_yscale("log" if many or max(values) / min(values) > 50 else "linear")
        axis.set_xticks(at, [f"{number:g}" for number in at])
        if axis.get_yscale() == "log":  # with both, growth in proportion is a straight line
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.set_ylim(min(values) / 2, max(values) * 2)
        else:
            axis.set_ylim(0, None)
        axis.minorticks_off()
        axis.set_xlabel(name.replace(" (", "\n("))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("microseconds a row, in batch")
    fig.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["growth", "worst", "start"], action="append")
    parser.add_argument("--results", type=Path, help="JSON file to add the figures to")
    parser.add_argument("--picture", type=Path, help="where to draw the growth")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    figures = {}
    if options.results and options.results.exists():
        figures = json.loads(options.results.read_text())
    for part in options.part or ["growth", "worst", "start"]:
        figures[part] = {"growth": growth, "worst": worst, "start": start}[part]()
        print(json.dumps({part: figures[part]}, indent=1), flush=True)
        if options.results:
            options.results.write_text(json.dumps(figures, indent=1) + "\n")
    if options.picture and "growth" in figures:
        draw(figures["growth"], options.picture)


if __name__ == "__main__":
    main()
