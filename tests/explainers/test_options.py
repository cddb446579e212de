"""The options of a call are one list: the parameters of `explain` are those of the record, with the same defaults."""

import dataclasses
import inspect

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError
from sev.explainers import ExplainOptions
from sev.typing import MenuOptions, PriceOptions, SearchOptions, VerifyOptions, WorkOptions

ROWS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
LABELS = np.array([0, 0, 0, 1, 1, 1])
#: Parameters that say how a call runs, not what it searches.
OF_THE_CALL = {"self", "X", "n_jobs", "progress"}


@pytest.fixture(scope="module")
def explainer():
    return sev.Explainer(LogisticRegression().fit(ROWS, LABELS), ROWS, LABELS)


def test_the_parameters_of_explain_are_the_options_of_the_record():
    parameters = inspect.signature(sev.Explainer.explain).parameters
    explained = {name: one.default for name, one in parameters.items() if name not in OF_THE_CALL}
    assert explained == {field.name: field.default for field in dataclasses.fields(ExplainOptions)}


def test_the_types_of_options_name_the_options_that_each_question_takes():
    every = {field.name for field in dataclasses.fields(ExplainOptions)}
    named = {kind: set(kind.__annotations__) for kind in (MenuOptions, PriceOptions, SearchOptions)}
    assert named[SearchOptions] == every
    assert named[PriceOptions] == every - {"kind", "values", "minimise"}
    assert named[MenuOptions] == every - {"kind", "values", "minimise", "order", "max_size"}
    of_the_call = {"n_jobs", "progress"}
    assert set(WorkOptions.__annotations__) == every | of_the_call
    assert set(VerifyOptions.__annotations__) == (every | of_the_call) - {"kind"}


def test_every_option_is_documented_where_users_look():
    text = inspect.getdoc(sev.Explainer.explain)
    assert [field.name for field in dataclasses.fields(ExplainOptions) if f"\n{field.name} : " not in text] == []


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"kind": "plus"}, "kind"),
        ({"max_size": 1}, "max_size"),
        ({"max_sets": 7}, "max_sets"),
        ({"time_limit": 9.0}, "time_limit"),
        ({"max_predictions": 11}, "max_predictions"),
        ({"values": "any", "minimise": "cost"}, "minimise"),
        ({"values": "typical"}, "values"),
        ({"restricted": ["x0"]}, "restricted"),
    ],
)
def test_every_option_reaches_the_search(explainer, monkeypatch, options, field):
    seen = []
    monkeypatch.setattr(sev.Explainer, "explain_rows", lambda self, rows, settings, **how: seen.append(settings))
    explainer.explain(ROWS, **options)
    if field == "restricted":
        np.testing.assert_array_equal(seen[0].allowed, [False, True])
    else:
        assert getattr(seen[0] if hasattr(seen[0], field) else seen[0].limits, field) == options[field]


def test_an_option_that_a_question_does_not_take_is_refused_with_those_that_it_takes(explainer):
    with pytest.raises(InputError, match="'kind' is not an option here: use restricted, max_size"):
        explainer.price(ROWS[5], ["x0"], kind="plus")


@pytest.mark.parametrize("max_size", [0, None, 1.5])
def test_a_menu_needs_a_size(explainer, max_size):
    with pytest.raises(InputError, match=r"max_size=.* must be an integer of at least 1"):
        explainer.menu(ROWS[5], max_size)
