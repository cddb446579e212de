"""Tree SHAP, with the reference as its background; values of encoded columns are added up to those of features."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.backends import CannotReadError, ColumnwiseEncoding, Unwrapped, as_float_matrix, unwrap
from sev.comparison._answers import Importances
from sev.comparison._case import Case, NotApplicable
from sev.comparison._quiet import quietly
from sev.typing import FloatArray, IntArray, ModelOutput

if TYPE_CHECKING:
    from shap import TreeExplainer


_NO_BACKGROUND = "SHAP supports no background with categorical splits: branches are weighted by their training rows"


def prepare(case: Case, options: dict[str, object]) -> Callable[[int], Importances]:
    """One explainer for each reference row; options are those of ``TreeExplainer.shap_values``."""
    import shap

    try:
        unwrapped = unwrap(case.explainer.model, case._task.scorer.response)
    except CannotReadError as error:
        raise NotApplicable(str(error)) from error
    encode, owner = _find_encoding(case, unwrapped)
    explainers = {
        number: _make_explainer(shap, unwrapped.estimator, encode(case.references.iloc[[number]]))
        for number in np.unique(case.assigned).tolist()
    }

    def answer(query: int) -> Importances:
        explainer, note = explainers[int(case.assigned[query])]
        with quietly(case.seed(query)):
            rows = encode(case.queries.iloc[[query]])
            values = explainer.shap_values(rows, **{"check_additivity": False, **options})
        return Importances(_by_feature(case, values, owner), note)

    return answer


def _find_encoding(case: Case, unwrapped: Unwrapped) -> tuple[Callable[[pd.DataFrame], ModelOutput], IntArray]:
    """Rows as the trees take them, and the feature of each of their columns."""

    def encode(rows: pd.DataFrame) -> ModelOutput:
        return unwrapped.transform(case.form.to_native(rows))

    if not unwrapped.transforms:
        dtypes = case.form.dtypes.values()
        # SHAP takes arrays of numbers from every table, but no polars, no booleans
        if all(pd.api.types.is_numeric_dtype(dtype) for dtype in dtypes):
            return lambda rows: rows.to_numpy(dtype=np.float64, na_value=np.nan), case.space.column_feature
        return encode, case.space.column_feature

    def numbers(rows: ModelOutput) -> FloatArray:
        return as_float_matrix(unwrapped.transform(rows))

    try:
        encoding = ColumnwiseEncoding(numbers, case.form, case.space, case.explainer.sample)
    except CannotReadError as error:
        raise NotApplicable(f"{error}, so SHAP values cannot be assigned to features") from error
    encoding.own_new_columns(
        case.queries, case.references, case.assigned, encoding.encode(case.queries), encoding.encode(case.references)
    )
    return encoding.encode, encoding.column_feature


def _make_explainer(shap: ModuleType, estimator: object, reference: ModelOutput) -> tuple[TreeExplainer, str]:
    """SHAP's reader of trees, and what there is to know about it."""
    with quietly():
        try:
            if _holds_numbers(reference):
                return shap.TreeExplainer(estimator, reference, feature_perturbation="interventional"), ""
            return shap.TreeExplainer(estimator, feature_perturbation="tree_path_dependent"), _NO_BACKGROUND
        except shap.utils._exceptions.InvalidModelError as error:
            raise NotApplicable(f"SHAP cannot read the trees of {type(estimator).__name__}") from error


def _holds_numbers(rows: ModelOutput) -> bool:
    """Whether no column holds categories: SHAP takes no background for splits on them."""
    return not isinstance(rows, pd.DataFrame) or all(pd.api.types.is_numeric_dtype(dtype) for dtype in rows.dtypes)


def _by_feature(case: Case, values: np.ndarray | list[np.ndarray], owner: IntArray) -> FloatArray:
    """Values for the class being explained: the one output there is is that of the second class."""
    if isinstance(values, list):  # one array for each class
        values = np.stack(values, axis=-1)
    array = np.asarray(values, dtype=np.float64)[0]
    if array.ndim == 2:
        array = array[:, case.target_index]
    elif case.target_index == 0:
        array = -array
    return np.bincount(owner, weights=array, minlength=len(case.space)).astype(np.float64)
