"""The same explainer with other actions or another reference, without reading the model again."""

import pytest

import sev
from sev import demo
from sev.exceptions import InputError, PositiveReferenceError


@pytest.fixture(scope="module")
def loans():
    model, X_train, X_test, y_train, _ = demo.train()
    return sev.Explainer(model, X_train, y_train, restricted=["age"]), X_train, X_test, y_train


def answers(explainer, rows, **options):
    many = explainer.explain(rows, **options)
    return [(one.status, one.size, one.sets, one.score, one.result_score) for one in many]


def test_other_actions_do_not_read_the_model_again(loans, monkeypatch):
    explainer, X_train, rows, y_train = loans
    actions = {"frozen": ["duration"], "decrease": ["credit_amount"]}
    fresh = sev.Explainer(explainer.model, X_train, y_train, restricted=["age"], actions=actions)
    monkeypatch.setattr("sev.explainers._setup.read_model", lambda *parts: pytest.fail("the model was read again"))
    made = explainer.with_actions(actions)
    assert made.restricted == fresh.restricted
    for values in ("reference", "any"):
        assert answers(made, rows[:40], values=values) == answers(fresh, rows[:40], values=values)
    assert explainer.actions is None
    assert made.with_actions(None).restricted == explainer.restricted
    assert answers(made.with_actions(None), rows[:40]) == answers(explainer, rows[:40])


def test_results_are_as_credible_with_other_actions(loans):
    explainer, _, rows, _ = loans
    plain, made = explainer.explain(rows[:40]), explainer.with_actions({"frozen": ["duration"]}).explain(rows[:40])
    same = [place for place in range(40) if plain[place].sets and plain[place].features == made[place].features]
    assert same
    assert [made[place].credibility for place in same] == [plain[place].credibility for place in same]
    assert all(made[place].credibility is not None for place in same)


def test_a_restricted_feature_stays_so_when_actions_that_freeze_it_go(loans):
    explainer, *_ = loans
    made = explainer.with_actions({"frozen": ["age", "duration"]})
    again = sev.Explainer.from_bytes(made.to_bytes())
    assert made.restricted == again.restricted == ("duration", "age")
    assert made.with_actions(None).restricted == again.with_actions(None).restricted == ("age",)


@pytest.mark.parametrize("reference", ["median", "nearest", "clusters:3"])
def test_another_reference_is_that_of_an_explainer_made_with_it(loans, reference):
    explainer, X_train, rows, _ = loans
    fresh = sev.Explainer(explainer.model, X_train, restricted=["age"], reference=reference)  # classes by prediction
    made = explainer.with_reference(reference, X_train)
    assert made.reference_name == fresh.reference_name
    for values in ("reference", "typical"):
        assert answers(made, rows[:40], values=values) == answers(fresh, rows[:40], values=values)


def test_a_row_can_be_the_reference(loans):
    explainer, _, rows, _ = loans
    accepted = rows[explainer.model.predict(rows) == 0].iloc[[3]]
    made = explainer.with_reference(accepted)
    assert made.reference.iloc[0].to_dict() == accepted.iloc[0].to_dict()
    refused = rows[explainer.model.predict(rows) == 1]
    one = made.explain_one(refused.iloc[0])
    assert all(change.new == accepted[name].iloc[0] for name, change in one.changes.items())
    with pytest.raises(PositiveReferenceError):
        explainer.with_reference(refused.iloc[[0]])
    with pytest.raises(InputError, match="every row"):
        explainer.with_reference("median", refused)


def test_a_value_of_the_reference_that_the_background_lacks_can_be_reached(loans):
    explainer, X_train, rows, y_train = loans
    few = X_train[X_train["purpose"] != "vacation"]
    small = sev.Explainer(explainer.model, few, y_train[few.index])
    reference = {**small.reference.iloc[0].to_dict(), "purpose": "others"}
    made = small.with_reference(reference)
    changed = [one for one in made.explain(rows, values="typical") if "purpose" in one.changes]
    assert all(one.changes["purpose"].new == "others" for one in changed)


def test_a_notebook_shows_the_actions_of_an_explainer(loans):
    explainer, *_ = loans
    actions = {"decrease": ["duration"], "within": {"credit_amount": ["-20%", "+0%"]}, "rules": ["duration <= 60"]}
    page = explainer.with_actions(actions)._repr_html_()
    for shown in ("decrease: duration", "within: credit_amount", "rules: duration &lt;= 60"):
        assert shown in page
    assert "Actions" not in explainer._repr_html_()
