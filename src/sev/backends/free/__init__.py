"""Searches over any permitted values, one for each family of models."""

from sev.backends.free._additive import AdditiveSearch
from sev.backends.free._candidates import CandidateSearch, RangeFinder, RangesOfProven, candidates_of
from sev.backends.free._joint import JointSearch
from sev.backends.free._joint_values import FeatureRule
from sev.backends.free._network_ranges import NetworkRanges
from sev.backends.free._problem import Enough, FreeProblem, FreeSearch, FreeSolution
from sev.backends.free._rows import move_rows, replace_columns

__all__ = [
    "AdditiveSearch",
    "CandidateSearch",
    "Enough",
    "FeatureRule",
    "FreeProblem",
    "FreeSearch",
    "FreeSolution",
    "JointSearch",
    "NetworkRanges",
    "RangeFinder",
    "RangesOfProven",
    "candidates_of",
    "move_rows",
    "replace_columns",
]
