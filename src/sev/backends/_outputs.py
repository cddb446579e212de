"""What a model returned, as an array of numbers: one score for each row, or one for each row and class."""

from __future__ import annotations

import numbers

import numpy as np
import pandas as pd

from sev.exceptions import ModelError
from sev.typing import ModelOutput, NativeTable


def count_rows(rows: NativeTable) -> int:
    """Number of rows of a table or array."""
    return int(rows.shape[0])


def as_array(outputs: ModelOutput) -> np.ndarray:
    """Outputs of any kind, scores or labels, as an array of one or two dimensions.

    Raises
    ------
    ModelError
        When they are of another form.
    """
    if isinstance(outputs, (list, tuple)) and outputs and np.ndim(outputs[0]) == 2:
        raise ModelError(
            f"The model returns {len(outputs)} tables of scores, one for each of several outputs: pass a function that "
            "returns the scores of one of them."
        )
    if outputs is None:
        raise ModelError("The model returns None instead of scores: let it return one score per row.")
    if hasattr(outputs, "detach"):  # a tensor, which may be in a graph or on another device
        outputs = outputs.detach().cpu()
    elif isinstance(outputs, np.ma.MaskedArray):
        outputs = np.ma.filled(outputs.astype(np.float64), np.nan)
    elif hasattr(outputs, "toarray"):
        outputs = outputs.toarray()
    elif isinstance(outputs, (pd.Series, pd.DataFrame)) or hasattr(outputs, "to_numpy"):
        outputs = outputs.to_numpy()
    try:
        array = np.asarray(outputs)
    except (TypeError, ValueError) as error:
        problem = str(error).rstrip(".")
        raise ModelError(
            f"The model's scores, a {type(outputs).__name__}, cannot be made an array of numbers: {problem}."
        ) from error
    if array.ndim not in (1, 2):
        raise ModelError(
            f"The model returns scores of shape {array.shape}: one score per row is needed, or one column per class."
        )
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def as_scores(outputs: ModelOutput, n_rows: int | None = None) -> np.ndarray:
    """Outputs as real numbers, of shape (n_rows,) or (n_rows, n_classes).

    Parameters
    ----------
    outputs : array-like
        What the model returned.
    n_rows : int, default=None
        Number of rows that it was given; None leaves the length unchecked.

    Raises
    ------
    ModelError
        When they are no numbers, or have another length than the rows: nothing is ever broadcast.
    """
    array = as_array(outputs)
    if n_rows is not None and len(array) != n_rows:
        raise ModelError(
            f"The model returns {len(array)} scores for {n_rows} rows: it must return one score per row, or one column "
            "per class."
        )
    if array.dtype.kind == "O":
        array = _numbers_of_objects(array)
    if array.dtype.kind not in "fiub":
        raise ModelError(f"The model's scores are of dtype {array.dtype}: return numbers, one for each row.")
    return array


def holds_labels(array: np.ndarray) -> bool:
    """Whether outputs are text, and hence labels, not scores."""
    if array.ndim != 1 or not array.size:
        return False
    return array.dtype.kind in "UT" or (array.dtype.kind == "O" and all(isinstance(value, str) for value in array))


def _numbers_of_objects(array: np.ndarray) -> np.ndarray:
    """Python numbers and missing values as floats; anything else stays, to be refused."""
    if not all(value is None or value is pd.NA or isinstance(value, numbers.Real) for value in array.flat):
        return array
    plain = [np.nan if value is None or value is pd.NA else float(value) for value in array.flat]
    return np.array(plain, dtype=np.float64).reshape(array.shape)
