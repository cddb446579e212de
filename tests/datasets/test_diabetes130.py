import gzip
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sev.datasets import DatasetNotFoundError, fetch_diabetes130
from sev.datasets._diabetes130 import SCHEMA, _diagnosis_group
from sev.exceptions import InputError, SevWarning


def made_rows() -> pd.DataFrame:
    frame = pd.DataFrame({c.name: ["No"] * 3 if c.kind == "text" else [1, 2, 3] for c in SCHEMA.features})
    return frame.assign(
        race=["?", "Asian", "Caucasian"],
        gender=["Unknown/Invalid", "Female", "Male"],
        age=["[0-10)", "[40-50)", "[90-100)"],
        diag_1=["250.83", "V57", "414"],
        diag_2=["?", "E878", "786"],
        diag_3=["599", "715", "8"],
        max_glu_serum=["None", "Norm", ">300"],
        A1Cresult=["None", ">7", ">8"],
        readmitted=["NO", ">30", "<30"],
    )


def test_counts_of_the_paper(published, n_encoded, no_network):
    published("diabetic_data.csv", "diabetic_data.csv.gz")
    data = fetch_diabetes130()
    assert data.X.shape == (101_766, 33)
    assert n_encoded(data.X) == 101
    assert n_encoded(data.X[data.y == 0]) == 101
    assert (data.y.sum(), data.y.name) == (46_902, "readmitted")
    assert (data.X["max_glu_serum"] == "None").sum() == 96_420
    assert not data.X.isna().any(axis=None)
    assert list(data.labels) == list(data.X.columns)


def test_raw_columns(published, no_network):
    published("diabetic_data.csv", "diabetic_data.csv.gz")
    data = fetch_diabetes130(raw=True)
    assert data.X.shape == (101_766, 49)
    assert (data.X["weight"] == "?").sum() == 98_569
    assert (data.X["A1Cresult"] == "None").sum() == 84_748
    assert data.X["patient_nbr"].nunique() == 71_518
    assert not data.X.isna().any(axis=None)


@pytest.mark.parametrize("packed", [False, True])
def test_cleaning(tmp_path, packed):
    text = SCHEMA.write(made_rows())
    if packed:
        (tmp_path / "diabetic_data.csv.gz").write_bytes(gzip.compress(text))
    else:
        (tmp_path / "diabetic_data.csv").write_bytes(text)
    with pytest.warns(SevWarning, match=r"it has 3 rows \(published: 101,766\)"):
        X, y = fetch_diabetes130(data_home=tmp_path, return_X_y=True)
    assert X.shape == (3, 33)
    assert X["race"].tolist() == ["Other", "Asian", "Caucasian"]
    assert X["gender"].tolist() == ["Female", "Female", "Male"]
    assert X["age"].tolist() == [5, 45, 95]
    assert X["diag_1"].tolist() == ["diabetes", "other", "circulatory"]
    assert X["diag_2"].tolist() == ["other", "other", "respiratory"]
    assert X["diag_3"].tolist() == ["genitourinary", "musculoskeletal", "other"]
    assert X["max_glu_serum"].tolist() == ["None", "Norm", "Abnormal"]
    assert X["A1Cresult"].tolist() == ["None", "Abnormal", "Abnormal"]
    assert y.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("code", "group"),
    [
        ("389", "other"),
        ("390", "circulatory"),
        ("459", "circulatory"),
        ("459.8", "circulatory"),
        ("785", "circulatory"),
        ("460", "respiratory"),
        ("519", "respiratory"),
        ("520", "digestive"),
        ("579", "digestive"),
        ("787", "digestive"),
        ("250", "diabetes"),
        ("250.01", "diabetes"),
        ("251", "other"),
        ("249", "other"),
        ("800", "injury"),
        ("999", "injury"),
        ("799", "other"),
        ("710", "musculoskeletal"),
        ("739", "musculoskeletal"),
        ("740", "other"),
        ("580", "genitourinary"),
        ("629", "genitourinary"),
        ("788", "genitourinary"),
        ("630", "other"),
        ("139", "other"),
        ("140", "neoplasms"),
        ("239", "neoplasms"),
        ("240", "other"),
        ("V58", "other"),
        ("E888", "other"),
        ("?", "other"),
    ],
)
def test_diagnosis_groups(code, group):
    assert _diagnosis_group(code) == group


@pytest.mark.parametrize(("column", "word"), [("age", "[40-60)"), ("max_glu_serum", "high"), ("A1Cresult", "nan")])
def test_words_that_the_cleaning_does_not_know_are_refused(tmp_path, column, word):
    rows = made_rows()
    rows.loc[1, column] = word
    (tmp_path / "diabetic_data.csv").write_bytes(SCHEMA.write(rows))
    with (
        pytest.warns(SevWarning, match="not the published"),
        pytest.raises(InputError, match=rf"row 2, column '{column}'"),
    ):
        fetch_diabetes130(data_home=tmp_path)


def test_openml_copy(monkeypatch, cache):
    """Column names with dots, categories, NaN for a missing value; the word None is a category."""
    rows = made_rows()
    theirs = rows.rename(columns=lambda name: name.replace("-", ".")).replace("?", np.nan)
    theirs = theirs.astype(dict.fromkeys(theirs.select_dtypes(exclude="number"), "category"))
    asked = []

    def fetch_openml(**kwargs):
        asked.append(kwargs["data_id"])
        return SimpleNamespace(frame=theirs[theirs.columns[::-1]])

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    with pytest.warns(SevWarning, match="OpenML's data set 4541"):
        first = fetch_diabetes130(raw=True)
    assert (cache / "diabetic_data.csv").read_bytes() == SCHEMA.write(rows)
    with pytest.warns(SevWarning, match=r"diabetic_data\.csv"):
        second = fetch_diabetes130(raw=True)
    assert asked == [4541]
    pd.testing.assert_frame_equal(first.X, second.X)
    assert first.X["race"].tolist() == ["?", "Asian", "Caucasian"]
    assert first.X["max_glu_serum"].tolist() == ["None", "Norm", ">300"]


def test_no_download_unless_allowed(no_network):
    with pytest.raises(DatasetNotFoundError, match=r"diabetic_data\.csv or diabetic_data\.csv\.gz"):
        fetch_diabetes130(download_if_missing=False)
