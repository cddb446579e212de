"""Groups of the table: shares without a change and reasons, against the explanations of their rows."""

import time
from collections import Counter

import pytest

from sev.app import Service, Table


@pytest.fixture(scope="module")
def strict(loans):
    """An explainer under which some decisions have no change, its applicants, and what it says of them."""
    explainer, applicants = loans
    locked = explainer.with_actions({"frozen": ["checking_status", "duration", "credit_history", "purpose"]})
    return locked, applicants, locked.explain(applicants[list(locked.feature_names)])


@pytest.fixture
def groups(strict, connect):
    """The groups by a column, when the statuses of all rows are known."""
    explainer, applicants, _ = strict
    client = connect(Service([("loans", explainer)], Table.of_frame(applicants, "applicant")))
    end = time.monotonic() + 300
    while time.monotonic() < end:
        answer = client.get("/api/groups", params={"by": "housing"}).json()
        if answer["complete"]:
            return answer["groups"]
        time.sleep(0.05)
    raise AssertionError("the statuses were not computed in time")


def test_shares_without_a_change_are_those_of_the_decisions_being_explained(strict, groups):
    _, applicants, many = strict
    for one in groups:
        mine = (applicants["housing"] == one["value"]).to_numpy()
        none = int((many.statuses[mine] == "unexplainable").sum())
        positive = int((many.statuses[mine] != "not_target").sum())
        assert one["without_change"] == none
        assert one["share_without_change"] == pytest.approx(none / positive)
    assert any(0 < one["share_without_change"] < 1 for one in groups)


def test_reasons_are_the_features_of_the_first_sets_by_how_often_they_occur(strict, groups):
    _, applicants, many = strict
    for one in groups:
        mine = (applicants["housing"] == one["value"]).to_numpy()
        sets = [many[row].features for row in mine.nonzero()[0].tolist() if many[row].sets]
        counts = Counter(name for features in sets for name in features)
        shares = [reason["share"] for reason in one["reasons"]]
        assert shares == sorted(shares, reverse=True)
        assert {reason["feature"]: reason["share"] for reason in one["reasons"]} == pytest.approx(
            {reason["feature"]: counts[reason["feature"]] / len(sets) for reason in one["reasons"]}
        )
        assert max(counts.values()) / len(sets) == pytest.approx(shares[0])
