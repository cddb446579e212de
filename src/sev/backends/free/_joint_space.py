"""The features of a problem with those that rules tie together as one each, and the family's search for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sev.backends._reading import Reading
from sev.backends.free._joint_values import Block
from sev.backends.free._problem import ExactSearch, FreeSearch
from sev.space import FeatureSpace
from sev.typing import BoolArray, Cells, FloatArray, IntArray

#: Makes the family's search for other features of the same columns.
MakeSearch = Callable[[Reading, FeatureSpace], ExactSearch | None]


@dataclass(frozen=True, eq=False)
class MergedFeatures:
    """Features that are one for each block, and their search."""

    space: FeatureSpace
    search: FreeSearch
    numbers: IntArray  # for each of these features, the number of the feature that it is; -1 - block for blocks
    choices: dict[int, tuple[tuple[object, ...], tuple[Cells, ...]]]

    @classmethod
    def of(
        cls, reading: Reading, space: FeatureSpace, blocks: Sequence[tuple[int, ...]], make: MakeSearch
    ) -> MergedFeatures:
        inside = {number for block in blocks for number in block}
        alone = [number for number in range(len(space)) if number not in inside]
        members = {space.names[number]: space.features[number].columns for number in alone}
        for block in blocks:
            name = " and ".join(space.names[number] for number in block)
            while name in members:
                name += " "
            members[name] = sum((space.features[number].columns for number in block), ())
        other = FeatureSpace.of_columns(members, space.columns)
        search = make(replace(reading, encoding=reading.encoding.with_features(other)), other)
        assert search is not None
        return cls(other, search, np.array([*alone, *(-1 - place for place in range(len(blocks)))]), {})

    def choices_of(self, place: int, block: Block) -> tuple[Cells, ...]:
        """The combinations of a block; the same object as before where they are the same, so that searches know."""
        key = tuple(part for one in block.values for part in one.key) if all(one.key for one in block.values) else ()
        known = self.choices.get(place)
        if known is None or not key or not _are_same(known[0], key):
            known = self.choices[place] = (key, block.list_cells())
        return known[1]

    def split(
        self, blocks: Sequence[Block], rows: IntArray, merged: BoolArray, targets: FloatArray
    ) -> tuple[BoolArray, FloatArray]:
        """Sets of merged features, and their values, in the features of the problem."""
        numbers = self.numbers
        n_features = int((numbers >= 0).sum()) + sum(len(block.features) for block in blocks)
        alone = numbers >= 0
        sets, values = np.zeros((len(rows), n_features), dtype=np.bool_), np.zeros((len(rows), n_features))
        sets[:, numbers[alone]], values[:, numbers[alone]] = merged[:, alone], targets[:, alone]
        for place, block in enumerate(blocks):
            at = int(np.flatnonzero(numbers == -1 - place)[0])
            moved = np.flatnonzero(merged[:, at])
            combination = targets[moved, at].astype(np.int64)
            for number, one, places in zip(block.features, block.values, block.places, strict=True):
                new = places[combination]
                sets[moved, number] = new != one.own[rows[moved]]
                values[moved, number] = new if one.numbers is None else one.numbers[new]
        return sets, values


def _are_same(one: Sequence[object], other: Sequence[object]) -> bool:
    """Whether keys are the same: bytes that are equal, or the same objects."""
    return len(one) == len(other) and all(
        a is b or (isinstance(a, bytes) and a == b) for a, b in zip(one, other, strict=True)
    )
