"""Tree ensembles: the search against a naive one, SHAP, LIME and DiCE, on the same rows, in one process and one thread.

Run ``SEV_DATA_HOME=... python benchmarks/trees.py``; ``--quick`` leaves out what takes minutes (LightGBM, forests, and
the peers that are asked one row at a time). Prints a table, the growth with each dimension, and JSON. Times are
microseconds a row unless they say otherwise; packages that are not installed leave their columns empty.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from itertools import combinations
from math import comb

import _data
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

import sev
from sev.backends._band import decision_band
from sev.backends._registry import reader_for
from sev.search import Limits, Problem

DEPTH = 6  # where the naive searches give up
NAIVE_SECONDS = 20.0  # for one query, then it is cut


def clock(call, repeats: int = 5) -> float:
    """Best time of some calls, in seconds of the processor: on an idle machine the same as on the wall."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


class Setting:
    """One model, one reference, the positive rows, and the problem as the solver sees it."""

    def __init__(self, model, rows, reference, feature, kind):
        scores = model.predict_proba(rows)[:, 1]
        self.model, self.reference, self.kind, self.feature = model, reference, kind, feature
        self.rows = np.ascontiguousarray(rows[scores >= 0.5])
        self.backend = reader_for(model)(model, "predict_proba")
        encoded, other = self.backend.encode(self.rows), self.backend.encode(reference[None])[0]
        n_features = int(feature.max()) + 1
        active = np.zeros((len(encoded), n_features), dtype=bool)
        for column in range(encoded.shape[1]):
            active[:, feature[column]] |= encoded[:, column] != other[column]
        low, high = decision_band(self.backend.scores, 0.5, self.backend.score_tolerance)
        sign = -1 if kind == "minus" else 1
        self.problem = Problem(
            kind=kind, direction=sign, low=low, high=high, queries=encoded, reference=other, column_feature=feature,
            active=active, evaluate=self.evaluate, is_across=self.is_across, across_sign=sign, limits=Limits(),
        )  # fmt: skip

    def vertices(self, rows, sets):
        inside = sets[:, self.feature] == (self.kind == "minus")
        return np.where(inside, self.reference, self.rows[rows])

    def evaluate(self, rows, sets):
        return self.model.predict_proba(self.vertices(rows, sets))[:, 1]

    def is_across(self, scores):
        return scores < 0.5 if self.kind == "minus" else scores >= 0.5

    def one(self, row):
        return replace(
            self.problem,
            queries=self.problem.queries[row : row + 1],
            active=self.problem.active[row : row + 1],
            evaluate=lambda rows, sets: self.evaluate(rows + row, sets),
        )


def naive(setting, row, *, batched: bool) -> float:
    """Seconds of a search level by level: one prediction for each vertex, or one for each level in chunks."""
    features = np.flatnonzero(setting.problem.active[row])
    begin = time.perf_counter()
    for size in range(1, min(DEPTH, features.size) + 1):
        found = False
        chunk = 20_000 if batched else 1
        candidates = combinations(features, size)
        for first in range(0, comb(features.size, size), chunk):
            taken = [next(candidates) for _ in range(min(chunk, comb(features.size, size) - first))]
            sets = np.zeros((len(taken), setting.problem.n_features), dtype=bool)
            sets[np.arange(len(taken))[:, None], np.array(taken)] = True
            found |= bool(setting.is_across(setting.evaluate(np.full(len(taken), row), sets)).any())
            if time.perf_counter() - begin > NAIVE_SECONDS:
                return time.perf_counter() - begin
        if found:
            break
    return time.perf_counter() - begin


def ours(setting) -> dict:
    solve = setting.backend.solve
    solution = solve(setting.problem)
    singles = []
    for row in range(min(len(setting.rows), 1500)):
        problem = setting.one(row)
        singles.append(clock(lambda problem=problem: solve(problem), 2))
    sizes = solution.sizes()
    return {
        "rows": len(setting.rows),
        "mean_sev": float(sizes[sizes > 0].mean()),
        "largest_sev": int(sizes.max()),
        "unexplainable": int((sizes < 0).sum()),
        "sev_batch": clock(lambda: solve(setting.problem), 7) / len(setting.rows) * 1e6,
        "sev_one": float(np.median(singles)) * 1e6,
        "sev_slowest_ms": float(max(singles)) * 1e3,
        "by_size": {
            int(size): float(np.median(np.array(singles)[sizes[: len(singles)] == size])) * 1e6
            for size in np.unique(sizes[: len(singles)])
            if size > 0
        },
    }


def whole_call(setting, train, labels) -> float:
    """The public call, with the model's own scores of rows and of every set that is reported."""
    names = [f"x{column}" for column in range(train.shape[1])]
    blocks = {f"feature {n}": np.array(names)[setting.feature == n].tolist() for n in np.unique(setting.feature)}
    groups = {name: columns for name, columns in blocks.items() if len(columns) > 1}
    explainer = sev.Explainer(
        setting.model, train, labels, reference=setting.reference, groups=groups, allow_positive_reference=True
    )
    assert explainer.backend == "trees", explainer.backend_reason
    return clock(lambda: explainer.explain(setting.rows, kind=setting.kind), 3) / len(setting.rows) * 1e6


def by_shap(setting, few: int) -> dict:
    try:
        import shap
    except ImportError:
        return {}
    background = setting.reference[None]
    figures = {}
    try:
        tree = shap.TreeExplainer(setting.model, background, feature_perturbation="interventional")
        figures["shap_batch"] = clock(lambda: tree.shap_values(setting.rows, check_additivity=False), 3)
        figures["shap_batch"] *= 1e6 / len(setting.rows)
        one = [
            clock(lambda row=row: tree.shap_values(setting.rows[row : row + 1], check_additivity=False), 1)
            for row in range(min(50, len(setting.rows)))
        ]
        figures["shap_one"] = float(np.median(one)) * 1e6
        path = shap.TreeExplainer(setting.model, feature_perturbation="tree_path_dependent")
        sample = setting.rows[:200]
        figures["shap_path"] = clock(lambda: path.shap_values(sample, check_additivity=False), 1) / len(sample) * 1e6
    except Exception as error:
        print(f"SHAP: {error}", file=sys.stderr)
    if few:
        kernel = shap.KernelExplainer(lambda rows: setting.model.predict_proba(rows)[:, 1], background)
        times = [clock(lambda row=row: kernel.shap_values(setting.rows[row], silent=True), 1) for row in range(few)]
        figures["kernel_shap"] = float(np.median(times)) * 1e6
    return figures


def by_lime(setting, train, few: int) -> dict:
    try:
        from lime.lime_tabular import LimeTabularExplainer
    except ImportError:
        return {}
    explainer = LimeTabularExplainer(train[:5000], discretize_continuous=False, random_state=0)
    times = [
        clock(lambda row=row: explainer.explain_instance(setting.rows[row], setting.model.predict_proba), 1)
        for row in range(few)
    ]
    return {"lime": float(np.median(times)) * 1e6}


def by_dice(setting, train, labels, few: int) -> dict:
    try:
        import dice_ml
    except ImportError:
        return {}
    import pandas as pd

    names = [f"x{column}" for column in range(train.shape[1])]
    frame = pd.DataFrame(train[:3000], columns=names).assign(y=labels[:3000])

    class OnNames:
        def predict_proba(self, rows):
            return setting.model.predict_proba(np.asarray(rows, dtype=float))

        def predict(self, rows):
            return self.predict_proba(rows).argmax(axis=1)

    data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="y")
    explainer = dice_ml.Dice(data, dice_ml.Model(model=OnNames(), backend="sklearn"), method="random")
    times = []
    for row in range(few):
        query = pd.DataFrame(setting.rows[[row]], columns=names)
        try:
            times.append(
                clock(lambda q=query: explainer.generate_counterfactuals(q, 1, desired_class=0, verbose=False), 1)
            )
        except Exception as error:
            print(f"DiCE: {error}", file=sys.stderr)
    return {"dice": float(np.median(times)) * 1e6} if times else {}


def measure(name, what, kind, how, quick: bool, models: dict) -> dict:
    train, test, labels, _, feature = _data.encoded(name)
    if (name, what) not in models:
        models[name, what] = fit(what, train, labels)
    model = models[name, what]
    setting = Setting(model, test[:6000], _data.reference(train, labels, feature, how), feature, kind)
    line = {"data": name, "model": what, "kind": kind, "reference": how, **ours(setting)}
    line["explain"] = whole_call(setting, train, labels)
    line["predict_row"] = clock(lambda: model.predict_proba(setting.rows)) / len(setting.rows) * 1e6
    line |= by_shap(setting, 0 if quick else 3)
    sample = np.linspace(0, len(setting.rows) - 1, 4 if quick else 12).astype(int)
    line["naive_ms"] = float(np.mean([naive(setting, row, batched=False) for row in sample])) * 1e3
    line["level_ms"] = float(np.mean([naive(setting, row, batched=True) for row in sample])) * 1e3
    line["naive_ratio"] = (
        line["naive_ms"]
        * 1e3
        / np.mean([clock(lambda row=row: setting.backend.solve(setting.one(row)), 3) * 1e6 for row in sample])
    )
    if not quick:
        line |= by_lime(setting, train, 3) | by_dice(setting, train, labels, 2)
    return line


def fit(what, train, labels):
    train, labels = train[:40_000], labels[:40_000]
    if what == "GBDT 200 x 3":
        return GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0).fit(train, labels)
    if what == "RandomForest 100":
        return RandomForestClassifier(100, random_state=0).fit(train, labels)
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=1000, num_leaves=31, n_jobs=1, verbose=-1).fit(train, labels)


COLUMNS = {
    "sev_batch": "sev batch", "explain": "explain()", "sev_one": "sev one", "sev_slowest_ms": "slowest ms",
    "predict_row": "predict", "shap_batch": "shap batch", "shap_one": "shap one", "shap_path": "shap path",
    "kernel_shap": "kernelshap", "lime": "lime", "dice": "dice", "naive_ms": "naive ms", "level_ms": "levels ms",
    "naive_ratio": "naive/sev",
}  # fmt: skip


def show(line) -> None:
    head = f"{line['data']:9s}{line['model']:17s}{line['kind']:6s}{line['reference']:7s}{line['rows']:6d}"
    cells = "".join(f"{line[key]:11.1f}" if key in line else f"{'':11s}" for key in COLUMNS)
    print(f"{head}{line['mean_sev']:6.2f}{line['largest_sev']:4d}{line['unexplainable']:5d}{cells}", flush=True)


def growth() -> dict:
    """Time a row, in batch, along each dimension, on made-up data; LightGBM because it trains fast."""
    try:
        import lightgbm
    except ImportError:
        return {}

    def rows_and_labels(p):
        rng = np.random.default_rng(p)
        rows = rng.normal(size=(3000, p))
        return rows, (rows[:, : min(p, 20)].sum(axis=1) + rng.normal(size=3000) > 0).astype(int)

    def measure_one(model, rows):
        negative = rows[model.predict_proba(rows)[:, 1] < 0.5]
        setting = Setting(model, rows[:600], np.median(negative, axis=0), np.arange(rows.shape[1]), "minus")
        setting.backend.solve(setting.problem)
        return clock(lambda: setting.backend.solve(setting.problem), 3) / len(setting.rows) * 1e6

    def train(p, n_trees, depth):
        rows, labels = rows_and_labels(p)
        model = lightgbm.LGBMClassifier(
            n_estimators=n_trees, max_depth=depth, num_leaves=2**depth, min_child_samples=5, learning_rate=0.05,
            n_jobs=1, verbose=-1,
        )  # fmt: skip
        return model.fit(rows, labels), rows

    return {
        "trees (depth 3, p 20)": {n: measure_one(*train(20, n, 3)) for n in (100, 200, 400, 800, 1600, 3200)},
        "depth (200 trees, p 20)": {d: measure_one(*train(20, 200, d)) for d in (2, 3, 4, 6, 8, 10)},
        "p (200 trees, depth 3)": {p: measure_one(*train(p, 200, 3)) for p in (10, 20, 50, 100, 200)},
    }


def start_up() -> dict:
    """Seconds of a process that imports sev and explains a first row: with an empty cache, and again."""
    code = (
        "import time; begin = time.perf_counter()\n"
        "import numpy as np, sev\n"
        "from sklearn.ensemble import GradientBoostingClassifier\n"
        "rows = np.random.default_rng(0).normal(size=(500, 8)); y = (rows.sum(axis=1) > 0).astype(int)\n"
        "middle = time.perf_counter()\n"
        "model = GradientBoostingClassifier(n_estimators=20).fit(rows, y)\n"
        "trained = time.perf_counter() - middle\n"
        "sev.Explainer(model, rows, y).explain(rows)\n"
        "print(time.perf_counter() - begin - trained, time.process_time())"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        figures = {}
        for name in ("cold_seconds", "warm_seconds"):
            out = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            figures[name] = float(out.stdout.split()[0])
        return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)  # one thread for every package
    plan = [(name, "GBDT 200 x 3", kind, "median") for name in _data.NAMES for kind in ("minus", "plus")]
    plan.append(("FICO", "GBDT 200 x 3", "minus", "mean"))
    if not options.quick:
        plan += [("Adult", "LightGBM 1000x31", "minus", "median"), ("FICO", "LightGBM 1000x31", "minus", "median")]
        plan += [("FICO", "RandomForest 100", "minus", "median")]
    models: dict = {}
    lines = []
    print(f"{'data':9s}{'model':17s}{'kind':6s}{'ref':7s}{'rows':>6s}{'SEV':>6s}{'max':>4s}{'none':>5s}", end="")
    print("".join(f"{title:>11s}" for title in COLUMNS.values()))
    for name, what, kind, how in plan:
        lines.append(measure(name, what, kind, how, options.quick, models))
        show(lines[-1])
    gbdt = [line for line in lines if line["model"] == "GBDT 200 x 3"]
    compared = [line for line in gbdt if "shap_batch" in line]
    summary = {
        "slowest_gbdt_ms": max(line["sev_slowest_ms"] for line in gbdt),
        "times_naive_on_fico": sum(line["naive_ms"] for line in gbdt if line["data"] == "FICO")
        / sum(line["sev_batch"] / 1e3 for line in gbdt if line["data"] == "FICO"),
        "shap_over_sev_batch": {
            f"{line['data']} {line['kind']} {line['reference']}": line["shap_batch"] / line["sev_batch"]
            for line in compared
        },
    }
    figures = growth()
    figures["SEV (FICO, mean reference, one at a time)"] = gbdt[-1]["by_size"]
    for name, points in figures.items():
        print(f"\nmicroseconds a row against {name}")
        top = max(points.values(), default=1.0)
        for at, value in points.items():
            print(f"{at:>6} {value:9.1f} {'#' * max(1, round(60 * value / top))}")
    start = start_up()
    print(f"\nfirst call: {start['cold_seconds']:.1f} s with nothing compiled, {start['warm_seconds']:.2f} s later")
    print(json.dumps({"lines": lines, "summary": summary, "growth": figures, "start": start}))


if __name__ == "__main__":
    main()
