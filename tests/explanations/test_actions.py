"""Explanations under actions: files, groups, and what features that may not be used could do."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError
from sev.explanations import Explanations

ACTIONS = sev.Actions(frozen=["c"], increase=["b"], within={"a": ("-2", "+2")})


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(generator.integers(0, 9, (160, 4)), columns=list("abcd"))
    return frame.assign(place=generator.choice(["north", "south"], 160))


@pytest.fixture(scope="module")
def explainer(rows):
    numbers = rows[list("abcd")]
    labels = (2 * rows.c + rows.a - rows.b + rows.d / 4 > 8).astype(int)
    model = LogisticRegression(max_iter=500).fit(numbers, labels)
    return sev.Explainer(model, numbers, labels, actions=ACTIONS)


@pytest.fixture(scope="module", params=["reference", "typical", "any"])
def many(request, explainer, rows):
    return explainer.explain(rows[list("abcd")], values=request.param)


def test_a_file_keeps_ranges_sentences_and_the_hash_of_the_actions(many, tmp_path):
    text = many.to_json(tmp_path / "many.json")
    again = Explanations.from_json(tmp_path / "many.json")
    assert again.actions_hash == many.actions_hash == ACTIONS.digest
    assert json.loads(text)["actions_hash"] == ACTIONS.digest
    assert again.limits == many.limits == dict.fromkeys("abcd", (0.0, 8.0))
    assert again.to_text() == many.to_text()
    for one, other in zip(many, again, strict=True):
        assert (one.changes, one.cost, one.limits) == (other.changes, other.cost, other.limits)
    assert again.to_json() == text
    assert many[5:9].actions_hash == ACTIONS.digest


def test_sentences_tell_one_end_of_a_range_that_reaches_the_last_value(many):
    told = 0
    for one in many:
        for name, enough in one.enough.items():
            if one.size == 1 and enough.high == 8 and 0 < enough.low < 8:
                assert f"Had {name} been at least {enough.low:.0f}, with all else equal" in one.to_text()
                told += 1
            elif one.size == 1 and 0 < enough.low < enough.high < 8:
                low, high = f"{enough.low:.0f}", f"{enough.high:.0f}"
                wanted = {
                    (False, True): f"at least {low} (permitted up to {high})",
                    (True, False): f"at most {high} (permitted from {low})",
                }.get((enough.low_is_limit, enough.high_is_limit), f"between {low} and {high}")
                assert f"Had {name} been {wanted}, with" in one.to_text()
    assert told or many.values != "any"


def test_groups_count_who_is_left_without_a_way(many, rows):
    table = many.summary(by=rows["place"])
    assert table.index.tolist() == ["north", "south"]
    assert table.index.name == "place"
    for place, line in table.iterrows():
        mine = many[(rows["place"] == place).to_numpy()]
        assert line.to_dict() == pytest.approx(mine.summary().to_dict(), nan_ok=True)
        assert line["share_unexplainable"] == line["unexplainable"] / line["target"]
    assert table["unexplainable"].sum() == many.summary()["unexplainable"] > 0
    assert table["rows"].sum() == len(many)
    assert table["rows"].dtype.kind == "i"


def test_groups_may_be_a_column_of_the_rows_and_may_be_missing(many):
    by_column = many.summary(by="d")
    assert by_column.index.tolist() == list(range(9))
    values = [None if row % 3 == 0 else "x" for row in range(len(many))]
    assert many.summary(by=values).index.tolist() == ["x", None]
    assert many.summary(by=np.array([1, "b"] * 80, dtype=object)).shape[0] == 2
    assert many[:0].summary(by=[]).empty


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("plce", "by='plce' is not a column of the rows"),
        (7, "by=7 is not a column of the rows"),
        (["x"], "by has 1 values for 160 rows"),
        (range(160), "by has 160 different values"),
    ],
)
def test_groups_that_are_none_are_refused(many, by, message):
    with pytest.raises(InputError, match=message):
        many.summary(by=by)


def test_what_locked_features_could_do_is_searched_over_the_same_values(many, explainer, rows):
    """A lock that hides a smaller change is stated, whatever the values that features may take."""
    free = explainer.explain_unrestricted(rows[list("abcd")], values=many.values)
    assert free.values == many.values
    seen = set()
    for locked, one, stated in zip(many, free, many.not_permitted, strict=True):
        uses = any("c" in names for names in one.sets)
        expected = "none"
        if one.size is not None and uses:
            if locked.status == "unexplainable":
                expected = "only"
            elif one.size <= locked.size:
                expected = "smaller" if one.size < locked.size else "equal"
        assert stated == expected
        seen.add(stated)
    assert "only" in seen or "smaller" in seen
    again = many.unrestricted()
    assert [one.sets for one in again] == [one.sets for one in free]
    assert [one.changes for one in again] == [one.changes for one in free]
