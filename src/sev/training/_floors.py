"""What a tuned model must keep: floors on metrics, the share of positive decisions, a negative reference."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring, get_scorer_names

from sev.core import suggest_name
from sev.exceptions import InputError
from sev.typing import FittedClassifier, FloatArray, NativeTable

#: The name of a scikit-learn scorer, or a function of model, rows and labels.
Metric: TypeAlias = str | Callable[..., float]
#: One metric or several; a mapping says how much each may lose.
Metrics: TypeAlias = Metric | Iterable[Metric] | Mapping[Metric, float] | None
#: How much a metric may lose where nothing is said.
DEFAULT_LOSS = 0.005
#: What other libraries and papers call scorers of scikit-learn.
_OTHER_NAMES = {
    "auc": "roc_auc",
    "rocauc": "roc_auc",
    "auroc": "roc_auc",
    "gini": "roc_auc",
    "acc": "accuracy",
    "bacc": "balanced_accuracy",
    "balacc": "balanced_accuracy",
    "auprc": "average_precision",
    "prauc": "average_precision",
    "aucpr": "average_precision",
    "ap": "average_precision",
    "logloss": "neg_log_loss",
    "binarylogloss": "neg_log_loss",
    "crossentropy": "neg_log_loss",
    "brier": "neg_brier_score",
    "brierscore": "neg_brier_score",
    "mcc": "matthews_corrcoef",
}


@dataclass(frozen=True, eq=False)
class Floor:
    """A metric and how much of it may be given up.

    Parameters
    ----------
    name : str
        Column of the path.
    scorer : callable
        ``scorer(model, X, y)``, larger being better.
    max_loss : float
        How far it may fall.
    """

    name: str
    scorer: Callable[..., float]
    max_loss: float

    def measure(
        self, model: FittedClassifier, X: NativeTable, y: ArrayLike, weights: FloatArray | None = None
    ) -> float:
        """The metric of a model on some rows."""
        try:
            if weights is None:
                return float(self.scorer(model, X, y))
            self._refuse_without_weights()
            return float(self.scorer(model, X, y, sample_weight=weights))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"The metric {self.name} cannot be computed: {error}. A metric is the name of a scikit-learn scorer "
                "or a function scorer(model, X, y) that returns a number."
            ) from error

    def _refuse_without_weights(self) -> None:
        if inspect.isfunction(self.scorer) and "sample_weight" not in inspect.signature(self.scorer).parameters:
            raise InputError(
                f"The metric {self.name} has no parameter sample_weight, but sample_weight was passed: add the "
                "parameter to the metric, or leave sample_weight out."
            )


def floors_of(
    model: object, metric: Metrics, max_metric_loss: float, max_accuracy_loss: float | None
) -> tuple[Floor, ...]:
    """Floors on one metric or on several.

    Parameters
    ----------
    model : fitted classifier
        Whose metrics they are.
    metric : str, callable, iterable of those, mapping of those to float, or None
        Scorers; a mapping says how much each may lose.
    max_metric_loss : float
        How much each may lose, where it is not a mapping.
    max_accuracy_loss : float or None
        How much accuracy may lose; None: ``DEFAULT_LOSS`` without a metric, else accuracy has no floor.
    """
    limits = _limits_by_metric(metric, _check_amount("max_metric_loss", max_metric_loss))
    if max_accuracy_loss is not None or metric is None:
        amount = DEFAULT_LOSS if max_accuracy_loss is None else max_accuracy_loss
        limits = [("accuracy", _check_amount("max_accuracy_loss", amount)), *limits]
    floors = [_floor_of(model, one, max_loss) for one, max_loss in limits]
    names = [floor.name for floor in floors]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"metric names {twice} more than once: name each metric once.")
    return tuple(floors)


def _limits_by_metric(metric: Metrics, max_loss: float) -> list[tuple[Metric, float]]:
    if metric is None:
        return []
    if isinstance(metric, Mapping):
        return [(one, _check_amount(f"metric[{one!r}]", amount)) for one, amount in metric.items()]
    if isinstance(metric, str) or callable(metric):
        return [(metric, max_loss)]
    if isinstance(metric, Iterable):
        return [(one, max_loss) for one in metric]
    raise InputError(f"metric={metric!r} must be the name of a scikit-learn scorer, a function, or several of these.")


def _floor_of(model: object, metric: Metric, max_loss: float) -> Floor:
    if isinstance(metric, str):
        if metric not in get_scorer_names():
            raise InputError(
                f"metric={metric!r} is not a scorer of scikit-learn{_suggest_metric(metric)} "
                "sklearn.metrics.get_scorer_names() lists them."
            )
        return Floor(metric, check_scoring(model, scoring=metric), max_loss)
    if not callable(metric):
        raise InputError(
            f"metric={metric!r} must be the name of a scikit-learn scorer or a function of model, X and y."
        )
    return Floor(str(getattr(metric, "__name__", type(metric).__name__)), metric, max_loss)


def _suggest_metric(name: str) -> str:
    """The scorer that was probably meant: by what other libraries call it, or by its letters."""
    known = _OTHER_NAMES.get(re.sub(r"[^a-z]", "", name.lower()))
    return suggest_name(known or name, get_scorer_names())


def _check_amount(name: str, value: object) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not float(value) >= 0.0:
        raise InputError(f"{name}={value!r} must be a number of at least 0.")
    return float(value)


@dataclass(frozen=True, eq=False)
class Limits:
    """What a model must keep to be acceptable."""

    floors: tuple[Floor, ...]
    max_rate_change: float

    def __post_init__(self) -> None:
        _check_amount("max_rate_change", self.max_rate_change)

    def judge(self, path: pd.DataFrame) -> pd.DataFrame:
        """The path with a verdict on every line."""
        base = path.loc[0.0]
        why = [self._find_fault(base, line) for _, line in path.iterrows()]
        return path.assign(acceptable=[not one for one in why], why=why).rename_axis("penalty")

    def _find_fault(self, base: pd.Series, line: pd.Series) -> str:
        if line["failed"]:
            return "training failed"
        if line["positive_rate"] == 0.0:
            return "no row is predicted positive"
        if line["reference_positive"] and line.name != 0.0:
            return "the reference is predicted positive"
        if not self.keeps_rate(float(base["positive_rate"]), float(line["positive_rate"])):
            return f"share of positives {base['positive_rate']:.3f} -> {line['positive_rate']:.3f}"
        for floor in self.floors:
            if not line[floor.name] >= base[floor.name] - floor.max_loss - 1e-12:
                return f"{floor.name} {base[floor.name]:.4f} -> {line[floor.name]:.4f}"
        return ""

    def keeps_rate(self, before: float, after: float) -> bool:
        """Whether the share of positive decisions is within the limit."""
        return abs(after - before) <= self.max_rate_change * before + 1e-12

    def describe(self) -> str:
        """The floors in words."""
        return " and ".join(f"{floor.name} within {floor.max_loss:g}" for floor in self.floors)

    def changes(self, base: pd.Series, line: pd.Series) -> str:
        """What became of every metric with a floor."""
        return ", ".join(f"{floor.name} {base[floor.name]:.4f} -> {line[floor.name]:.4f}" for floor in self.floors)


def share_of_positives(decisions: ArrayLike, weights: FloatArray | None) -> float:
    """Share of positive decisions, rows counting by their weights."""
    return float(np.average(np.asarray(decisions, dtype=np.float64), weights=weights))
