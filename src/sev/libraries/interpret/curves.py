"""How the terms of an explainable boosting machine depend on a number: steps between the edges of its bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sev.backends import ColumnCurve, Curves

if TYPE_CHECKING:
    from interpret.glassbox import ExplainableBoostingClassifier


def through_terms(model: ExplainableBoostingClassifier, columns: Curves) -> list[ColumnCurve | None] | None:
    """One column for each term of one feature."""
    made: list[ColumnCurve | None] = []
    for places in model.term_features_:
        [place] = places
        one, bins = columns[place], model.bins_[place][0]
        made.append(None if one is None or isinstance(bins, dict) else one.cut(np.asarray(bins), 0))
    return made
