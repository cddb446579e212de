"""How a fitted model is read, one folder per family."""

from sev.backends._agreement import check_decisions
from sev.backends._categories import category_columns
from sev.backends._encoding import ColumnwiseEncoding, as_float_matrix
from sev.backends._protocol import Backend, CannotReadError
from sev.backends._reading import Reading, read_model
from sev.backends._registry import reader_for, register, register_scorer, registered_models
from sev.backends._responses import model_scores
from sev.backends._sampling import representative_rows
from sev.backends._scores import ModelScores, Scorer, check_probabilities
from sev.backends._unreadable import is_function
from sev.backends._wrappers import Unwrapped, decision_rule, unwrap

__all__ = [
    "Backend",
    "CannotReadError",
    "ColumnwiseEncoding",
    "ModelScores",
    "Reading",
    "Scorer",
    "Unwrapped",
    "as_float_matrix",
    "category_columns",
    "check_decisions",
    "check_probabilities",
    "decision_rule",
    "is_function",
    "model_scores",
    "read_model",
    "reader_for",
    "register",
    "register_scorer",
    "registered_models",
    "representative_rows",
    "unwrap",
]
