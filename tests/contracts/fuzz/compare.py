"""Answers compared with brute force through the model's own scores of rows mixed by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from contracts.fuzz.mixing import mixed_rows, same_cells, take
from contracts.fuzz.setups import Call, Setup


@dataclass(eq=False)
class Vertices:
    """Scores of all sets of features of one query; NaN where the model fails."""

    sets: list[tuple[int, ...]]
    scores: np.ndarray

    @classmethod
    def of(cls, setup: Setup, query: Any, reference: Any, kind: str) -> Vertices:
        features = setup.feature_columns()
        usable = list(range(len(features)))
        if len(features) > setup.n_enumerated:  # a feature that is the same in both rows is in no smallest set
            usable = [number for number in usable if not same_cells(query, reference, features[number])]
        sets = [chosen for size in range(len(usable) + 1) for chosen in combinations(usable, size)]
        replaced = np.zeros((len(sets), sum(map(len, features))), dtype=bool)
        for number, chosen in enumerate(sets):
            for feature in chosen:
                replaced[number, features[feature]] = True
        if kind == "plus":  # the reference's row with the cells of the set taken from the query
            replaced = ~replaced
        scores = np.full(len(sets), np.nan)
        for numbers, table in mixed_rows(query, reference, replaced):
            scores[numbers] = safe_scores(setup.score, table, len(numbers))
        return cls(sets, scores)

    @cached_property
    def by_set(self) -> dict[tuple[int, ...], float]:
        return dict(zip(self.sets, self.scores.tolist(), strict=True))


def safe_scores(score: Any, table: Any, n_rows: int) -> np.ndarray:
    """Scores, NaN for the rows at which the model raises."""
    try:
        scores = np.asarray(score(table), dtype=np.float64)
    except Exception:
        if n_rows == 1:
            return np.array([np.nan])
        return np.concatenate([safe_scores(score, take(table, [row]), 1) for row in range(n_rows)])
    if scores.shape != (n_rows,):
        raise AssertionError(f"the case's own score has shape {scores.shape} for {n_rows} rows")
    return np.where(np.isfinite(scores), scores, np.nan)


@dataclass(eq=False)
class Truth:
    """What the definition says about one query under the settings of one call."""

    vertices: Vertices
    threshold: float
    rounding: float
    call: Call
    n_features: int
    problems: list[str] = field(default_factory=list)

    @cached_property
    def sign(self) -> int:
        """The direction in which scores cross."""
        return -1 if self.call.kind == "minus" else 1

    @cached_property
    def is_ambiguous(self) -> bool:
        """Whether rounding may decide about some vertex."""
        if not self.rounding:
            return False
        gaps = np.abs(self.vertices.scores - self.threshold)
        return bool((gaps[np.isfinite(gaps)] <= self.rounding).any())

    @cached_property
    def allowed(self) -> list[tuple[int, ...]]:
        closed = set(self.call.restricted)
        return [chosen for chosen in self.vertices.sets if not closed.intersection(chosen)]

    def crosses(self, chosen: tuple[int, ...]) -> bool:
        score = self.vertices.by_set[chosen]
        positive = score >= self.threshold  # NaN never crosses
        return bool(np.isfinite(score)) and (positive if self.call.kind == "plus" else not positive)

    @cached_property
    def crossing(self) -> list[tuple[int, ...]]:
        return [chosen for chosen in self.allowed if self.crosses(chosen)]

    @cached_property
    def size(self) -> int | None:
        return min((len(chosen) for chosen in self.crossing), default=None)

    @cached_property
    def best(self) -> list[tuple[int, ...]]:
        """All minimum sets: furthest across first, then in the order of the features."""
        smallest = [chosen for chosen in self.crossing if len(chosen) == self.size]
        return sorted(smallest, key=lambda chosen: (-self.sign * self.vertices.by_set[chosen], chosen))


def query_problems(one: Any, score: float, setup: Setup) -> tuple[list[str], bool]:
    """Problems with the decision about the query itself, and whether there is anything else to compare."""
    status = str(one.status)
    threshold, rounding = setup.threshold, setup.rounding
    if not np.isfinite(score):
        return ([] if status == "error" else [f"the model fails at the query, the status is {status}"]), False
    if rounding and abs(score - threshold) <= rounding:
        return [], False
    if status == "error":
        return [], True
    problems = []
    if not setup.decisions_only and abs(one.score - score) > max(rounding, 1e-15 * abs(score)):
        problems.append(f"score {one.score!r}, the model's own is {score!r}")
    if (status != "not_target") != (score >= threshold):
        problems.append(f"status {status} with the score {score!r} and the threshold {threshold!r}")
    return problems, status != "not_target" and not problems


def answer_problems(one: Any, truth: Truth, names: list[str], setup: Setup) -> list[str]:
    """Problems with the answer about a query that is of the explained class."""
    status = str(one.status)
    fails = bool(np.isnan(truth.vertices.scores).any())
    if status == "error":
        if not one.reason:
            return ["status error without a reason"]
        return (
            [] if fails or setup.may_give_up else [f"status error ({one.reason}), but the model scores every mixed row"]
        )
    sets = [tuple(sorted(names.index(name) for name in chosen)) for chosen in one.sets]
    problems = _claims(one, status, sets, truth)
    if problems:
        return problems
    if status == "optimal":
        return _optimal_problems(one, sets, truth, setup, fails)
    if status == "feasible":
        return _score_problems(one, sets, truth, setup)
    if status == "undecided":
        reason_to_stop = truth.call.is_limited or (
            truth.call.max_size is not None and (truth.size is None or truth.size > truth.call.max_size)
        )
        return [] if reason_to_stop else [f"undecided without a limit; the size is {truth.size}"]
    return []


def _claims(one: Any, status: str, sets: list[tuple[int, ...]], truth: Truth) -> list[str]:
    """What has to hold whatever the limits are."""
    problems = []
    if status == "unexplainable":
        if truth.size is not None:
            problems.append(f"unexplainable, but {truth.best[:3]} cross")
        return problems
    if status not in ("optimal", "feasible", "undecided"):
        return [f"status {status}"]
    least = truth.n_features + 1 if truth.size is None else truth.size
    if one.lower_bound > least:
        problems.append(f"lower_bound {one.lower_bound}, but {truth.best[:3]} cross")
    if (one.size is None) != (status == "undecided"):
        problems.append(f"status {status} with size {one.size}")
    if status == "optimal" and one.lower_bound != one.size:
        problems.append(f"optimal with size {one.size} and lower_bound {one.lower_bound}")
    if status == "feasible" and one.lower_bound >= one.size:
        problems.append(f"feasible with size {one.size} and lower_bound {one.lower_bound}: that is optimal")
    if truth.call.max_size is not None and one.size is not None and one.size > truth.call.max_size:
        problems.append(f"size {one.size} beyond max_size={truth.call.max_size}")
    if one.size is not None and (not sets or any(len(chosen) != one.size for chosen in sets)):
        problems.append(f"size {one.size} with sets {sets}")
    if len(set(sets)) != len(sets) or len(sets) > truth.call.max_sets:
        problems.append(f"{len(sets)} sets, {len(set(sets))} different, max_sets={truth.call.max_sets}")
    wrong = [chosen for chosen in sets if chosen not in truth.allowed or not truth.crosses(chosen)]
    if wrong:
        scores = [truth.vertices.by_set[chosen] for chosen in wrong]
        problems.append(f"sets that do not cross: {wrong[:3]}, scores {scores[:3]}, threshold {truth.threshold}")
    return problems


def _optimal_problems(one: Any, sets: list[tuple[int, ...]], truth: Truth, setup: Setup, fails: bool) -> list[str]:
    if one.size != truth.size:
        return [f"size {one.size} claimed, the smallest is {truth.size}: {truth.best[:3]}"]
    problems = _score_problems(one, sets, truth, setup)
    most = truth.call.max_sets
    cut_short = truth.call.is_limited and not one.sets_complete
    if not cut_short:
        if one.sets_complete != (len(truth.best) <= most):
            problems.append(f"sets_complete={one.sets_complete} with {len(sets)} of {len(truth.best)} sets listed")
        if len(sets) != min(most, len(truth.best)):
            problems.append(f"{len(sets)} sets listed of {len(truth.best)}: {sets[:4]} against {truth.best[:4]}")
        elif fails or setup.decisions_only:
            pass  # which sets, and that they cross, has been compared
        elif setup.order_tolerance:
            problems.extend(_order_problems(sets, truth, setup.order_tolerance))
        elif sets != truth.best[:most]:
            problems.append(f"sets {sets[:5]}, the contract's order is {truth.best[:5]}")
    if tuple(one.features) != tuple(one.sets[0]):
        problems.append(f"features {one.features} are not the first of sets {one.sets[:2]}")
    return problems


def _order_problems(sets: list[tuple[int, ...]], truth: Truth, tolerance: float) -> list[str]:
    """Furthest across first, up to rounding; what is left out is no further across than what is listed."""
    across = [truth.sign * truth.vertices.by_set[chosen] for chosen in sets]
    if any(later > earlier + tolerance for earlier, later in pairwise(across)):
        return [f"sets {sets[:5]} are not in the order of their scores {across[:5]}"]
    left_out = [truth.sign * truth.vertices.by_set[chosen] for chosen in truth.best if chosen not in set(sets)]
    if left_out and max(left_out) > across[-1] + tolerance:
        return [f"a set with the score {max(left_out)} is left out, one with {across[-1]} is listed"]
    return []


def _score_problems(one: Any, sets: list[tuple[int, ...]], truth: Truth, setup: Setup) -> list[str]:
    expected = truth.vertices.by_set[sets[0]]
    result = one.result_score
    if result is None or not np.isfinite(result):
        return [f"result_score {result}"]
    if not setup.decisions_only and abs(result - expected) > max(truth.rounding, 1e-15 * abs(expected)):
        return [f"result_score {result!r}, the model's own is {expected!r}"]
    return []
