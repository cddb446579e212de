"""Explanations as arrow columns with a declared schema."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sev.core import Status, unpack
from sev.explanations import Explanations
from sev.text import proof_scope
from sev.typing import IntArray, MaskArray

#: What every explained row gets. ``features`` is the first minimum set, null where there is none; ``sets`` all of them.
#: ``becomes`` is the class that the row has with the change of that set.
RESULT_FIELDS: tuple[tuple[str, pa.DataType], ...] = (
    ("status", pa.string()),
    ("target", pa.string()),
    ("size", pa.int32()),
    ("lower_bound", pa.int32()),
    ("features", pa.list_(pa.string())),
    ("n_sets", pa.int32()),
    ("sets_complete", pa.bool_()),
    ("score", pa.float64()),
    ("result_score", pa.float64()),
    ("becomes", pa.string()),
    ("proof_scope", pa.string()),
    ("reason", pa.string()),
)
SETS_FIELD = ("sets", pa.list_(pa.list_(pa.string())))
_STATUSES = pa.array([str(status) for status in Status])


def result_schema(*, sets: bool) -> pa.Schema:
    """Names and types of the columns of results."""
    return pa.schema([*RESULT_FIELDS, SETS_FIELD] if sets else RESULT_FIELDS)


def to_arrow(many: Explanations, *, sets: bool) -> pa.Table:
    """Explanations, one line a row, column by column and without a Python object for a row."""
    answers = many.answers
    names = pa.array(many.feature_names, type=pa.string())
    found = answers.has_set
    n_sets = np.diff(answers.offsets)
    first = unpack(answers.masks[answers.offsets[:-1][found]], len(names))
    reasons: list[str | None] = [None] * len(many)
    for row, reason in answers.reasons.items():
        reasons[row] = reason
    columns: dict[str, pa.Array] = {
        "status": _STATUSES.take(pa.array(answers.status)),
        "target": pa.array([str(target) for target in many.targets]).take(pa.array(answers.target)),
        "size": pa.array(many.sizes, from_pandas=True).cast(pa.int32()),
        "lower_bound": pa.array(answers.lower_bound.astype(np.int32)),
        "features": _list_names(first, found, names),
        "n_sets": pa.array(n_sets.astype(np.int32)),
        "sets_complete": pa.array(answers.complete),
        "score": pa.array(answers.score, from_pandas=True),
        "result_score": pa.array(answers.result_score, from_pandas=True),
        "becomes": _classes_after(many),
        "proof_scope": _proof_scopes(many),
        "reason": pa.array(reasons, type=pa.string()),
    }
    if sets:
        columns["sets"] = _lists_of_sets(answers.masks, answers.offsets, names)
    return pa.table(columns, schema=result_schema(sets=sets))


def _classes_after(many: Explanations) -> pa.Array:
    """The class of each row with the change of its first set; null where there is no change."""
    found = many.answers.has_set
    if many.kind == "plus" or not found.any():
        return pa.nulls(len(many), pa.string())
    names: list[str | None]
    if many.class_scores is not None:
        classes, number = list(many.classes), many.class_scores.becomes
    else:
        classes, number = [many.other_class(target) for target in range(len(many.targets))], many.answers.target
    names = [None if one is None else str(one) for one in classes]
    return pa.array(names, type=pa.string()).take(pa.array(number, mask=~found))


def _proof_scopes(many: Explanations) -> pa.Array:
    """Over what each answer is proven, as :attr:`sev.Explanation.proof_scope`; null for rows that were not searched."""
    searched = np.array(many.values_searched, dtype=object)
    scopes = np.full(len(many), None, dtype=object)
    for name in dict.fromkeys(many.values_searched):
        scopes[searched == name] = proof_scope(many.restricted, many.values, name, has_actions=many.has_actions)
    scopes[np.isin(many.answers.status, [Status.NOT_TARGET.code, Status.ERROR.code])] = None
    return pa.array(scopes, type=pa.string())


def problem_rows(reasons: list[str], *, sets: bool) -> pa.Table:
    """Results of rows that could not be read."""
    n_rows = len(reasons)
    schema = result_schema(sets=sets)
    given = {
        "status": pa.array([str(Status.ERROR)] * n_rows, type=pa.string()),
        "lower_bound": pa.array([0] * n_rows, type=pa.int32()),
        "n_sets": pa.array([0] * n_rows, type=pa.int32()),
        "sets_complete": pa.array([False] * n_rows, type=pa.bool_()),
        "reason": pa.array(reasons, type=pa.string()),
    }
    return pa.table([given.get(field.name, pa.nulls(n_rows, field.type)) for field in schema], schema=schema)


def _list_names(chosen: np.ndarray, found: np.ndarray, names: pa.Array) -> pa.Array:
    """Feature names of one set a row; null for rows without."""
    counts = np.zeros(len(found), dtype=np.int64)
    counts[found] = chosen.sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    values = names.take(pa.array(np.nonzero(chosen)[1]))
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(~found))


def _lists_of_sets(masks: MaskArray, row_offsets: IntArray, names: pa.Array) -> pa.Array:
    chosen = unpack(masks, len(names))
    inner = _list_names(chosen, np.ones(len(chosen), dtype=np.bool_), names)
    return pa.ListArray.from_arrays(pa.array(row_offsets.astype(np.int32)), inner)
