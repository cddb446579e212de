"""Random models, tables and calls, each answer compared with brute force on rows mixed by hand.

``SEV_FUZZ_SEEDS`` sets how many seeds run here (each is one model and several calls), ``SEV_FUZZ_SEED`` runs one seed
again. ``PYTHONPATH=src:tests python -m contracts.fuzz --minutes 60`` goes on for as long as it is told.
"""

import os

import numpy as np
import pandas as pd
import pytest
from contracts.fuzz.compare import Truth, Vertices, answer_problems
from contracts.fuzz.mixing import mixed_rows, take
from contracts.fuzz.recipes import RECIPES
from contracts.fuzz.runner import Report, recipe_of, run_seed
from contracts.fuzz.setups import Call, Setup

N_PARTS = 8
N_SEEDS = int(os.environ.get("SEV_FUZZ_SEEDS", "156"))
ONE_SEED = os.environ.get("SEV_FUZZ_SEED")


@pytest.mark.parametrize("part", range(1 if ONE_SEED else N_PARTS))
def test_answers_are_true(part, record_property, capsys):
    report = Report()
    seeds = [int(ONE_SEED)] if ONE_SEED else range(part, N_SEEDS, N_PARTS)
    for seed in seeds:
        run_seed(seed, report)
    record_property("fuzz", str(report))
    with capsys.disabled():
        print(f"\nfuzz, part {part}: {report}")  # noqa: T201
    failures = "\n".join(
        f"{failure}\n    again: SEV_FUZZ_SEED={failure.seed} python -m pytest tests/contracts/fuzz"
        for failure in report.first_failures()
    )
    assert not report.failures, failures
    # the generators lead somewhere: most seeds are models that are explained, most answers can be compared
    assert report.comparisons > 20 * len(seeds) or ONE_SEED
    assert report.ambiguous < report.comparisons / 10 or ONE_SEED


def test_every_generator_takes_its_turn():
    assert {recipe_of(seed) for seed in range(len(RECIPES))} == set(RECIPES)
    assert 2 * len(RECIPES) <= N_SEEDS or ONE_SEED or "SEV_FUZZ_SEEDS" in os.environ


# -- the fuzzer's own parts: a comparison that cannot fail finds nothing ----------------------------------------------


class _Answer:
    """An answer about the model below; fields can be set wrong."""

    status, size, lower_bound, sets_complete, reason = "optimal", 1, 1, True, ""
    sets, features = (("b",), ("a",)), ("b",)
    score, result_score = 3.0, 1.0

    def __init__(self, **wrong):
        self.__dict__.update(wrong)


def _sum_of_two(**call):
    """Features a and b count 1 and 2; a row is explained from 3 on, so that either change is enough."""
    rows = np.array([[1.0, 2.0], [0.0, 0.0]])
    setup = Setup(
        model=None,
        background=rows,
        queries=rows[:1],
        score=lambda table: table.sum(axis=1),
        threshold=3.0,
        reference=rows[1:],
        order_tolerance=0.0,
    )
    vertices = Vertices.of(setup, rows[:1], rows[1:], "minus")
    return setup, Truth(vertices, 3.0, 0.0, Call(**call), 2)


def test_a_true_answer_is_accepted():
    setup, truth = _sum_of_two()
    assert truth.best == [(1,), (0,)]
    assert answer_problems(_Answer(), truth, ["a", "b"], setup) == []


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ({"status": "unexplainable", "size": None, "sets": ()}, {}),
        ({"status": "undecided", "size": None, "sets": ()}, {}),
        ({"status": "feasible"}, {}),
        ({"status": "error"}, {}),
        ({"status": "error", "reason": "none that there is"}, {}),
        ({"size": 2, "lower_bound": 2, "sets": (("a", "b"),), "features": ("a", "b")}, {}),
        ({"lower_bound": 0}, {}),
        ({"lower_bound": 2}, {}),
        ({"sets": (("a",), ("b",)), "features": ("a",), "result_score": 2.0}, {}),
        ({"sets": (("b",),)}, {}),
        ({"sets": (("b",), ("b",))}, {}),
        ({"sets_complete": False}, {}),
        ({"features": ("a",)}, {}),
        ({"result_score": 2.0}, {}),
        ({"result_score": float("nan")}, {}),
        ({}, {"max_sets": 1}),
        ({}, {"restricted": (1,)}),
        ({"size": 2, "sets": (("a", "b"),), "status": "feasible"}, {"max_size": 1}),
    ],
)
def test_a_wrong_answer_is_found(wrong, call):
    setup, truth = _sum_of_two(**call)
    assert answer_problems(_Answer(**wrong), truth, ["a", "b"], setup)


def test_rows_are_mixed_as_pandas_mixes_them():
    """Against cells set one by one in a copy of the query's row."""
    query = pd.DataFrame(
        {
            "count": [3],
            "share": [0.5],
            "word": pd.Series([None], dtype=object),
            "flag": [True],
            "kind": pd.Categorical(["b"], categories=["a", "b"]),
            "number": pd.array([None], dtype="Int64"),
        }
    )
    reference = pd.DataFrame(
        {
            "count": [2.5],
            "share": [0.1],
            "word": pd.Series(["x"], dtype=object),
            "flag": [False],
            "kind": pd.Categorical(["a"], categories=["a", "b"]),
            "number": pd.array([4], dtype="Int64"),
        }
    )
    rng = np.random.default_rng(0)
    replaced = rng.random((40, 6)) < 0.5
    seen = 0
    for numbers, table in mixed_rows(query, reference, replaced):
        for place, number in enumerate(numbers):
            by_hand = query.copy()
            for column in query.columns[replaced[number]]:
                if column == "count":  # a mean does not fit into a column of integers
                    by_hand[column] = by_hand[column].astype(float)
                by_hand.loc[0, column] = reference.loc[0, column]
            row = take(table, [place]).reset_index(drop=True)
            pd.testing.assert_frame_equal(row, by_hand)
            assert (row["word"].iloc[0] is None) == (not replaced[number, 2])
            seen += 1
    assert seen == 40


def test_markers_of_missing_values_stay_apart():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    query = polars.DataFrame({"a": [float("nan")], "b": polars.Series([None], dtype=polars.Int64)})
    reference = polars.DataFrame({"a": polars.Series([None], dtype=polars.Float64), "b": [3]})
    replaced = np.array([[False, False], [True, False], [True, True]])
    ((numbers, table),) = mixed_rows(query, reference, replaced)
    assert numbers.tolist() == [0, 1, 2]
    assert table["a"].is_null().to_list() == [False, True, True]
    assert table["b"].to_list() == [None, None, 3]
