"""Is there more to be had than the recipe gives? SEV- on FICO by other means, and two walks along the penalty.

    SEV_DATA_HOME=folder python benchmarks/training_beyond.py               # what is missing
    SEV_DATA_HOME=folder python benchmarks/training_beyond.py --parts volume --minutes 5

Every finished run is a line in ``benchmarks/results/training_beyond.jsonl``, from which
``docs/pages/training_beyond.py`` writes the page; a second call goes on where the first was stopped. Seeds count from
200; the settings of the ways beyond were chosen on seeds 50 and 51.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# one core, so that times compare; set before the libraries that read it are loaded
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from _beyond import grown, splitting_freely, tuned, with_more_steps  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from training import ESTIMATORS, LOADERS, RESTRICTED  # noqa: E402

from sev.exceptions import SevWarning  # noqa: E402
from sev.training._quality import Measure  # noqa: E402
from sev.training._task import TrainingTask  # noqa: E402
from sev.training._tuning import with_final  # noqa: E402

HERE = Path(__file__).parent
FAMILY = {"LR": "linear", "MLP": "network", "GBDT": "trees"}


class Run(NamedTuple):
    """One tuned model; a weight of 0 is the base model, of -1 the default."""

    part: str
    data: str
    family: str
    way: str
    weight: float
    seed: int


N_GROWN = 100
#: Weights of the SEV term to walk along, by part and way.
FICO = {
    ("GBDT", "one step"): (0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, -1.0),
    ("GBDT", "grown, re-weighted"): (0.3, 0.6, 1.0, 1.5, -1.0),
    ("GBDT", "grown"): (0.3, 1.0),
    ("GBDT", "grown freely"): (0.6,),
    ("GBDT", "second step"): (0.6, 1.0, 1.5),
    ("GBDT", "sorted steps"): (0.3, 0.6, 1.0),
    ("MLP", "one step"): (0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0),
    ("MLP", "second step"): (0.6, 1.0, 1.5),
    ("MLP", "sorted steps"): (0.3, 0.6, 1.0),
    ("LR", "one step"): (0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0),
    ("LR", "second step"): (0.6, 1.0, 1.5),
    ("LR", "sorted steps"): (0.3, 0.6, 1.0),
}
#: Growing on the other data, with the default weight.
ELSEWHERE = {("GBDT", "one step"): (0.0, -1.0), ("GBDT", "grown, re-weighted"): (-1.0,)}
WALK = {"one step": (0.0, 0.1, 0.3, 1.0, 1.5, 2.0, 3.0, 10.0, -1.0), "guard of 10": (1.0, 2.0, 3.0, 10.0)}
VOLUME_WEIGHTS = (0.0, 0.01, 0.015, 0.02, 0.0225, 0.025, 0.03)


def wanted(given: argparse.Namespace) -> Iterator[Run]:
    """Runs in an order in which every curve has one seed before any has two, and a base model is fitted once."""
    for number in range(10):
        seed = given.first_seed + number
        if "fico" in given.parts and number < given.seeds:
            for (family, way), weights in FICO.items():
                yield from (Run("fico", "FICO", family, way, weight, seed) for weight in weights)
        for data in ("German", "COMPAS", "Adult", "FICO"):
            if number >= (10 if data == "German" else given.seeds):
                continue
            if "elsewhere" in given.parts and data in ("German", "COMPAS"):
                for (family, way), weights in ELSEWHERE.items():
                    yield from (Run("elsewhere", data, family, way, weight, seed) for weight in weights)
            if "restricted" in given.parts and data in RESTRICTED:
                for way, weights in WALK.items():
                    yield from (Run("restricted", data, "LR", way, weight, seed) for weight in weights)
            if "volume" in given.parts:
                yield from (Run("volume", data, "LR", "volume", weight, seed) for weight in VOLUME_WEIGHTS)


class _Untuned:
    """Mixed into an estimator: fit stops at the base model and keeps what the tuning would have been given."""

    def _train(self: Any, task: TrainingTask, row: pd.DataFrame, seed: int) -> None:
        encoded = self.encoder_.transform(row)[0]
        self.task_ = TrainingTask(task.rows, task.labels, task.column_feature, encoded, task.allowed)
        self.reference_row_, self.seed_ = row, seed
        self.final_estimator_ = self.base_estimator_
        self._set_family_attributes()


class Split:
    """One split with its base model, which many runs share."""

    def __init__(self, run: Run) -> None:
        data = LOADERS[run.data]()
        parts = train_test_split(data.X, data.y, test_size=0.2, stratify=data.y, random_state=run.seed)
        self.X, self.X_test, self.y, self.y_test = parts
        self.restricted = RESTRICTED[run.data] if run.part == "restricted" else []
        cls = ESTIMATORS[run.family]
        model: Any = type(cls.__name__, (_Untuned, cls), {})(restricted=self.restricted, random_state=run.seed)
        self.model = model.fit(self.X, self.y)

    def tune(self, run: Run) -> Any:
        """The final estimator of a run."""
        base, task, seed = self.model.base_estimator_, self.model.task_, self.model.seed_
        if run.weight == 0.0:
            return base
        given: dict[str, Any] = {"objective": "volume" if run.part == "volume" else "minus"}
        given["restricted"] = self.restricted
        if run.weight > 0.0:
            given["sev_penalty"] = run.weight
        if run.way == "guard of 10":
            given["rate_penalty"] = 10.0
        family: Any = FAMILY[run.family]
        if run.way in ("second step", "sorted steps"):
            return with_more_steps(base, task, family, given, seed, is_sorted=run.way == "sorted steps")
        if run.way.startswith("grown"):
            given["grow"] = N_GROWN
            if run.way == "grown freely":
                with splitting_freely():
                    return grown(base, task, given, seed)
            if run.way == "grown":
                return grown(base, task, given, seed)
        return tuned(base, task, family, given, seed)

    def measure(self, run: Run, final: Any, **options: Any) -> dict[str, float]:
        """Figures on the test part."""
        kinds: Any = {"volume": ("plus",), "restricted": ()}.get(run.part, ("minus",))
        if run.part == "fico" and run.weight == 0.0:
            kinds = ()  # many minutes for boosted trees, and the page of results has it
        quality = Measure(
            X_train=self.X, y_train=self.y, kinds=kinds, restricted=self.restricted, max_rows=2000, **options
        )
        return quality.of(with_final(self.model, final), self.X_test, self.y_test)

    def real_reference(self) -> pd.DataFrame:
        """The reference with every value moved to the nearest that a row of the training part has."""
        row = self.model.reference_row_.copy()
        for name in row.columns:
            if pd.api.types.is_numeric_dtype(self.X[name]):
                seen = self.X[name].to_numpy(dtype=np.float64)
                row[name] = seen[np.nanargmin(np.abs(seen - float(row[name].iloc[0])))]
        return row


def measure(run: Run, split: Split) -> dict[str, Any]:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SevWarning)
        final = split.tune(run)
        seconds = time.process_time() - start
        line: dict[str, Any] = {**run._asdict(), "seconds": seconds, **split.measure(run, final)}
        if run.family == "GBDT" and "sev_minus" in line:
            for name, reference in {"real": split.real_reference(), "median": "median"}.items():
                line[f"sev_minus_{name}"] = split.measure(run, final, reference=reference)["sev_minus"]
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=["fico", "elsewhere", "restricted", "volume"])
    parser.add_argument("--families", nargs="*", default=list(FAMILY))
    parser.add_argument("--ways", nargs="*", help="of training; by default all")
    parser.add_argument("--first-seed", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3, help="how many; German Credit always has 10")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no further run after this time")
    parser.add_argument("--results", type=Path, default=HERE / "results" / "training_beyond.jsonl")
    given = parser.parse_args()
    lines = [json.loads(line) for line in given.results.read_text().splitlines()] if given.results.exists() else []
    done = {Run(*(line[field] for field in Run._fields)) for line in lines}
    started = time.monotonic()
    key, split = None, None
    for run in wanted(given):
        if run in done or run.family not in given.families or (given.ways and run.way not in given.ways):
            continue
        if time.monotonic() - started > 60 * given.minutes:
            break
        if split is None or key != (run.part == "restricted", run.data, run.family, run.seed):
            key, split = (run.part == "restricted", run.data, run.family, run.seed), Split(run)
        line = measure(run, split)
        with given.results.open("a") as file:
            file.write(json.dumps(line) + "\n")
        shown = {name: round(value, 4) for name, value in line.items() if isinstance(value, float)}
        print(*run, shown, flush=True)


if __name__ == "__main__":
    main()
