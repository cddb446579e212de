"""Does training shorten explanations, and at what cost? The recipe on the paper's data sets, one setting for all.

    SEV_DATA_HOME=folder python benchmarks/training.py            # three seeds, ten for German Credit; hours
    SEV_DATA_HOME=folder python benchmarks/training.py --quick    # one seed, linear models, the small data sets
    SEV_DATA_HOME=folder python benchmarks/training.py --minutes 5    # as much as can be started in that time
    SEV_DATA_HOME=folder python benchmarks/training.py --schedule paper --families LR    # the published schedule

Seeds count from 100: the settings were chosen on others. Every finished run is a line in
``benchmarks/results/training.jsonl`` (``training_paper.jsonl`` for the published schedule); a second call goes on where
the first was stopped. ``docs/pages/training_results.py`` writes the page from whatever lines there are.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

# one core, so that times compare; set before the libraries that read it are loaded
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import pandas as pd  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

import sev  # noqa: E402
from sev import datasets  # noqa: E402
from sev.exceptions import TrainingWarning  # noqa: E402
from sev.training._quality import Measure  # noqa: E402

HERE = Path(__file__).parent
RESULTS = {
    "recipe": HERE / "results" / "training.jsonl",
    "paper": HERE / "results" / "training_paper.jsonl",
}

LOADERS = {
    "Adult": datasets.fetch_adult,
    "COMPAS": datasets.fetch_compas,
    "FICO": datasets.fetch_heloc,
    "German": datasets.load_german_credit,
    "Diabetes": datasets.fetch_diabetes130,
}
ESTIMATORS = {
    "LR": sev.SEVLogisticRegression,
    "MLP": sev.SEVMLPClassifier,
    "GBDT": sev.SEVGradientBoostingClassifier,
}
RESTRICTED = {
    "Adult": ["age", "marital-status", "relationship", "race", "sex", "native-country", "occupation"],
    "COMPAS": ["sex=female", "age"],
    "German": ["age", "personal_status_sex", "job"],
}
#: Rows of the test part to explain; only Diabetes has more that are predicted positive.
MAX_ROWS = 2000


class Run(NamedTuple):
    """One fitted model."""

    data: str
    family: str
    objective: str
    schedule: str
    seed: int


def wanted(given: argparse.Namespace) -> list[Run]:
    """Runs in an order in which every row of the page has one seed before any has two."""
    runs = []
    for number, name, family, objective in product(range(10), given.data, given.families, given.objectives):
        if objective in ("volume", "both", "restricted") and family != "LR":
            continue
        if objective == "restricted" and name not in RESTRICTED:
            continue
        if number < (given.seeds or (10 if name == "German" else 3)):
            runs.append(Run(name, family, objective, given.schedule, given.first_seed + number))
    return runs


def measure(run: Run, *, busy: bool) -> dict[str, Any]:
    data = LOADERS[run.data]()
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=run.seed)
    restricted = RESTRICTED[run.data] if run.objective == "restricted" else []
    objective = "minus" if run.objective == "restricted" else run.objective
    model = ESTIMATORS[run.family](
        objective=objective, restricted=restricted, schedule=run.schedule, random_state=run.seed
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)  # a reference that is positive is on the page
        model.fit(X, y)
    total = time.process_time() - start
    kinds = {"plus": ("plus",), "volume": ("plus",), "both": ("plus", "minus")}.get(objective, ("minus",))
    quality = Measure(X_train=X, y_train=y, kinds=kinds, restricted=restricted, max_rows=MAX_ROWS)
    return {
        **run._asdict(),
        "base": quality.of(base_of(model), X_test, y_test),
        "ours": quality.of(model, X_test, y_test),
        "seconds": total,
        "base_seconds": plain_seconds(model, X, y) if run.family == "MLP" and run.schedule == "recipe" else None,
        "busy": busy,
    }


def base_of(model: Any) -> Any:
    """The model before tuning, on the same raw rows."""
    from sev.training._tuning import with_final

    return with_final(model, model.base_estimator_)


def plain_seconds(model: Any, X: pd.DataFrame, y: Any) -> float:
    """Processor seconds of plain training, encoding included, with the same settings."""
    from sklearn.base import clone

    start = time.process_time()
    rows = clone(model.encoder_).fit(X).transform(X)
    clone(model.base_estimator_).fit(rows, y)
    return time.process_time() - start


def warm_up() -> None:
    """Load torch and compile kernels before anything is timed."""
    data = datasets.load_german_credit()
    for family in ESTIMATORS.values():
        model = family(max_iter=1, random_state=0).fit(data.X, data.y)
        sev.Explainer(model, data.X, data.y).explain(data.X.iloc[:20])


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=list(LOADERS), choices=list(LOADERS))
    parser.add_argument("--families", nargs="*", default=list(ESTIMATORS), choices=list(ESTIMATORS))
    objectives = ["plus", "minus", "both", "volume", "restricted"]
    parser.add_argument("--objectives", nargs="*", default=objectives, choices=objectives)
    parser.add_argument("--schedule", default="recipe", choices=["recipe", "paper"])
    parser.add_argument("--seeds", type=int, default=None, help="how many; by default 3, and 10 for German")
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no further run after this time")
    parser.add_argument("--quick", action="store_true", help="one seed of linear models on COMPAS, FICO and German")
    parser.add_argument("--busy", action="store_true", help="other work runs on this core: mark the times")
    parser.add_argument("--results", type=Path, default=None, help="where to keep the lines; by default by schedule")
    given = parser.parse_args()
    given.results = given.results or RESULTS[given.schedule]
    if given.quick:
        given.data, given.families, given.seeds = ["COMPAS", "FICO", "German"], ["LR"], 1
        given.results = given.results.with_stem("training-quick")
    given.results.parent.mkdir(parents=True, exist_ok=True)
    lines = lines_of(given.results)
    done = {Run(*(line[field] for field in Run._fields)) for line in lines}
    todo = [run for run in wanted(given) if run not in done]
    started = time.monotonic()
    if todo:
        warm_up()
    for run in todo:
        if time.monotonic() - started > 60 * given.minutes:
            break
        line = measure(run, busy=given.busy)
        with given.results.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(*run, {key: round(value, 4) for key, value in line["ours"].items()}, flush=True)
    print(f"lines: {given.results}; docs/pages/training_results.py writes the page")


if __name__ == "__main__":
    main()
