"""Typical rows of groups of the other class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from sev.core import warn_user
from sev.exceptions import InputError, PositiveReferenceError, ReferenceWarning
from sev.references._assign import AssignNearest
from sev.references._distance import Distance
from sev.references._points import Points
from sev.references._protocol import Background, FittedReference
from sev.references._typical import Typical
from sev.text import reference_name
from sev.typing import BoolArray, FloatArray, IntArray

#: Rows that the groups are formed from, and rows that the number of groups is chosen on.
_MOST_ROWS, _ROWS_TO_CHOOSE = 20_000, 2_000
#: Numbers of groups that "auto" tries.
_NUMBERS = range(2, 9)


@dataclass(frozen=True)
class Clusters:
    """Typical rows of groups of the other class; each query is compared with the nearest.

    The rows of the other class that the model also predicts so are put into groups by k-means, with numbers in
    standard deviations and categories matched. The centre of a group is a row with values that occur: the observed
    number nearest to the mean, the most common category. A centre that the model predicts as the class being
    explained is left out, with a warning.

    Parameters
    ----------
    n : int or "auto", default="auto"
        Number of groups. "auto" is the number from 2 to 8 with the largest mean silhouette on up to 2,000 rows; ties go
        to the smaller number.
    centre : {"typical", "medoid"}, default="typical"
        The centre of a group: a typical row, or the real row nearest to the group's mean.

    Raises
    ------
    PositiveReferenceError
        When it is fitted, if the model predicts every centre as the class being explained.
    InputError
        When it is fitted, if ``n`` or ``centre`` is not one of the above.

    Examples
    --------
    >>> import sev
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = sev.datasets.load_german_credit()
    >>> X = data.X[["duration", "credit_amount", "people_liable"]]
    >>> model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, data.y)
    >>> explainer = sev.Explainer(model, X, data.y, reference=sev.references.Clusters(3, "medoid"))
    >>> len(explainer.reference)
    3
    """

    n: int | Literal["auto"] = "auto"
    centre: Literal["typical", "medoid"] = "typical"

    def __post_init__(self) -> None:
        if self.n != "auto" and (isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1):
            raise InputError(f'Clusters(n={self.n!r}): n must be "auto" or an integer of at least 1.')
        if self.centre not in ("typical", "medoid"):
            raise InputError(f'Clusters(centre={self.centre!r}): centre must be "typical" or "medoid".')

    def fit(self, background: Background) -> FittedReference:
        """Form the groups and find their centres.

        Parameters
        ----------
        background : Background
            The rows to choose from.

        Returns
        -------
        FittedReference
            One row for each group.
        """
        distance = Distance.of(background)
        numbers = np.flatnonzero(background.accepted)
        used = numbers[spread_evenly(len(numbers), _MOST_ROWS)]
        rows_used = background.rows.iloc[used]
        points = Points.of(rows_used, distance).transform(rows_used)
        labels = _group_points(points, self._number_of_groups(points))
        centres, sizes = [], []
        for group in range(labels.max() + 1):
            mine = labels == group
            centres.append(self._find_centre(background, used[mine], points[mine]))
            sizes.append(int(mine.sum()))
        rows = pd.concat(centres, ignore_index=True)[list(background.form.columns)]
        kept = ~background.is_positive(rows)
        _report_left_out(kept)
        names = [
            reference_name("group", first=n + 1, last=len(kept), share=f"{size / len(used):.0%}")
            for n, size in enumerate(sizes)
        ]
        return FittedReference(
            rows.loc[kept].reset_index(drop=True),
            f"nearest of {int(kept.sum())} typical rows",
            AssignNearest(distance=distance),
            tuple(name for name, keep in zip(names, kept.tolist(), strict=True) if keep),
        )

    def _number_of_groups(self, points: FloatArray) -> int:
        different = len(np.unique(points, axis=0))
        if self.n != "auto":
            if self.n > different:
                raise InputError(
                    f"Clusters(n={self.n}): the other class has only {different} different rows: choose a smaller n."
                )
            return self.n
        from sklearn.metrics import silhouette_score

        some = points[spread_evenly(len(points), _ROWS_TO_CHOOSE)]
        best, most = 1, -np.inf
        for number in _NUMBERS:
            if number >= min(different, len(some)):
                break
            labels = _group_points(some, number)
            value = float(silhouette_score(some, labels)) if labels.max() else -np.inf
            if value > most + 1e-9:
                best, most = number, value
        return best

    def _find_centre(self, background: Background, members: IntArray, points: FloatArray) -> pd.DataFrame:
        if self.centre == "medoid":
            nearest = int(np.argmin(((points - points.mean(axis=0)) ** 2).sum(axis=1)))
            return background.rows.iloc[[members[nearest]]]
        chosen = np.zeros(len(background.rows), dtype=np.bool_)
        chosen[members] = True
        return Typical("mean", observed_numbers=True).fit(background.among(chosen)).rows


def spread_evenly(n_rows: int, most: int) -> IntArray:
    """Numbers of all rows, or of as many as are allowed, evenly spaced.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    most : int
        How many to take at most.

    Returns
    -------
    ndarray of int64
        Sorted places.
    """
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64)


def _group_points(points: FloatArray, number: int) -> IntArray:
    """The group of each point, largest first."""
    if number == 1:
        return np.zeros(len(points), dtype=np.int64)
    from sklearn.cluster import KMeans

    labels = KMeans(number, n_init=4, random_state=0).fit(points).labels_
    counts = np.bincount(labels, minlength=number)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(number, dtype=np.int64)
    rank[order] = np.arange(number)
    return np.asarray(rank[labels])


def _report_left_out(kept: BoolArray) -> None:
    left = int((~kept).sum())
    if left == len(kept):
        raise PositiveReferenceError(
            f"The centres of all {len(kept)} groups are predicted as the class being explained: choose "
            'another number of groups, or real rows of the other class: Clusters(centre="medoid") or Nearest().'
        )
    if left:
        warn_user(
            f"{left} of {len(kept)} cluster centres are predicted as the class being explained and left out; the rows "
            'near them are compared with the nearest of the others. Clusters(centre="medoid") takes real rows instead.',
            ReferenceWarning,
        )
