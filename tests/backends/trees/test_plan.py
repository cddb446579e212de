"""Which strategy goes on with a row."""

import pytest

from sev.backends.trees.search import plan

WIDE = plan.Facts(n_features=400, n_members=3_000, widest_cube=6)  # tables of terms would have a billion entries
NARROW = plan.Facts(n_features=30, n_members=3_000, widest_cube=6)


def names(facts, size, left, n_terms=3_000):
    return [step.strategy.name for step in plan.steps_for_size(facts, size, n_terms, left)]


@pytest.mark.parametrize("timed", [False, True])
def test_tables_that_are_too_large_are_never_made(timed):
    assert names(WIDE, 4, plan.row_work(timed=timed)) == ["branch"]


@pytest.mark.parametrize("timed", [False, True])
def test_tables_that_fit_go_on_where_branch_and_bound_took_too_long(timed):
    assert names(NARROW, 5, plan.row_work(timed=timed)) == ["branch", "terms"]


def test_quick_tables_are_made_at_once():
    assert names(NARROW, 3, plan.ROW_WORK) == ["terms"]


def test_tables_that_take_more_than_is_left_are_not_made():
    assert names(NARROW, 5, left=1_000) == ["branch"]
