"""The penalty path: copies of a model, fitted and tuned on a part of the rows, measured on the rest."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from sev.exceptions import PositiveReferenceError, ReferenceWarning, TrainingError
from sev.training._base_model import fresh_copy
from sev.training._building import TaskBuilder
from sev.training._floors import Floor
from sev.training._quality import Measure, take_rows
from sev.training._settings import Settings
from sev.training._tuning import Tuner
from sev.training._weights import fit_with_weights
from sev.typing import FittedClassifier, FloatArray, IntArray, Kind, NativeTable

if TYPE_CHECKING:
    from tqdm import tqdm

    from sev.references import ReferenceLike


_KINDS: dict[str, tuple[Kind, ...]] = {
    "plus": ("plus",),
    "volume": ("plus",),
    "minus": ("minus",),
    "both": ("plus", "minus"),
}


#: Whom decisions are compared with in the record, whatever the training was for.
_AGAINST: dict[str, ReferenceLike] = {"mean": "mean", "clusters": "clusters", "nearest": "nearest"}


class Rows(NamedTuple):
    """Rows with their labels, and their weights in training and in figures."""

    X: NativeTable
    labels: np.ndarray
    training_weights: FloatArray | None = None
    weights: FloatArray | None = None

    def take(self, rows: IntArray) -> Rows:
        """Some of the rows."""
        training, measured = (None if one is None else one[rows] for one in (self.training_weights, self.weights))
        return Rows(take_rows(self.X, rows), self.labels[rows], training, measured)


class Walked(NamedTuple):
    """Figures of one split by penalty, its models, and the rows that these were trained and measured on."""

    lines: pd.DataFrame
    models: dict[float, FittedClassifier]
    train: Rows
    rest: Rows


@dataclass(frozen=True, eq=False)
class PathWalker:
    """What is the same for every split.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        Is copied, not changed.
    rows : Rows
        All rows.
    builder : TaskBuilder
        Reference, groups and restricted features.
    objective : str
        Which explanations to measure.
    floors : tuple of Floor
        Metrics to measure.
    max_rows : int or None
        Explain at most this many rows.
    """

    model: FittedClassifier
    rows: Rows
    builder: TaskBuilder
    objective: str
    floors: tuple[Floor, ...]
    max_rows: int | None

    def measure_start(self) -> Walked:
        """Figures of the model as it is, on the rows that it was fitted on: a path of one line."""
        lines = pd.DataFrame.from_dict({0.0: self._measure_model(self.model, self.rows, self.rows)}, orient="index")
        return Walked(lines, {0.0: self.model}, self.rows, self.rows)

    def walk(self, split: tuple[IntArray, IntArray], path: Mapping[float, Settings], bar: tqdm) -> Walked:
        """Figures of one split: a model fitted on the first rows, as it is and tuned with each penalty."""
        train, rest = self.rows.take(split[0]), self.rows.take(split[1])
        base = fit_with_weights(fresh_copy(self.model), train.X, train.labels, train.training_weights)
        lines: dict[float, dict[str, float]] = {0.0: self._measure_model(base, train, rest)}
        models = {0.0: base}
        bar.update()
        tuner = Tuner.of(base, train.X, train.labels, self.builder, weights=train.training_weights)
        for penalty, settings in path.items():
            try:
                models[penalty] = tuner.tune(settings)
                lines[penalty] = self._measure_model(models[penalty], train, rest)
            except TrainingError:
                lines[penalty] = {"failed": True}
            except PositiveReferenceError:
                lines[penalty] = {"reference_positive": 1.0}
            bar.update()
        return Walked(pd.DataFrame.from_dict(lines, orient="index").fillna({"failed": False}), models, train, rest)

    def measure_against(self, walked: Sequence[Walked], chosen: float | None) -> pd.DataFrame:
        """Mean SEV against the usual references, before and after tuning: a line for each reference.

        A model that is short against one artificial row only is seen here.
        """
        given = self.builder.reference
        own = given if isinstance(given, str) else "given"
        times = {"before": 0.0, "after": 0.0 if chosen is None else chosen}
        sizes = {
            name: {penalty: self._mean_size(walked, penalty, reference) for penalty in set(times.values())}
            for name, reference in _AGAINST.items()
            if name != own
        }
        # measured already, for the path
        sizes[own] = {
            penalty: float(np.mean([one.lines["sev"][penalty] for one in walked])) for penalty in times.values()
        }
        return pd.DataFrame(
            {time: {name: found[penalty] for name, found in sizes.items()} for time, penalty in times.items()}
        ).rename_axis("reference")

    def _mean_size(self, walked: Sequence[Walked], penalty: float, reference: ReferenceLike) -> float:
        """Mean SEV over the splits; NaN where every reference of that kind is predicted positive."""
        sizes = []
        for one in walked:
            measure = self._measure_with(one.train, reference)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ReferenceWarning)  # which groups are left out is no matter here
                try:
                    found = measure.of(one.models[penalty], one.rest.X, one.rest.labels, one.rest.weights)
                except (KeyError, PositiveReferenceError):
                    return float("nan")
            sizes.append(path_line(found, self._is_restricted)["sev"])
        return float(np.mean(sizes))

    @property
    def _is_restricted(self) -> bool:
        return bool(tuple(self.builder.restricted))

    def _measure_with(self, train: Rows, reference: ReferenceLike) -> Measure:
        return Measure(
            X_train=train.X,
            y_train=train.labels,
            kinds=_KINDS[self.objective],
            reference=reference,
            groups=self.builder.groups,
            restricted=self.builder.restricted,
            max_rows=self.max_rows,
        )

    def _measure_model(self, model: FittedClassifier, train: Rows, rest: Rows) -> dict[str, float]:
        measure = self._measure_with(train, self.builder.reference)
        line = path_line(measure.of(model, rest.X, rest.labels, rest.weights), self._is_restricted)
        for floor in self.floors:
            if floor.name not in line:
                line[floor.name] = floor.measure(model, rest.X, rest.labels, rest.weights)
        return line


def path_line(found: Mapping[str, float], restricted: bool) -> dict[str, float]:
    """The columns of the path, from all that was measured."""
    kinds = [key.removeprefix("sev_") for key in found if key.startswith("sev_")]
    if restricted and "restricted" in kinds:
        kinds = ["restricted"] + [kind for kind in kinds if kind == "plus"]
    return {
        **{key: found[key] for key in ("accuracy", "auc", "positive_rate")},
        "sev": float(np.mean([found[f"sev_{kind}"] for kind in kinds])),
        "share_of_one": float(np.mean([found[f"share_of_one_{kind}"] for kind in kinds])),
        "unexplainable": float(np.max([found[f"unexplainable_{kind}"] for kind in kinds])),
        "reference_score": found["reference_score"],
        "reference_positive": float(found["reference_score"] >= 0.5),
        "failed": False,
    }
