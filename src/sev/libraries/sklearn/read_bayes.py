"""Readers of naive Bayes classifiers, which are additive in their log-odds.

Each turns a column into its contribution to the log-odds, so that the margin is a plain sum.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from sev.backends import as_float_matrix
from sev.backends.linear import LinearBackend, additive_backend
from sev.exceptions import InputError
from sev.libraries._checks import check_binary
from sev.typing import FloatArray, NativeTable, Response

if TYPE_CHECKING:
    from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB


def read_gaussian_nb(model: GaussianNB, response: Response) -> LinearBackend:
    """GaussianNB: a difference of two squared distances for each column."""
    check_binary(model, response)
    prior = np.log(model.class_prior_)
    return additive_backend(partial(_gaussian_terms, model), model.theta_.shape[1], prior[1] - prior[0], response)


def _gaussian_terms(model: GaussianNB, rows: NativeTable) -> FloatArray:
    values, means, variances = as_float_matrix(rows), model.theta_, model.var_
    distances = [(values - means[k]) ** 2 / variances[k] for k in (0, 1)]
    return 0.5 * (np.log(variances[0] / variances[1]) + distances[0] - distances[1])


def read_bernoulli_nb(model: BernoulliNB, response: Response) -> LinearBackend:
    """BernoulliNB: one of two contributions for each column."""
    check_binary(model, response)
    n_columns = model.feature_log_prob_.shape[1]
    return additive_backend(
        partial(_bernoulli_terms, model), n_columns, float(np.diff(model.class_log_prior_)[0]), response
    )


def _bernoulli_terms(model: BernoulliNB, rows: NativeTable) -> FloatArray:
    values = as_float_matrix(rows)
    if model.binarize is not None:
        values = (values > model.binarize).astype(np.float64)
    present = model.feature_log_prob_
    absent = np.log1p(-np.exp(present))
    return values * (present[1] - present[0]) + (1.0 - values) * (absent[1] - absent[0])


def read_categorical_nb(model: CategoricalNB, response: Response) -> LinearBackend:
    """CategoricalNB: a contribution for each category."""
    check_binary(model, response)
    n_columns = len(model.feature_log_prob_)
    return additive_backend(
        partial(_categorical_terms, model), n_columns, float(np.diff(model.class_log_prior_)[0]), response
    )


def _categorical_terms(model: CategoricalNB, rows: NativeTable) -> FloatArray:
    codes = as_float_matrix(rows).astype(np.int64)
    tables = [table[1] - table[0] for table in model.feature_log_prob_]
    for column, table in enumerate(tables):
        if codes[:, column].min(initial=0) < 0 or codes[:, column].max(initial=0) >= len(table):
            raise InputError(
                f"Column {column} (counted from 0) of what CategoricalNB receives holds a category that it was not "
                "trained on: leave out the rows that have it."
            )
    return np.column_stack([table[codes[:, column]] for column, table in enumerate(tables)])


def read_multinomial_nb(model: MultinomialNB, response: Response) -> LinearBackend:
    """MultinomialNB: linear in the counts."""
    check_binary(model, response)
    table = model.feature_log_prob_
    return LinearBackend(
        weights=table[1] - table[0],
        intercept=float(np.diff(model.class_log_prior_)[0]),
        link=expit,
        score_tolerance=1e-9,
    )
