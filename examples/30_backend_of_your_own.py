"""
A backend of your own
=====================

How does a model of my own get exact explanations? A reader, a solver, one line to register, one line to check.

The model is a scorecard: every column has bins with points, and an applicant is refused when the points add up to
enough. sev has never heard of it. Without the reader below it would be explained as a black box: exact, but by asking
for the scores of many rows.
"""
# sphinx_gallery_thumbnail_path = "images/hypercube.png"

from itertools import combinations

import numpy as np

import sev
from sev.core import Problem, Solution, SolutionBuilder, n_words, pack


class Scorecard:
    """Points by bins: ``edges[j]`` are the upper edges of the bins of column j, ``points[j]`` their points."""

    classes_ = np.array([0, 1])

    def __init__(self, edges, points, limit):
        self.edges, self.points, self.limit = edges, points, limit

    def decision_function(self, rows):
        """Points above the limit; refused at 0 and more."""
        rows = np.asarray(rows, dtype=np.float64)
        total = np.zeros(len(rows))
        for column, (edges, points) in enumerate(zip(self.edges, self.points, strict=True)):
            total += np.asarray(points)[np.searchsorted(edges, rows[:, column])]
        return total - self.limit

    def predict(self, rows):
        """1 is refused."""
        return (self.decision_function(rows) >= 0).astype(int)


class ScorecardBackend:
    """The scorecard in the form that sev searches: the encoded value of a column is its points."""

    family = "scorecard"
    score_tolerance = 1e-9
    lists_sets_later = False  # solve() always lists all minimum sets

    def __init__(self, model):
        self.model = model

    @property
    def n_columns(self):
        """Encoded columns."""
        return len(self.model.edges)

    def encode(self, rows):
        """Points of each column."""
        rows = np.asarray(rows, dtype=np.float64)
        pairs = enumerate(zip(self.model.edges, self.model.points, strict=True))
        return np.column_stack([np.asarray(points, float)[np.searchsorted(e, rows[:, j])] for j, (e, points) in pairs])

    def margins(self, encoded):
        """Points above the limit."""
        return encoded.sum(axis=1) - self.model.limit

    def scores(self, margins):
        """The model's own score is the margin itself."""
        return margins

    def proof_rows(self, rows):
        """Rows on the edges of the bins, where a reader is most easily wrong."""
        rows = np.asarray(rows, dtype=np.float64)
        edges = [np.resize(np.asarray(e, dtype=np.float64), len(rows)) for e in self.model.edges]
        return np.column_stack(edges)

    def solve(self, problem: Problem) -> Solution:
        """Points add up, so the features that bring most points decide how many are needed at least."""
        builder = SolutionBuilder(problem.n_rows, n_words(problem.n_features))
        rounding = 1e-9 * (1.0 + np.abs(problem.queries).max(initial=0.0) * problem.n_features)
        for row in range(problem.n_rows):
            start, gains = self._gains(problem, row)
            self._solve_row(problem, builder, row, start, gains, rounding)
        return builder.build()

    def _gains(self, problem, row):
        """The margin of the empty set, and how far each feature takes it towards the decision."""
        query, reference = problem.queries[row], problem.reference
        base, donor = (query, reference) if problem.kind == "minus" else (reference, query)
        moved = problem.direction * (donor - base)
        gains = np.bincount(problem.column_feature, weights=moved, minlength=problem.n_features)
        return problem.direction * (base.sum() - self.model.limit), gains

    def _solve_row(self, problem, builder, row, start, gains, rounding):
        active = np.flatnonzero(problem.active[row])
        most = len(active) if problem.limits.max_size is None else min(len(active), problem.limits.max_size)
        # beyond `sure` a set certainly crosses, before `maybe` it certainly does not
        near, far = sorted((problem.direction * problem.low, problem.direction * problem.high))
        maybe, sure = near - rounding, far + rounding
        best = np.concatenate([[0.0], np.cumsum(np.sort(gains[active])[::-1])])
        for size in range(most + 1):
            if start + best[size] < maybe:
                continue
            candidates = list(combinations(active, size))
            ends = np.array([start + gains[list(chosen)].sum() for chosen in candidates])
            sets = np.zeros((len(candidates), problem.n_features), dtype=bool)
            for number, chosen in enumerate(candidates):
                sets[number, list(chosen)] = True
            crossing = ends > sure
            asked = np.flatnonzero(~crossing & (ends >= maybe))
            if asked.size:  # too near to the decision for our own sums: the model decides
                crossing[asked] = problem.crosses(np.full(asked.size, row), sets[asked])
            if crossing.any():
                order = np.flatnonzero(crossing)[np.argsort(-ends[crossing], kind="stable")]
                kept = order[: problem.limits.max_sets]
                complete = len(kept) == len(order)
                builder.found(row, pack(sets[kept]), lower_bound=size, complete=complete)
                return
        if most < len(active):
            builder.undecided(row, lower_bound=most + 1)
        else:
            builder.unexplainable(row, n_active=len(active))


def read_scorecard(model, response):
    """The reader: from a fitted model to its backend."""
    return ScorecardBackend(model)


# "package.Class" goes to "module:function"; neither is imported before such a model is explained
sev.backends.register(f"{__name__.partition('.')[0]}.Scorecard", f"{__name__}:read_scorecard")


def card():
    """Debt, late payments, years at the address and income, in points towards a refusal."""
    return Scorecard(
        edges=[[0.2, 0.5, 0.8], [0.5, 2.5], [1.0, 5.0], [20.0, 40.0, 80.0]],
        points=[[0, 10, 25, 40], [0, 20, 35], [15, 5, 0], [30, 20, 10, 0]],
        limit=60,
    )


def applicants(n_rows=200):
    rng = np.random.default_rng(0)
    debt, late = rng.random(n_rows).round(1), rng.poisson(1.0, n_rows)
    years, income = rng.integers(0, 12, n_rows), rng.integers(10, 99, n_rows)
    return np.column_stack([debt, late, years, income]).astype(float)


if __name__ == "__main__":
    model, X = card(), applicants()
    compared = sev.testing.check_backend(model, X)
    print(f"check_backend compared {compared} explanations with the definition")
    explainer = sev.Explainer(model, X)
    print(explainer)
    print(explainer.explain(X).summary())
