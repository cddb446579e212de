"""The contract of references, open to whoever writes one."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sev.core import Status
from sev.exceptions import InputError, VerificationError
from sev.explainers import Explainer
from sev.references import Background, FittedReference, Reference
from sev.testing._definition import require
from sev.typing import IntArray, NativeTable


class _Recorded:
    """A reference that keeps what the explainer passed to it and what it returned, and compares two fits."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.background: Background | None = None
        self.fitted: FittedReference | None = None

    def fit(self, background: Background) -> FittedReference:
        before = background.rows.copy()
        fitted, again = self.reference.fit(background), self.reference.fit(background)
        require(background.rows.equals(before), "fit has changed the background rows: copy what you write to.")
        require(isinstance(fitted, FittedReference), f"fit must return a FittedReference, got {type(fitted).__name__}.")
        _check_rows(fitted, background)
        require(fitted.rows.equals(again.rows), "Two fits on the same background return different rows.")
        self.background, self.fitted = background, fitted
        return fitted


def check_reference(reference: Reference, model: object, X: NativeTable, y: ArrayLike | None = None) -> int:
    """Check a reference written outside this package against everything that explanations rely on.

    Checked are the rows that it returns (columns, number, name), that a second fit returns the same and changes
    nothing, that the row a query gets depends on the query alone, and that explanations compare each query with
    exactly that row and are confirmed by the model.

    Parameters
    ----------
    reference : object with a method ``fit(background) -> FittedReference``
        The reference; see :class:`sev.references.Reference`.
    model : object
        A fitted model.
    X : DataFrame or array of shape (n_samples, n_columns)
        Rows as the model takes them.
    y : array-like of shape (n_samples,), default=None
        Their labels.

    Returns
    -------
    int
        How many explanations were checked.

    Raises
    ------
    VerificationError
        What is wrong, and where.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sev.references import NearestToMean
    >>> from sev.testing import check_reference
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> check_reference(NearestToMean(), LogisticRegression().fit(X, X[:, 0] > 0), X, X[:, 0] > 0) > 20
    True
    """
    if not isinstance(reference, Reference):
        raise InputError(f"A reference needs a method fit(background), which {type(reference).__name__} does not have.")
    recorded = _Recorded(reference)
    explainer = Explainer(model, X, y, reference=recorded)
    assert recorded.background is not None  # the explainer has called fit
    assert recorded.fitted is not None
    rows, fitted = recorded.background.rows, recorded.fitted
    assigned = _check_assignment(fitted, rows)
    many = explainer.explain(X)
    explained = np.flatnonzero(many.statuses != Status.NOT_TARGET)
    if not explained.size:
        raise InputError("No row of X is predicted as the explained class: nothing can be checked.")
    candidates = fitted.candidates(rows)
    for row in explained:
        got = many[int(row)].reference
        own = fitted.rows.iloc[candidates[row] if fitted.several else [assigned[row]]]
        same = [all(_same_value(got[column], wanted[column]) for column in own.columns) for _, wanted in own.iterrows()]
        require(any(same), f"Row {row} is compared with another row than the reference assigned to it.")
    many.verify()
    return len(explained)


def _check_rows(fitted: FittedReference, background: Background) -> None:
    rows = fitted.rows
    require(isinstance(rows, pd.DataFrame), f"The rows must be a DataFrame, got {type(rows).__name__}.")
    require(len(rows) > 0, "There must be at least one reference row.")
    require(
        list(rows.columns) == list(background.rows.columns),
        f"The rows have the columns {list(rows.columns)}, the background has {list(background.rows.columns)}.",
    )
    require(
        isinstance(fitted.name, str) and fitted.name, "The reference must have a name, as a string that is not empty."
    )


def _check_assignment(fitted: FittedReference, queries: pd.DataFrame) -> IntArray:
    """Each query gets a row that exists, by its own values alone."""
    wanted = f"assign must return one row number from 0 to {len(fitted.rows) - 1} for each query."
    try:
        assigned = fitted.assigned(queries)
    except InputError as error:
        raise VerificationError(wanted) from error
    require(assigned.shape == (len(queries),), wanted)
    order = np.random.default_rng(0).permutation(len(queries))
    shuffled = fitted.assigned(queries.iloc[order])
    require((shuffled == assigned[order]).all(), "assign depends on the order of the queries.")
    few = np.concatenate([fitted.assigned(queries.iloc[place : place + 1]) for place in range(min(20, len(queries)))])
    require((few == assigned[: len(few)]).all(), "assign depends on the other queries of the batch.")
    return assigned


def _same_value(one: object, other: object) -> bool:
    return bool(one == other or (pd.isna(one) and pd.isna(other)))
