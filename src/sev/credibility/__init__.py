"""Whether to believe an explanation: how ordinary the changed row is among real rows of the other class.

The credibility of a row is the share of real rows of the other class that are less ordinary, between 0 and 1. A new
measure of what is ordinary is one class with a ``fit(others)`` method that returns a :class:`FittedMeasure`.
"""

from sev.credibility._function import FittedFunction, Function
from sev.credibility._isolation import FittedIsolationForest, IsolationForest
from sev.credibility._lazy import LazyCredibility
from sev.credibility._mixture import FittedGaussianMixture, GaussianMixture
from sev.credibility._neighbours import FittedNearestNeighbours, NearestNeighbours
from sev.credibility._plain import credibility_from_plain, credibility_to_plain
from sev.credibility._protocol import FittedMeasure, Measure, OtherRows
from sev.credibility._ranks import Credibility, CredibilityLike, MixedCredibility, as_measure

__all__ = [
    "Credibility",
    "CredibilityLike",
    "FittedFunction",
    "FittedGaussianMixture",
    "FittedIsolationForest",
    "FittedMeasure",
    "FittedNearestNeighbours",
    "Function",
    "GaussianMixture",
    "IsolationForest",
    "LazyCredibility",
    "Measure",
    "MixedCredibility",
    "NearestNeighbours",
    "OtherRows",
    "as_measure",
    "credibility_from_plain",
    "credibility_to_plain",
]
