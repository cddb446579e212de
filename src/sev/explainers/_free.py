"""Values that a search chooses: the rows of one class, searched over permitted values and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from sev.actions import ChoiceDestinations, Destinations, NumberDestinations, reference_destinations
from sev.backends import CannotReadError
from sev.backends.free import (
    CandidateSearch,
    FreeProblem,
    FreeSearch,
    FreeSolution,
    NetworkRanges,
    RangeFinder,
    RangesOfProven,
    move_rows,
)
from sev.backends.trees.free import TreeSearch
from sev.core import Answers, LazyList, Limits, Status, unpack
from sev.explainers._distances import MOST_ORDERED
from sev.explainers._free_answers import NO_FEATURES, FreeAnswers, RowFeatures
from sev.explainers._free_choice import CredibleRows, order_of_sets
from sev.explainers._free_rules import exact_search, rules_of_features, search_again
from sev.explainers._free_scores import LaterScores, encode_clear
from sev.explainers._lost_sets import find_other_values
from sev.explainers._options import DEFAULT_MAX_PREDICTIONS
from sev.explainers._rules_in_ranges import keep_rules_in_ranges
from sev.explainers._vertices import score_rows_safely
from sev.explainers._work import Settings
from sev.explanations import Choices, Interval
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sev.backends.free import Enough
    from sev.explainers._task import Task
    from sev.explanations import EnoughValues
    from sev.typing import ModelOutput

#: Rows that the model scores for one query where the family's own search has found sets that do not count, unless the
#: user sets a limit: roughly a second, whatever the machine.
_PREDICTIONS_AGAIN = 20_000
#: Sets of one size of which the least costly is found, where fewer are wanted.
_SETS_COMPARED = 100
#: Rows that are scored together with what becomes of them.
_ROWS_AT_ONCE = 16

_Array = TypeVar("_Array", bound=np.ndarray)


def search_of(task: Task) -> FreeSearch:
    """The family's search over permitted values."""
    if task.reading is not None:
        exact = exact_search(task, task.reading, task.space)
        if exact is not None:
            return exact
    if task.reading is not None and NetworkRanges.takes(task.reading):
        return CandidateSearch(NetworkRanges(task.reading, task.space, task.sample.iloc[:1]))
    return CandidateSearch()


class FreeWork:
    """The rows of one class in one call.

    Parameters
    ----------
    task : Task
        The class.
    settings : Settings
        What the user asked for.
    first_only : bool, default=False
        Whether sets after the first of each row may be left out for now.
    """

    def __init__(self, task: Task, settings: Settings, *, first_only: bool = False) -> None:
        assert task.bound is not None
        self._first_only = first_only
        self._task = task
        self._bound = task.bound
        self._wanted = settings
        # which set comes first depends on all of them
        compared = MOST_ORDERED if settings.order != "margin" else self._most_compared()
        limits = replace(settings.limits, max_sets=max(settings.limits.max_sets, compared))
        self._settings = replace(settings, limits=limits)
        least = settings.min_credibility
        self._credible = CredibleRows(task, least) if least > 0 else None
        self._score = self._score_plainly

    def answer(
        self, queries: pd.DataFrame, assigned: IntArray | None = None, features: RowFeatures = NO_FEATURES
    ) -> FreeAnswers:
        """Explain rows; those that are not of the class, or on which the model fails, are marked so.

        Parameters
        ----------
        queries : DataFrame
            The rows.
        assigned : ndarray of int, default=None
            Number of each row's reference row; None: the first that the reference assigns.
        features : RowFeatures
            What is said about the features of each row.
        """
        task = self._task
        reasons: dict[int, str] = {}
        at_once = self._search_at_once(queries, assigned, features)
        if at_once is not None:
            rows, positives = np.arange(len(queries)), queries
            scores, assigned, destinations, found = at_once
        else:
            scores, reasons, transformed = task.score_and_transform(queries)
            rows = np.flatnonzero(np.isfinite(scores) & task.scorer.is_positive(scores))
            positives = queries if len(rows) == len(queries) else queries.iloc[rows]
            assigned = task.reference.assigned(positives) if assigned is None else assigned[rows]
            features = features.take(rows)
            destinations = self._find_destinations(positives, assigned, features.usable)
            encoded = self._encode_rows(positives, rows, transformed)
            found = self._search_rows(positives, destinations, scores[rows], encoded, features.firsts)
        all_seen = found.solution.complete
        if self._credible is not None:
            found = _without_failures(found, self._credible.failures)
        if self._settings.order != "margin":
            found = self._in_order(positives, destinations, found)
        else:
            found = found.keep_least_costly(self._wanted.limits.max_sets)
        solution, moves = found.solution, found.moves
        owner = np.repeat(np.arange(len(rows)), np.diff(solution.offsets))
        sets = unpack(solution.masks, len(task.space))
        results = found.results
        if results is None:
            results = move_rows(positives, task.space, destinations, owner, sets, moves.targets)
        after = self._scores_of(found, results)
        has_set = np.flatnonzero(solution.has_set)
        firsts = solution.offsets[has_set]
        n_rows = len(queries)
        status = np.full(n_rows, Status.NOT_TARGET.code, dtype=np.int8)
        status[list(reasons)] = Status.ERROR.code
        counts = _put_rows(np.zeros(n_rows, dtype=np.int64), rows, np.diff(solution.offsets))
        searched = np.full(n_rows, "all", dtype="<U10")
        searched[rows[~found.complete_values]] = "candidates"
        if self._settings.values == "reference":  # one value of each feature, which every search tries
            searched[:] = "reference"
        return FreeAnswers(
            answers=Answers(
                status=_put_rows(status, rows, solution.status),
                lower_bound=_put_rows(np.zeros(n_rows, dtype=np.int64), rows, solution.lower_bound),
                score=scores,
                result_score=_put_rows(np.full(n_rows, np.nan), rows[has_set], after[firsts]),
                target=np.full(n_rows, task.number, dtype=np.int64),
                reference=_put_rows(np.zeros(n_rows, dtype=np.int64), rows, assigned) + task.first_reference,
                offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
                masks=solution.masks,
                complete=_put_rows(np.ones(n_rows, dtype=np.bool_), rows, solution.complete),
                listed=_put_rows(np.ones(n_rows, dtype=np.bool_), rows, found.are_listed),
                size_without_limit=np.full(n_rows, np.nan),
                first_of_all=_put_rows(np.ones(n_rows, dtype=np.bool_), rows, all_seen),
                reasons={**reasons, **{int(rows[row]): reason for row, reason in solution.reasons.items()}},
            ),
            results=results,
            searched=searched,
            enough=LazyList(
                len(found.enough),
                lambda places: [
                    self._name_ranges(
                        self._without_broken(one, destinations, positives, results, int(owner[place]), place),
                        destinations,
                        int(owner[place]),
                    )
                    for place, one in zip(places, found.enough.get(places), strict=True)
                ],
            ),
            costs=_put_rows(np.full(n_rows, np.nan), rows[has_set], moves.cost[firsts]),
        )

    def _most_compared(self) -> int:
        """Sets whose costs are compared, where fewer are wanted; 0 where the search itself finds the least costly."""
        finds = isinstance(self._task.free_search, TreeSearch | CandidateSearch) and not self._bound.rules
        return 0 if finds and self._wanted.min_credibility == 0 else _SETS_COMPARED

    def _without_broken(
        self,
        enough: Mapping[int, Enough],
        destinations: Destinations,
        queries: pd.DataFrame,
        results: pd.DataFrame,
        row: int,
        place: int,
    ) -> Mapping[int, Enough]:
        """Ranges of one set without values that break a rule which its query keeps."""
        if not self._bound.rules:
            return enough
        query = queries.iloc[[row]]
        rules = [rule for rule in self._bound.rules if not rule.broken(self._bound.cells(rule, query)).any()]
        if not rules:
            return enough
        return keep_rules_in_ranges(enough, rules, self._bound, destinations, row, results.iloc[[place]])

    def _find_destinations(self, queries: pd.DataFrame, assigned: IntArray, usable: BoolArray | None) -> Destinations:
        """The values that each feature of each row may take."""
        references, settings = self._task.reference.rows, self._settings
        if settings.values == "reference":
            has_actions = self._task.has_actions
            found = reference_destinations(
                self._bound, queries, references, assigned, settings.allowed, has_actions=has_actions
            )
        else:
            found = self._bound.destinations(queries, references, assigned, settings.values, settings.allowed)
        return found if usable is None else found.only(usable)

    def _in_order(self, queries: pd.DataFrame, destinations: Destinations, found: FreeSolution) -> FreeSolution:
        """The same with the sets of each row in the order that was asked for, and no more than are wanted."""
        solution = found.solution
        counts = np.diff(solution.offsets)
        owner = np.repeat(np.arange(len(solution), dtype=np.int64), counts)
        if not len(owner):
            return found
        sets = unpack(solution.masks, len(self._task.space))
        results = found.results
        if results is None:
            results = move_rows(queries, self._task.space, destinations, owner, sets, found.moves.targets)
        order = order_of_sets(self._task, queries, self._wanted, owner, sets, results)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        most = self._wanted.limits.max_sets
        return found.choose_sets(order[place < most], np.minimum(counts, most))

    def _name_ranges(
        self, enough: Mapping[int, Enough], destinations: Destinations, row: int
    ) -> dict[str, EnoughValues]:
        """Ranges of one row by the names of features, choices by their values."""
        named: dict[str, EnoughValues] = {}
        # that a value does is proven about the decision only; and one value is no range
        if self._credible is not None or self._settings.values == "reference":
            return named
        for number, one in enough.items():
            mine = destinations.features[number]
            if one is None:
                continue
            if isinstance(mine, ChoiceDestinations) and isinstance(one, frozenset):
                cells = [mine.choices[place] for place in sorted(one)]
                named[self._task.space.names[number]] = Choices(
                    (cell[0] if len(cell) == 1 else cell for cell in cells), is_any_other=_holds_others(mine, row, one)
                )
            elif isinstance(one, tuple):
                low, high = map(float, one)
                first, last = mine.ends(row) if isinstance(mine, NumberDestinations) else (-np.inf, np.inf)
                named[self._task.space.names[number]] = Interval(
                    low, high, low_is_limit=low <= first, high_is_limit=high >= last
                )
        return named

    # -- the search ----------------------------------------------------------------------------------------------------

    def _search_at_once(
        self, queries: pd.DataFrame, assigned: IntArray | None, features: RowFeatures
    ) -> tuple[FloatArray, IntArray, Destinations, FreeSolution] | None:
        """Scores, reference rows, destinations and answers of a few rows that are all of the class, as a rule with one
        call of the model; None where that does not work.
        """
        task = self._task
        few = 0 < len(queries) <= _ROWS_AT_ONCE and task.reading is not None
        if not few or self._bound.rules or self._credible is not None or isinstance(task.free_search, CandidateSearch):
            return None
        encoded = encode_clear(task, queries)
        if encoded is None:
            return None
        later = LaterScores(task, queries)
        assigned = task.reference.assigned(queries) if assigned is None else assigned
        destinations = self._find_destinations(queries, assigned, features.usable)
        self._score = later.score
        found = self._search_rows(queries, destinations, None, encoded, features.firsts)
        self._score = self._score_plainly
        scores, reasons = later.of_queries()
        if reasons or not task.scorer.is_positive(scores).all() or self._find_unlike(scores, encoded).size:
            return None
        return scores, assigned, destinations, found

    def _encode_rows(self, positives: pd.DataFrame, rows: IntArray, transformed: ModelOutput) -> FloatArray | None:
        """Some rows in the columns of the reading, from all rows transformed where these are known; None where the
        reading does not take them.
        """
        reading = self._task.reading
        if reading is None:
            return None
        try:
            if transformed is None:
                return reading.encoding.encode(positives)
            return reading.backend.encode(transformed)[rows]
        except Exception:  # the model takes a row that its reading does not
            return None

    def _score_plainly(self, frame: pd.DataFrame) -> tuple[FloatArray, dict[int, str]]:
        return score_rows_safely(self._task.scorer.scores, self._task.form, frame)

    def _search_rows(
        self,
        queries: pd.DataFrame,
        destinations: Destinations,
        scores: FloatArray | None,
        encoded: FloatArray | None,
        firsts: BoolArray | None,
    ) -> FreeSolution:
        """Search rows; where their scores are not given, the reading is taken to be right about them."""
        problem = replace(self._make_problem(queries, destinations), encoded=encoded, firsts=firsts)
        n_rows = len(queries)
        if not n_rows:
            return CandidateSearch().solve(problem)
        search = self._task.free_search
        everything = np.arange(n_rows, dtype=np.int64)
        # what a search reads from the model is no proof about rows on which the two differ
        again = everything
        if self._task.reading is not None and encoded is not None:
            again = everything[:0] if scores is None else self._find_unlike(scores, encoded)
        rest = np.setdiff1d(everything, again)
        parts = []
        known = _Known({}, {})
        for rows, found in self._search_read(problem, search, rest):
            found, refused = self._with_scores(problem, rows, found)
            if problem.rules:
                joined, answers = search_again(self._task, problem, rows, found)
                waits = np.setdiff1d(np.arange(len(rows)), np.flatnonzero(np.isin(rows, joined)))
                answers, not_so = self._with_scores(problem, joined, answers)
                kept = np.setdiff1d(np.arange(len(joined)), not_so)
                parts.append((joined[kept], answers.take(kept)))
                refused = np.flatnonzero(np.isin(waits, refused))
                rows, found = rows[waits], found.take(waits)
            found, opened = self._keep_rules(problem, rows, found, refused, known)
            # rows that the search cannot answer are left to the model alone
            opened = np.union1d(opened, sorted(found.solution.reasons)).astype(np.int64)
            kept = np.setdiff1d(np.arange(len(rows)), opened)
            parts.append((rows[kept], found if len(kept) == len(rows) else found.take(kept)))
        again = np.setdiff1d(everything, np.concatenate([rows for rows, _ in parts]) if parts else [])
        if again.size:
            limits = problem.limits
            if not isinstance(search, CandidateSearch):
                limits = _limits_again(limits)
            wider = replace(problem, limits=limits, proven=known.proven, smallest=known.smallest)
            parts.append((again, CandidateSearch(self._range_finder()).solve(wider.take(again))))
        return FreeSolution.merge(parts).sorted_by_cost()

    def _scores_of(self, found: FreeSolution, results: pd.DataFrame) -> FloatArray:
        """The model's scores of changed rows, as far as they are not known."""
        unknown = np.arange(len(results)) if found.scores is None else np.flatnonzero(np.isnan(found.scores))
        scores = np.full(len(results), np.nan) if found.scores is None else found.scores.copy()
        if unknown.size:
            some = results if len(unknown) == len(results) else results.iloc[unknown]
            scores[unknown] = self._score(some)[0]
        return scores

    def _search_read(
        self, problem: FreeProblem, search: FreeSearch, rows: IntArray
    ) -> Iterator[tuple[IntArray, FreeSolution]]:
        """What the family's search finds, without rows that it cannot read."""
        if not rows.size:
            return
        try:
            found = search.solve(problem.take(rows))
        except CannotReadError:
            if len(rows) > 1:
                for half in np.array_split(rows, 2):
                    yield from self._search_read(problem, search, half)
            return
        yield rows, found

    def _find_unlike(self, scores: FloatArray, encoded: FloatArray) -> IntArray:
        """Rows on which the reading and the model differ: they are searched with the model alone."""
        reading = self._task.reading
        assert reading is not None
        try:
            gaps = reading.gaps(self._task.scorer, scores, encoded)
        except Exception:  # the model takes a row that its reading does not
            return np.arange(len(scores), dtype=np.int64)
        return np.flatnonzero(~(gaps <= 1.0)).astype(np.int64)

    def _make_problem(self, queries: pd.DataFrame, destinations: Destinations) -> FreeProblem:
        task = self._task
        low, high = (0.0, 0.0) if task.reading is None else task.reading.band(task.scorer.threshold_of_second_class)

        def decide(frame: pd.DataFrame) -> tuple[BoolArray, FloatArray]:
            scores, _ = self._score(frame)
            return task.scorer.is_negative(scores), scores

        def crosses(frame: pd.DataFrame) -> BoolArray:
            return decide(frame)[0]

        def distance(frame: pd.DataFrame) -> FloatArray:
            scores, _ = self._score(frame)
            return np.asarray(scores - task.scorer.threshold, dtype=np.float64)

        rules = [(rule, ~rule.broken(self._bound.cells(rule, queries))) for rule in self._bound.rules]

        def keeps_rules(rows: IntArray, frame: pd.DataFrame) -> BoolArray:
            kept = np.ones(len(frame), dtype=np.bool_)
            for rule, applies in rules:
                kept &= ~(applies[rows] & rule.broken(self._bound.cells(rule, frame)))
            if self._credible is not None and len(frame):
                kept &= self._credible.kept(rows, frame)
            return kept

        return FreeProblem(
            direction=-task.scorer.sign,
            low=low,
            high=high,
            queries=queries,
            space=task.space,
            destinations=destinations,
            crosses=crosses,
            decide=decide,
            distance=distance,
            keeps_rules=keeps_rules if rules or self._credible is not None else None,
            rules=rules_of_features(self._bound, queries) if self._credible is None else (),
            minimise=self._settings.minimise,
            limits=self._settings.limits,
            first_only=self._first_only,
            observed=self._list_observed(destinations),
        )

    def _list_observed(self, destinations: Destinations) -> Mapping[int, FloatArray]:
        """Values of numbers to try where not every value can be searched."""
        observed = self._bound.observed()
        if self._settings.values != "reference":
            return observed
        values = {
            number: np.concatenate([observed.get(number, np.zeros(0)), one.low[np.isfinite(one.low)]])
            for number, one in enumerate(destinations.features)
            if isinstance(one, NumberDestinations)
        }
        return {**observed, **{number: np.unique(some) for number, some in values.items()}}

    def _with_scores(self, problem: FreeProblem, rows: IntArray, found: FreeSolution) -> tuple[FreeSolution, IntArray]:
        """The same, scored by the model; and the rows with a set that it refuses."""
        solution = found.solution
        owner = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))
        moved, scores = found.results, found.scores
        if moved is None:
            sets = unpack(solution.masks, len(problem.space))
            moved = move_rows(
                problem.queries, problem.space, problem.destinations, rows[owner], sets, found.moves.targets
            )
        if scores is None:
            scores = self._score(moved)[0] if len(owner) else np.zeros(0)
        refused = owner[~self._task.scorer.is_negative(scores)]
        return replace(found, scores=scores, results=moved), np.unique(refused)

    def _keep_rules(
        self, problem: FreeProblem, rows: IntArray, found: FreeSolution, refused: IntArray, known: _Known
    ) -> tuple[FreeSolution, IntArray]:
        """The same without sets whose values break a rule.

        The other result is the rows that need another search: a set is refused by the model, or all break a rule. What
        is proven about the latter is noted in ``known``.
        """
        solution = found.solution
        owner = np.repeat(np.arange(len(solution)), np.diff(solution.offsets))
        if problem.keeps_rules is None or not len(owner):
            return found, refused
        sets, moved = unpack(solution.masks, len(problem.space)), found.results
        assert moved is not None
        good = problem.keeps_rules(rows[owner], moved)
        lost = np.setdiff1d(owner[~good], owner[good])
        for place in np.setdiff1d(lost, refused)[found.complete_values[np.setdiff1d(lost, refused)]].tolist():
            known.proven[int(rows[place])] = int(solution.lower_bound[place]) - 1
            if solution.complete[place]:
                known.smallest[int(rows[place])] = sets[owner == place]
        if problem.minimise == "features":
            found = find_other_values(found, good, len(problem.space), partial(self._search_sets, problem, rows))
        else:
            found = found.keep_sets(good)
        return found, np.union1d(refused, lost)

    def _search_sets(
        self, problem: FreeProblem, rows: IntArray, places: IntArray, sets: list[BoolArray], size: int
    ) -> FreeSolution:
        """All values of some sets of one size."""
        some = replace(
            problem.take(rows[places]),
            first_only=False,
            proven=dict.fromkeys(range(len(places)), size - 1),
            smallest=dict(enumerate(sets)),
            limits=replace(_limits_again(problem.limits), max_size=size),
        )
        return CandidateSearch(self._range_finder()).solve(some)

    def _range_finder(self) -> RangeFinder | None:
        """Proves ranges around values that keep the rules, in rows about which the family's search proved something."""
        search = self._task.free_search
        return RangesOfProven(search) if isinstance(search, TreeSearch) else None


class _Known(NamedTuple):
    """What a search has proven about rows whose sets all break a rule, by number of the row."""

    proven: dict[int, int]
    smallest: dict[int, BoolArray]


def _holds_others(one: ChoiceDestinations, row: int, places: frozenset[int]) -> bool:
    """Whether some categories are all that are known but the row's own; a missing value need not be among them."""
    if one.distances is not None:  # listed numbers
        return False
    others = (place for place in range(len(one.choices)) if place != one.old[row] and place not in places)
    return all(pd.isna(value) for place in others for value in one.choices[place])


def _limits_again(limits: Limits) -> Limits:
    """Limits of rows that a search with a budget of its own has left to the model: of about the same time."""
    if limits.time_limit is not None or limits.max_predictions != DEFAULT_MAX_PREDICTIONS:
        return limits
    return replace(limits, max_predictions=_PREDICTIONS_AGAIN)


# -- putting parts together --------------------------------------------------------------------------------------------


def _put_rows(everything: _Array, rows: IntArray, values: np.ndarray) -> _Array:
    """An array for all rows, with the values of some of them in it."""
    everything[rows] = values
    return everything


def _without_failures(found: FreeSolution, failures: Mapping[int, str]) -> FreeSolution:
    """The same with rows on which something failed marked so, without sets."""
    if not failures:
        return found
    counts = np.diff(found.solution.offsets)
    owner = np.repeat(np.arange(len(counts)), counts)
    counts[list(failures)] = 0
    kept = found.choose_sets(np.flatnonzero(~np.isin(owner, list(failures))), counts)
    return replace(kept, solution=kept.solution.with_errors(failures))
