"""Reader of explainable boosting machines without interactions, which are additive in their log-odds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sev.backends import CannotReadError
from sev.backends.linear import LinearBackend, additive_backend
from sev.libraries._checks import check_binary
from sev.typing import Response

if TYPE_CHECKING:
    from interpret.glassbox import ExplainableBoostingClassifier


def read_explainable_boosting(model: ExplainableBoostingClassifier, response: Response) -> LinearBackend:
    """ExplainableBoostingClassifier: its own term scores, where it has no interactions."""
    check_binary(model, response, ("predict_proba", "decision_function"))
    pairs = [term for term in model.term_features_ if len(term) > 1]
    if pairs:
        raise CannotReadError(f"it holds {len(pairs)} interactions; fit it with interactions=0 for an additive model")
    intercept = float(np.ravel(model.intercept_)[0])
    return additive_backend(model.eval_terms, len(model.term_features_), intercept, response)


def category_places(model: ExplainableBoostingClassifier, n_columns: int) -> list[int]:
    """Positions of the columns that the model takes as categories."""
    kinds = getattr(model, "feature_types_in_", None) or ()
    return [place for place, kind in enumerate(kinds) if kind in ("nominal", "ordinal")]
