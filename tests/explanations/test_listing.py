"""Sets of a large batch are listed when they are used, and once."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import sev


@pytest.fixture
def many(monkeypatch):
    """A batch too large for all sets to be listed at once, which counts the rows that are listed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).round(1)
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    found = sev.Explainer(model, X, X.sum(axis=1) > 0).explain(X)
    rows = []
    list_sets = type(found._source).list_sets

    def counted(source, queries, answers):
        rows.extend(queries.index[~answers.listed].tolist())
        return list_sets(source, queries, answers)

    monkeypatch.setattr(type(found._source), "list_sets", counted)
    found.rows_listed = rows
    return found


@pytest.fixture
def several(many):
    """Rows whose sets are not listed yet."""
    rows = np.flatnonzero(~many._answers.listed)
    assert len(rows) > 50
    return rows[[3, 7, 40]].tolist()


def test_a_row_is_listed_once(many, several):
    row = several[0]
    sets = many[row].sets
    assert many.rows_listed == [row]
    assert many[row].sets == sets
    assert many[row - len(many)].sets == sets
    assert many.rows_listed == [row]


def test_rows_that_were_listed_alone_are_kept_when_the_others_are_listed(many, several):
    alone = {row: many[row] for row in reversed(several)}
    whole = many.to_frame()
    assert sorted(many.rows_listed) == sorted(set(many.rows_listed))
    for row, one in alone.items():
        assert many[row].sets == one.sets
        assert whole["n_sets"].iloc[row] == len(one.sets)
    assert len(many.rows_listed) == len(set(many.rows_listed))


def test_slices_keep_what_was_listed(many, several):
    first = several[0]
    sets = many[first].sets
    part = many[first : first + 1]
    assert part[0].sets == sets
    assert many.rows_listed == [first]


def test_one_by_one_gives_the_same_sets_as_all_at_once(many):
    alone = [many[row].sets for row in range(len(many))]
    again = many[:]
    assert [one.sets for one in again] == alone
    fresh = sev.Explanations.from_json(many.to_json())
    assert [one.sets for one in fresh] == alone
