"""What one feature is: raw columns, groups, one-hot blocks; and rows that mix two others, feature by feature."""

from sev.space._familiar import Familiar
from sev.space._features import Feature, FeatureSpace
from sev.space._mixing import FittedReferences, MixedRows, Mixer, mix_numbers
from sev.space._native import is_nan_value, mark_nan_values, to_pandas_for_model
from sev.space._tables import TableForm, is_plain_number, is_quantity, row_as_series

__all__ = [
    "Familiar",
    "Feature",
    "FeatureSpace",
    "FittedReferences",
    "MixedRows",
    "Mixer",
    "TableForm",
    "is_nan_value",
    "is_plain_number",
    "is_quantity",
    "mark_nan_values",
    "mix_numbers",
    "row_as_series",
    "to_pandas_for_model",
]
