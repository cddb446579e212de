"""The contract of backends, open to whoever writes one."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sev.backends import Backend, missing_members, reader_for
from sev.core import Status
from sev.exceptions import FallbackWarning, InputError, ReferenceWarning, VerificationError
from sev.explainers import Explainer
from sev.explanations import Explanations
from sev.testing._definition import Score, own_scores, require, require_definition, smallest_sets
from sev.typing import FloatArray, NativeTable

if TYPE_CHECKING:
    from sev.typing import WorkOptions


#: More rows than are settled at once (see ``explainers/_task.py``).
_ROWS_OF_A_LARGE_BATCH = 300


@dataclass(frozen=True)
class _Subject:
    """An explainer to check, the rows to check it on, and the model's own scores."""

    explainer: Explainer
    rows: NativeTable
    score: Score

    def explain(self, **options: Unpack[WorkOptions]) -> Explanations:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FallbackWarning)
            try:
                return self.explainer.explain(self.rows, **options)
            except FallbackWarning as doubt:
                raise VerificationError(f"The backend's answers are not trusted: {doubt}") from doubt


def check_backend(
    model: object, X: NativeTable, y: ArrayLike | None = None, *, n_rows: int = 10, random_state: int = 0
) -> int:
    """Check the backend of a model against everything that this package relies on.

    The reader of the model must be registered (:func:`sev.backends.register`). Checked are the numbers that the
    backend reads from the model, and its answers: both kinds, with and without restricted features, equal the
    brute-force definition by the model's own scores, in size and in the full list of sets; they do not depend on the
    order of rows or on the size of the batch, keep what limits promise, and survive a pickle; nothing that was passed
    is changed.

    Parameters
    ----------
    model : object
        A fitted binary model of the class that the reader knows, not inside a pipeline.
    X : DataFrame or array of shape (n_samples, n_columns)
        Rows as the model takes them, with at most 12 features. Include the rows that are hard for the model: missing
        values, ties, values at its thresholds.
    y : array-like of shape (n_samples,), default=None
        Their labels.
    n_rows : int, default=10
        How many of the rows predicted as ``classes_[1]`` are explained.
    random_state : int, default=0
        Which of them.

    Returns
    -------
    int
        How many explanations were compared with the definition.

    Raises
    ------
    VerificationError
        What is wrong, and where.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sev.testing import check_backend
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> check_backend(LogisticRegression().fit(X, X[:, 0] > 0), X, X[:, 0] > 0) > 30
    True
    """
    if not isinstance(X, (pd.DataFrame, np.ndarray)):
        raise InputError(f"X must be a DataFrame or an array, got {type(X).__name__}.")
    kept = X.copy()
    response, score = own_scores(model, X)
    backend = _read_model(model, response)
    _check_encoding(backend, X)
    _check_scores(backend, X, score)
    explainer = _make_explainer(model, X, y, backend)
    subject = _Subject(explainer, _positive_rows(explainer, X, n_rows, random_state), score)
    compared = _check_answers(subject)
    _check_independence(subject)
    _check_limits(subject)
    _check_large_batch(subject, backend)
    _check_pickle(subject)
    require(
        _are_equal(X, kept), "Explaining has changed the rows that were passed: a backend must copy what it writes to."
    )
    return compared


def _read_model(model: object, response: str) -> Backend:
    reader = reader_for(model)
    if reader is None:
        key = f"{type(model).__module__.partition('.')[0]}.{type(model).__name__}"
        raise InputError(
            f"No reader is registered for {key!r}: register one with sev.backends.register({key!r}, 'module:function')."
        )
    backend = reader(model, response)
    missing = ", ".join(missing_members(backend))
    require(not missing, f"The reader returned {type(backend).__name__}, which is not a Backend: it has no {missing}.")
    return backend


def _make_explainer(model: object, X: NativeTable, y: ArrayLike | None, backend: Backend) -> Explainer:
    """An explainer that reads the model with this backend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReferenceWarning)
        warnings.simplefilter("ignore", FallbackWarning)
        explainer = Explainer(model, X, y)
    require(
        explainer.backend == backend.family,
        f"The model is explained by the backend {explainer.backend!r}, not by {backend.family!r}: "
        f"{explainer.backend_reason or 'another reader was found'}.",
    )
    return explainer


def _positive_rows(explainer: Explainer, X: NativeTable, n_rows: int, random_state: int) -> NativeTable:
    """Some of the rows that there is something to explain about."""
    positive = np.flatnonzero(explainer.explain(X).statuses != Status.NOT_TARGET)
    if not positive.size:
        raise InputError("No row of X is predicted as the explained class: nothing can be checked.")
    chosen = np.sort(np.random.default_rng(random_state).permutation(positive)[:n_rows])
    return X.iloc[chosen] if isinstance(X, pd.DataFrame) else X[chosen]


def _check_encoding(backend: Backend, X: NativeTable) -> None:
    """Numbers of the right shape, each from its own column and row."""
    kept = X.copy()
    encoded = backend.encode(X)
    require(_are_equal(X, kept), "encode has changed the rows that were passed: a backend must copy what it writes to.")
    shape = (len(X), backend.n_columns)
    require(
        isinstance(encoded, np.ndarray) and encoded.dtype == np.float64 and encoded.shape == shape,
        f"encode must return float64 of shape {shape}, got {getattr(encoded, 'dtype', type(encoded).__name__)} of "
        f"shape {np.shape(encoded)}.",
    )
    last = X.iloc[-1:] if isinstance(X, pd.DataFrame) else X[-1:]
    require(_are_same(backend.encode(last), encoded[-1:]), "encode of one row differs from encode of many.")
    if shape[1] != X.shape[1]:
        return
    order = np.arange(len(X))[::-1]
    for column in range(shape[1]):
        mixed = X.copy()
        if isinstance(mixed, pd.DataFrame):
            mixed = mixed.assign(**{mixed.columns[column]: X.iloc[order, column].to_numpy()}).astype(X.dtypes)
        else:
            mixed[:, column] = X[order, column]
        wanted = encoded.copy()
        wanted[:, column] = encoded[order, column]
        require(
            _are_same(backend.encode(mixed), wanted),
            f"encode: changing column {column} must change the encoded column {column} and no other, row by row.",
        )


def _check_scores(backend: Backend, X: NativeTable, score: Score) -> None:
    """The form has the model's own scores, and they never fall with the margin."""
    margins = backend.margins(backend.encode(X))
    require(np.shape(margins) == (len(X),), f"margins must have shape ({len(X)},), got {np.shape(margins)}.")
    columns = X.columns if isinstance(X, pd.DataFrame) else None
    theirs = score(pd.DataFrame(X, columns=columns))
    _require_close(backend.scores(margins), theirs, backend.score_tolerance, "rows of X")
    hard = backend.proof_rows(X)
    if hard is not None:
        ours = backend.scores(backend.margins(backend.encode(hard)))
        theirs = score(pd.DataFrame(hard, columns=columns))
        _require_close(ours, theirs, backend.score_tolerance, "the backend's own proof rows")
    spread = np.linspace(margins.min() - 1.0, margins.max() + 1.0, 101)
    require((np.diff(backend.scores(spread)) >= 0).all(), "scores must not decrease as the margin increases.")


def _require_close(ours: FloatArray, theirs: FloatArray, tolerance: float, where: str) -> None:
    gap = np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))
    require(
        (gap <= tolerance).all(),
        f"The scores read from the model differ from its own by up to {np.nanmax(gap):.2g} on {where}; score_tolerance "
        f"is {tolerance:.2g}.",
    )


def _check_answers(subject: _Subject) -> int:
    """Answers equal the definition, and the model confirms every set."""
    names = subject.explainer.feature_names
    compared = 0
    for kind in ("minus", "plus"):
        for restricted in ((), names[:1], names[1::2]):
            many = subject.explain(kind=kind, restricted=restricted)
            for label, one in zip(many.index, many, strict=True):
                require_definition(one, subject.score, label)
                compared += 1
            many.verify()
    return compared


def _check_independence(subject: _Subject) -> None:
    """The same answers in another order, and one row at a time."""
    whole = subject.explain().to_frame().reset_index(drop=True)
    rows = subject.rows
    backwards = subject.explainer.explain(rows[::-1]).to_frame()[::-1].reset_index(drop=True)
    alone = [subject.explainer.explain(rows[place : place + 1]).to_frame() for place in range(len(rows))]
    for other, what in ((backwards, "in reverse order"), (pd.concat(alone, ignore_index=True), "one row at a time")):
        for name in ("status", "size", "lower_bound", "features", "n_sets"):
            differing = [row for row in whole.index if not _equal_cells(whole[name][row], other[name][row])]
            require(not differing, f"Row {differing[:1]}: {name} differs when rows are explained {what}.")


def _check_limits(subject: _Subject) -> None:
    """A search that a limit ends reports what it knows, and nothing else."""
    limits: tuple[WorkOptions, ...] = ({"max_size": 1}, {"max_sets": 1}, {"max_size": 2, "max_sets": 2})
    for options in limits:
        for one in subject.explain(**options):
            size, sets = smallest_sets(one, subject.score)
            given = ", ".join(f"{name}={value}" for name, value in options.items())
            require(
                size is None or one.lower_bound <= size,
                f"{given}: the lower bound is {one.lower_bound}, but a set of {size} features exists.",
            )
            require(
                one.status is not Status.UNEXPLAINABLE or size is None,
                f"{given}: the status is unexplainable, but a set of {size} features exists.",
            )
            require(
                one.status is not Status.OPTIMAL or one.size == size,
                f"{given}: the status is optimal with size {one.size}, but the smallest set has {size} features.",
            )
            require(
                not one.sets_complete or one.size != size or len(one.sets) == len(sets),
                f"{given}: sets_complete is True with {len(one.sets)} of {len(sets)} sets.",
            )
            require(
                len(one.sets) <= options.get("max_sets", 100),
                f"{given}: {len(one.sets)} sets are listed.",
            )


def _check_large_batch(subject: _Subject, backend: Backend) -> None:
    """Of a large batch only the first sets are searched for at once; all of them are listed when they are asked for."""
    places = np.resize(np.arange(len(subject.rows)), _ROWS_OF_A_LARGE_BATCH)
    many = subject.rows.iloc[places] if isinstance(subject.rows, pd.DataFrame) else subject.rows[places]
    few, large = subject.explain(), subject.explainer.explain(many)
    for place, one in zip(places.tolist(), large, strict=True):
        alone = few[place]
        require(
            one.sets == alone.sets and one.sets_complete == alone.sets_complete,
            f"Row {place}: {len(one.sets)} of {len(alone.sets)} sets are listed in a batch of {len(many)} rows. "
            f"lists_sets_later is {backend.lists_sets_later}: True is for a solver that leaves out further sets "
            "when limits.first_only is set, with complete=False, and lists them when it is not.",
        )


def _check_pickle(subject: _Subject) -> None:
    try:
        again = pickle.loads(pickle.dumps(subject.explainer))
    except Exception as error:
        raise VerificationError(f"The explainer cannot be pickled, so workers cannot use it: {error}.") from error
    first, second = subject.explain().to_frame(), again.explain(subject.rows).to_frame()
    require(first.equals(second), "After pickling and unpickling, the explainer returns different answers.")


def _are_equal(one: pd.DataFrame | np.ndarray, other: pd.DataFrame | np.ndarray) -> bool:
    return bool(one.equals(other)) if isinstance(one, pd.DataFrame) else _are_same(one, other)


def _are_same(one: np.ndarray, other: np.ndarray) -> bool:
    floats = one.dtype.kind == "f"
    return one.shape == other.shape and bool(np.array_equal(one, other, equal_nan=floats))


def _equal_cells(one: object, other: object) -> bool:
    return bool(one == other or (one != one and other != other))
