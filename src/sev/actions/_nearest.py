"""``values="reference"`` under actions: for each query, the permitted values nearest to the reference's."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sev.actions._bound import BoundActions
from sev.actions._destinations import ChoiceDestinations, Destinations, FeatureDestinations, NumberDestinations
from sev.actions._grid import first_on_grid, last_on_grid, on_grid
from sev.actions._ground import as_numbers, cell_key
from sev.core import Recent
from sev.space import FeatureSpace
from sev.typing import BoolArray, Cell, ColumnLabel, FloatArray, IntArray

#: For each column that moves: its new values, and which of them each query has, -1 for the reference's own.
_Moved = dict[ColumnLabel, tuple[list[Cell], IntArray]]
#: Rows of permitted values that are kept for later calls, and how many of them one call may have.
_MOST_KEPT = 16
_MOST_ROWS_KEPT = 32


@dataclass(frozen=True, eq=False)
class PermittedReferences:
    """Reference rows made of permitted values.

    Parameters
    ----------
    rows : DataFrame
        Each row once.
    assigned : ndarray of int, shape (n_queries,)
        For each query, the number of its row.
    usable : ndarray of bool, shape (n_queries, n_features)
        Features that may be changed: others have no permitted value nearer to the reference's than the query's own.
        Frozen features count as usable.
    key : hashable or None
        The same for the same rows in a later call; None for the reference rows as they are, and for too many to know
        again.
    """

    rows: pd.DataFrame
    assigned: IntArray
    usable: BoolArray
    key: Hashable | None

    def shown(self, queries: pd.DataFrame, space: FeatureSpace) -> pd.DataFrame:
        """A row for each query that holds its destinations, and its own value where a feature cannot be used.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        space : FeatureSpace
            Which columns are one feature.

        Returns
        -------
        DataFrame
            One row for each query.
        """
        rows = self.rows.iloc[self.assigned].reset_index(drop=True)
        columns = {}
        for column, feature in zip(space.columns, space.column_feature.tolist(), strict=True):
            usable = self.usable[:, feature]
            columns[column] = rows[column] if usable.all() else _choose_cells(usable, rows[column], queries[column])
        return pd.DataFrame(columns)


class NearestReferences:
    """For queries, reference rows whose values are the permitted ones nearest to the references' own.

    Made once for the rows of an explainer: what the references hold is read once, and features that no action limits
    are never looked at again.

    Parameters
    ----------
    bound : BoundActions
        What is permitted.
    references : DataFrame
        Reference rows.
    """

    def __init__(self, bound: BoundActions, references: pd.DataFrame) -> None:
        self._bound = bound
        self._references = references
        self._looked_at = ~bound.frozen
        self._usable = np.ones((len(references), len(bound.space)), dtype=np.bool_)
        self._numbers: dict[int, FloatArray] = {}
        self._kept = Recent(_MOST_KEPT)
        for number, feature in enumerate(bound.space.features):
            if not self._looked_at[number]:
                continue  # whether a frozen feature may be used is the caller's to say
            if bound.is_number(number):
                self._numbers[number] = as_numbers(references[feature.columns[0]])
            elif not bound.is_limited(number):
                self._usable[:, number] = bound.may_become(number, references)
                self._looked_at[number] = False

    def permit(self, queries: pd.DataFrame, assigned: IntArray) -> PermittedReferences:
        """A reference row for each query.

        Where a feature cannot be used, the row keeps the reference's own value, so that most queries share one row:
        one-way actions alone lead to no further rows.

        Parameters
        ----------
        queries : DataFrame
            Rows to be explained.
        assigned : ndarray of int64
            The place of each query's reference row.

        Returns
        -------
        PermittedReferences
            Reference rows, the number of each query's, and which features can be used.
        """
        bound, references = self._bound, self._references
        usable = self._usable[assigned]
        moved: _Moved = {}
        destinations = bound.destinations(queries, references, assigned, "reference", self._looked_at)
        for number, feature in enumerate(bound.space.features):
            one = destinations.features[number]
            if isinstance(one, NumberDestinations):
                [column] = feature.columns
                reference = self._numbers[number][assigned]
                nearest, usable[:, number] = _nearest_number(one, reference)
                changed = usable[:, number] & (nearest != reference) & ~(np.isnan(nearest) & np.isnan(reference))
                if changed.any():
                    values, places = np.unique(nearest[changed], return_inverse=True)
                    moved[column] = _place_values(list(values), changed, places)
            elif isinstance(one, ChoiceDestinations):
                wanted = bound.places(number, references, one.choices)
                chosen, usable[:, number] = _nearest_choice(bound, number, one, queries, references, assigned)
                changed = usable[:, number] & (wanted[assigned] != chosen)
                if changed.any():
                    values, places = np.unique(chosen[changed], return_inverse=True)
                    for place, column in enumerate(feature.columns):
                        moved[column] = _place_values(
                            [one.choices[choice][place] for choice in values], changed, places
                        )
        return self._assemble_references(assigned, usable, moved)

    def _assemble_references(self, assigned: IntArray, usable: BoolArray, moved: _Moved) -> PermittedReferences:
        """Reference rows with the moved values in place, each once."""
        if not moved:
            return PermittedReferences(self._references, assigned, usable, None)
        combined = np.column_stack([assigned, *(places for _, places in moved.values())])
        distinct, number = np.unique(combined, axis=0, return_inverse=True)
        if len(distinct) > _MOST_ROWS_KEPT:
            key, rows = None, self._build_rows(moved, distinct)
        else:  # the next call is about the same person as a rule
            values = tuple((column, tuple(map(cell_key, values))) for column, (values, _) in moved.items())
            key = (values, distinct.tobytes())
            rows = self._kept.get(key, lambda: self._build_rows(moved, distinct))
        return PermittedReferences(rows, number.ravel().astype(np.int64), usable, key)

    def _build_rows(self, moved: _Moved, distinct: IntArray) -> pd.DataFrame:
        rows = self._references.iloc[distinct[:, 0]].reset_index(drop=True)
        columns = {}
        for place, (column, (values, _)) in enumerate(moved.items(), start=1):
            columns[column] = _replace_cells(rows[column], values, distinct[:, place])
        return pd.DataFrame({name: columns.get(name, rows[name]) for name in rows.columns})


def reference_destinations(
    bound: BoundActions,
    queries: pd.DataFrame,
    references: pd.DataFrame,
    assigned: IntArray,
    allowed: BoolArray,
    *,
    has_actions: bool,
) -> Destinations:
    """The one value that each feature may take: the reference's, under actions the permitted one nearest to it.

    Parameters
    ----------
    bound : BoundActions
        What is permitted, and what changes cost.
    queries, references : DataFrame
        Rows of the common form.
    assigned : ndarray of int, shape (n_queries,)
        For each query, the number of its reference.
    allowed : ndarray of bool, shape (n_features,)
        Features that may change.
    has_actions : bool
        Whether there are actions. Without any, the reference's values count as they are: an integer column may have a
        mean that is not one.

    Returns
    -------
    Destinations
        One value for each feature and query.
    """
    destinations = bound.destinations(queries, references, assigned, "reference", allowed)
    features: list[FeatureDestinations] = []
    for number, one in enumerate(destinations.features):
        if isinstance(one, NumberDestinations):
            [column] = bound.space.features[number].columns
            value = as_numbers(references[column])[assigned]
            usable = ~((value == one.old) | (np.isnan(value) & np.isnan(one.old)))
            if has_actions:
                value, usable = _nearest_number(one, value)
            known = usable & ~np.isnan(value)
            features.append(
                replace(
                    one,
                    low=np.where(known, value, np.inf),
                    high=np.where(known, value, -np.inf),
                    step=None,
                    missing=usable & np.isnan(value),
                )
            )
        elif isinstance(one, ChoiceDestinations):
            if has_actions:
                place, usable = _nearest_choice(bound, number, one, queries, references, assigned)
            else:
                place = bound.places(number, references, one.choices)[assigned]
                usable = (place >= 0) & (place != one.old)
            only = np.zeros_like(one.allowed)
            only[np.flatnonzero(usable), place[usable]] = True
            features.append(replace(one, allowed=only))
        else:
            features.append(None)
    return Destinations(features=tuple(features))


def _choose_cells(usable: BoolArray, rows: pd.Series, queries: pd.Series) -> pd.Series:
    if rows.dtype == queries.dtype and isinstance(rows.dtype, np.dtype) and rows.dtype.kind in "fiub":
        return pd.Series(np.where(usable, rows.to_numpy(), queries.to_numpy()))
    cells = queries.astype(object).to_numpy(copy=True)
    cells[usable] = rows.astype(object).to_numpy()[usable]
    chosen = pd.Series(cells, dtype=object)
    if isinstance(rows.dtype, pd.CategoricalDtype):
        return _as_category(chosen, rows.dtype)
    return chosen if rows.dtype == object else chosen.infer_objects()


def _as_category(cells: pd.Series, dtype: pd.CategoricalDtype) -> pd.Series:
    """Cells in a category, with those that it does not hold behind the others."""
    fresh = [one for one in pd.unique(cells.dropna()) if one not in dtype.categories]
    return cells.astype(pd.CategoricalDtype(dtype.categories.append(pd.Index(fresh)), ordered=dtype.ordered))


def _place_values(values: list[Cell], changed: BoolArray, places: IntArray) -> tuple[list[Cell], IntArray]:
    """Values, and for each query which of them it has, -1 for the reference's own."""
    everywhere = np.full(len(changed), -1, dtype=np.int64)
    everywhere[changed] = places
    return values, everywhere


def _nearest_number(one: NumberDestinations, reference: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The permitted value nearest to the reference's, and whether it is nearer than the query's own."""
    wanted = np.clip(reference, one.low, np.maximum(one.low, one.high))
    candidates = [wanted]
    exists = one.low <= one.high
    if one.step is not None:
        first, last = first_on_grid(one.low, one.step, one.origin), last_on_grid(one.high, one.step, one.origin)
        exists = first <= last
        place = (wanted - one.origin) / one.step
        candidates = [
            on_grid(np.clip(rounded, first, np.maximum(first, last)), one.step, one.origin)
            for rounded in (np.floor(place), np.ceil(place))
        ]
        # a reference on the grid is itself, whatever the rounding of the quotient
        candidates = [np.where(np.abs(one_ - wanted) <= 1e-12 * np.abs(wanted), wanted, one_) for one_ in candidates]
    best = candidates[0]
    for other in candidates[1:]:
        gap, other_gap = np.abs(best - reference), np.abs(other - reference)
        nearer = (other_gap < gap) | ((other_gap == gap) & (np.abs(other - one.old) < np.abs(best - one.old)))
        best = np.where(nearer, other, best)
    with np.errstate(invalid="ignore"):
        usable = exists & ~(np.abs(one.old - reference) <= np.abs(best - reference))
    # a reference that is missing: only where the feature may become so
    absent = np.isnan(reference)
    return np.where(absent, np.nan, best), np.where(absent, one.missing, usable & ~np.isnan(best))


def _nearest_choice(
    bound: BoundActions,
    number: int,
    one: ChoiceDestinations,
    queries: pd.DataFrame,
    references: pd.DataFrame,
    assigned: IntArray,
) -> tuple[IntArray, BoolArray]:
    """The permitted choice nearest to the reference's: its own, or in an order the next one."""
    if not one.choices:
        return np.zeros(len(assigned), dtype=np.int64), np.zeros(len(assigned), dtype=np.bool_)
    wanted = bound.places(number, references, one.choices)[assigned]
    rows = np.arange(len(wanted))
    usable = (wanted >= 0) & one.allowed[rows, wanted]
    if not bound.is_ordered(number):
        return np.maximum(wanted, 0), usable
    wanted_place = bound.order_of(number, one.choices, references).rows[assigned]
    order = bound.order_of(number, one.choices, queries)
    gaps = np.abs(order.choices[None, :] - wanted_place[:, None])
    gaps = np.where(one.allowed & ~np.isnan(gaps), gaps, np.inf)
    best = np.argmin(gaps, axis=1)
    own = np.abs(order.rows - wanted_place)
    nearer = gaps[rows, best] < np.where(np.isnan(own), np.inf, own)
    absent = np.isnan(wanted_place)
    return np.where(absent, np.maximum(wanted, 0), best), np.where(absent, usable, nearer)


def _replace_cells(column: pd.Series, values: list[Cell], places: IntArray) -> pd.Series:
    """A column with some cells replaced, in its own dtype where that holds them."""
    cells = column.astype(object).to_numpy(copy=True)
    chosen = places >= 0
    fresh = np.empty(len(values), dtype=object)
    fresh[:] = values
    cells[chosen] = fresh[places[chosen]]
    replaced = pd.Series(cells, dtype=object)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _as_category(replaced, column.dtype)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        numbers = pd.Series(replaced.to_numpy(dtype=np.float64, na_value=np.nan))
        integral = bool((numbers == np.floor(numbers)).all())
        return numbers.astype(column.dtype) if integral or column.dtype.kind == "f" else numbers
    return replaced if column.dtype == object else replaced.astype(column.dtype)
