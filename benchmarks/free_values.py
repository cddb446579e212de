"""Any permitted values: the exact search over cells on real data.

Run ``SEV_DATA_HOME=... python benchmarks/free_values.py``. ``--only FICO`` takes the lines with a word in them,
``--rows 100`` fewer rows. Times are of one thread: milliseconds a row of the compiled search in a batch (mean) and of
single rows (99 %, worst), and of the whole call from raw rows to checked values ("call"). "any" is within the range of
the training rows, "up" only upward, "band1" within one standard deviation of the query.

``--public`` measures what users call instead: ``explain(rows, values="any")`` of a batch, which lists and checks all
minimum sets, beside the same call for one reference and one prediction of the model; then the ranges of all first
sets, read at once ("ranges") and one row after the other ("one range").
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import _data
import numpy as np
import pandas as pd
from _timing import clock
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import sev
from sev.actions import ChoiceDestinations, Destinations, NumberDestinations
from sev.backends import model_scores, read_model, representative_rows
from sev.backends.trees.free import CellProblem, FreeTrees, Goal, find_ranges, solve_free
from sev.backends.trees.free.solver import ROW_WORK, Run
from sev.core import Limits, Status, unpack
from sev.space import FeatureSpace, TableForm

GOALS = {"first": Goal.FIRST, "least cost": Goal.CHEAPEST, "all sets": Goal.ALL, "cost": Goal.COST}


def boosting():
    return GradientBoostingClassifier(n_estimators=200, max_depth=3, random_state=0)


def lightgbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=300, num_leaves=31, random_state=0, n_jobs=1, verbose=-1)


def xgboost():
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=200, max_depth=3, random_state=0, n_jobs=1)


def forest():
    return RandomForestClassifier(n_estimators=100, max_depth=5, random_state=0, n_jobs=1)


def linear():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


MODELS = {
    "GBDT 200 x 3": boosting,
    "XGBoost 200 x 3": xgboost,
    "LightGBM 300 x 31": lightgbm,
    "forest 100 x 5": forest,
    "linear": linear,
}
DATA, KINDS = ("COMPAS", "FICO", "Adult", "German"), ("any", "up", "band1")
LINES = [
    *(("GBDT 200 x 3", data, kind) for data in DATA for kind in KINDS),
    ("XGBoost 200 x 3", "FICO", "any"), ("LightGBM 300 x 31", "FICO", "any"), ("LightGBM 300 x 31", "FICO", "up"),
    ("forest 100 x 5", "FICO", "any"), ("forest 100 x 5", "FICO", "up"),
]  # fmt: skip

PUBLIC = [
    *(("GBDT 200 x 3", data) for data in DATA), ("XGBoost 200 x 3", "FICO"), ("LightGBM 300 x 31", "FICO"),
    ("forest 100 x 5", "FICO"), *(("linear", data) for data in DATA),
]  # fmt: skip


class Setting:
    """A fitted model on real rows, and what these may do."""

    def __init__(self, name: str, data: str, kind: str, n_rows: int) -> None:
        train, test, labels, _, feature = _data.encoded(data)
        columns = [f"c{at}" for at in range(train.shape[1])]
        groups = {f"f{f}": [columns[c] for c in np.flatnonzero(feature == f)] for f in np.unique(feature)}
        blocks = {group: members for group, members in groups.items() if len(members) > 1}
        self.frame = pd.DataFrame(train, columns=columns)
        self.model = MODELS[name]().fit(self.frame, labels)
        self.form, self.space = TableForm.of(self.frame), FeatureSpace.of(self.frame, blocks)
        sample = self.frame.iloc[representative_rows(self.frame)].reset_index(drop=True)
        scores = model_scores(self.model, sample, labels)
        self.reading = read_model(self.model, scores, self.form, self.space, sample)
        self.trees = FreeTrees(self.reading.backend, self.reading.encoding, self.space)
        rows = pd.DataFrame(test, columns=columns)
        self.rows = rows[self.is_positive(rows)].iloc[:n_rows].reset_index(drop=True)
        self.kind = kind

    def is_positive(self, frame: pd.DataFrame):
        return np.asarray(self.model.predict_proba(frame), dtype=float)[:, 1] >= 0.5

    def problem(self, goal: Goal) -> CellProblem:
        low, high = self.reading.band(0.5)
        return CellProblem(
            direction=-1, low=low, high=high, queries=self.rows, crosses=lambda frame: ~self.is_positive(frame),
            destinations=Destinations(features=tuple(self.destinations(one.columns) for one in self.space.features)),
            goal=goal, limits=Limits(),
        )  # fmt: skip

    def destinations(self, columns):
        n = len(self.rows)
        if len(columns) > 1:
            choices = tuple(self.frame[list(columns)].drop_duplicates().itertuples(index=False, name=None))
            place = {choice: at for at, choice in enumerate(choices)}
            old = [place.get(row, -1) for row in self.rows[list(columns)].itertuples(index=False, name=None)]
            allowed = np.ones((n, len(choices)), dtype=bool)
            allowed[np.flatnonzero(np.array(old) >= 0), [at for at in old if at >= 0]] = False
            return ChoiceDestinations(choices=choices, old=np.array(old), allowed=allowed, weight=1.0)
        values, old = self.frame[columns[0]].to_numpy(), self.rows[columns[0]].to_numpy()
        low, high, scale = np.full(n, values.min()), np.full(n, values.max()), float(values.std()) or 1.0
        if self.kind == "up":
            low = np.maximum(low, old)
        elif self.kind.startswith("band"):
            width = float(self.kind[4:]) * scale
            low, high = np.maximum(low, old - width), np.minimum(high, old + width)
        return NumberDestinations(
            old=old, low=low, high=high, step=None, origin=np.zeros(n), missing=np.zeros(n, dtype=bool), scale=scale,
            weight=1.0,
        )  # fmt: skip


def measure(setting: Setting, goal: Goal) -> tuple[dict, object]:
    problem = setting.problem(goal)
    setting.trees.lay_out(problem)  # the cells are made once for a model
    begin = time.process_time()
    solution, moves = solve_free(setting.trees, problem)
    whole = time.process_time() - begin
    layout = setting.trees.lay_out(problem)
    run = Run(setting.trees, problem, layout)
    at, costs = layout.at, layout.costs(np.arange(len(problem.queries)))
    options = (run.sure, run.limit, int(goal), len(setting.space), 100, ROW_WORK, np.inf, run.ask)
    begin = time.process_time()
    run.native.solve(at, costs, *options)
    batch = time.process_time() - begin
    single = []
    for row in range(len(at)):
        begin = time.process_time()
        run.native.solve(at[row : row + 1], costs[row : row + 1], *options)
        single.append(time.process_time() - begin)
    owner = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))
    sets = unpack(solution.masks, len(setting.space))
    begin = time.process_time()
    find_ranges(setting.trees, problem, owner, sets, moves.targets)
    ranges = time.process_time() - begin
    n, ms = len(at), 1e3
    sizes = Counter("none" if Status.from_code(status) == "unexplainable" else int(size) if size > 0 else "open"
                    for status, size in zip(solution.status, solution.sizes(), strict=True))  # fmt: skip
    return {
        "n": n, "mean": batch / n * ms, "p99": float(np.quantile(single, 0.99)) * ms, "worst": max(single) * ms,
        "call": whole / n * ms, "ranges": ranges / max(1, len(moves.cost)) * ms,
        "sizes": " ".join(f"{size}:{count}" for size, count in sorted(sizes.items(), key=str)),
        "errors": len(solution.reasons),
    }, (solution, moves)  # fmt: skip


def measure_public(name: str, data: str, n_rows: int) -> str:
    """The line of one model: milliseconds a row of calls that users make."""
    train, test, labels, _, feature = _data.encoded(data)
    columns = [f"c{at}" for at in range(train.shape[1])]
    groups = {f"f{f}": [columns[c] for c in np.flatnonzero(feature == f)] for f in np.unique(feature)}
    frame, rows = (pd.DataFrame(part, columns=columns) for part in (train, test))
    model = MODELS[name]().fit(frame, labels)
    rows = rows[model.predict_proba(rows)[:, 1] >= 0.5].iloc[:n_rows].reset_index(drop=True)
    blocks = {group: members for group, members in groups.items() if len(members) > 1}
    explainer = sev.Explainer(model, frame, labels, groups=blocks, allow_positive_reference=True)
    explainer.explain(rows.iloc[:1], values="any")  # the cells are made once for a model
    calls = {
        "any": lambda: explainer.explain(rows, values="any"),
        "reference": lambda: explainer.explain(rows),
        "predict": lambda: model.predict_proba(rows),
    }
    times = [clock(call, 3) for call in calls.values()]
    many, again = calls["any"](), calls["any"]()
    first = many.answers.offsets[:-1][many.answers.has_set].tolist()
    times.append(clock(lambda: many.enough.get(first), 1))
    times.append(clock(lambda: [one.enough for one in again], 1))
    shown = " | ".join(f"{1e3 * seconds / len(rows):.3g}" for seconds in times)
    sizes = " ".join(f"{size}:{count}" for size, count in sorted(Counter(map(int, many.sizes[many.sizes > 0])).items()))
    statuses = " ".join(f"{count} {status}" for status, count in Counter(one.status for one in many).items())
    return f"| {name} | {data} | {len(rows)} | {shown} | {sizes} | {statuses} |"


def print_public(words: list[str], n_rows: int) -> None:
    print("| model | data | n | any ms | reference ms | predict ms | ranges ms | one range ms | sizes | status |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, data in PUBLIC:
        if all(word in f"{name} {data}" for word in words):
            print(measure_public(name, data, n_rows), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--goals", default="first,least cost,all sets")
    parser.add_argument("--public", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.public:
        with threadpool_limits(1):
            print_public(arguments.only.split(), arguments.rows)
        return
    print("| model | data | kind | goal | n | mean ms | 99 % ms | worst ms | call ms | ranges ms | sizes |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with threadpool_limits(1):
        for name, data, kind in LINES:
            if not all(word in f"{name} {data} {kind}" for word in arguments.only.split()):
                continue
            setting = Setting(name, data, kind, arguments.rows)
            for goal in arguments.goals.split(","):
                one, _ = measure(setting, GOALS[goal])
                times = " | ".join(f"{one[key]:.3g}" for key in ("mean", "p99", "worst", "call", "ranges"))
                errors = f" {one['errors']} errors" if one["errors"] else ""
                print(
                    f"| {name} | {data} | {kind} | {goal} | {one['n']} | {times} | {one['sizes']} |{errors}", flush=True
                )


if __name__ == "__main__":
    main()
