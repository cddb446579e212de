"""The solver against the definition, through the models' own scores."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from backends.trees.models import CASES, fitted
from backends.trees.problems import compare, make_problem, own_scores, read, take

ROWS = 20
CHECKS_PER_CASE = 160


def references(case, threshold):
    """A mean of negative rows and a negative row."""
    score = own_scores(case.model, case.response)
    negative = np.flatnonzero(score(case.rows) < threshold)
    rows = [take(case.rows, negative[5:6])]
    if isinstance(case.rows, np.ndarray):
        mean = np.nanmean(case.rows[negative], axis=0, keepdims=True)
        rows.append(mean if score(mean)[0] < threshold else take(case.rows, negative[9:10]))
    else:
        rows.append(take(case.rows, negative[9:10]))
    return rows


@pytest.mark.parametrize("name", CASES)
def test_sizes_and_all_sets_are_those_of_the_definition(name):
    case = fitted(name)
    backend = read(case.model, case.response)
    threshold = 0.0 if case.response == "decision_function" else 0.5
    positive = np.flatnonzero(own_scores(case.model, case.response)(case.rows) >= threshold)
    queries = take(case.rows, positive[:ROWS])
    compared = 0
    for reference in references(case, threshold):
        for kind in ("minus", "plus"):
            for restricted in ((), (0, 2, 3, 5)):
                problem = make_problem(
                    case.model, backend, queries, reference, kind=kind, response=case.response, threshold=threshold,
                    restricted=restricted,
                )  # fmt: skip
                compared += compare(problem, backend.solve(problem))
    assert compared == CHECKS_PER_CASE


def test_there_are_enough_comparisons():
    assert len(CASES) * CHECKS_PER_CASE >= 3000


@pytest.mark.parametrize("name", ["random_forest_with_ties", "gradient_boosting", "lightgbm_missing"])
@pytest.mark.parametrize("groups", [[0, 0, 1, 2, 2, 2, 3], [3, 2, 1, 0, 1, 2, 3]])
def test_columns_that_move_as_one(name, groups):
    case = fitted(name)
    backend = read(case.model)
    negative = np.flatnonzero(own_scores(case.model, "predict_proba")(case.rows) < 0.5)
    for kind in ("minus", "plus"):
        problem = make_problem(case.model, backend, case.rows[:120], case.rows[negative[:1]], kind=kind, groups=groups)
        assert compare(problem, backend.solve(problem)) > 20


def test_ties_are_really_met():
    case = fitted("random_forest_with_ties")
    backend = read(case.model)
    asked = []
    negative = np.flatnonzero(own_scores(case.model, "predict_proba")(case.rows) < 0.5)
    for reference in negative[:5]:
        problem = make_problem(case.model, backend, case.rows, case.rows[[reference]], kind="minus")
        backend.solve(replace(problem, evaluate=partial(_counted, problem.evaluate, asked)))
    assert sum(asked) > 50


def _counted(evaluate, asked, rows, sets):
    asked.append(len(rows))
    return evaluate(rows, sets)
