"""How the share of positive decisions changes on rows that neither the base model nor the tuned one has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from sev.exceptions import TrainingError
from sev.typing import BoolArray, FloatArray, IntArray

#: More rows than these are not needed to measure a share, and would double the time of a fit.
_MOST_TRAINING_ROWS = 6000
_MOST_HELD_OUT = 20_000
#: With fewer rows held out a share is noise: below it, cross-validation.
_ENOUGH_HELD_OUT = 600
_N_FOLDS = 3


class LabelledRows(NamedTuple):
    """Raw rows, labels of 0 and 1, and weights."""

    frame: pd.DataFrame
    labels: Any
    weights: FloatArray | None

    def take(self, rows: IntArray) -> LabelledRows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledRows(self.frame.iloc[rows], self.labels[rows], weights)


class RateChange(NamedTuple):
    """Shares of positive decisions before and after tuning."""

    before: float
    after: float
    n_rows: int

    @property
    def relative(self) -> float:
        """The change as a part of the share before."""
        return (self.after - self.before) / self.before


def held_out_change(
    rows: LabelledRows,
    decide: Callable[[LabelledRows, pd.DataFrame], tuple[BoolArray, BoolArray]],
    seed: int,
) -> RateChange | None:
    """The change of the share, over all rows held out; None where it cannot be measured.

    Parameters
    ----------
    rows : LabelledRows
        All rows.
    decide : callable
        Trains on the first rows; the decisions of the base model and of the tuned one about the second.
    seed : int
        Of the splits.
    """
    found: list[tuple[BoolArray, BoolArray]] = []
    weights: list[FloatArray] = []
    for train, rest in _splits(rows.labels, seed):
        part = rows.take(rest)
        try:
            found.append(decide(rows.take(train), part.frame))
        except TrainingError:
            # a part of the rows may be too few for a model that predicts anybody positive
            continue
        weights.append(np.ones(len(rest)) if part.weights is None else part.weights)
    if not found:
        return None
    before, after = (np.concatenate(one) for one in zip(*found, strict=True))
    if not before.any():
        return None
    every = np.concatenate(weights)
    shares = [float(np.average(one, weights=every)) for one in (before, after)]
    return RateChange(*shares, len(every)) if shares[0] > 0.0 else None


def _splits(labels: Any, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Pairs of rows to train on and rows held out."""
    fewest = int(np.bincount(labels, minlength=2).min())
    if len(labels) * 0.25 >= _ENOUGH_HELD_OUT:
        splitter: Any = StratifiedShuffleSplit(
            1,
            train_size=min(_MOST_TRAINING_ROWS, int(0.75 * len(labels))),
            test_size=min(_MOST_HELD_OUT, int(0.25 * len(labels))),
            random_state=seed,
        )
    elif fewest >= _N_FOLDS:
        splitter = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=seed)
    else:
        return iter(())
    pairs: Iterator[tuple[IntArray, IntArray]] = splitter.split(np.zeros(len(labels)), labels)
    return pairs
