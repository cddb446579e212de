"""Actions applied to the data: what each feature of each query may become."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from sev.actions._actions import Actions, Allowed
from sev.actions._cells import CellTable, find_rows
from sev.actions._checks import check_actions, every_value, find_entry, is_named
from sev.actions._destinations import ChoiceDestinations, Destinations, FeatureDestinations
from sev.actions._grid import first_on_grid, last_on_grid, on_grid
from sev.actions._ground import (
    CellKey,
    ChoiceGround,
    Ground,
    NumberGround,
    as_numbers,
    cell_key,
    cells_key,
    distinct_cells,
    holds_missing,
)
from sev.actions._number_traits import NumberTraits, number_destinations
from sev.actions._rules import Rule
from sev.core import suggest_name
from sev.exceptions import UnknownFeatureError
from sev.space import FeatureSpace
from sev.typing import BoolArray, Cell, Cells, ColumnLabel, FloatArray, IntArray, Values


class Order(NamedTuple):
    """Places in the order of a feature; NaN for a missing value."""

    choices: FloatArray
    rows: FloatArray


@dataclass(frozen=True, eq=False)
class BoundActions:
    """Actions, checked against the features of a table.

    Parameters
    ----------
    actions : Actions
        What a person wrote; empty without any.
    space : FeatureSpace
        Which columns move together.
    ground : Ground
        What the background holds.
    """

    actions: Actions
    space: FeatureSpace
    ground: Ground

    def __post_init__(self) -> None:
        check_actions(self.actions, self.space, self.ground, self.step)

    @property
    def frozen(self) -> BoolArray:
        """Features that never change."""
        return self.space.select(self.actions.frozen, what="frozen")

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules between columns."""
        return self.actions.rules

    def weight(self, number: int) -> float:
        """Relative effort of changing a feature.

        Parameters
        ----------
        number : int
            Place of the feature.

        Returns
        -------
        float
            1 where none was given.
        """
        cost = find_entry(self.actions.costs, self.space, number)
        return 1.0 if cost is None else float(cost)

    def step(self, number: int) -> float | None:
        """Distance of the permitted values of a number.

        Parameters
        ----------
        number : int
            Place of the feature.

        Returns
        -------
        float or None
            None where all values are permitted.
        """
        ground = self.ground.features[number]
        step = find_entry(self.actions.steps, self.space, number)
        return ground.step if step is None and isinstance(ground, NumberGround) else step

    def cells(self, rule: Rule, rows: pd.DataFrame) -> dict[str, pd.Series]:
        """The columns that a rule names.

        Parameters
        ----------
        rule : Rule
            A rule.
        rows : DataFrame
            Rows.

        Returns
        -------
        dict of str to Series
            Columns by the names in the rule.
        """
        return {name: rows[column_of(self.space, name)].reset_index(drop=True) for name in rule.names}

    def observed(self) -> dict[int, FloatArray]:
        """Values of each number that occur in the background.

        Returns
        -------
        dict of int to ndarray of float64
            Sorted values, by place of the feature.
        """
        return dict(self._observed)

    @cached_property
    def _observed(self) -> dict[int, FloatArray]:
        return {
            number: one.observed for number, one in enumerate(self.ground.features) if isinstance(one, NumberGround)
        }

    def efforts(self) -> dict[str, tuple[float, float | None]]:
        """For each feature the weight of its change and, for a number, the size of change that costs this weight.

        Returns
        -------
        dict of str to tuple
            By name of the feature.
        """
        grounds = zip(self.space.names, self.ground.features, strict=True)
        return {
            name: (self.weight(number), ground.scale if isinstance(ground, NumberGround) else None)
            for number, (name, ground) in enumerate(grounds)
        }

    def limits(self) -> dict[str, tuple[float, float]]:
        """The smallest and the largest value that each number could have, by its step, within the background.

        Returns
        -------
        dict of str to pair of float
            By name of the feature.
        """
        limits = {}
        for number, (name, one) in enumerate(zip(self.space.names, self.ground.features, strict=True)):
            if not isinstance(one, NumberGround) or math.isnan(one.low):
                continue
            low, high = np.array([one.low]), np.array([one.high])
            step = self.step(number)
            if step is not None:
                low, high = on_grid(first_on_grid(low, step), step), on_grid(last_on_grid(high, step), step)
            limits[name] = (float(low[0]), float(high[0]))
        return limits

    # -- destinations --------------------------------------------------------------------------------------------------

    def destinations(
        self,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        assigned: IntArray,
        values: Values,
        allowed: BoolArray | None = None,
    ) -> Destinations:
        """What every feature of every query may become.

        Parameters
        ----------
        queries, references : DataFrame
            Rows of the common form.
        assigned : ndarray of int, shape (n_queries,)
            For each query, the number of its reference.
        values : {"reference", "typical", "any"}
            "any": what the background holds; "typical": numbers in the band of the other class around the reference's
            own, the reference's category; "reference": no limit but the actions' own.
        allowed : ndarray of bool, shape (n_features,), default=None
            Features that may change; None: all that are not frozen.

        Returns
        -------
        Destinations
            One entry for each feature.
        """
        frozen = self.frozen if allowed is None else ~allowed
        numbers = [one for one in self._number_traits if not frozen[one.number]]
        features: list[FeatureDestinations] = [None] * len(self.space)
        cells = CellTable(queries)
        for one, mine in zip(numbers, number_destinations(numbers, cells, assigned, values), strict=True):
            features[one.number] = mine
        are_numbers = {one.number for one in self._number_traits}
        for number in range(len(self.space)):
            if not frozen[number] and number not in are_numbers:
                features[number] = self._choice_destinations(number, cells, references, assigned, values)
        return Destinations(features=tuple(features))

    @cached_property
    def _number_traits(self) -> tuple[NumberTraits, ...]:
        """What is written about each number whose values are not listed; the same for all rows."""
        return tuple(
            NumberTraits(
                number=number,
                column=self.space.features[number].columns[0],
                ground=ground,
                limits=find_entry(self.actions.within, self.space, number),
                rises=self._is_named("increase", number),
                falls=self._is_named("decrease", number),
                may_be_missing=self._is_named("allow_missing", number),
                step=self.step(number),
                weight=self.weight(number),
            )
            for number, ground in enumerate(self.ground.features)
            if isinstance(ground, NumberGround) and self.is_number(number)
        )

    def _choice_destinations(
        self, number: int, cells: CellTable, references: pd.DataFrame, assigned: IntArray, values: Values
    ) -> ChoiceDestinations:
        queries = cells.frame
        choices, names, is_ordered = self._choices_of(number)
        old = self._find_places(number, cells, choices)
        allowed = np.ones((len(old), len(choices)), dtype=np.bool_)
        if self._is_named("allow_missing", number):
            missing = self._missing_of(number)
            if cells_key(missing) not in self._keys_of(number, choices):
                choices = (*choices, missing)
                allowed = np.column_stack([allowed, np.ones(len(old), dtype=np.bool_)])
                old = self._find_places(number, cells, choices)
        else:
            allowed[:, self._are_missing(number, choices)] = False
        listed = find_entry(self.actions.allowed, self.space, number)
        if listed is not None:
            allowed[:, : len(names)] &= _allowed_moves(listed, names, old)
        if is_ordered:
            order = self.order_of(number, choices[: len(names)], queries)
            with np.errstate(invalid="ignore"):  # no value is above or below a missing one
                if self._is_named("increase", number):
                    allowed[:, : len(names)] &= order.choices[None, :] > order.rows[:, None]
                if self._is_named("decrease", number):
                    allowed[:, : len(names)] &= order.choices[None, :] < order.rows[:, None]
        if values == "typical":
            wanted = self.places(number, references, choices)[assigned]
            allowed &= np.arange(len(choices))[None, :] == wanted[:, None]
        own = np.flatnonzero(old >= 0)
        allowed[own, old[own]] = False
        distances = self._measure_distances(number, queries, choices)
        return ChoiceDestinations(
            choices=choices, old=old, allowed=allowed, weight=self.weight(number), distances=distances
        )

    def _measure_distances(self, number: int, queries: pd.DataFrame, choices: Sequence[Cells]) -> FloatArray | None:
        """How far listed values of a number are from the queries' own; None where choices are not numbers."""
        ground = self.ground.features[number]
        if not isinstance(ground, NumberGround):
            return None
        [column] = self.space.features[number].columns
        values = np.array([one for (one,) in choices], dtype=np.float64)
        moved = np.abs(values[None, :] - as_numbers(queries[column])[:, None]) / ground.scale
        return np.where(np.isnan(moved), 1.0, moved)

    def _choices_of(self, number: int) -> tuple[tuple[Cells, ...], tuple[Cell, ...], bool]:
        """The values of a feature without numbers, their names, and whether they have an order."""
        ground = self.ground.features[number]
        if isinstance(ground, ChoiceGround):
            return ground.choices, ground.names, ground.is_ordered
        listed = find_entry(self.actions.allowed, self.space, number)
        values = sorted({float(one) for one in every_value(listed)})
        return tuple((one,) for one in values), tuple(values), True

    def _keys_of(self, number: int, choices: Sequence[Cells]) -> Sequence[tuple[CellKey, ...]]:
        """Choices as keys of a dictionary: those of the background are known."""
        ground = self.ground.features[number]
        if isinstance(ground, ChoiceGround) and choices is ground.choices:
            return ground.keys
        return [cells_key(one) for one in choices]

    def _missing_of(self, number: int) -> Cells:
        ground = self.ground.features[number]
        return ground.missing if isinstance(ground, ChoiceGround) else (np.nan,)

    def places(self, number: int, rows: pd.DataFrame, choices: Sequence[Cells]) -> IntArray:
        """Where the values of rows stand among choices; -1 where they do not.

        Parameters
        ----------
        number : int
            Place of the feature.
        rows : DataFrame
            Rows.
        choices : sequence of tuple
            Values of the feature.

        Returns
        -------
        ndarray of int64
            One for each row.
        """
        return self._find_places(number, CellTable(rows), choices)

    def _find_places(self, number: int, cells: CellTable, choices: Sequence[Cells]) -> IntArray:
        columns = self.space.features[number].columns
        ground = self.ground.features[number]
        if isinstance(ground, ChoiceGround) and choices is ground.choices:
            if cells.is_plain and ground.table is not None:
                return find_rows(ground.table, cells.plain(columns))
            place = ground.place_of
        else:
            place = {key: index for index, key in enumerate(self._keys_of(number, choices))}
        distinct, kind = distinct_cells([cells.frame[column] for column in columns])
        return np.array([place.get(cells_key(one), -1) for one in distinct], dtype=np.int64)[kind]

    def _are_missing(self, number: int, choices: Sequence[Cells]) -> BoolArray:
        """Choices with a missing cell."""
        ground = self.ground.features[number]
        if isinstance(ground, ChoiceGround) and choices is ground.choices:
            return ground.are_missing
        return holds_missing(self._keys_of(number, choices))

    def is_ordered(self, number: int) -> bool:
        """Whether the choices of a feature have an order.

        Parameters
        ----------
        number : int
            Place of the feature.

        Returns
        -------
        bool
            False for plain text.
        """
        return self._choices_of(number)[2]

    def order_of(self, number: int, choices: Sequence[Cells], rows: pd.DataFrame) -> Order:
        """Where choices, and the values of rows, stand in the order of a feature.

        Parameters
        ----------
        number : int
            Place of the feature.
        choices : sequence of tuple
            Its values.
        rows : DataFrame
            Rows.

        Returns
        -------
        Order
            Places in the order.
        """
        [column] = self.space.features[number].columns
        if isinstance(self.ground.features[number], NumberGround):
            return Order(np.array([one for (one,) in choices], dtype=np.float64), as_numbers(rows[column]))
        known = self._choices_of(number)[0]
        place = {key: float(index) for index, key in enumerate(self._keys_of(number, known))}
        places = self.places(number, rows, known).astype(np.float64)
        return Order(
            np.array([place.get(cells_key(one), np.nan) for one in choices]), np.where(places < 0, np.nan, places)
        )

    def is_number(self, number: int) -> bool:
        """Whether a feature takes numbers of a range, and not only values of a list.

        Parameters
        ----------
        number : int
            Place of the feature.

        Returns
        -------
        bool
            False for categories, one-hot groups, and numbers of which the actions list the values.
        """
        return (
            isinstance(self.ground.features[number], NumberGround)
            and find_entry(self.actions.allowed, self.space, number) is None
        )

    def is_limited(self, number: int) -> bool:
        """Whether actions say which values of a list a feature may become; all that occur, if not.

        Parameters
        ----------
        number : int
            Place of the feature.

        Returns
        -------
        bool
            True also where it may become missing.
        """
        named = any(self._is_named(entry, number) for entry in ("increase", "decrease", "allow_missing"))
        return named or find_entry(self.actions.allowed, self.space, number) is not None

    def may_become(self, number: int, rows: pd.DataFrame) -> BoolArray:
        """Whether a feature that no action limits may become what it is in each of some rows.

        Parameters
        ----------
        number : int
            Place of the feature.
        rows : DataFrame
            Rows.

        Returns
        -------
        ndarray of bool
            False where a value is missing, or was never seen.
        """
        choices, _, _ = self._choices_of(number)
        places = self.places(number, rows, choices)
        known: BoolArray = places >= 0
        known[known] = ~self._are_missing(number, choices)[places[known]]
        return known

    # -- entries by number of the feature ------------------------------------------------------------------------------

    def _is_named(self, entry: str, number: int) -> bool:
        return is_named(self.actions, self.space, entry, number)


def column_of(space: FeatureSpace, name: str) -> ColumnLabel:
    """The column that a name in a rule stands for.

    Parameters
    ----------
    space : FeatureSpace
        Which columns are one feature.
    name : str
        Name in the rule.

    Returns
    -------
    object
        The column.

    Raises
    ------
    UnknownFeatureError
        If the name is neither a column nor a feature.
    """
    known = {str(column): column for column in space.columns}
    if name in known:
        return known[name]
    for feature in space.features:
        if feature.name == name:
            return feature.columns[0]
    raise UnknownFeatureError(f"rules name {name!r}, which is not a feature{suggest_name(name, list(known))}")


def _allowed_moves(listed: Allowed, names: Sequence[Cell], old: IntArray) -> BoolArray:
    """Which of the named values each row may move to."""
    keys = [None if name is None else cell_key(name) for name in names]
    if not isinstance(listed, Mapping):
        wanted = {cell_key(one) for one in listed}
        return np.broadcast_to(np.array([key in wanted for key in keys]), (len(old), len(keys)))
    table = np.zeros((len(keys) + 1, len(keys)), dtype=np.bool_)  # the last line is for values that are not named
    for one, new in listed.items():
        wanted = {cell_key(value) for value in new}
        for place, key in enumerate(keys):
            if key == cell_key(one):
                table[place] = [other in wanted for other in keys]
    return table[old]
