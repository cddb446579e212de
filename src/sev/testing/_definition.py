"""The definition of an explanation, applied through a model's own scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from sev.backends import scorer_for
from sev.core import Status, brute_force
from sev.exceptions import InputError, VerificationError
from sev.explanations import Explanation
from sev.typing import BoolArray, FittedModel, FloatArray, ModelOutput, NativeTable

#: More features than this have too many sets to try all of them.
MAX_FEATURES = 12

Score = Callable[[pd.DataFrame], FloatArray]


def require(holds: object, message: str) -> None:
    """Raise what is wrong, unless it holds."""
    if not holds:
        raise VerificationError(message)


def own_scores(model: FittedModel, X: NativeTable) -> tuple[str, Score]:
    """Which output of a model is its score, and a function from a DataFrame to that score of ``classes_[1]``."""
    response = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), "call")
    scorer = scorer_for(model)
    ask: Callable[[NativeTable], ModelOutput] = getattr(model, response) if hasattr(model, response) else model
    if scorer is not None:
        ask = scorer(model)
    as_given = isinstance(X, pd.DataFrame)

    def score(frame: pd.DataFrame) -> FloatArray:
        rows = _cast_exactly(frame, X.dtypes) if as_given else _cast_array(frame, np.asarray(X).dtype)
        outputs = np.asarray(ask(rows), dtype=np.float64)
        return outputs[:, -1] if outputs.ndim == 2 else outputs

    return response, score


def _cast_exactly(frame: pd.DataFrame, dtypes: pd.Series) -> pd.DataFrame:
    """The frame in these types; a column of integers stays as it is where it holds fractions."""
    keeps = {
        name: dtype
        for name, dtype in dtypes.items()
        if not is_integer_dtype(dtype) or (frame[name].astype(dtype) == frame[name]).all()
    }
    return frame.astype(keeps)


def _cast_array(frame: pd.DataFrame, dtype: np.dtype[np.generic]) -> np.ndarray:
    rows = frame.to_numpy()
    cast = rows.astype(dtype)
    return rows if np.issubdtype(dtype, np.integer) and (cast != rows).any() else cast


def smallest_sets(one: Explanation, score: Score) -> tuple[int | None, set[frozenset[str]]]:
    """Size and sets of the definition for the query and the reference of an explanation, from all vertices."""
    names = list(one.columns)
    if len(names) > MAX_FEATURES:
        raise InputError(f"{len(names)} features have too many sets to try all: pass at most {MAX_FEATURES} columns.")
    base, donor = (one.query, one.reference) if one.kind == "minus" else (one.reference, one.query)
    sets = np.array(list(product([False, True], repeat=len(names))))
    vertices = {
        column: [donor[column] if chosen else base[column] for chosen in sets[:, place]]
        for place, name in enumerate(names)
        for column in one.columns[name]
    }
    positive = score(pd.DataFrame({column: vertices[column] for column in one.query.index})) >= one.threshold
    crossed = dict(zip(map(tuple, sets.tolist()), positive if one.kind == "plus" else ~positive, strict=True))

    def crosses(candidates: BoolArray) -> BoolArray:
        return np.array([crossed[tuple(candidate)] for candidate in candidates.tolist()])

    allowed = np.array([name not in one.restricted for name in names])
    size, found = brute_force(crosses, len(names), allowed)
    return size, {frozenset(names[place] for place in chosen) for chosen in found}


def require_definition(one: Explanation, score: Score, row: object) -> None:
    """Raise unless an explanation is what the definition says: its size, and the full list of sets."""
    size, sets = smallest_sets(one, score)
    where = f"Row {row!r}, kind={one.kind!r}, restricted={one.restricted!r}"
    require(
        one.status in (Status.OPTIMAL, Status.UNEXPLAINABLE),
        f"{where}: the status is {one.status}, but without limits a backend must prove its answer.",
    )
    found = "unexplainable" if one.size is None else f"size {one.size}, sets {_list_sets(one.sets)}"
    true = "unexplainable" if size is None else f"size {size}, sets {_list_sets(sets)}"
    same = one.size == size and {frozenset(names) for names in one.sets} == sets and len(one.sets) == len(sets)
    require(same, f"{where}: found {found}; by the model's own scores it is {true}.")
    require(one.sets_complete, f"{where}: all sets are listed, but sets_complete is False.")


def _list_sets(sets: Iterable[Iterable[str]]) -> str:
    return ", ".join(sorted("{" + ", ".join(sorted(names)) + "}" for names in sets))
