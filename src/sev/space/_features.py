"""What one feature is: a raw column, or several columns that move as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from sev import _native
from sev.core import list_names, suggest_name, tuple_of_names
from sev.exceptions import InputError, UnknownFeatureError
from sev.space._onehot import find_one_hot_blocks
from sev.typing import BoolArray, ColumnLabel, IntArray


@dataclass(frozen=True)
class Feature:
    """What a person would call one feature.

    Parameters
    ----------
    name : str
        Its name in explanations.
    columns : tuple
        The columns of the table that belong to it.
    """

    name: str
    columns: tuple[ColumnLabel, ...]


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """The features of a table: every column belongs to exactly one.

    Parameters
    ----------
    features : tuple of Feature
        In the order of their first columns.
    columns : tuple
        All columns, in order.

    Examples
    --------
    >>> import pandas as pd
    >>> from sev.space import FeatureSpace
    >>> rows = pd.DataFrame({"age": [30, 40], "home_own": [1, 0], "home_rent": [0, 1]})
    >>> FeatureSpace.of(rows).names
    ('age', 'home')
    """

    features: tuple[Feature, ...]
    columns: tuple[ColumnLabel, ...]

    @classmethod
    def of(cls, frame: pd.DataFrame, groups: Mapping[str, Sequence[ColumnLabel]] | None = None) -> FeatureSpace:
        """Read the features of background rows.

        Parameters
        ----------
        frame : DataFrame
            Background rows.
        groups : mapping of str to sequence of columns, default=None
            Columns that move as one. Columns of arrays may be given by position. One-hot blocks among the columns
            that are in no group are found by themselves.

        Returns
        -------
        FeatureSpace
            The features, in the order of their columns.
        """
        columns = tuple(frame.columns)
        owner = _owners_of_groups(columns, groups or {})
        free = [column for column in columns if column not in owner]
        for name, block in find_one_hot_blocks(frame[free]).items():
            # a block never takes the name of another column or group
            taken = name in owner.values() or name in columns
            owner.update(dict.fromkeys(block, f"{name} (one-hot)" if taken else name))
        members: dict[str, list[ColumnLabel]] = {}
        own_names = _names_of_columns([column for column in columns if column not in owner], owner.values())
        for column in columns:
            members.setdefault(owner[column] if column in owner else own_names[column], []).append(column)
        return cls(tuple(Feature(name, tuple(group)) for name, group in members.items()), columns)

    @classmethod
    def of_columns(cls, features: Mapping[str, Iterable[ColumnLabel]], columns: Iterable[ColumnLabel]) -> FeatureSpace:
        """Build a space from the columns of each feature.

        Parameters
        ----------
        features : mapping of str to iterable of columns
            The columns of each feature.
        columns : iterable
            All columns, in order.

        Returns
        -------
        FeatureSpace
            The features, in the order of their columns.
        """
        return cls(tuple(Feature(name, tuple(members)) for name, members in features.items()), tuple(columns))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Feature names, in the order of their first columns."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def column_feature(self) -> IntArray:
        """For each column, the number of its feature."""
        number = {column: index for index, feature in enumerate(self.features) for column in feature.columns}
        return np.array([number[column] for column in self.columns], dtype=np.int64)

    def by_feature(self, marks: BoolArray) -> BoolArray:
        """For marks of columns (n_rows, n_columns), which features have a marked column; (n_rows, n_features).

        Parameters
        ----------
        marks : ndarray of bool
            Of shape (n_rows, n_columns).

        Returns
        -------
        ndarray of bool
            Of shape (n_rows, n_features).
        """
        if len(self) == len(self.columns):
            return marks
        found = _native.any_by_feature(np.ascontiguousarray(marks), self.column_feature, len(self))
        return found.view(np.bool_)

    def __len__(self) -> int:
        return len(self.features)

    def select(self, names: Iterable[str], *, what: str = "restricted") -> BoolArray:
        """Mark the features with these names; a column's name stands for its feature.

        Parameters
        ----------
        names : iterable of str
            Feature or column names.
        what : str
            The parameter that they were given for, for the message.

        Returns
        -------
        ndarray of bool
            One for each feature.

        Raises
        ------
        InputError
            If ``names`` is not a list.
        UnknownFeatureError
            If a name is neither a feature nor a column.
        """
        names = tuple_of_names(names, what)
        number = {feature.name: index for index, feature in enumerate(self.features)}
        by_column = dict(zip(self.columns, self.column_feature.tolist(), strict=True))
        chosen = np.zeros(len(self), dtype=np.bool_)
        for name in names:
            index = number.get(name, by_column.get(name))
            if index is None:
                raise UnknownFeatureError(
                    f"{what} names {name!r}, which is not a feature{suggest_name(name, self.names)} "
                    f"The features are {list_names(self.names, 20)}."
                )
            chosen[index] = True
        return chosen


def _owners_of_groups(
    columns: tuple[ColumnLabel, ...], groups: Mapping[str, Sequence[ColumnLabel]]
) -> dict[ColumnLabel, str]:
    owner: dict[ColumnLabel, str] = {}
    if not isinstance(groups, Mapping):
        raise InputError(f"groups is {groups!r}, expected a mapping from names to lists of columns.")
    for name, members in groups.items():
        if isinstance(members, str) or not isinstance(members, Iterable):
            raise InputError(f"groups[{name!r}] must be a list of columns, got {members!r}: write [{members!r}].")
        for member in members:
            column = _column_at(columns, member)
            if column is None:
                raise UnknownFeatureError(
                    f"groups[{name!r}] names the column {member!r}, which the data do not have"
                    f"{suggest_name(member, columns)}"
                )
            if column in owner:
                raise InputError(
                    f"Column {column!r} is in two groups, {owner[column]!r} and {name!r}: leave it out of one."
                )
            owner[column] = str(name)
        if str(name) in {column for column in columns if owner.get(column) != str(name)}:
            raise InputError(f"groups[{name!r}] has the name of a column outside it: choose another name.")
    return owner


def _names_of_columns(columns: Sequence[ColumnLabel], taken: Iterable[str]) -> dict[ColumnLabel, str]:
    """A name for each column that is a feature of its own: its text, or with its type where that is another's name."""
    used = set(taken) | {column for column in columns if isinstance(column, str)}
    names: dict[ColumnLabel, str] = {}
    for column in columns:
        name = column if isinstance(column, str) else str(column)
        if not isinstance(column, str):
            name = name if name not in used else f"{name} ({type(column).__name__})"
            while name in used:
                name += "'"
            used.add(name)
        names[column] = name
    return names


def _column_at(columns: tuple[ColumnLabel, ...], member: ColumnLabel) -> ColumnLabel | None:
    if member in columns:
        return member
    if isinstance(member, (int, np.integer)) and 0 <= member < len(columns):
        return columns[member]
    return None
