"""The penalty path: copies of a model, fitted and tuned on a part of the rows, measured on the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sev.exceptions import TrainingError
from sev.training._base_model import fresh_copy
from sev.training._building import TaskBuilder
from sev.training._floors import Floor
from sev.training._quality import Measure, take_rows
from sev.training._settings import Settings
from sev.training._tuning import Tuner
from sev.training._weights import fit_with_weights
from sev.typing import FloatArray, IntArray, Kind, NativeTable

_KINDS: dict[str, tuple[Kind, ...]] = {
    "plus": ("plus",),
    "volume": ("plus",),
    "minus": ("minus",),
    "both": ("plus", "minus"),
}


class Rows(NamedTuple):
    """Rows with their labels, and their weights in training and in figures."""

    X: NativeTable
    labels: Any
    training_weights: FloatArray | None = None
    weights: FloatArray | None = None

    def take(self, rows: IntArray) -> Rows:
        """Some of the rows."""
        training, measured = (None if one is None else one[rows] for one in (self.training_weights, self.weights))
        return Rows(take_rows(self.X, rows), self.labels[rows], training, measured)


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

    model: Any
    rows: Rows
    builder: TaskBuilder
    objective: str
    floors: tuple[Floor, ...]
    max_rows: int | None

    def measure_start(self) -> pd.DataFrame:
        """Figures of the model as it is, on the rows that it was fitted on: a path of one line."""
        return pd.DataFrame.from_dict({0.0: self._measure(self.model, self.rows, self.rows)}, orient="index")

    def walk(self, split: tuple[IntArray, IntArray], path: Mapping[float, Settings], bar: Any) -> pd.DataFrame:
        """Figures of one split: a model fitted on the first rows, as it is and tuned with each penalty."""
        train, rest = self.rows.take(split[0]), self.rows.take(split[1])
        base = fit_with_weights(fresh_copy(self.model), train.X, train.labels, train.training_weights)
        lines: dict[float, dict[str, float]] = {0.0: self._measure(base, train, rest)}
        bar.update()
        tuner = Tuner.of(base, train.X, train.labels, self.builder, weights=train.training_weights)
        for penalty, settings in path.items():
            try:
                lines[penalty] = self._measure(tuner.tune(settings), train, rest)
            except TrainingError:
                lines[penalty] = {"failed": True}
            bar.update()
        return pd.DataFrame.from_dict(lines, orient="index").fillna({"failed": False})

    def _measure(self, model: Any, train: Rows, rest: Rows) -> dict[str, float]:
        measure = Measure(
            X_train=train.X,
            y_train=train.labels,
            kinds=_KINDS[self.objective],
            reference=self.builder.reference,
            groups=self.builder.groups,
            restricted=self.builder.restricted,
            max_rows=self.max_rows,
        )
        line = path_line(measure.of(model, rest.X, rest.labels, rest.weights), bool(tuple(self.builder.restricted)))
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
