"""The same refused applicants under the same constraints: sev, treecf, DiCE and NICE.

Run ``SEV_DATA_HOME=... python benchmarks/peers_changes.py``; methods that are not installed are left out. It writes
``benchmarks/results/peers_changes.json``, from which ``docs/pages/peers_changes.py`` makes the page. Seconds are of the
processor, one thread, one row at a time: best of three for calls below a tenth of a second. ``batches`` are calls for
all rows of a size at once.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from importlib import metadata
from pathlib import Path

import _data
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier

import sev
from sev.backends.trees.free import CellProblem, FreeTrees, Goal
from sev.backends.trees.free.solver import ROW_WORK, Run

RESULTS = Path(__file__).parent / "results" / "peers_changes.json"
#: Nobody can change the first; the second only rises.
FROZEN, RISING = "ExternalRiskEstimate", "MSinceOldestTradeOpen"


class Setting:
    """A model, the rows of each size, and what is permitted."""

    def __init__(self, per_size: int) -> None:
        frame, labels = _data.load("FICO")
        frame = frame.astype(float)
        train, test, self.labels, _ = train_test_split(frame, labels, test_size=0.2, random_state=0)
        self.train, self.names = train.reset_index(drop=True), list(frame.columns)
        self.model = XGBClassifier(n_estimators=200, max_depth=3, random_state=0, n_jobs=1).fit(self.train, self.labels)
        self.low, self.high = self.train.min(), self.train.max()
        actions = sev.Actions(frozen=[FROZEN], increase=[RISING])
        self.explainer = sev.Explainer(
            self.model, self.train, self.labels, actions=actions, allow_positive_reference=True
        )
        inside = ((test >= self.low) & (test <= self.high)).all(axis=1)
        refused = test[inside & (self.score(test) >= 0.5)].iloc[:400]
        self.many = self.explainer.explain(refused, values="any")
        self.refused = refused
        sizes = self.many.sizes
        self.rows = [
            (int(size), refused.iloc[place])
            for size in (1, 2, 3)
            for place in np.flatnonzero(sizes == size)[:per_size].tolist()
        ]
        self.scales = {name: one[1] for name, one in self.many.efforts.items()}

    def score(self, rows: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict_proba(rows)[:, 1], dtype=float)

    def judge(self, row: pd.Series, changed: pd.Series) -> dict:
        """Size, cost and broken constraints of a changed row, whoever made it."""
        moved = changed - row
        broken = [
            bool(moved[FROZEN] != 0), bool(moved[RISING] < 0),
            bool(((changed < self.low) | (changed > self.high)).any()), bool((changed % 1 != 0).any()),
        ]  # fmt: skip
        return {
            "size": int((moved != 0).sum()),
            "cost": float(sum(abs(moved[name]) / self.scales[name] for name in self.names)),
            "violations": sum(broken),
            "flips": bool(self.score(changed.to_frame().T)[0] < 0.5),
        }


def clock(call):
    """What a call returns, and its seconds of the processor."""
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        found = call()
        seconds.append(time.process_time() - begin)
        if seconds[0] > 0.1:
            break
    return found, min(seconds)


def search_alone(setting: Setting, row: pd.Series, goal: Goal) -> float:
    """Seconds of the compiled search, without what pandas and the model take for one row."""
    task = setting.explainer.tasks[0]
    queries = task.form.to_frame(row.to_frame().T)
    allowed = np.array([name != FROZEN for name in task.space.names])
    assigned = task.reference.assigned(queries)
    low, high = task.reading.band(task.scorer.threshold_of_second_class)
    problem = CellProblem(
        direction=-1, low=low, high=high, queries=queries, crosses=lambda frame: setting.score(frame) < 0.5, goal=goal,
        destinations=task.bound.destinations(queries, task.reference.rows, assigned, "any", allowed),
    )  # fmt: skip
    trees = FreeTrees(task.reading.backend, task.reading.encoding, task.space)
    layout = trees.lay_out(problem)
    run = Run(trees, problem, layout)
    costs = layout.costs(np.arange(1))
    options = (run.sure, run.limit, int(goal), len(task.space), 100, ROW_WORK, np.inf, run.ask)
    return clock(lambda: run.native.solve(layout.at, costs, *options))[1]


def time_batches(setting: Setting) -> list[dict]:
    """Seconds of whole calls for all rows of a size at once: first sets only, and with all sets listed."""
    sizes = setting.many.sizes
    found = []
    for size in (1, 2, 3):
        rows = setting.refused[sizes == size]
        if not len(rows):
            continue
        _, first = clock(lambda rows=rows: setting.explainer.explain(rows, values="any"))
        _, listed = clock(lambda rows=rows: setting.explainer.explain(rows, values="any").answers)
        found.append({"size": size, "rows": len(rows), "first": first, "all": listed})
    return found


def ask_sev(setting: Setting, minimise: str):
    goal = Goal.COST if minimise == "cost" else Goal.CHEAPEST

    def ask(row: pd.Series) -> dict:
        one, seconds = clock(lambda: setting.explainer.explain(row.to_frame().T, values="any", minimise=minimise)[0])
        proven, alone = one.status == "optimal", search_alone(setting, row, goal)
        return {
            "seconds": seconds,
            "search": alone,
            "proven": proven,
            **setting.judge(row, row if one.result is None else one.result),
        }

    return ask


def ask_treecf(setting: Setting, sparsity: float, limit: float):
    import treecf

    bounds = [treecf.Range(name, setting.low[name], setting.high[name]) for name in setting.names if name != FROZEN]
    peer = treecf.Explainer(
        setting.model, normalizers=setting.scales,
        constraints=[*bounds, treecf.Freeze(FROZEN), treecf.Monotone(RISING, "increase")],
        value_policy=dict.fromkeys(setting.names, "integer"),
    )  # fmt: skip
    target = treecf.Target.probability(op="<=", value=float(np.nextafter(0.5, 0.0)))

    def ask(row: pd.Series) -> dict:
        found, seconds = clock(
            lambda: peer.explain(
                row.to_numpy(), target, backend="exact", search="refine", sparsity_weight=sparsity, seed=0,
                time_budget_s=limit, node_budget=10**12,
            )
        )  # fmt: skip
        changed = row if isinstance(found, treecf.Infeasible) else pd.Series(found.x_cf, index=row.index)
        proven = found.proof.startswith("optimal") or found.proof == "certified"
        return {"seconds": seconds, "proven": proven, **setting.judge(row, changed)}

    def menu(row: pd.Series, size: int) -> dict:
        found, seconds = clock(
            lambda: peer.recourse_menu(
                row.to_numpy(), target, max_levers=size, seed=0, time_budget_s=limit, node_budget=10**12
            )
        )
        minimal = [one for one in found.minimal if one.count("+") + 1 == size]
        return {"seconds": seconds, "n_sets": len(minimal), "complete": bool(found.complete)}

    return ask, menu


def ask_dice(setting: Setting):
    import dice_ml

    table = setting.train.assign(outcome=setting.labels)
    data = dice_ml.Data(dataframe=table, continuous_features=setting.names, outcome_name="outcome")
    peer = dice_ml.Dice(data, dice_ml.Model(model=setting.model, backend="sklearn"), method="random")

    def ask(row: pd.Series) -> dict:
        ranges = {name: [float(setting.low[name]), float(setting.high[name])] for name in setting.names}
        ranges[RISING][0] = float(row[RISING])

        def search():
            try:
                return peer.generate_counterfactuals(
                    row.to_frame().T, total_CFs=1, desired_class=0, permitted_range=ranges, random_seed=0,
                    features_to_vary=[name for name in setting.names if name != FROZEN], verbose=False,
                )  # fmt: skip
            except dice_ml.utils.exception.UserConfigValidationException:
                return None  # it found nothing

        found, seconds = clock(search)
        changed = row
        if found is not None and found.cf_examples_list[0].final_cfs_df is not None:
            changed = found.cf_examples_list[0].final_cfs_df[setting.names].iloc[0].astype(float)
        return {"seconds": seconds, "proven": False, **setting.judge(row, changed)}

    return ask


def ask_nice(setting: Setting):
    from nice import NICE

    peer = NICE(
        predict_fn=lambda rows: setting.model.predict_proba(np.asarray(rows, dtype=float)),
        X_train=setting.train.to_numpy(), cat_feat=[], num_feat=list(range(len(setting.names))),
        y_train=np.asarray(setting.labels), optimization="sparsity", justified_cf=True,
    )  # fmt: skip

    def ask(row: pd.Series) -> dict:
        found, seconds = clock(lambda: peer.explain(row.to_numpy()[None, :].copy()))
        return {"seconds": seconds, "proven": False, **setting.judge(row, pd.Series(found[0], index=row.index))}

    return ask


def versions() -> dict[str, str]:
    names = {"treecf": "treecf", "DiCE": "dice-ml", "NICE": "NICEx", "XGBoost": "xgboost"}
    return {shown: metadata.version(name) for shown, name in names.items() if _is_installed(name)}


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5, help="of each size")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of treecf for one row")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        setting = Setting(arguments.rows)
        methods = {"sev, fewest": ask_sev(setting, "features"), "sev, least cost": ask_sev(setting, "cost")}
        menu = None
        installed = versions()
        if "treecf" in installed:
            methods["treecf, fewest"], menu = ask_treecf(setting, 1000.0, arguments.limit)
            methods["treecf, least cost"] = ask_treecf(setting, 0.0, arguments.limit)[0]
        if "DiCE" in installed:
            methods["DiCE"] = ask_dice(setting)
        if "NICE" in installed:
            methods["NICE"] = ask_nice(setting)
        lines = []
        for name, ask in methods.items():
            for number, (size, row) in enumerate(setting.rows):
                lines.append({"method": name, "row": number, "smallest": size, **ask(row)})
                print(json.dumps(lines[-1]), flush=True)
        menus = []
        for number, (size, row) in enumerate(setting.rows):
            if menu is not None and size == 2:
                one, seconds = clock(lambda row=row: setting.explainer.explain(row.to_frame().T, values="any")[0])
                alone = search_alone(setting, row, Goal.ALL)
                mine = {"sev_seconds": seconds, "sev_search": alone, "sev_sets": len(one.sets)}
                menus.append({"row": number, **mine, **menu(row, size)})
                print(json.dumps(menus[-1]), flush=True)
        batches = time_batches(setting)
    document = {
        "limit": arguments.limit, "versions": installed, "lines": lines, "menus": menus,
        "batches": batches,
    }  # fmt: skip
    RESULTS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
