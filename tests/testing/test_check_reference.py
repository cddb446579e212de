"""The open contract of references: a right one passes, and each way to break it is found."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from sev.exceptions import InputError, VerificationError
from sev.references import FittedReference, NearestToMean, Typical
from sev.testing import check_reference

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(80, 3)).round(2), columns=["a", "b", "c"])
Y = (X["a"] + X["b"] > 0).to_numpy()
MODEL = LogisticRegression().fit(X, Y)


class Halves:
    """Two rows, for queries with a small and a large "c"."""

    def fit(self, background):
        negatives = background.rows[background.negatives]
        rows = pd.concat([negatives[negatives["c"] < 0].mean(), negatives[negatives["c"] >= 0].mean()], axis=1).T
        return FittedReference(rows.reset_index(drop=True), "halves", lambda queries: (queries["c"] >= 0).astype(int))


@pytest.mark.parametrize("reference", [Typical("mean"), NearestToMean(), Halves()], ids=lambda one: type(one).__name__)
def test_references_pass(reference):
    assert check_reference(reference, MODEL, X, Y) == MODEL.predict(X).sum()


def test_rows_may_be_an_array():
    rows = X.to_numpy()
    assert check_reference(Typical("median"), LogisticRegression().fit(rows, Y), rows, Y) > 20


class Broken:
    """The halves, with one thing made wrong."""

    def __init__(self, fit):
        self._fit = fit

    def fit(self, background):
        return self._fit(Halves().fit(background), background)


def changed_background(fitted, background):
    background.rows.iloc[0, 0] += 1.0
    return fitted


def other_rows_each_time(fitted, background):
    return FittedReference(fitted.rows + RNG.random(), "random", fitted.assign)


BROKEN = {
    "must return a FittedReference": lambda fitted, background: fitted.rows,
    "must be a DataFrame": lambda fitted, background: FittedReference(fitted.rows.to_numpy(), "halves"),
    "at least one reference row": lambda fitted, background: FittedReference(fitted.rows[:0], "halves"),
    "have the columns": lambda fitted, background: FittedReference(fitted.rows[["b", "a", "c"]], "halves"),
    "must have a name": lambda fitted, background: FittedReference(fitted.rows, ""),
    "changed the background": changed_background,
    "return different rows": other_rows_each_time,
    "one row number from 0 to 1": lambda fitted, background: FittedReference(
        fitted.rows, "halves", lambda queries: np.full(len(queries), 2)
    ),
    "depends on the order": lambda fitted, background: FittedReference(
        fitted.rows, "halves", lambda queries: np.arange(len(queries)) % 2
    ),
    "other queries of the batch": lambda fitted, background: FittedReference(
        fitted.rows, "halves", lambda queries: (queries["c"] >= queries["c"].mean()).astype(int)
    ),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_reference_is_found(message):
    with pytest.raises(VerificationError, match=message):
        check_reference(Broken(BROKEN[message]), MODEL, X, Y)


def test_something_else_is_refused():
    with pytest.raises(InputError, match=r"fit\(background\), which str does not have"):
        check_reference("mean", MODEL, X, Y)
