"""The entries of actions: what is read, what is refused, and that files keep all of it."""

import pickle

import pytest
import yaml

import sev
from sev.exceptions import InputError

EVERYTHING = {
    "frozen": ["age", "sex"],
    "increase": ["income", "savings"],
    "decrease": ["debt"],
    "within": {"amount": ("-20%", "+0%"), "rate": ("-1.5", "+5e-1"), "duration": sev.between(6, 48)},
    "allowed": {"purpose": ["car", "education"], "job": {"unskilled": ["skilled"], 3: [4, 5]}},
    "steps": {"children": 1, "amount": 0.5},
    "allow_missing": ["phone"],
    "rules": ["late_30d <= late_12m", "student == 'yes' -> income <= 1000"],
    "costs": {"income": 3.0, "debt": 0},
}


def test_everything_survives_yaml_plain_values_and_pickle(tmp_path):
    actions = sev.Actions(**EVERYTHING)
    path = tmp_path / "actions.yaml"
    text = actions.to_yaml(path)
    for again in (
        sev.Actions.from_yaml(path),
        sev.Actions.from_yaml(text),
        sev.Actions.of(str(path)),
        sev.Actions.of(yaml.safe_load(text)),
        sev.Actions.from_plain(actions.to_plain()),
        pickle.loads(pickle.dumps(actions)),
    ):
        assert again == actions
        assert hash(again) == hash(actions)
        assert again.to_plain() == actions.to_plain()
        assert again.allowed["job"] == {"unskilled": ("skilled",), 3: (4, 5)}
        assert again.within["duration"] == sev.between(6, 48)


@pytest.mark.parametrize("entry", list(EVERYTHING))
def test_every_entry_is_part_of_the_digest(entry):
    less = {name: value for name, value in EVERYTHING.items() if name != entry}
    assert sev.Actions(**less) != sev.Actions(**EVERYTHING)


def test_the_order_of_names_does_not_matter():
    assert sev.Actions(frozen=["a", "b"]) == sev.Actions(frozen=["b", "a", "a"])
    assert not sev.Actions()
    assert sev.Actions(steps={"a": 1})


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"frozen": ["a"], "increase": ["a"]}, "frozen and increase both name 'a'"),
        ({"frozen": ["a"], "decrease": ["a"]}, "frozen and decrease both name 'a'"),
        ({"frozen": ["a"], "within": {"a": sev.between(1, 2)}}, "frozen and within both name 'a'"),
        ({"frozen": ["a"], "allowed": {"a": ["x"]}}, "frozen and allowed both name 'a'"),
        ({"frozen": ["a"], "allow_missing": ["a"]}, "frozen and allow_missing both name 'a'"),
        ({"increase": ["a"], "decrease": ["a"]}, "increase and decrease both name 'a'"),
        (
            {"increase": ["a"], "within": {"a": ("-20%", "-5%")}},
            r"increase names 'a', but within\['a'\]=\('-20%', '-5%'\) leaves",
        ),
        ({"increase": ["a"], "within": {"a": ("-20", "+0")}}, "leaves no larger value"),
        ({"decrease": ["a"], "within": {"a": ("+1", "+5")}}, "leaves no smaller value"),
        ({"allowed": {"a": ["x"]}, "within": {"a": sev.between(1, 2)}}, "allowed lists the values of 'a' and within"),
        ({"allowed": {"a": ["x"]}, "steps": {"a": 1}}, "allowed lists the values of 'a' and steps"),
        (
            {"within": {"a": sev.between(6.2, 6.8)}, "steps": {"a": 1}},
            r"6.2, 6.8\) holds no multiple of steps\['a'\]=1",
        ),
        ({"frozen": "age"}, r"frozen must be a list of names, got 'age': write \['age'\]"),
        ({"frozen": [3]}, "frozen names 3, which is not text"),
        ({"within": {"a": (1, 2)}}, r"may mean bounds or a change: write sev.between\(1, 2\)"),
        ({"within": {"a": "-20%"}}, r"within\['a'\] is '-20%'"),
        ({"within": {"a": ("20%", "+30%")}}, "'20%' is not a change: write a sign"),
        ({"within": {"a": ("+5", "-5")}}, "holds no value: swap"),
        ({"allowed": {"a": []}}, "lists no value: put 'a' under frozen"),
        ({"allowed": {"a": "car"}}, "must be a list of values"),
        ({"allowed": {"a": [float("nan")]}}, "allow_missing is for missing values"),
        ({"steps": {"a": 0}}, r"steps\['a'\] is 0: a step is a positive number"),
        ({"steps": {"a": float("nan")}}, r"steps\['a'\] is nan"),
        ({"costs": {"a": -1}}, r"costs\['a'\] is -1: a cost is a number of at least 0"),
        ({"costs": {"a": float("nan")}}, r"costs\['a'\] is nan"),
        ({"costs": {"a": float("inf")}}, r"costs\['a'\] is inf"),
        ({"rules": "a <= b"}, "rules must be a list of texts"),
        ({"rules": ["a <= b", "a >= b + 1"]}, "rules: 'a <= b' and rules: 'a >= b \\+ 1' hold for no values together"),
        ({"rules": ["a < b", "c <= 3", "b <= a"]}, "'a < b' and rules: 'b <= a' hold for no values together"),
        ({"rules": ["a < a"]}, "rules: 'a < a' holds for no values"),
        ({"rules": ["0 <= a and a + b == 3", "b > 3"]}, "hold for no values together"),
        (
            {"rules": ["2 * a <= 10"], "within": {"a": sev.between(10, 20)}},
            r"'2 \* a <= 10' and within\['a'\]=between\(10, 20\) hold for no values together",
        ),
    ],
)
def test_contradictions_and_bad_entries_are_errors_at_once(entries, message):
    with pytest.raises(InputError, match=message):
        sev.Actions(**entries)


@pytest.mark.parametrize(
    "entries",
    [
        {"rules": ["a <= b", "b <= a"]},
        {"rules": ["a <= b", "a >= b + 1"], "allow_missing": ["a"]},
        {"rules": ["a <= b", "s == 'x' -> a >= b + 1"]},
        {"rules": ["a <= b", "a >= b + 1 or c > 2"]},
        {"rules": ["a != b", "a == b + 0 or c > 2", "not a > 3", "a > 3 or c > 1"]},
        {"rules": ["a <= 10"], "within": {"a": sev.between(10, 20), "b": ("-5", "+5")}},
        {"rules": ["a + b <= 5"], "within": {"a": sev.between(10, 20)}},
        {"rules": ["a < b", "b < c", "a + c <= 1e-12"]},
    ],
)
def test_rules_that_some_values_keep_are_no_contradiction(entries):
    assert sev.Actions(**entries).rules


def test_bounds_without_a_value_are_refused():
    with pytest.raises(InputError, match=r"between\(48, 6\) holds no value: write between\(6, 48\)"):
        sev.between(48, 6)
    with pytest.raises(InputError, match="NaN is not a bound"):
        sev.between(float("nan"), 3)
    with pytest.raises(InputError, match="'6' is not a number"):
        sev.between("6", 48)
    assert sev.Actions.from_yaml("within:\n  a: {between: [null, 5]}\n").within["a"] == sev.between(None, 5)


def test_files_that_hold_something_else_are_refused(tmp_path):
    with pytest.raises(InputError, match="unknown entry 'freeze': they take frozen"):
        sev.Actions.from_yaml("freeze: [age]\nincrease: [a]\n")
    with pytest.raises(InputError, match="occurs twice"):
        sev.Actions.from_yaml("frozen: [age]\nfrozen: [sex]\n")
    with pytest.raises(InputError, match="cannot be read"):
        sev.Actions.from_yaml(tmp_path / "nowhere.yaml")
    with pytest.raises(InputError, match="is not YAML"):
        sev.Actions.from_yaml("frozen: [age\nx")
    with pytest.raises(InputError, match=r"pass sev\.Actions"):
        sev.Actions.of(3)
