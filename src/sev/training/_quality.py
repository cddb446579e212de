"""How good a model is and how many reasons its decisions need, in a dozen numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.metrics import brier_score_loss, roc_auc_score

from sev.core import tuple_of_names
from sev.exceptions import FallbackWarning, InputError
from sev.explainers import Explainer
from sev.explanations import Explanations
from sev.space import TableForm
from sev.typing import BoolArray, ColumnLabel, FittedClassifier, FloatArray, IntArray, Kind, NativeTable

if TYPE_CHECKING:
    from sev.references import ReferenceLike


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What to measure explanations with.

    Parameters
    ----------
    X_train, y_train : table and labels
        Background of the reference.
    kinds : sequence of {"plus", "minus"}
        Which explanations to measure.
    reference, groups, restricted
        As for :class:`sev.Explainer`.
    max_rows : int or None
        Explain at most this many rows that are predicted positive, drawn with a fixed seed.
    """

    X_train: NativeTable
    y_train: ArrayLike | None
    kinds: Sequence[Kind] = ("plus", "minus")
    reference: ReferenceLike = "mean"
    groups: Mapping[str, Sequence[ColumnLabel]] | None = None
    restricted: Iterable[str] = ()
    max_rows: int | None = None

    def explainer(self, model: FittedClassifier) -> Explainer:
        """An explainer of the model; a positive reference is reported, not refused."""
        return Explainer(
            model,
            self.X_train,
            self.y_train,
            reference=self.reference,
            groups=self.groups,
            restricted=tuple_of_names(self.restricted, "restricted"),
            allow_positive_reference=True,
        )

    def of(
        self, model: FittedClassifier, X: NativeTable, y: ArrayLike, weights: FloatArray | None = None
    ) -> dict[str, float]:
        """Accuracy and explanation size of a model on some rows."""
        explainer = self.explainer(model)
        target = explainer.classes_[1]
        truth = np.asarray(y) == target
        if len(truth) != len(X):
            raise InputError(f"X has {len(X)} rows but y has {len(truth)}: they must have the same length.")
        scores = np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
        positive = scores >= explainer.threshold
        has_both = 0 < truth.sum() < len(truth)
        found = {
            "accuracy": float(np.average(positive == truth, weights=weights)),
            "auc": float(roc_auc_score(truth, scores, sample_weight=weights)) if has_both else np.nan,
            "brier": float(brier_score_loss(truth, scores, sample_weight=weights)),
            "positive_rate": float(np.average(positive, weights=weights)),
        }
        rows = _sample_rows(positive, self.max_rows)
        chosen = Sample(take_rows(X, rows) if len(rows) else None, None if weights is None else weights[rows])
        for kind in self.kinds:
            found |= _find_sizes(explainer, chosen, kind, "sev_" + kind, restricted=())
        if explainer.restricted:
            found |= _find_sizes(explainer, chosen, "minus", "sev_restricted", restricted=explainer.restricted)
        found["reference_score"] = self.reference_score(model, explainer)
        if found["reference_score"] >= explainer.threshold and "sev_plus" in found:
            found["sev_plus"] = found["share_of_one_plus"] = np.nan  # by definition zero: nothing needs a reason
        return found

    def reference_score(self, model: FittedClassifier, explainer: Explainer) -> float:
        """The model's score of the explainer's reference, of several the highest."""
        rows = TableForm.of(self.X_train).to_native(explainer.reference)
        return float(np.asarray(model.predict_proba(rows))[:, 1].max())


class Sample(NamedTuple):
    """Rows to explain, None where there are none, and their weights."""

    rows: NativeTable | None
    weights: FloatArray | None


def _find_sizes(
    explainer: Explainer, sample: Sample, kind: Kind, name: str, restricted: tuple[str, ...]
) -> dict[str, float]:
    short = name.removeprefix("sev_")
    if sample.rows is None:
        return {name: np.nan, f"share_of_one_{short}": np.nan, f"unexplainable_{short}": np.nan}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)  # said once, when the explainer was made
        many: Explanations = explainer.explain(sample.rows, kind=kind, restricted=restricted, max_sets=1)
    counted = (many.statuses != "not_target").astype(np.float64)
    if sample.weights is not None:
        counted = counted * sample.weights
    total = counted.sum()
    if not total > 0.0:
        return {name: np.nan, f"share_of_one_{short}": 0.0, f"unexplainable_{short}": 0.0}
    unexplainable = many.statuses == "unexplainable"
    return {
        name: many.mean_size("all_features") if sample.weights is None else _weighted_size(many, counted),
        f"share_of_one_{short}": float(counted[many.sizes == 1].sum() / total),
        f"unexplainable_{short}": float(counted[unexplainable].sum() / total),
    }


def _weighted_size(many: Explanations, weights: FloatArray) -> float:
    """Mean size with weights; an unexplainable row counts as the number of features."""
    sizes = np.where(many.statuses == "unexplainable", len(many.feature_names), many.sizes)
    known = np.isfinite(sizes) & (weights > 0.0)
    return float(np.average(sizes[known], weights=weights[known])) if known.any() else np.nan


def _sample_rows(positive: BoolArray, max_rows: int | None) -> IntArray:
    rows = np.flatnonzero(positive)
    if max_rows is not None and len(rows) > max_rows:
        rows = np.sort(np.random.default_rng(0).choice(rows, max_rows, replace=False))
    return rows


def take_rows(X: NativeTable, rows: IntArray) -> NativeTable:
    """Some rows of a table, by their positions."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
