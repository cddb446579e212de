"""LIME on raw columns, text columns and one-hot blocks as its categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sev.comparison._answers import Importances
from sev.comparison._case import Case, NotApplicable
from sev.comparison._quiet import quietly
from sev.core import list_names
from sev.typing import FloatArray

#: Options that belong to the explanation of a row; all others are the explainer's.
_OF_A_ROW = ("num_samples", "distance_metric", "model_regressor")


def prepare(case: Case, options: dict[str, object]) -> Callable[[int], Importances]:
    """One explainer; options are those of ``LimeTabularExplainer`` and of its ``explain_instance``."""
    from lime.lime_tabular import LimeTabularExplainer

    coding = case.coding
    missing = np.isnan(np.vstack([coding.background, coding.queries])).any(axis=0)
    if missing.any():
        names = [coding.names[number] for number in np.flatnonzero(missing)]
        raise NotApplicable(f"LIME does not support missing values, which occur in {list_names(names, 5)}")
    of_a_row = {name: options[name] for name in _OF_A_ROW if name in options}
    with quietly(case.random_state):
        explainer = LimeTabularExplainer(
            coding.background,
            feature_names=coding.names,
            categorical_features=coding.categorical,
            **{name: value for name, value in options.items() if name not in of_a_row},
        )

    def probabilities(rows: FloatArray) -> FloatArray:
        scores = case.centred(coding.decode(rows))
        return np.column_stack([1.0 - scores, scores])

    def answer(query: int) -> Importances:
        _reseed_generators(explainer, case.seed(query))
        with quietly(case.seed(query)):
            found = explainer.explain_instance(
                coding.queries[query], probabilities, labels=(1,), num_features=len(coding.names), **of_a_row
            )
        weights = np.zeros(len(coding.names))
        for number, weight in found.local_exp[1]:
            weights[number] = weight
        return Importances(np.bincount(coding.feature, weights=weights, minlength=len(case.space)).astype(np.float64))

    return answer


def _reseed_generators(explainer: Any, seed: int) -> None:
    """A new generator in each place that holds one: LIME's own go on from query to query."""
    generator = np.random.RandomState(seed)
    for holder in (explainer, explainer.base, getattr(explainer, "discretizer", None)):
        if holder is not None:
            holder.random_state = generator
