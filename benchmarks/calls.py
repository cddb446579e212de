"""The public calls beside what they are compared with: the model's own ``predict_proba``, SHAP, and themselves without
the comparison of reading and model on the rows of the call.

Run ``SEV_DATA_HOME=... OMP_NUM_THREADS=1 python benchmarks/calls.py``; ``--only one`` runs one part (one, proof, shap),
and ``--results FILE`` adds what was measured to a JSON file.
Times are the best of many repetitions, and what is compared takes turns, so that a busy machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import _data
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import sev
from sev.explainers import _query_proof

_CALLS_A_TURN = 3


def best_of(calls: dict, repeats: int) -> dict[str, float]:
    """Best seconds of each call, all of them in turn, each a few times before it is the next one's turn: the first call
    after another one finds the caches of the processor filled with that one's data.
    """
    best = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            for _ in range(_CALLS_A_TURN):
                begin = time.process_time()
                call()
                best[name] = min(best[name], time.process_time() - begin)
    return best


def gbdt(X, y):
    return GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0).fit(X, y)


def pipeline(X, y):
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
        (StandardScaler(), make_column_selector(dtype_include=np.number)),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y)


def lightgbm(X, y):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=200, num_leaves=31, n_jobs=1, verbose=-1).fit(X, y)


def linear(X, y):
    return LogisticRegression(max_iter=2000).fit(X, y)


def positives(model, X, n_rows: int):
    """Rows that the model calls positive, repeated until there are enough."""
    rows = X[model.predict_proba(X)[:, 1] >= 0.5]
    places = np.resize(np.arange(len(rows)), n_rows)
    return rows.iloc[places].reset_index(drop=True) if isinstance(rows, pd.DataFrame) else rows[places]


# -- one row -----------------------------------------------------------------------------------------------------------


def one_row(repeats: int) -> list[dict]:
    """Time single rows."""
    lines = []
    print(f"{'explain_one of a one-row frame':42s}{'predict us':>12s}{'explain us':>12s}{'ratio':>8s}")
    for what, name, fit in (
        ("GBDT 200 x 3, FICO", "FICO", gbdt),
        ("LogisticRegression pipeline, German", "German", pipeline),
        ("LogisticRegression pipeline, Adult", "Adult", pipeline),
        ("LightGBM 200 x 31, FICO", "FICO", lightgbm),
    ):
        X, y = _data.load(name)
        model = fit(X, y)
        explainer = sev.Explainer(model, X, y)
        assert explainer.backend != "black box", explainer.backend_reason
        rows = positives(model, X, 8)
        ratios = []
        for place in range(len(rows)):
            row = rows.iloc[[place]]
            times = best_of(
                {
                    "predict": partial(model.predict_proba, row),
                    "explain": partial(explainer.explain_one, row),
                },
                repeats,
            )
            ratios.append((times["explain"] / times["predict"], times))
        ratio, times = sorted(ratios, key=lambda pair: pair[0])[len(ratios) // 2]
        print(f"{what:42s}{times['predict'] * 1e6:12.0f}{times['explain'] * 1e6:12.0f}{ratio:8.2f}", flush=True)
        lines.append({"what": what, "over_predict": ratio})
    return lines


# -- the proof on the queries ------------------------------------------------------------------------------------------


@contextmanager
def unproven():
    """Calls that trust the reading; sets are still scored by the model."""

    class Trusting(_query_proof.QueryProof):
        def __getattribute__(self, name):
            if name in ("compare_queries", "refuse_references", "compare_vertices", "compare_encoding"):
                return lambda *_, **__: None
            if name in ("sampled_vertices", "vertices_of_unexplainable"):
                nothing = np.zeros(0, dtype=np.int64), np.zeros((0, self._active.shape[1]), dtype=np.bool_)
                return lambda *_, **__: nothing
            return super().__getattribute__(name)

    from sev.explainers import _work
    from sev.space import Familiar

    familiar = Familiar.strange_features
    usual = _work.QueryProof
    _work.QueryProof = Trusting
    Familiar.strange_features = lambda self, rows, *_: np.zeros((len(rows), len(self._space)), dtype=np.bool_)
    try:
        yield
    finally:
        _work.QueryProof = usual
        Familiar.strange_features = familiar


def proof(repeats: int) -> list[dict]:
    """Time calls with and without the proof."""
    lines = []
    print(f"{'the proof on the queries':42s}{'rows':>6s}{'with ms':>12s}{'without ms':>12s}{'share':>8s}")
    for what, name, fit, numbers in (
        ("GBDT 200 x 3, FICO", "FICO", gbdt, True),
        ("GBDT 200 x 3, FICO, frame of integers", "FICO", gbdt, False),
        ("LogisticRegression pipeline, German", "German", pipeline, False),
        ("LogisticRegression pipeline, Adult", "Adult", pipeline, False),
        ("LogisticRegression, FICO", "FICO", linear, True),
    ):
        X, y = _data.load(name)
        X = X.to_numpy(dtype=float) if numbers else X
        model = fit(X, y)
        explainer = sev.Explainer(model, X, y)
        assert explainer.backend != "black box", explainer.backend_reason
        for n_rows in (500, 3000):
            rows = positives(model, X, n_rows)
            call = {"": partial(explainer.explain, rows)}
            best = {"with": np.inf, "without": np.inf}
            for _ in range(repeats):
                best["with"] = min(best["with"], best_of(call, 1)[""])
                with unproven():
                    best["without"] = min(best["without"], best_of(call, 1)[""])
            share = 1.0 - best["without"] / best["with"]
            line = f"{best['with'] * 1e3:12.2f}{best['without'] * 1e3:12.2f}{share:8.1%}"
            print(f"{what:42s}{n_rows:6d}{line}", flush=True)
            lines.append({"what": what, "rows": n_rows, "share": share})
    return lines


# -- SHAP --------------------------------------------------------------------------------------------------------------


def against_shap(repeats: int) -> list[dict]:
    """Time batches beside SHAP."""
    import shap

    lines = []
    head = f"{'explain(), GBDT 200 x 3':30s}{'rows':>6s}{'explain':>10s}{'search':>10s}{'predict':>10s}{'SHAP':>10s}"
    print(f"{head}{'SHAP/explain':>14s}   (us a row)")
    plan = [(name, kind, "median") for name in _data.NAMES for kind in ("minus", "plus")]
    models: dict = {}
    for name, kind, how in [*plan, ("FICO", "minus", "mean")]:
        train, test, labels, _, feature = _data.encoded(name)
        if name not in models:
            models[name] = gbdt(train[:40_000], labels[:40_000])
        model, reference = models[name], _data.reference(train, labels, feature, how)
        names = np.array([f"x{column}" for column in range(train.shape[1])])
        groups = {f"feature {n}": names[feature == n].tolist() for n in np.unique(feature) if (feature == n).sum() > 1}
        explainer = sev.Explainer(
            model, train, labels, reference=reference, groups=groups, allow_positive_reference=True
        )
        assert explainer.backend == "trees", explainer.backend_reason
        tree = shap.TreeExplainer(model, reference[None], feature_perturbation="interventional")
        for n_rows in (500, 3000):
            rows = positives(model, test, n_rows)
            with search_seconds() as seconds:
                times = best_of(
                    {
                        "explain": partial(explainer.explain, rows, kind=kind),
                        "predict": partial(model.predict_proba, rows),
                        "SHAP": partial(tree.shap_values, rows, check_additivity=False),
                    },
                    repeats,
                )
            times["search"] = min(seconds)
            cells = "".join(f"{times[key] / n_rows * 1e6:10.2f}" for key in ("explain", "search", "predict", "SHAP"))
            ratio = times["SHAP"] / times["explain"]
            print(f"{f'{name} {kind} {how}':30s}{n_rows:6d}{cells}{ratio:14.2f}", flush=True)
            over = {"shap_over_explain": ratio, "shap_over_search": times["SHAP"] / times["search"]}
            line = {"data": name, "kind": kind, "reference": how, "rows": n_rows}
            lines.append({**line, **over, "share_of_model": 2 * times["predict"] / times["explain"]})
    return lines


@contextmanager
def search_seconds():
    """The seconds of each search inside."""
    from sev.backends.trees._backend import TreeBackend

    usual, seconds = TreeBackend.solve, []

    def solve(self, problem):
        begin = time.process_time()
        solution = usual(self, problem)
        seconds.append(time.process_time() - begin)
        return solution

    TreeBackend.solve = solve
    try:
        yield seconds
    finally:
        TreeBackend.solve = usual


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", choices=["", "one", "proof", "shap"])
    parser.add_argument("--repeats", type=int, default=0, help="how often each call is timed; 0: enough")
    parser.add_argument("--results", type=Path, help="JSON file to add the figures to")
    options = parser.parse_args()
    found: dict = {}
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    for name, run, enough in (("one", one_row, 200), ("proof", proof, 40), ("shap", against_shap, 15)):
        if options.only in ("", name):
            found[name] = run(options.repeats or enough)
    if options.results:
        known = json.loads(options.results.read_text()) if options.results.exists() else {}
        options.results.write_text(json.dumps({**known, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
