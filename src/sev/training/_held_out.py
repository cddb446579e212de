"""The share of positive decisions on rows that neither the base model nor the tuned one has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from sev.exceptions import TrainingError
from sev.training._progress import progress_bar
from sev.training._rate import shift_for_rate
from sev.typing import FloatArray, IntArray

#: More rows than these are not needed to measure a share, and would double the time of a fit.
_MOST_TRAINING_ROWS = 6000
_MOST_HELD_OUT = 20_000
#: With fewer rows held out a share is noise: below it, cross-validation.
_ENOUGH_HELD_OUT = 600
_N_FOLDS = 3


class LabelledRows(NamedTuple):
    """Raw rows, labels of 0 and 1, and weights."""

    frame: pd.DataFrame
    labels: IntArray
    weights: FloatArray | None

    def take(self, rows: IntArray) -> LabelledRows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledRows(self.frame.iloc[rows], self.labels[rows], weights)


class HeldOut(NamedTuple):
    """Logits of rows that were not trained on, before and after tuning, and the weights of the rows."""

    before: FloatArray
    after: FloatArray
    weights: FloatArray

    def find_shift(self, tolerance: float) -> float:
        """What to add to the tuned model's logits so that the share of positive decisions is about the base model's."""
        return shift_for_rate(self.after, self.rate, tolerance, self.weights)

    @property
    def rate(self) -> float:
        """Share of positive decisions before tuning."""
        return float(np.average(self.before >= 0.0, weights=self.weights))

    def measure_change(self, tolerance: float | None, seed: int) -> RateChange:
        """How the share changes, each half of the rows with the shift found on the other half."""
        after = self.after.copy()
        if tolerance is not None:
            halves = np.array_split(np.random.default_rng(seed).permutation(len(after)), 2)
            for mine, other in (halves, halves[::-1]):
                part = HeldOut(*(one[other] for one in self))
                if part.rate > 0.0:
                    after[mine] += part.find_shift(tolerance)
        return RateChange(self.rate, float(np.average(after >= 0.0, weights=self.weights)), len(after))


class RateChange(NamedTuple):
    """Shares of positive decisions before and after tuning."""

    before: float
    after: float
    n_rows: int

    @property
    def relative(self) -> float:
        """The change as a part of the share before."""
        return (self.after - self.before) / self.before


def hold_out(
    rows: LabelledRows,
    score: Callable[[LabelledRows, pd.DataFrame], tuple[FloatArray, FloatArray]],
    seed: int,
    progress: bool | None = False,
) -> HeldOut | None:
    """Scores of rows held out; None where there are too few rows, or the base model decides for nobody.

    Parameters
    ----------
    rows : LabelledRows
        All rows.
    score : callable
        Trains on the first rows; the logits of the base model and of the tuned one of the second.
    seed : int
        Of the splits.
    progress : bool or None
        Show a bar; see ``progress_bar``.
    """
    found: list[HeldOut] = []
    pairs = list(_make_splits(rows.labels, seed))
    with progress_bar(len(pairs), "share on rows held out", "part", progress) as bar:
        for train, rest in pairs:
            part = rows.take(rest)
            weights = np.ones(len(rest)) if part.weights is None else part.weights
            try:
                found.append(HeldOut(*score(rows.take(train), part.frame), weights))
            except TrainingError:
                # a part of the rows may be too few for a model that predicts anybody positive: the others count
                continue
            finally:
                bar.update()
    if not found:
        return None
    every = HeldOut(*(np.concatenate(one) for one in zip(*found, strict=True)))
    return every if every.rate > 0.0 else None


def _make_splits(labels: IntArray, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Pairs of rows to train on and rows held out."""
    fewest = int(np.bincount(labels, minlength=2).min())
    if len(labels) * 0.25 >= _ENOUGH_HELD_OUT:
        splitter = StratifiedShuffleSplit(
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
