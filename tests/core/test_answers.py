"""The container of answers: rows taken, joined and completed, compared with doing the same row by row."""

from dataclasses import fields

import numpy as np
import pytest

from sev.core import Answers, Solution, SolutionBuilder, Status

STATUSES = [Status.OPTIMAL, Status.FEASIBLE, Status.UNEXPLAINABLE, Status.UNDECIDED, Status.ERROR]


def random_answers(n_rows: int, seed: int) -> Answers:
    rng = np.random.default_rng(seed)
    status = np.array([STATUSES[number].code for number in rng.integers(0, len(STATUSES), n_rows)], dtype=np.int8)
    has_set = np.isin(status, [Status.OPTIMAL.code, Status.FEASIBLE.code])
    counts = np.where(has_set, rng.integers(1, 4, n_rows), 0)
    return Answers(
        status=status,
        lower_bound=rng.integers(0, 5, n_rows),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        masks=rng.integers(1, 2**63, (counts.sum(), 2), dtype=np.uint64),
        complete=rng.random(n_rows) < 0.5,
        score=rng.random(n_rows),
        result_score=rng.random(n_rows),
        target=rng.integers(0, 3, n_rows),
        reference=rng.integers(0, 3, n_rows),
        listed=rng.random(n_rows) < 0.5,
        size_without_limit=rng.random(n_rows),
        first_of_all=rng.random(n_rows) < 0.5,
        reasons={int(row): f"reason {row}" for row in np.flatnonzero(status == Status.ERROR.code)},
        query_margins=rng.random(n_rows),
        set_margins=rng.random(counts.sum()),
        helpful=rng.random((n_rows, 70)) < 0.5,
    )


def as_records(answers: Solution) -> list[dict]:
    """One dictionary per row, made without any method of the container."""
    whole = {"offsets", "masks", "reasons", "set_margins"}
    whole |= {name for name in ("query_margins", "helpful") if getattr(answers, name) is None}
    return [
        {field.name: getattr(answers, field.name)[row].tolist() for field in fields(answers) if field.name not in whole}
        | {"sets": answers.masks[answers.offsets[row] : answers.offsets[row + 1]].tolist()}
        | {"reason": answers.reasons.get(row)}
        for row in range(len(answers.status))
    ]


def test_taking_rows_keeps_every_column_of_each_of_them_also_of_repeated_rows():
    answers = random_answers(30, seed=0)
    assert answers.reasons
    rows = np.array([29, *answers.reasons, 3, 3, *answers.reasons, 0])
    records = as_records(answers)
    taken = answers.take(rows)
    assert type(taken) is Answers
    assert as_records(taken) == [records[row] for row in rows]


def test_parts_are_joined_one_after_the_other_and_merged_by_their_row_numbers():
    parts = [random_answers(n_rows, seed) for seed, n_rows in enumerate([7, 1, 0, 12])]
    records = [record for part in parts for record in as_records(part)]
    assert as_records(Answers.concatenate(parts)) == records
    places = np.random.default_rng(0).permutation(20)
    split = np.split(places, np.cumsum([7, 1, 0]))
    merged = Answers.merge(list(zip(split, parts, strict=True)))
    assert as_records(merged) == [records[place] for place in np.argsort(places)]


def test_a_solution_is_merged_from_answers_and_solutions_alike():
    answers = random_answers(6, seed=1)
    builder = SolutionBuilder(2, 2)
    builder.unexplainable(1, n_active=4)
    merged = Solution.merge([(np.arange(2, 8), answers), (np.arange(2), builder.build())])
    assert type(merged) is Solution
    expected = [*as_records(builder.build()), *as_records(answers)]
    names = as_records(merged)[0].keys()
    assert as_records(merged) == [{name: record[name] for name in names} for record in expected]
    assert merged.query_margins is None  # not known of all rows
    assert merged.set_margins is None


def test_margins_of_sets_stay_beside_their_sets():
    answers = random_answers(20, seed=6)
    rows = np.flatnonzero(answers.has_set)[::-1]
    taken = answers.take(rows)
    expected = np.concatenate([answers.set_margins[answers.offsets[row] : answers.offsets[row + 1]] for row in rows])
    np.testing.assert_array_equal(taken.set_margins, expected)
    np.testing.assert_array_equal(taken.query_margins, answers.query_margins[rows])
    failed = taken.with_errors({0: "no score"})
    np.testing.assert_array_equal(failed.set_margins, expected[taken.offsets[1] :])


def test_sizes_are_those_of_the_first_sets_and_nan_where_there_is_none():
    answers = random_answers(30, seed=2)
    sizes = [sum(word.bit_count() for word in record["sets"][0]) if record["sets"] else np.nan
             for record in as_records(answers)]  # fmt: skip
    assert np.isnan(sizes).any()
    np.testing.assert_array_equal(answers.sizes(), sizes)
    np.testing.assert_array_equal(answers.has_set, ~np.isnan(sizes))


@pytest.mark.parametrize("rows", [[4, 9, 11], []])
def test_lists_of_sets_replace_those_of_their_rows_only(rows):
    answers, longer = random_answers(20, seed=3), random_answers(len(rows), seed=4)
    expected = as_records(answers)
    for row, one in zip(rows, as_records(longer), strict=True):
        expected[row] |= {"sets": one["sets"], "complete": one["complete"], "listed": True}
    assert as_records(answers.with_sets(longer, np.array(rows, dtype=np.int64))) == expected


def test_rows_on_which_the_model_failed_lose_their_sets_and_say_why():
    answers = random_answers(20, seed=5)
    rows = np.flatnonzero(answers.has_set)[:3].tolist()
    failed = answers.with_errors(dict.fromkeys(rows, "no score"))
    lost = {"status": Status.ERROR.code, "lower_bound": 0, "complete": False, "sets": [], "reason": "no score"}
    assert as_records(failed) == [one | lost if row in rows else one for row, one in enumerate(as_records(answers))]


def test_a_set_of_the_size_of_the_bound_is_called_optimal():
    builder = SolutionBuilder(3, 1)
    two_features = np.array([[0b11]], dtype=np.uint64)
    for row, bound in enumerate([1, 2]):
        builder.found(row, two_features, lower_bound=bound, complete=False, proven=False)
    assert builder.build().status.tolist() == [Status.FEASIBLE.code, Status.OPTIMAL.code, Status.UNDECIDED.code]
    assert builder.build().with_proofs().status.tolist() == builder.build().status.tolist()
    unproven = Solution(
        status=np.array([Status.FEASIBLE.code] * 2, dtype=np.int8),
        lower_bound=np.array([1, 2]),
        offsets=np.array([0, 1, 2]),
        masks=np.repeat(two_features, 2, axis=0),
        complete=np.zeros(2, dtype=np.bool_),
    )
    assert unproven.with_proofs().status.tolist() == [Status.FEASIBLE.code, Status.OPTIMAL.code]
