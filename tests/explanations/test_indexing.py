"""Choosing rows, and what notebooks show."""

import numpy as np
import pandas as pd
import pytest
import show_cases as cases

from sev.exceptions import InputError


@pytest.fixture
def many():
    made = cases.every_status()
    made.queries.index = [f"A{number}" for number in range(len(made))]
    return made


def _statuses(some):
    return some.statuses.tolist()


def test_masks_lists_and_slices_choose_rows_in_order(many):
    every = _statuses(many)
    mask = many.sizes > 1
    assert _statuses(many[mask]) == [status for status, chosen in zip(every, mask, strict=True) if chosen]
    assert _statuses(many[pd.Series(mask, index=many.index)]) == _statuses(many[mask])
    assert _statuses(many[[2, 0]]) == [every[2], every[0]]
    assert _statuses(many[[-1]]) == [every[-1]]
    assert _statuses(many[np.array([], dtype=int)]) == _statuses(many[[]]) == []
    assert many[np.int64(1)].status == every[1]


def test_labels_choose_rows(many):
    assert many.loc["A1"].status == many[1].status
    assert _statuses(many.loc[["A2", "A0"]]) == _statuses(many[[2, 0]])
    assert _statuses(many.loc["A1":"A3"]) == _statuses(many[1:4])
    assert _statuses(many.loc[many.sizes > 1]) == _statuses(many[many.sizes > 1])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([True], "mask has 1 entries but there are"),
        ([0.5], "not by"),
        (["A1"], r"For labels use .loc"),
        ([99], "there are . rows"),
    ],
)
def test_a_wrong_choice_says_what_is_possible(many, key, message):
    with pytest.raises(InputError, match=message):
        many[key]


def test_a_mask_of_other_rows_is_refused(many):
    with pytest.raises(InputError, match="other labels"):
        many[pd.Series([True] * len(many), index=range(len(many)))]
    with pytest.raises(InputError, match="No row has the label"):
        many.loc["Z"]


def test_notebooks_show_a_summary_and_the_explained_rows_only(many):
    page = many._repr_html_()
    assert page.index("mean_size") < page.index("result score")
    assert "not_target</td>" not in page
    assert "optimal</td>" in page


def test_a_batch_without_explained_rows_says_so(many):
    nothing = many[many.statuses == "not_target"]
    assert "No row is predicted as the class being explained" in nothing._repr_html_()


def test_an_explainer_shows_what_it_is_made_of():
    explainer = cases.loan_explainer()
    page = explainer._repr_html_()
    for text in (type(explainer.model).__name__, explainer.backend, explainer.reference_name, repr(explainer.target)):
        assert str(text).replace("'", "&#x27;") in page
