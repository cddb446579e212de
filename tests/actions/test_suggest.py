"""Proposed actions: commented out, with evidence, and right once the comment marks are gone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError


def rows():
    generator = np.random.default_rng(0)
    late = generator.integers(0, 5, 200)
    return pd.DataFrame(
        {
            "age": generator.integers(18, 80, 200),
            "sex": generator.choice(["f", "m"], 200),
            "late_30d": late,
            "late_90d": late + generator.integers(0, 2, 200),
            "late 12m": late + generator.integers(1, 3, 200) * (late > 1) + 1,
            "no": generator.normal(size=200),
            "purpose": generator.choice(["car: new", "it's # odd", "yes"], 200),
        }
    )


def uncommented(text):
    lines = [line.removeprefix("# ") for line in text.splitlines()[2:]]
    return "\n".join(lines) + "\n"


def test_every_line_is_commented_out_and_right():
    table = rows()
    text = sev.suggest_actions(table, table.age > 50)
    assert all(line.startswith("#") for line in text.splitlines())
    assert not sev.Actions.from_yaml(f"{text}\nfrozen: []\n")  # as it is, it says nothing
    actions = sev.Actions.from_yaml(uncommented(text))
    assert actions.frozen == ("sex",)
    assert "sex" not in actions.allowed


def test_what_is_proposed():
    table = rows()
    lines = sev.suggest_actions(table, (table.age > 50).to_numpy()).splitlines()
    actions = sev.Actions.from_yaml(uncommented("\n".join(lines)))
    assert actions.frozen == ("sex",)
    assert actions.increase == ("age",)
    assert set(actions.steps) == {"age", "late_30d", "late_90d", "late 12m"}
    assert actions.within["no"] == sev.between(table.no.min(), table.no.max())
    assert set(actions.allowed["purpose"]) == {"car: new", "it's # odd", "yes"}
    assert "late_30d <= late_90d" in [rule.text for rule in actions.rules]
    for rule in actions.rules:
        assert not rule.broken(table).any()
    assert any("holds in all 200 rows" in line for line in lines)
    assert any("medians: " in line for line in lines)
    features = table[["age", "late_30d", "late_90d", "late 12m", "no"]]
    labels = (table.age + 20 * table.no > 50).to_numpy().astype(int)
    numbers = sev.Actions.from_yaml(uncommented(sev.suggest_actions(features)))
    sev.Explainer(LogisticRegression(max_iter=2000).fit(features, labels), features, labels, actions=numbers)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "foreign_worker",
            "ForeignWorker",
            "state",
            "home state",
            "homeState",
            "citizenship",
            "native_country",
            "zip",
        ),
        *("marital_status", "ethnicity", "disabled", "place_of_birth"),
    ],
)
def test_protected_and_fixed_attributes_are_proposed_as_frozen(name):
    table = rows().assign(**{name: ["a", "b"] * 100})
    text = sev.suggest_actions(table)
    [line] = [line for line in text.splitlines() if f"- {name} " in line or f'- "{name}"' in line]
    assert line.startswith("# - ")
    assert "by its name" in line
    assert "protected attribute" in line
    actions = sev.Actions.from_yaml(uncommented(text))
    assert set(actions.frozen) == {"sex", name}
    assert name not in actions.allowed


@pytest.mark.parametrize("name", ["checking_status", "statement", "estate", "racecourse", "cityscape", "purpose_2"])
def test_names_that_only_look_like_that_are_not(name):
    text = sev.suggest_actions(rows().assign(**{name: ["a", "b"] * 100}))
    assert sev.Actions.from_yaml(uncommented(text)).frozen == ("sex",)


def test_labels_must_fit():
    with pytest.raises(InputError, match="y_train has 2 labels for 200 rows"):
        sev.suggest_actions(rows(), [0, 1])


def test_steps_are_the_largest_that_all_values_are_multiples_of():
    amounts = np.arange(1, 61) * 100
    rows = pd.DataFrame({"amount": amounts, "term": np.arange(60) % 5 * 12, "count": np.arange(60), "two": [0, 5] * 30})
    text = sev.suggest_actions(rows)
    assert "#   amount: 100  # all 60 values are multiples of 100" in text
    assert "#   term: 12  # all 60 values are multiples of 12" in text
    assert "#   count: 1  # all 60 values are integers" in text
    assert "#   two: 1  # all 60 values are integers" in text  # two values are always multiples of something


def codes():
    """As in HELOC, where -9 is "no record", -8 and -7 are other reasons why there is no number."""
    generator = np.random.default_rng(0)
    months, trades = generator.integers(0, 300, 200), generator.integers(0, 12, 200)
    table = pd.DataFrame({"months": months, "trades": trades, "temperature": generator.integers(-20, 30, 200)})
    table["change"] = generator.choice([-1, 0, 1], 200)
    table.loc[:9, ["months", "trades"]] = -9
    table.loc[10:40, "months"] = -7
    return table


def test_codes_are_no_bounds_and_the_file_says_so():
    table = codes()
    text = sev.suggest_actions(table, table.trades > 5)
    [line] = [line for line in text.splitlines() if "months: {" in line]
    assert line.startswith(
        "#   months: {between: [1, 299]}  # all 159 values lie there but -9, -7, which may be codes;"
    )
    within = sev.Actions.from_yaml(uncommented(text)).within
    assert within["trades"] == sev.between(0, 11)
    assert within["temperature"] == sev.between(-20, 29)
    assert within["change"] == sev.between(-1, 1)


def test_codes_make_no_relations():
    table = codes()
    table["trades"] = np.where(table.months < 0, -9, table.months % 12 - 1.0 * (table.months % 12 > 0) + 3)
    table["months"] = np.where(table.months < 0, -9, table.months + 20)
    # equal in no row but those with codes
    assert "trades <= months" not in sev.suggest_actions(table)
    table["older"] = np.where(table.months < 0, -9, table.months + table.trades % 2)
    assert "months <= older  # holds in all 159 rows where both are known, with equality in " in sev.suggest_actions(
        table
    )


def test_protected_attributes_are_known_by_their_values_too():
    """As in Adult, where "relationship" tells sex and marital status."""
    table = rows().assign(
        relationship=["Husband", "Wife", "Own-child", "Unmarried"] * 50, tie=["malefic", "wifi"] * 100
    )
    text = sev.suggest_actions(table)
    assert '# - relationship  # by its value "Husband", a protected attribute: nobody is to be asked' in text
    actions = sev.Actions.from_yaml(uncommented(text))
    assert set(actions.frozen) == {"sex", "relationship"}
    assert set(actions.allowed) == {"purpose", "tie"}


def test_a_value_that_occurs_once_is_told_so():
    text = sev.suggest_actions(rows().assign(tie=["a"] * 199 + ["b"]))
    assert "2 values occur, the rarest once" in text
