"""Rules: what they say of rows, compared with the same condition written in Python, and what is refused."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sev.actions import Rule
from sev.exceptions import InputError

ROWS = pd.DataFrame(
    {
        "a": [1.0, 2.0, 3.0, np.nan],
        "b": [2, 2, 2, 2],
        "job": ["x", "y", None, "x"],
        "student": [True, False, True, True],
        "late 30d": [0.3, 0.1, 0.2, 0.0],
    }
)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("a <= b", [False, False, True, False]),
        ("b >= a", [False, False, True, False]),
        ("a < b", [False, True, True, False]),
        ("a != 2", [False, True, False, False]),
        ("2 * a + b - 1 <= (b + 4) / 2 + 2", [False, False, True, False]),
        ("-a > -3", [False, False, True, False]),
        ("1 < a <= 2", [True, False, True, False]),
        ("job == 'x'", [False, True, False, False]),
        ("'x' != job", [True, False, False, True]),
        ("job in ['x', 'z']", [False, True, False, False]),
        ("b not in [-2, 2]", [True, True, True, True]),
        ("student", [False, True, False, False]),
        ("student == True", [False, True, False, False]),
        ("not student or a <= 2", [False, False, True, False]),
        ("student and a <= 2", [False, True, True, False]),
        ("job == 'x' -> a >= 2", [True, False, False, False]),
        ("if job == 'y' then not student and `late 30d` > 0.2", [False, True, False, False]),
        ("`late 30d` + 0.1 != 0.3", [False, False, True, False]),  # 0.1 + 0.2 is 0.3
        ("job != 'if a then b -> c'", [False, False, False, False]),
    ],
)
def test_what_a_rule_says_of_rows(text, broken):
    assert Rule(text).broken(ROWS).tolist() == broken


@pytest.mark.parametrize(
    "text",
    [
        "a * b <= 3", "a ** 2 < 1", "a / b < 1", "a / 0 < 1", "__import__('os').system('x')", "a.b < 1", "a[0] < 1",
        "f(a) < 1", "a <", "", "3 < 4", "a -> b -> c", "if a <= b", "if a -> b", "a is 3", "job < 'x'", "a + 1",
        "job in student", "lambda: 0", "a := 3", "[a for a in b]", "job in [b]", "'x' == 'y'", "then a < b",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(InputError, match="rules: "):
        Rule(text)


def test_a_category_that_stands_alone_is_refused():
    with pytest.raises(InputError, match="'job' stands alone but is not a boolean: name the value, such as job == 'x'"):
        Rule("job -> a < 3").broken(ROWS)


def test_names_and_numbers():
    rule = Rule("if job == 'x' then `late 30d` <= a")
    assert rule.names == ("late 30d", "a", "job")
    assert rule.numbers == {"late 30d", "a"}


weights = st.integers(-3, 3)
values = st.one_of(st.integers(-4, 4).map(float), st.just(math.nan))


@settings(max_examples=200, deadline=None)
@given(
    weights, weights, st.integers(-5, 5), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.lists(st.tuples(values, values, st.booleans()), min_size=1, max_size=6),
)  # fmt: skip
def test_linear_rules_and_implications_are_what_python_says(first, second, limit, operator, cells):
    rows = pd.DataFrame(cells, columns=["u", "v", "w"])
    text = f"{first} * u - {second} * v {operator} {limit}"
    if first == second == 0:
        first = 1
        text = f"u {operator} {limit}"
    for rule, guarded in ((Rule(text), False), (Rule(f"w -> {text}"), True)):
        for (u, v, w), broken in zip(cells, rule.broken(rows).tolist(), strict=True):
            total = first * u - second * v if second or f"{second} * v" in text else first * u
            known = not math.isnan(total)
            holds = known and {
                "<": total < limit, "<=": total <= limit, ">": total > limit,
                ">=": total >= limit, "==": total == limit, "!=": total != limit,
            }[operator]  # fmt: skip
            assert broken == (known and not holds and (w or not guarded))
