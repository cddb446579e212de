"""Bad input: each action that cannot be meant is an error that names the feature, the value and what to do."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError, RuleWarning, UnknownFeatureError


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "debt": generator.integers(0, 9, 200),
            "income": generator.normal(5, 2, 200).round(2),
            "late": generator.integers(0, 4, 200),
            "home": pd.Categorical(generator.choice(["own", "rent"], 200)),
            "grade": pd.Categorical(generator.choice(["low", "high"], 200), ["low", "high"], ordered=True),
        }
    )
    labels = (rows.debt + rows.late - rows.income > 1).astype(int)

    def encode(frame):
        return np.column_stack([frame.debt, frame.income, frame.late, frame.home == "own", frame.grade == "high"])

    model = LogisticRegression(max_iter=1000).fit(encode(rows), labels)

    def score(frame):
        return model.predict_proba(encode(frame).astype(float))[:, 1]

    return rows, labels, score


def made(case, **actions):
    rows, labels, score = case
    return sev.Explainer(score, rows, labels, target=1, actions=actions)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"frozen": ["dept"]}, "frozen names 'dept', which is not a feature; did you mean 'debt'?"),
        ({"increase": ["wealth"]}, "increase names 'wealth', which is not a feature"),
        ({"within": {"wealth": ("-1", "+1")}}, "within names 'wealth', which is not a feature"),
        ({"costs": {"dept": 2}}, "costs names 'dept', which is not a feature; did you mean 'debt'?"),
        ({"rules": ["dept <= income"]}, "rules names 'dept', which is not a feature; did you mean 'debt'?"),
    ],
)
def test_an_unknown_feature_is_named_with_the_entry(case, actions, message):
    with pytest.raises(UnknownFeatureError) as caught:
        made(case, **actions)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        # a direction on a category without an order
        ({"increase": ["home"]}, ["increase names 'home'", "no order ('own', 'rent')", "allowed", "ordered category"]),
        ({"decrease": ["home"]}, ["decrease names 'home'", "no order"]),
        ({"within": {"home": ("-1", "+1")}}, ["within names 'home'", "does not hold numbers", "use allowed"]),
        ({"steps": {"home": 1}}, ["steps names 'home'", "does not hold numbers"]),
        ({"allowed": {"home": ["castle"]}}, ["allowed['home'] lists 'castle'", "It holds 'own', 'rent'"]),
        ({"allowed": {"home": ["rnt"]}}, ["; did you mean 'rent'?"]),
        # a rule about a value that nothing has
        ({"rules": ["home == 'rnt' -> debt <= 3"]}, ["rules: ", "'home' with 'rnt'", "; did you mean 'rent'?"]),
        ({"rules": ["home in ['own', 'castle']"]}, ["'home' with 'castle'", "It holds 'own', 'rent'"]),
        ({"rules": ["debt != 'much'"]}, ["'debt' with 'much'", "holds numbers", "write a number"]),
        ({"allowed": {"debt": ["much"]}}, ["allowed['debt'] lists 'much'", "holds numbers"]),
        # bounds that no value meets
        ({"within": {"debt": sev.between(20, 30)}}, ["within['debt']=between(20, 30)", "from 0 to 8", "no permitted"]),
        (
            {"within": {"debt": sev.between(2.2, 2.8)}},
            ["between(2.2, 2.8) holds no multiple of 1", "write wider bounds"],
        ),
        ({"within": {"income": sev.between(1, 2)}, "steps": {"income": 5}}, ["holds no multiple of steps['income']=5"]),
        (
            {"within": {"debt": sev.between(5, 90)}, "steps": {"debt": 20}},
            ["no multiple of 20", "'debt'", "from 0 to 8"],
        ),
        (
            {"increase": ["late"], "within": {"late": sev.between(-3, 0)}},
            ["increase names 'late'", "between(-3, 0)", "larger"],
        ),
        (
            {"decrease": ["late"], "within": {"late": sev.between(3, 9)}},
            ["decrease names 'late'", "between(3, 9)", "smaller"],
        ),
        ({"within": {"debt": ("+1", "-1")}}, ["within['debt']", "+1", "-1"]),
        ({"within": {"debt": ("a bit", "+1")}}, ["within['debt']", "a bit", "%"]),
        ({"increase": ["debt"], "within": {"debt": ("-5", "+0")}}, ["increase names 'debt'", "no larger value"]),
        # a cost that is negative or not a number
        ({"costs": {"debt": -1}}, ["costs['debt'] is -1", "at least 0"]),
        ({"costs": {"debt": math.nan}}, ["costs['debt'] is nan", "at least 0"]),
        ({"costs": {"debt": "dear"}}, ["costs['debt'] is 'dear'", "a number"]),
        ({"costs": {"debt": math.inf}}, ["costs['debt'] is inf"]),
        ({"steps": {"debt": 0}}, ["steps['debt'] is 0", "positive"]),
        # contradictions name both entries
        ({"frozen": ["debt"], "increase": ["debt"]}, ["frozen and increase both name 'debt'"]),
        ({"increase": ["debt"], "decrease": ["debt"]}, ["increase and decrease both name 'debt'", "frozen"]),
        ({"frozen": "debt"}, ["frozen must be a list of names", "write ['debt']"]),
    ],
)
def test_what_cannot_be_meant_is_refused_with_feature_value_and_remedy(case, actions, words):
    with pytest.raises(InputError) as caught:
        made(case, **actions)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert len(message) < 400


@pytest.mark.parametrize(
    "rule", ["debt <", "debt = 3", "f(debt) < 2", "debt * late <= 3", "debt <= income <=", "", "debt.real < 2"]
)
def test_a_rule_that_cannot_be_read_is_quoted(case, rule):
    with pytest.raises(InputError) as caught:
        made(case, rules=[rule])
    assert repr(rule) in str(caught.value) or "rule" in str(caught.value).lower()
    assert len(str(caught.value)) > 30


def test_a_rule_about_a_category_may_only_compare_it(case):
    with pytest.raises(InputError, match=r"calculates with 'home', which does not hold numbers"):
        made(case, rules=["home <= 3"])


@pytest.mark.parametrize("values", ["reference", "any"])
def test_a_rule_that_the_row_breaks_itself_does_not_apply_and_is_reported(case, values):
    rows, _, score = case
    explainer = made(case, rules=["late <= 1"])
    row = rows[(score(rows) >= 0.5) & (rows["late"] == 3)].iloc[[0]]
    with pytest.warns(
        RuleWarning, match=r"1 row breaks the rule 'late <= 1' before any change; it is not applied to it"
    ):
        one = explainer.explain(row, values=values)[0]
    assert one.size is not None
    keeping = rows[(score(rows) >= 0.5) & (rows["late"] <= 1)]
    for kept in explainer.explain(keeping, values=values):
        assert kept.result is None or kept.result["late"] <= 1


@pytest.mark.parametrize("options", [{}, {"values": "any"}])
def test_plus_takes_no_actions(case, options):
    rows, labels, score = case
    explainer = made(case, frozen=["home"]) if not options else sev.Explainer(score, rows, labels, target=1)
    with pytest.raises(InputError, match=r'kind="plus".*takes no actions.*Use kind="minus"'):
        explainer.explain(rows, kind="plus", **options)


@pytest.mark.parametrize("values", ["reference", "typical", "any"])
def test_a_row_outside_the_background_is_explained_and_what_does_not_change_stays(case, values):
    rows, _, score = case
    row = rows.iloc[[0]].assign(debt=40, income=99.5, late=9)
    row["income"] = -30.25
    explainer = made(case, frozen=["income"], within={"debt": ("-100%", "+0%")})
    assert score(row)[0] >= 0.5
    one = explainer.explain(row, values=values)[0]
    assert one.status in ("optimal", "unexplainable")
    price = explainer.explain(rows.iloc[[0]].assign(debt=11, income=5.25), values=values)[0]
    for answer in (one, price):
        if answer.result is None:
            continue
        changed = set(answer.features)
        for name in rows.columns:
            assert name in changed or answer.result[name] == answer.query[name]
    assert price.size is not None
    assert price.result["income"] == 5.25
    if values == "any" and "debt" in price.features:
        assert 0 <= price.result["debt"] <= 8


def test_a_number_that_stands_alone_in_a_rule_is_refused(case):
    with pytest.raises(InputError, match=r"'debt' stands alone in 'debt'.*such as debt > 0"):
        made(case, rules=["debt"])


def test_a_step_of_which_the_background_holds_no_multiple_is_refused(case):
    rows, labels, score = case
    far = rows.assign(debt=rows.debt + 11)

    def low_score(frame):
        return score(frame.assign(debt=frame.debt - 11))

    with pytest.raises(InputError, match=r"steps\['debt'\]=50 leaves no permitted value.*from 11 to 19.*smaller step"):
        sev.Explainer(low_score, far, labels, target=1, actions=sev.Actions(steps={"debt": 50}))
    sev.Explainer(low_score, far, labels, target=1, actions=sev.Actions(steps={"debt": 6}))


@pytest.mark.parametrize(
    "actions",
    [{"increase": ["debt"]}, {"within": {"debt": ("-1", "+1")}}, {"frozen": ["money"], "decrease": ["income"]}],
)
def test_directions_of_one_column_of_a_group_are_refused_by_the_name_that_was_written(case, actions):
    rows, labels, score = case
    with pytest.raises(InputError, match=r"names '(debt|income)'.*the group 'money' \('debt', 'income'\)"):
        sev.Explainer(
            score, rows, labels, target=1, groups={"money": ["debt", "income"]}, actions=sev.Actions(**actions)
        )


@pytest.mark.parametrize("name", ["debt", "home"])
def test_a_model_that_takes_no_missing_value_refuses_that_a_feature_becomes_one(case, name):
    rows, labels, _ = case
    actions = sev.Actions(allow_missing=[name])

    def score(frame):
        if frame[["debt", "home"]].isna().any(axis=None):
            raise ValueError("Input contains NaN")
        return 1 / (1 + np.exp(frame.income.fillna(5.0).to_numpy() - frame.debt.to_numpy().astype(float)))

    wanted = rf"allow_missing names '{name}', but the model does not take a missing value there .*Input contains NaN"
    with pytest.raises(InputError, match=wanted):
        sev.Explainer(score, rows, labels, actions=actions)
    explainer = sev.Explainer(score, rows, labels)
    with pytest.raises(InputError, match=wanted):
        explainer.with_actions(actions)
    explainer.with_actions(sev.Actions(allow_missing=["income"]))
