"""Actions that have met the data: what each feature of each query may become."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sev.actions._actions import Actions
from sev.actions._bounds import Between, plain_number
from sev.actions._destinations import ChoiceDestinations, Destinations, FeatureDestinations, NumberDestinations
from sev.actions._grid import first_on_grid, last_on_grid, on_grid
from sev.actions._ground import (
    ChoiceGround,
    FeatureGround,
    Ground,
    NumberGround,
    as_numbers,
    cell_key,
    cells_key,
    distinct_cells,
)
from sev.actions._rules import Rule
from sev.exceptions import InputError, UnknownFeatureError
from sev.space import FeatureSpace
from sev.typing import BoolArray, FloatArray, IntArray, Values


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
        self._check_names()
        for number, name in enumerate(self.space.names):
            self._check_feature(name, self.ground.features[number])
        for name, limits in self.actions.within.items():
            self._check_limits(name, limits)
        for rule in self.actions.rules:
            self._check_rule(rule)

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
        return float(self._entry("costs", number, 1.0))

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
        default = ground.step if isinstance(ground, NumberGround) else None
        step: float | None = self._entry("steps", number, default)
        return step

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
        return Destinations(
            features=tuple(
                None if frozen[number] else self._feature(number, queries, references, assigned, values)
                for number in range(len(self.space))
            )
        )

    def _feature(
        self, number: int, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray, values: Values
    ) -> FeatureDestinations:
        ground = self.ground.features[number]
        if isinstance(ground, NumberGround) and self._entry("allowed", number, None) is None:
            return self._numbers(number, ground, queries, assigned, values)
        return self._choices(number, queries, references, assigned, values)

    def _numbers(
        self, number: int, ground: NumberGround, queries: pd.DataFrame, assigned: IntArray, values: Values
    ) -> NumberDestinations:
        [column] = self.space.features[number].columns
        old = as_numbers(queries[column])
        low, high = np.full(len(old), -np.inf), np.full(len(old), np.inf)
        if values == "any":
            low, high = np.full(len(old), ground.low), np.full(len(old), ground.high)
        elif values == "typical":
            low, high = ground.band[assigned, 0].copy(), ground.band[assigned, 1].copy()
        limits = self._entry("within", number, None)
        if limits is not None:
            at_least, at_most = limits.limits(old)
            low, high = np.maximum(low, at_least), np.minimum(high, at_most)
        if self._is_named("increase", number):
            low = np.maximum(low, old)
        if self._is_named("decrease", number):
            high = np.minimum(high, old)
        # a change from a missing value, or within a band that is not known, has no limits: nothing is permitted
        unknown = np.isnan(low) | np.isnan(high)
        return NumberDestinations(
            old=old,
            low=np.where(unknown, np.inf, low),
            high=np.where(unknown, -np.inf, high),
            step=self.step(number),
            origin=np.zeros(len(old)),
            missing=np.full(len(old), self._is_named("allow_missing", number)) & ~np.isnan(old),
            scale=ground.scale,
            weight=self.weight(number),
        )

    def _choices(
        self, number: int, queries: pd.DataFrame, references: pd.DataFrame, assigned: IntArray, values: Values
    ) -> ChoiceDestinations:
        choices, names, is_ordered = self._choices_of(number)
        old = self.places(number, queries, choices)
        allowed = np.ones((len(old), len(choices)), dtype=np.bool_)
        if self._is_named("allow_missing", number):
            missing = self._missing(number)
            if cells_key(missing) not in self._keys(number, choices):
                choices = (*choices, missing)
                allowed = np.column_stack([allowed, np.ones(len(old), dtype=np.bool_)])
                old = self.places(number, queries, choices)
        else:
            allowed[:, [any(cell[0] == "missing" for cell in key) for key in self._keys(number, choices)]] = False
        listed = self._entry("allowed", number, None)
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
        distances = self._distances(number, queries, choices)
        return ChoiceDestinations(
            choices=choices, old=old, allowed=allowed, weight=self.weight(number), distances=distances
        )

    def _distances(self, number: int, queries: pd.DataFrame, choices: Sequence[tuple[Any, ...]]) -> FloatArray | None:
        """How far listed values of a number are from the queries' own; None where choices are not numbers."""
        ground = self.ground.features[number]
        if not isinstance(ground, NumberGround):
            return None
        [column] = self.space.features[number].columns
        values = np.array([float(one) for (one,) in choices], dtype=np.float64)
        moved = np.abs(values[None, :] - as_numbers(queries[column])[:, None]) / ground.scale
        return np.where(np.isnan(moved), 1.0, moved)

    def _choices_of(self, number: int) -> tuple[tuple[tuple[Any, ...], ...], tuple[Any, ...], bool]:
        """The values of a feature without numbers, their names, and whether they have an order."""
        ground = self.ground.features[number]
        if isinstance(ground, ChoiceGround):
            return ground.choices, ground.names, ground.is_ordered
        listed = self._entry("allowed", number, ())
        values = sorted({float(one) for one in _every_value(listed)})
        return tuple((one,) for one in values), tuple(values), True

    def _keys(self, number: int, choices: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
        """Choices as keys of a dictionary: those of the background are known."""
        ground = self.ground.features[number]
        if isinstance(ground, ChoiceGround) and choices is ground.choices:
            return ground.keys
        return [cells_key(one) for one in choices]

    def _missing(self, number: int) -> tuple[Any, ...]:
        ground = self.ground.features[number]
        return ground.missing if isinstance(ground, ChoiceGround) else (np.nan,)

    def places(self, number: int, rows: pd.DataFrame, choices: Sequence[tuple[Any, ...]]) -> IntArray:
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
        place = {key: index for index, key in enumerate(self._keys(number, choices))}
        distinct, kind = distinct_cells([rows[column] for column in self.space.features[number].columns])
        return np.array([place.get(cells_key(cells), -1) for cells in distinct], dtype=np.int64)[kind]

    def is_ordered(self, number: int) -> bool:
        """Whether the choices of a feature stand in an order that means something.

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

    def order_of(self, number: int, choices: Sequence[tuple[Any, ...]], rows: pd.DataFrame) -> Order:
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
            return Order(np.array([float(one) for (one,) in choices]), as_numbers(rows[column]))
        known = self._choices_of(number)[0]
        place = {key: float(index) for index, key in enumerate(self._keys(number, known))}
        places = self.places(number, rows, known).astype(np.float64)
        return Order(
            np.array([place.get(cells_key(one), np.nan) for one in choices]), np.where(places < 0, np.nan, places)
        )

    # -- entries by number of the feature ------------------------------------------------------------------------------

    def _aliases(self, number: int) -> tuple[str, ...]:
        feature = self.space.features[number]
        return tuple(dict.fromkeys([feature.name, *map(str, feature.columns)]))

    def _entry(self, entry: str, number: int, default: Any) -> Any:
        held: Mapping[str, Any] = getattr(self.actions, entry)
        return next((held[name] for name in self._aliases(number) if name in held), default)

    def _is_named(self, entry: str, number: int) -> bool:
        return any(name in getattr(self.actions, entry) for name in self._aliases(number))

    # -- checks --------------------------------------------------------------------------------------------------------

    def _check_names(self) -> None:
        seen: dict[tuple[str, int], str] = {}
        for entry, name in self.actions.named():
            number = int(np.flatnonzero(self.space.select([name], what=entry))[0])
            first = seen.setdefault((entry, number), name)
            if entry != "rules" and first != name:
                raise InputError(f"{entry} names {first!r} and {name!r}, which are one feature: leave one out.")

    def _check_feature(self, name: str, ground: FeatureGround) -> None:
        number = self.space.names.index(name)
        if isinstance(ground, NumberGround):
            for one in _every_value(self._entry("allowed", number, ())):
                if isinstance(one, (str, bool)):
                    raise InputError(f"allowed[{name!r}] lists {one!r}, but {name!r} holds numbers: list numbers.")
            return
        for entry in ("increase", "decrease"):
            if self._is_named(entry, number) and not ground.is_ordered:
                raise InputError(
                    f"{entry} names {name!r}, whose values have no order ({_few(ground.names)}): list the permitted "
                    f"moves in allowed, or make the column an ordered category."
                )
        for entry in ("within", "steps"):
            if self._is_named(entry, number):
                raise InputError(f"{entry} names {name!r}, which does not hold numbers: use allowed.")
        for one in _every_value(self._entry("allowed", number, ())):
            if cell_key(one) not in {cell_key(known) for known in ground.names if known is not None}:
                close = get_close_matches(str(one), [str(known) for known in ground.names], n=1)
                meant = f" Did you mean {close[0]!r}?" if close else ""
                quoted = " In YAML, yes and no need quotes." if isinstance(one, bool) else ""
                raise InputError(
                    f"allowed[{name!r}] lists {one!r}, which the background does not hold.{meant}{quoted} "
                    f"It holds {_few(ground.names)}."
                )

    def _check_limits(self, name: str, limits: Any) -> None:
        number = int(np.flatnonzero(self.space.select([name], what="within"))[0])
        ground = self.ground.features[number]
        if not isinstance(limits, Between) or not isinstance(ground, NumberGround) or math.isnan(ground.low):
            return
        shown = f"within[{name!r}]={limits}"
        if limits.low > ground.high or limits.high < ground.low:
            raise InputError(
                f"{shown} lies outside the background, which goes from {plain_number(ground.low)} to "
                f"{plain_number(ground.high)}: no permitted value is left. Write bounds that reach into it, or put "
                f"{name!r} under frozen."
            )
        step = self.step(number)
        low, high = np.array([limits.low]), np.array([limits.high])
        if step is not None and first_on_grid(low, step)[0] > last_on_grid(high, step)[0]:
            raise InputError(f"{shown} holds no multiple of {plain_number(step)}, the step of {name!r}: widen it.")

    def _check_rule(self, rule: Rule) -> None:
        for name in rule.names:
            number = int(np.flatnonzero(self.space.select([name], what="rules"))[0])
            columns = self.space.features[number].columns
            if len(columns) > 1 and name not in columns:
                raise InputError(
                    f"rules: {rule.text!r} names {name!r}, which has several columns: name one of {list(columns)[:5]}."
                )
            ground = self.ground.features[number]
            if name in rule.booleans and isinstance(ground, NumberGround) and not {*ground.observed} <= {0.0, 1.0}:
                raise InputError(
                    f"rules: {name!r} stands alone in {rule.text!r}, but holds numbers other than 0 and 1: compare it "
                    f"with a value, such as {name} > 0."
                )
            self._check_texts(rule, name, ground, n_columns=len(columns))
            if name in rule.numbers and len(columns) == 1 and isinstance(ground, ChoiceGround):
                held = {type(one) for (one,) in ground.choices}
                if not held <= {int, float, bool}:
                    raise InputError(
                        f"rules: {rule.text!r} calculates with {name!r}, which does not hold numbers "
                        f"({_few(ground.names)}): compare it with one of its values."
                    )

    def _check_texts(self, rule: Rule, name: str, ground: FeatureGround, *, n_columns: int) -> None:
        """Texts that a rule compares a feature with must be among its values: a misspelt one would never apply."""
        for text in rule.texts.get(name, ()):
            if isinstance(ground, NumberGround):
                raise InputError(
                    f"rules: {rule.text!r} compares {name!r} with {text!r}, but {name!r} holds numbers: write a number."
                )
            if n_columns == 1 and cell_key(text) not in {cell_key(known) for known in ground.names}:
                close = get_close_matches(text, [str(known) for known in ground.names], n=1)
                meant = f" Did you mean {close[0]!r}?" if close else ""
                raise InputError(
                    f"rules: {rule.text!r} compares {name!r} with {text!r}, which the background does not hold.{meant} "
                    f"It holds {_few(ground.names)}."
                )


def column_of(space: FeatureSpace, name: str) -> Any:
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
    raise UnknownFeatureError(f"rules name {name!r}, which is not a feature.")


def _every_value(listed: Any) -> list[Any]:
    if isinstance(listed, Mapping):
        return [*listed, *(one for new in listed.values() for one in new)]
    return list(listed)


def _allowed_moves(listed: Any, names: Sequence[Any], old: IntArray) -> BoolArray:
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


def _few(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:6])
    return f"{shown}, ..." if len(names) > 6 else shown
