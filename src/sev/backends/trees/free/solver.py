"""From permitted values to the smallest sets: cells, the compiled search, values, and the model's own word on each."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sev import _native
from sev.actions import ChoiceDestinations, Moves, NumberDestinations, NumberTable
from sev.backends._encoding import ColumnwiseEncoding
from sev.backends._protocol import CannotReadError
from sev.backends.free import move_rows
from sev.backends.trees._backend import TreeBackend
from sev.backends.trees.free.cells import CellFinder, FeatureCells, NumberCells, StateCells
from sev.backends.trees.free.layout import FeatureRows, Layout, Wanted, make_native
from sev.backends.trees.free.numbers import IntervalTable
from sev.backends.trees.free.problem import CellProblem, Goal
from sev.backends.trees.free.splits import ColumnSplits
from sev.core import Solution, Status, distinct_rows, pack
from sev.space import FeatureSpace
from sev.typing import BoolArray, Cells, Dtype, FloatArray, IntArray

#: Work that one row may take when there is no time limit, in units of one to three nanoseconds, and half as much for
#: all sets beside the cheapest. Work ends a search, not time, so that answers do not depend on the machine; only where
#: it takes more than so many seconds of the processor the search ends then.
ROW_WORK = 350_000_000
ROW_SECONDS = 1.0
_UNLIMITED = 1 << 60
#: Entries of the table of costs that are made at once.
_ENTRIES_AT_ONCE = 4_000_000
#: Rows that the model scores at once when answers are checked.
_ROWS_PER_CALL = 20_000
#: No value of a feature is searched beyond: float32 ends there, and with it some models.
_LARGEST = 1e38
_FOUND, _NONE, _TOO_LARGE, _SPENT = 0, 1, 2, 4
_NOTHING = np.zeros(0)


class FreeTrees:
    """A tree ensemble on raw columns, with the cells of its features.

    Parameters
    ----------
    backend : TreeBackend
        The trees.
    encoding : ColumnwiseEncoding
        From raw rows to the columns of the trees.
    space : FeatureSpace
        The features of raw rows.
    """

    def __init__(self, backend: TreeBackend, encoding: ColumnwiseEncoding, space: FeatureSpace) -> None:
        self.backend = backend
        self.encoding = encoding
        self.space = space
        self._splits = ColumnSplits(backend.forest)
        self._lock = threading.Lock()
        self._layouts: WeakKeyDictionary[CellProblem, Layout] = WeakKeyDictionary()
        self._start_anew()

    def _start_anew(self) -> None:
        self._owner = self.encoding.column_feature
        self._finder = CellFinder(self._splits, self.encoding.encode, self._owner, self.space)
        self._forget_cells()

    def _forget_cells(self) -> None:
        """Everything that is made on demand is made again."""
        self._numbers: dict[int, NumberCells | None] = {}
        self._choices: _EncodedChoices | None = None
        self._states: dict[int, tuple[_EncodedChoices, StateCells]] = {}
        self._added: dict[int, tuple[StateCells, bytes, StateCells, IntArray]] = {}
        self._intervals: IntervalTable | None = None
        self._known: tuple[list[FeatureCells], float, _native.CellForest] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Without what is made on demand."""
        kept = FreeTrees.__new__(FreeTrees)
        kept.__dict__.update(self.__dict__, _layouts=None, _lock=None)
        kept._forget_cells()
        return kept.__dict__

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _lock=threading.Lock(), _layouts=WeakKeyDictionary())

    def values_searched(self, features: IntArray) -> list[str]:
        """For features of the last problem "any", or "observed" where only values of the background were searched."""
        return ["observed" if self._numbers.get(int(f), _ANY) is None else "any" for f in features]

    def lay_out(self, problem: CellProblem) -> Layout:
        """The rows of a problem as cells, kept as long as the problem: ranges are asked for later.

        Raises
        ------
        CannotReadError
            When the cells of a row do not add up to its margin.
        """
        known = self._layouts.get(problem)
        if known is None:
            known = self._layouts[problem] = self._make_layout(problem)
        return known

    def _make_layout(self, problem: CellProblem) -> Layout:
        encoded = self.encoding.encode(problem.queries) if problem.encoded is None else problem.encoded
        sign = 1.0 if problem.direction < 0 else -1.0
        with self._lock:
            self._own_columns(problem, encoded)
            cells = self._number_cells(problem.destinations.numbers, problem)
            intervals = self._interval_table(cells)
            numbers, at = self._locate_numbers(problem, intervals, encoded)
            place_of = {int(feature): place for place, feature in enumerate(intervals.features)}
            features = []
            for number, mine in enumerate(problem.destinations.features):
                place = place_of.get(number)
                if place is not None and isinstance(mine, NumberDestinations):
                    # of numbers on a grid every value is as good as another
                    observed = problem.observed.get(number, _NOTHING) if mine.step is None else _NOTHING
                    features.append(FeatureRows(intervals.cells[place], mine, at[place], observed))
                else:
                    features.append(self._state_rows(problem, number, encoded))
            native = self._native_of([one.cells for one in features], sign)
        return Layout(features, encoded, native, sign, numbers, intervals)

    def _native_of(self, cells: list[FeatureCells], sign: float) -> _native.CellForest:
        """The trees over cells; those of the last problem where the cells are the same."""
        known = self._known
        if known is not None and known[1] == sign and all(a is b for a, b in zip(known[0], cells, strict=True)):
            return known[2]
        backend = self.backend
        made = make_native(cells, self._finder.columns, backend.forest.native, backend.n_columns, sign)
        self._known = (cells, sign, made)
        return made

    def _interval_table(self, cells: dict[int, NumberCells]) -> IntervalTable:
        """The intervals of numbers side by side; those of the last problem where they are the same."""
        known = self._intervals
        if (
            known is None
            or known.features.tolist() != list(cells)
            or any(a is not b for a, b in zip(known.cells, cells.values(), strict=True))
        ):
            columns = {feature: self._finder.columns[feature] for feature in cells}
            known = self._intervals = IntervalTable(cells, columns, self._splits)
        return known

    def _locate_numbers(
        self, problem: CellProblem, intervals: IntervalTable, encoded: FloatArray
    ) -> tuple[NumberTable, IntArray]:
        """The numbers that have intervals, and the cell of each row's own value; (n_numbers, n_rows)."""
        numbers = problem.destinations.numbers
        if len(intervals.features) < len(numbers.features):
            held = set(intervals.features.tolist())
            numbers = NumberTable.of(
                [one if place in held else None for place, one in enumerate(problem.destinations.features)]
            )
        at = intervals.locate(numbers.old)
        unlike = intervals.find_unlike(at, encoded)
        if unlike.any():
            row, column = (int(one) for one in np.argwhere(unlike)[0])
            name = self.space.names[intervals.owner_of(column)]
            raise CannotReadError(f"the values of {name!r} that were read do not include that of row {row}")
        return numbers, at

    def _state_rows(self, problem: CellProblem, feature: int, encoded: FloatArray) -> FeatureRows:
        """A feature whose cells are values one by one."""
        mine = problem.destinations.features[feature]
        columns = self._finder.columns[feature]
        observed = np.asarray(problem.observed.get(feature, _NOTHING), dtype=np.float64)
        own = encoded[:, columns]
        if isinstance(mine, ChoiceDestinations):
            states = self._choice_states(feature, len(mine.choices))
            cell = self._cells_of_choices(feature, mine, states, own)
            if cell is not None:
                return FeatureRows(states, mine, cell, observed)
        elif isinstance(mine, NumberDestinations):
            # the query's own value and a missing one are not on the list of what occurs
            values = np.unique(observed[~np.isnan(observed)])
            values = np.concatenate([values, [np.nan]]) if mine.missing.any() else values
            row = problem.queries.iloc[[0]]
            found = (
                self._finder.find_states(feature, [(value,) for value in values.tolist()], row) if values.size else None
            )
            empty = StateCells(np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.int64), own[:0], values)
            states = empty if found is None else StateCells(found.state, found.outcomes, found.encoded, values)
        else:
            states = self._finder.no_states(feature)
        # Rows whose own value is not on the list have a cell of their own.
        first, kind = distinct_rows(own)
        states, cell = self._add_states(feature, states, own[first])
        return FeatureRows(states, mine, cell[kind], observed)

    def _cells_of_choices(
        self, feature: int, mine: ChoiceDestinations, states: StateCells, own: FloatArray
    ) -> IntArray | None:
        """The cells of rows whose own values are all among the choices, and encoded as these are; else None."""
        choices = self._choices
        assert choices is not None
        if not mine.choices or (mine.old < 0).any():
            return None
        theirs = choices.encoded[: len(mine.choices), self._finder.columns[feature]][mine.old]
        if not ((own == theirs) | (np.isnan(own) & np.isnan(theirs))).all():
            return None
        return states.state[mine.old]

    def _add_states(self, feature: int, states: StateCells, own: FloatArray) -> tuple[StateCells, IntArray]:
        """The same cells and more for values that belong to none; those of the last problem where both are the same."""
        known = self._added.get(feature)
        if known is not None and known[0] is states and known[1] == own.tobytes():
            return known[2], known[3]
        made = self._finder.add_states(feature, states, own)
        self._added[feature] = (states, own.tobytes(), *made)
        return made

    def _choice_states(self, feature: int, n_choices: int) -> StateCells:
        """The cells of the choices of a feature; those of the last problem as a rule."""
        choices = self._choices
        assert choices is not None
        known = self._states.get(feature)
        if known is None or known[0] is not choices:
            cells = self._finder.merge(feature, choices.encoded[:n_choices, self._finder.columns[feature]])
            known = self._states[feature] = (choices, cells)
        return known[1]

    def _own_columns(self, problem: CellProblem, encoded: FloatArray) -> None:
        """Find the features of encoded columns that vary among queries and choices for the first time."""
        if not len(encoded):
            return
        made = self._encode_choices(problem, encoded)
        if not self.encoding.owns_all:
            everyone = problem.queries.reset_index(drop=True)
            row = everyone.iloc[[0]]
            self.encoding.own_new_columns(everyone, row, np.zeros(len(everyone), dtype=np.int64), encoded, encoded[:1])
        if not np.array_equal(self._owner, self.encoding.column_feature):
            self._start_anew()
        self._choices = made

    def _encode_choices(self, problem: CellProblem, encoded: FloatArray) -> _EncodedChoices:
        """Every choice of every feature in encoded space; those of the last problem as a rule.

        An encoded column depends on one feature, so that the choices of all features are encoded side by side.
        """
        lists: list[tuple[int, tuple[Cells, ...]]] = [
            (number, mine.choices)
            for number, mine in enumerate(problem.destinations.features)
            if isinstance(mine, ChoiceDestinations)
        ]
        known, dtypes = self._choices, list(problem.queries.dtypes.array) if lists else []
        if known is not None and known.dtypes == dtypes and _are_same(known.lists, lists):
            return known
        row = problem.queries.iloc[[0]].reset_index(drop=True)
        frame = self._finder.choice_rows(problem.destinations, row)
        made = _EncodedChoices(lists, dtypes, self.encoding.encode(frame))
        self.encoding.own_new_columns(frame, row, np.zeros(len(frame), dtype=np.int64), made.encoded, encoded[:1])
        return made

    def _number_cells(self, numbers: NumberTable, problem: CellProblem) -> dict[int, NumberCells]:
        """Cells of the numbers that have intervals, made again only when values go beyond those that are known."""
        if not numbers.old.shape[1]:
            return {}
        lows, highs = _all_ends(numbers)
        needed: dict[int, tuple[float, float]] = {}
        for feature, low, high in zip(numbers.features.tolist(), lows.tolist(), highs.tolist(), strict=True):
            known = self._numbers.get(feature, _ANY)
            if known is None or (isinstance(known, NumberCells) and known.low <= low and high <= known.high):
                continue
            if isinstance(known, NumberCells):
                low, high = min(low, known.low), max(high, known.high)
            needed[feature] = (low, high)
        if needed:
            row = problem.queries.iloc[[0]]
            # as wide as the values that occur, which other rows may take; where the encoding turns there, as needed
            wide = {
                feature: _find_ends(np.array(ends), np.asarray(problem.observed.get(feature, _NOTHING)))
                for feature, ends in needed.items()
            }
            found = self._finder.find_intervals(wide, row)
            again = {feature: needed[feature] for feature in needed if found[feature] is None}
            self._numbers = {**self._numbers, **found, **(self._finder.find_intervals(again, row) if again else {})}
        cells = {feature: self._numbers[feature] for feature in numbers.features.tolist()}
        return {feature: one for feature, one in cells.items() if one is not None}


class _EncodedChoices(NamedTuple):
    """Choices of features, and what they are encoded to: the choice at a place of its list in the row of that place."""

    lists: list[tuple[int, tuple[Cells, ...]]]
    dtypes: list[Dtype]
    encoded: FloatArray


def _are_same(one: Sequence[tuple[int, tuple[Cells, ...]]], other: Sequence[tuple[int, tuple[Cells, ...]]]) -> bool:
    """Whether lists of choices are the same objects: cells that are equal may be encoded differently (1 and True)."""
    return len(one) == len(other) and all(a[0] == b[0] and a[1] is b[1] for a, b in zip(one, other, strict=True))


#: Nothing is known about a feature yet.
_ANY = object()


def _all_ends(numbers: NumberTable) -> tuple[FloatArray, FloatArray]:
    """As :func:`_find_ends`, of the own and the permitted values of each number."""
    values = np.clip(np.concatenate([numbers.old, numbers.low, numbers.high], axis=1), -_LARGEST, _LARGEST)
    missing = np.isnan(values)
    low = np.where(missing, np.inf, values).min(axis=1, initial=np.inf)
    high = np.where(missing, -np.inf, values).max(axis=1, initial=-np.inf)
    return np.where(low <= high, low, 0.0), np.where(low <= high, high, 1.0)


def _find_ends(*parts: FloatArray) -> tuple[float, float]:
    """The least and the greatest value of some lists."""
    finite = [part[~np.isnan(part)] for part in parts]
    values = np.clip(np.concatenate(finite), -_LARGEST, _LARGEST)
    if not values.size:
        return 0.0, 1.0
    return float(values.min()), float(values.max())


class _Searched(NamedTuple):
    """What the compiled search returned; sets of all rows one after the other."""

    outcome: NDArray[np.int8]
    proven: IntArray
    work: IntArray
    n_sets: IntArray
    complete: BoolArray
    cells: IntArray
    cost: FloatArray
    cheapest: BoolArray
    start: FloatArray


def solve_free(trees: FreeTrees, problem: CellProblem) -> tuple[Solution, Moves]:
    """The fewest features that take each row across, with any permitted values.

    Parameters
    ----------
    trees : FreeTrees
        The model.
    problem : CellProblem
        Rows, permitted values and limits.

    Returns
    -------
    solution : Solution
        Sets of each row, the cheapest first. A row on which the model raised, or refused what the trees say crosses,
        has the status "error" and a reason.
    moves : Moves
        The values of each set. ``cost`` is the least cost of any permitted values of the set; the values in ``targets``
        may be rounder, and cost a little more.
    """
    return Run(trees, problem, trees.lay_out(problem)).solve()


class Run:
    """The search for the rows of one problem."""

    def __init__(self, trees: FreeTrees, problem: CellProblem, layout: Layout) -> None:
        self._trees = trees
        self._problem = problem
        self._layout = layout
        self._at = layout.at
        self._reasons: dict[int, str] = {}
        down = problem.direction < 0
        noise = trees.backend.noise + trees.backend.own_noise
        low, high = problem.low - noise, problem.high + noise
        self.sure, self.limit = (low, high) if down else (-high, -low)
        self.native = layout.native

    @property
    def _n_rows(self) -> int:
        return len(self._problem.queries)

    def solve(self) -> tuple[Solution, Moves]:
        """Search all rows, then let the model confirm every set."""
        searched = self._search_rows()
        self._check_margins(searched)
        rows = np.repeat(np.arange(self._n_rows), searched.n_sets)
        sets = searched.cells != self._at[rows]
        wanted: Wanted = "by cost" if self._problem.goal == Goal.COST else "shown"
        targets = self._layout.targets(rows, searched.cells, sets, wanted)
        if self._problem.confirm:
            self._confirm_sets(rows, sets, targets)
        solution = self._make_solution(searched, sets)
        keep = ~np.isin(rows, list(self._reasons))
        moves = Moves(
            targets=targets[keep], cost=searched.cost[keep], proven_cost=np.asarray(searched.cheapest[keep] != 0)
        )
        return solution, moves

    def _search_rows(self) -> _Searched:
        limits, goal = self._problem.limits, self._problem.goal
        max_size = len(self._trees.space) if limits.max_size is None else min(limits.max_size, len(self._trees.space))
        max_sets = max(1, limits.max_sets)
        work = int(ROW_WORK * self._problem.share) if limits.time_limit is None else _UNLIMITED
        seconds = np.inf if limits.time_limit is None else max(0.0, float(limits.time_limit))
        processor_seconds = ROW_SECONDS * self._problem.share if limits.time_limit is None else np.inf
        known = None if self._problem.firsts is None else self._problem.firsts.astype(np.int64)
        at_once = max(1, _ENTRIES_AT_ONCE // max(1, self._layout.n_entries))
        parts = []
        for first in range(0, max(1, self._n_rows), at_once):
            rows = np.arange(first, min(first + at_once, self._n_rows))
            parts.append(
                self.native.solve(
                    self._at[rows],
                    self._layout.costs(rows),
                    self.sure,
                    self.limit,
                    int(goal),
                    max_size,
                    max_sets,
                    work,
                    seconds,
                    partial(self._ask_from, first),
                    None if known is None else known[rows],
                    processor_seconds,
                )
            )
        return _Searched(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _ask_from(self, first: int, row: int, cells: IntArray) -> BoolArray:
        """The same for a row of a part that begins with another row."""
        return self.ask(first + row, cells)

    def ask(self, row: int, cells: IntArray) -> BoolArray:
        """Which points cross, by the model's own decision."""
        rows = np.full(len(cells), row, dtype=np.int64)
        sets = cells != self._at[rows]
        targets = self._layout.targets(rows, cells, sets, "nearest")
        try:
            return np.ascontiguousarray(self._problem.crosses(self._move_rows(rows, sets, targets)), dtype=np.bool_)
        except Exception as error:  # whatever a model raises, it stops only the rows on which it raises
            self._reasons[row] = f"{type(error).__name__}: {error}"
            return np.zeros(len(cells), dtype=np.bool_)

    def _move_rows(self, rows: IntArray, sets: BoolArray, targets: FloatArray) -> pd.DataFrame:
        problem = self._problem
        return move_rows(problem.queries, self._trees.space, problem.destinations, rows, sets, targets)

    def _check_margins(self, searched: _Searched) -> None:
        """The cells of every row must add up to its margin: its own values are where the cells say they are."""
        backend = self._trees.backend
        margins = self._layout.sign * backend.margins(self._layout.encoded)
        wrong = np.abs(searched.start - margins) > 4.0 * backend.own_noise
        for row in np.flatnonzero(wrong).tolist():
            self._reasons[row] = "the parts of the score that were read for this row do not add up to it"

    def _confirm_sets(self, rows: IntArray, sets: BoolArray, targets: FloatArray) -> None:
        """Put every set through the model."""
        for first in range(0, len(rows), _ROWS_PER_CALL):
            some = slice(first, first + _ROWS_PER_CALL)
            moved = self._move_rows(rows[some], sets[some], targets[some])
            try:
                crosses = np.asarray(self._problem.crosses(moved), dtype=np.bool_)
            except Exception:  # whatever a model raises, it stops only the rows on which it raises
                crosses = np.array([self._confirm_one(int(row), moved.iloc[[at]]) for at, row in enumerate(rows[some])])
            for row in np.unique(rows[some][~crosses]).tolist():
                self._reasons.setdefault(
                    row, "the model's own scores do not confirm those of the trees that were read from it"
                )

    def _confirm_one(self, row: int, moved: pd.DataFrame) -> bool:
        try:
            return bool(self._problem.crosses(moved)[0])
        except Exception as error:
            self._reasons[row] = f"{type(error).__name__}: {error}"
            return False

    def _make_solution(self, searched: _Searched, sets: BoolArray) -> Solution:
        outcome, proven = searched.outcome, searched.proven
        any_set = searched.n_sets > 0
        offsets = np.concatenate([[0], np.cumsum(searched.n_sets)]).astype(np.int64)
        sizes = np.zeros(self._n_rows, dtype=np.int64)
        sizes[any_set] = sets.sum(axis=1)[offsets[:-1][any_set]]
        by_cost = self._problem.goal == Goal.COST
        is_proven = searched.complete != 0 if by_cost else sizes == proven + 1
        status = np.full(self._n_rows, Status.UNDECIDED.code, dtype=np.int8)
        status[any_set] = np.where(is_proven, Status.OPTIMAL.code, Status.FEASIBLE.code)[any_set]
        status[outcome == _NONE] = Status.UNEXPLAINABLE.code
        n_active = self._layout.is_active().sum(axis=1)
        complete = ((searched.complete != 0) & (self._problem.goal == Goal.ALL)) | (outcome == _NONE)
        solution = Solution(
            status=status,
            lower_bound=np.where(outcome == _NONE, n_active + 1, proven + 1).astype(np.int64),
            offsets=offsets,
            masks=pack(sets),
            complete=complete,
        )
        return solution.with_errors(self._reasons)
