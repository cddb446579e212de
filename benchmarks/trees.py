"""Tree ensembles: the search against a naive one, SHAP, LIME and DiCE, on the same rows, in one process and one thread.

Run ``SEV_DATA_HOME=... python benchmarks/trees.py``; ``--quick`` leaves out what takes minutes (LightGBM, forests, and
the peers that are asked one row at a time), ``--only FICO`` takes the lines with a word in them, and ``--results FILE``
adds what was measured to a JSON file, so that the table can be made in pieces. Times are microseconds a row unless they
say otherwise; packages that are not installed leave their columns empty. ``trees_growth.py`` has the growth with each
dimension, the worst cases and the start of a process.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path

import _data
import numpy as np
from _timing import clock
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

import sev
from sev.backends._band import decision_band
from sev.backends._registry import reader_for
from sev.core import Limits, Problem

DEPTH = 6  # where the naive searches give up
NAIVE_SECONDS = 3.0  # for one query, then it is cut
FEW = 5  # queries for peers that are asked one row at a time


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
    fresh = reader_for(setting.model)(setting.model, "predict_proba")
    solution = solve(setting.problem)
    first = clock(lambda: fresh.solve(setting.problem), 1)
    singles = []
    for row in range(min(len(setting.rows), 1500)):
        problem = setting.one(row)
        singles.append(clock(lambda problem=problem: solve(problem), 2))
    sizes = solution.sizes()
    return {
        "rows": len(setting.rows),
        "mean_sev": float(sizes[sizes > 0].mean()),
        "largest_sev": int(np.nanmax(sizes)),
        "unexplainable": int(np.isnan(sizes).sum()),
        "sev_first_ms": first * 1e3,
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


def by_shap(setting) -> dict:
    try:
        import shap
    except ImportError:
        return {}
    background = setting.reference[None]
    figures = {}
    try:
        begin = time.process_time()
        tree = shap.TreeExplainer(setting.model, background, feature_perturbation="interventional")
        tree.shap_values(setting.rows, check_additivity=False)
        figures["shap_first_ms"] = (time.process_time() - begin) * 1e3
        figures["shap_batch"] = clock(lambda: tree.shap_values(setting.rows, check_additivity=False), 3)
        figures["shap_batch"] *= 1e6 / len(setting.rows)
        one = [
            clock(lambda row=row: tree.shap_values(setting.rows[row : row + 1], check_additivity=False), 1)
            for row in range(min(50, len(setting.rows)))
        ]
        figures["shap_one"] = float(np.median(one)) * 1e6
        path = shap.TreeExplainer(setting.model, feature_perturbation="tree_path_dependent")
        sample = setting.rows[:200]
        path.shap_values(sample[:2], check_additivity=False)
        figures["shap_path"] = clock(lambda: path.shap_values(sample, check_additivity=False), 1) / len(sample) * 1e6
    except Exception as error:
        print(f"SHAP: {error}", file=sys.stderr)
    return figures


def by_kernel_shap(setting, few: int) -> dict:
    try:
        import shap
    except ImportError:
        return {}
    kernel = shap.KernelExplainer(lambda rows: setting.model.predict_proba(rows)[:, 1], setting.reference[None])
    times = [clock(lambda row=row: kernel.shap_values(setting.rows[row], silent=True), 1) for row in range(few)]
    return {"kernel_shap": float(np.median(times)) * 1e6}


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
        if sum(times) > 20:  # it may take very long for one row
            break
        query = pd.DataFrame(setting.rows[[row]], columns=names)
        try:
            times.append(
                clock(lambda q=query: explainer.generate_counterfactuals(q, 1, desired_class=0, verbose=False), 1)
            )
        except Exception as error:
            print(f"DiCE: {error}", file=sys.stderr)
    return {"dice": float(np.median(times)) * 1e6} if times else {}


def measure(name, what, kind, how, options, models: dict) -> dict:
    train, test, labels, _, feature = _data.encoded(name)
    if (name, what) not in models:
        models[name, what] = fit(what, train, labels)
    model = models[name, what]
    n_rows = 6000 if what == "GBDT 200 x 3" else 400  # large models take too long for all peers
    setting = Setting(model, test[:n_rows], _data.reference(train, labels, feature, how), feature, kind)
    line = {"data": name, "model": what, "kind": kind, "reference": how}
    if not options.quick:
        line |= ask_one_by_one(setting, train, labels)
    if options.peers:
        return line
    line |= ours(setting)
    line["explain"] = whole_call(setting, train, labels)
    line["predict_row"] = clock(lambda: model.predict_proba(setting.rows)) / len(setting.rows) * 1e6
    line |= by_shap(setting)
    sample = np.linspace(0, len(setting.rows) - 1, 4 if options.quick else 12 if what == "GBDT 200 x 3" else 3).astype(
        int
    )
    line["naive_ms"] = float(np.mean([naive(setting, row, batched=False) for row in sample])) * 1e3
    line["level_ms"] = float(np.mean([naive(setting, row, batched=True) for row in sample])) * 1e3
    line["naive_ratio"] = (
        line["naive_ms"]
        * 1e3
        / np.mean([clock(lambda row=row: setting.backend.solve(setting.one(row)), 3) * 1e6 for row in sample])
    )
    return line


def ask_one_by_one(setting, train, labels) -> dict:
    """The peers that take milliseconds and more a row, on a few rows."""
    few = min(FEW, len(setting.rows))
    return by_kernel_shap(setting, few) | by_lime(setting, train, few) | by_dice(setting, train, labels, few)


def fit(what, train, labels):
    train, labels = train[:40_000], labels[:40_000]
    if what == "GBDT 200 x 3":
        return GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0).fit(train, labels)
    if what == "RandomForest 100":
        return RandomForestClassifier(100, random_state=0).fit(train, labels)
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=1000, num_leaves=31, n_jobs=1, verbose=-1).fit(train, labels)


COLUMNS = {
    "sev_batch": "sev batch", "sev_first_ms": "sev 1st ms", "shap_first_ms": "shap 1st ms",
    "explain": "explain()", "sev_one": "sev one", "sev_slowest_ms": "slowest ms",
    "predict_row": "predict", "shap_batch": "shap batch", "shap_one": "shap one", "shap_path": "shap path",
    "kernel_shap": "kernelshap", "lime": "lime", "dice": "dice", "naive_ms": "naive ms", "level_ms": "levels ms",
    "naive_ratio": "naive/sev",
}  # fmt: skip


def show(line) -> None:
    head = f"{line['data']:9s}{line['model']:17s}{line['kind']:6s}{line['reference']:7s}{line.get('rows', 0):6d}"
    cells = "".join(f"{line[key]:11.1f}" if key in line else f"{'':11s}" for key in COLUMNS)
    if "rows" not in line:
        print(line)
        return
    print(f"{head}{line['mean_sev']:6.2f}{line['largest_sev']:4d}{line['unexplainable']:5d}{cells}", flush=True)


def summary_of(lines: list[dict]) -> dict:
    """The ratios of GBDT 200 x 3."""
    gbdt = [line for line in lines if line["model"] == "GBDT 200 x 3"]
    fico = [line for line in gbdt if line["data"] == "FICO"]
    figures: dict = {"slowest_gbdt_ms": max((line["sev_slowest_ms"] for line in gbdt), default=None)}
    if fico:
        figures["times_naive_on_fico"] = sum(line["naive_ms"] for line in fico) / sum(
            line["sev_batch"] / 1e3 for line in fico
        )
    figures["shap_over_sev_batch"] = {
        f"{line['data']} {line['kind']} {line['reference']}": line["shap_batch"] / line["sev_batch"]
        for line in gbdt
        if "shap_batch" in line
    }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--peers", action="store_true", help="only the peers that are asked one row at a time")
    parser.add_argument("--only", default="", help="lines of the table that have this word in them")
    parser.add_argument("--results", type=Path, help="JSON file to add the figures to")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)  # one thread for every package
    plan = [(name, "GBDT 200 x 3", kind, "median") for name in _data.NAMES for kind in ("minus", "plus")]
    plan.append(("FICO", "GBDT 200 x 3", "minus", "mean"))
    if not options.quick:
        plan += [("Adult", "LightGBM 1000x31", "minus", "median"), ("FICO", "LightGBM 1000x31", "minus", "median")]
        plan += [("FICO", "RandomForest 100", "minus", "median")]
    models: dict = {}
    known = {}
    if options.results and options.results.exists():
        known = {line_key(line): line for line in json.loads(options.results.read_text())["lines"]}
    print(f"{'data':9s}{'model':17s}{'kind':6s}{'ref':7s}{'rows':>6s}{'SEV':>6s}{'max':>4s}{'none':>5s}", end="")
    print("".join(f"{title:>11s}" for title in COLUMNS.values()))
    for name, what, kind, how in plan:
        if options.only in f"{name} {what} {kind} {how}":
            line = measure(name, what, kind, how, options, models)
            known[line_key(line)] = {**known.get(line_key(line), {}), **line}
            show(known[line_key(line)])
    order = {(name, what, kind, how): at for at, (name, what, kind, how) in enumerate(plan)}
    lines = sorted(known.values(), key=lambda line: order.get(line_key(line), len(order)))
    report = json.dumps({"lines": lines, "summary": summary_of(lines)}, indent=1)
    if options.results:
        options.results.write_text(report + "\n")
    print(report)


def line_key(line: dict) -> tuple[str, str, str, str]:
    return line["data"], line["model"], line["kind"], line["reference"]


if __name__ == "__main__":
    main()
