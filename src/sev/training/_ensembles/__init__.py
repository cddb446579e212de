"""Boosted trees of four libraries, as what re-weighting needs: the output of each tree, and a copy with other weights."""

from sev.training._ensembles._protocol import Ensemble
from sev.training._ensembles._registry import ensemble_of

__all__ = ["Ensemble", "ensemble_of"]
