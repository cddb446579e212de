"""Kernel SHAP, with the reference as its background and features as its players."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sev.comparison._answers import Importances
from sev.comparison._case import Case
from sev.comparison._quiet import quietly
from sev.typing import FloatArray


def prepare(case: Case, options: dict[str, object]) -> Callable[[int], Importances]:
    """One explainer for each reference row; options are those of ``KernelExplainer.shap_values``.

    SHAP perturbs features that are present (1, as in the query) or absent (0, as in the reference), so that a
    text column or a one-hot block is one player, and no row that mixes two categories is ever scored.
    """
    import shap

    current = {"query": 0}

    def scores(present: FloatArray) -> FloatArray:
        return case.mixed_scores(current["query"], np.asarray(present) == 0.0)

    explainers = {}
    for number in np.unique(case.assigned).tolist():
        current["query"] = int(np.flatnonzero(case.assigned == number)[0])
        with quietly():
            explainers[number] = shap.KernelExplainer(scores, np.zeros((1, len(case.space))))

    def answer(query: int) -> Importances:
        current["query"] = query
        # a feature that equals the reference cannot matter: SHAP leaves out what does not vary
        present = case.differs[query].astype(np.float64)
        with quietly(case.seed(query)):
            values = explainers[int(case.assigned[query])].shap_values(present, silent=True, **options)
        return Importances(np.asarray(values, dtype=np.float64).ravel())

    return answer
