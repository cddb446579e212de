"""Boosted trees as re-weighting needs them: the output of each tree, and a copy with other weights."""

from sev.training._ensembles._protocol import Ensemble, Growable
from sev.training._ensembles._registry import ensemble_of

__all__ = ["Ensemble", "Growable", "ensemble_of"]
