"""Every warning points at the line of the user's code that caused it, whatever the way through the package."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import sev
from sev.core import warn_user
from sev.exceptions import FallbackWarning, HiddenReasonWarning, ReferenceWarning, RuleWarning, TargetWarning

ROWS = pd.DataFrame({"debt": [0.0, 0.0, 1.0, 3.0, 4.0, 4.0], "late": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]})
CODES = {name: {"code": name, "text": name} for name in ROWS}
LABELS = np.array([0, 0, 0, 1, 1, 1])


def _explainer(**options):
    return sev.Explainer(LogisticRegression().fit(ROWS, LABELS), ROWS, LABELS, **options)


def _make_of_neighbours():
    sev.Explainer(KNeighborsClassifier(2).fit(ROWS, LABELS), ROWS, LABELS)


def _make_of_three_classes():
    sev.Explainer(LogisticRegression().fit(ROWS, [0, 1, 2, 0, 1, 2]), ROWS, [0, 1, 2, 0, 1, 2])


def _make_with_a_positive_mean():
    rows = pd.DataFrame({"x": [0.0, 0.0, 0.0, 10.5, 20.0]})
    sev.Explainer(lambda some: (some["x"].to_numpy() > 1).astype(float), rows, [0, 0, 0, 0, 1])


def _explain_broken_rule():
    _explainer(actions={"rules": ["late <= debt"]}).explain(pd.DataFrame({"debt": [4.0], "late": [5.0]}))


def _explain_one_broken_rule():
    _explainer(actions={"rules": ["late <= debt"]}).explain_one({"debt": 4.0, "late": 5.0})


def _name_hidden_reasons():
    sev.reasons(_explainer(restricted=["debt"]).explain(ROWS), CODES)


@pytest.mark.parametrize(
    ("act", "category"),
    [
        (_make_of_neighbours, FallbackWarning),
        (_make_of_three_classes, TargetWarning),
        (_make_with_a_positive_mean, ReferenceWarning),
        (_explain_broken_rule, RuleWarning),
        (_explain_one_broken_rule, RuleWarning),
        (_name_hidden_reasons, HiddenReasonWarning),
    ],
)
def test_a_warning_points_at_the_code_of_the_user(act, category):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    mine = [one for one in caught if one.category is category]
    assert [one.filename for one in mine] == [__file__]


def test_a_warning_from_outside_points_at_the_caller():
    with pytest.warns(UserWarning, match="look here") as caught:
        warn_user("look here", UserWarning)
    assert caught[0].filename == __file__
