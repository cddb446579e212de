"""A model's score and decision, and the forms that have an exact solver, one folder per family."""

from sev.backends._agreement import check_decisions
from sev.backends._categories import category_columns
from sev.backends._curves import ColumnCurve, Curves, follow_curves
from sev.backends._encoding import ColumnwiseEncoding, as_float_matrix
from sev.backends._links import Link
from sev.backends._protocol import Backend, CannotReadError, SolvesEach, SplitsEncoder, missing_members
from sev.backends._reading import Reading, read_model
from sev.backends._registry import reader_for, register, register_scorer, registered_models, scorer_for
from sev.backends._responses import model_scores
from sev.backends._sampling import representative_rows
from sev.backends._scores import ModelScores, Scorer, check_probabilities
from sev.backends._stopping import SearchStopped, stopping_when
from sev.backends._stored_categories import (
    Categories,
    category_of,
    holds_codes,
    restore_categories,
    text_columns,
    trained_columns,
)
from sev.backends._unreadable import is_function
from sev.backends._wrappers import DecisionRule, Unwrapped, decision_rule, unwrap

__all__ = [
    "Backend",
    "CannotReadError",
    "Categories",
    "ColumnCurve",
    "ColumnwiseEncoding",
    "Curves",
    "DecisionRule",
    "Link",
    "ModelScores",
    "Reading",
    "Scorer",
    "SearchStopped",
    "SolvesEach",
    "SplitsEncoder",
    "Unwrapped",
    "as_float_matrix",
    "category_columns",
    "category_of",
    "check_decisions",
    "check_probabilities",
    "decision_rule",
    "follow_curves",
    "holds_codes",
    "is_function",
    "missing_members",
    "model_scores",
    "read_model",
    "reader_for",
    "register",
    "register_scorer",
    "registered_models",
    "representative_rows",
    "restore_categories",
    "scorer_for",
    "stopping_when",
    "text_columns",
    "trained_columns",
    "unwrap",
]
