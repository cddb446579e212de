"""How hard it is to part a row from the others: the length of its paths in random trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.backends.trees import Forest, Tree, build_forest, single_precision
from sev.credibility._checks import check_integers
from sev.credibility._protocol import OtherRows
from sev.exceptions import ArchiveError
from sev.references import NumberColumn, as_numbers, joint_values
from sev.typing import Cell, FloatArray, IntArray

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree as FittedTree


#: Path lengths are rounded to this, so that their sums are exact in every order.
_STEP = 2.0**-20


@dataclass(frozen=True)
class IsolationForest:
    """The mean length of a row's paths in random trees: an unusual row is separated from the others early.

    The trees split on one number for each column: the value of a quantity (a missing one lies one standard deviation
    below the smallest), or the rank of a category or one-hot block from the most common to the rarest. Values that no
    row of the other class has come last.

    Parameters
    ----------
    n_trees : int, default=100
        Number of trees.
    max_samples : int, default=256
        Rows that each tree is grown on.
    seed : int, default=0
        Of the random splits.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> measured = sev.Explainer(explainer.model, X, y, credibility=sev.credibility.IsolationForest(n_trees=50))
    >>> 0 <= measured.explain_one(X.iloc[5]).credibility <= 1
    True
    """

    n_trees: int = 100
    max_samples: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        check_integers(self, n_trees=1, max_samples=2, seed=0)

    def fit(self, others: OtherRows) -> FittedIsolationForest:
        """Grow the trees.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        FittedIsolationForest
            The fitted measure.
        """
        from sklearn.ensemble import IsolationForest as Grower

        columns = RankedColumns.of(others)
        grower = Grower(
            n_estimators=self.n_trees, max_samples=min(self.max_samples, len(others.rows)), random_state=self.seed
        ).fit(columns.encode(others.rows).astype(np.float32))
        trees = [one.tree_ for one in grower.estimators_]
        return FittedIsolationForest(
            columns=columns,
            sizes=np.array([tree.node_count for tree in trees], dtype=np.int64),
            left=np.concatenate([tree.children_left for tree in trees]).astype(np.int64),
            right=np.concatenate([tree.children_right for tree in trees]).astype(np.int64),
            column=np.concatenate([tree.feature for tree in trees]).astype(np.int64),
            value=np.concatenate([_node_values(tree) for tree in trees]),
        )


def _node_values(tree: FittedTree) -> FloatArray:
    """Thresholds of splits, and for leaves the length of the path to a row in them."""
    depth = np.zeros(tree.node_count)
    for node in range(tree.node_count):  # children come after their parent
        for child in (tree.children_left[node], tree.children_right[node]):
            if child >= 0:
                depth[child] = depth[node] + 1.0
    lengths = depth + _mean_length(tree.n_node_samples.astype(np.float64))
    return np.where(tree.children_left >= 0, tree.threshold, np.round(lengths / _STEP) * _STEP)


def _mean_length(n_rows: FloatArray) -> FloatArray:
    """How much longer the mean path would be if so many rows were parted completely."""
    many = np.maximum(n_rows, 3.0)
    estimate = 2.0 * (np.log(many - 1.0) + np.euler_gamma) - 2.0 * (many - 1.0) / many
    return np.where(n_rows <= 1.0, 0.0, np.where(n_rows <= 2.0, 1.0, estimate))


@dataclass(frozen=True, kw_only=True)
class RankedColumns:
    """One number for each column of numbers, and for each category.

    Parameters
    ----------
    numbers : tuple of NumberColumn
        Columns of numbers; ``middle`` is what stands for a missing value.
    matches : tuple of tuple of columns
        Categories: columns that are compared, together where they belong to one feature.
    values : tuple of tuple
        The values of each category, the most common first.
    features : ndarray of int
        The feature of each number.
    """

    numbers: tuple[NumberColumn, ...]
    matches: tuple[tuple[Cell, ...], ...]
    values: tuple[tuple[Cell, ...], ...]
    features: IntArray

    @classmethod
    def of(cls, others: OtherRows) -> RankedColumns:
        """Read the rows of the other class."""
        numbers = []
        for one in others.distance.numbers:
            known = as_numbers(others.rows[one.column])
            known = known[np.isfinite(known)]
            below = float(known.min()) - one.scale if known.size else 0.0
            numbers.append(NumberColumn(column=one.column, middle=below, scale=one.scale))
        values = []
        for columns in others.distance.matches:
            counts: dict[Cell, int] = {}
            for value in joint_values(others.rows, columns):
                counts[value] = counts.get(value, 0) + 1
            values.append(tuple(sorted(counts, key=lambda value, n=counts: (-n[value], repr(value)))))  # type: ignore[misc]
        owners = (*(one.column for one in numbers), *(columns[0] for columns in others.distance.matches))
        return cls(
            numbers=tuple(numbers),
            matches=others.distance.matches,
            values=tuple(values),
            features=others.features_of(owners),
        )

    def encode(self, rows: pd.DataFrame) -> FloatArray:
        """The numbers of rows, in the precision in which the trees compare them."""
        encoded = np.empty((len(rows), len(self.features)))
        for place, one in enumerate(self.numbers):
            values = as_numbers(rows[one.column])
            encoded[:, place] = np.where(np.isnan(values), one.middle, values)
        for place, (columns, known) in enumerate(zip(self.matches, self.values, strict=True), len(self.numbers)):
            number = {value: rank for rank, value in enumerate(known)}
            encoded[:, place] = [number.get(value, len(known)) for value in joint_values(rows, columns)]
        return single_precision(encoded)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedIsolationForest:
    """Trees whose leaves hold path lengths; a row is the more ordinary, the larger their sum.

    Parameters
    ----------
    columns : RankedColumns
        Rows to numbers.
    sizes : ndarray of int
        Number of nodes of each tree.
    left, right, column, value : ndarray
        The nodes of all trees, numbered within theirs: children (negative at leaves), column and threshold of a split
        (numbers at most the threshold go left), path length of a leaf.
    """

    columns: RankedColumns
    sizes: IntArray
    left: IntArray
    right: IntArray
    column: IntArray
    value: FloatArray

    @property
    def name(self) -> str:
        """What it is, for people."""
        return f"isolation forest of {len(self.sizes)} trees"

    @property
    def column_feature(self) -> IntArray:
        """The feature that each encoded column belongs to."""
        return self.columns.features

    @property
    def half_step(self) -> float:
        """Half of what two different sums differ by at least."""
        return _STEP / 2.0

    def encode(self, rows: pd.DataFrame) -> FloatArray:
        """Rows as numbers.

        Parameters
        ----------
        rows : DataFrame
            Rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows, n_columns).
        """
        return self.columns.encode(rows)

    def ordinariness(self, encoded: FloatArray) -> FloatArray:
        """The sum of the path lengths; exact, in every order of the trees.

        Parameters
        ----------
        encoded : ndarray of float64
            Encoded rows.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        return self.forest.native.margins(np.ascontiguousarray(encoded))

    def ordinariness_of_real(self, others: OtherRows) -> FloatArray:
        """Of the rows that it was fitted on.

        Parameters
        ----------
        others : OtherRows
            Rows of the other class.

        Returns
        -------
        ndarray of float64
            Of shape (n_rows,).
        """
        return self.ordinariness(self.encode(others.rows))

    @cached_property
    def forest(self) -> Forest:
        """The trees as searches take them."""
        n_nodes = int(self.sizes.sum()) if len(self.sizes) and self.sizes.min() > 0 else -1
        if any(len(part) != n_nodes for part in (self.left, self.right, self.column, self.value)):
            raise ArchiveError(
                "The file's isolation forest is damaged, as its arrays do not have the same length: save the explainer "
                "again."
            )
        ends = np.cumsum(self.sizes)[:-1]
        parts = [np.split(part, ends) for part in (self.left, self.right, self.column, self.value)]
        trees = [
            Tree(left=left, right=right, column=column, threshold=value, value=value)
            for left, right, column, value in zip(*parts, strict=True)
        ]
        return build_forest(trees, n_columns=len(self.columns.features), base=0.0)

    def __getstate__(self) -> dict[str, object]:
        """Without what is made on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "forest"}
