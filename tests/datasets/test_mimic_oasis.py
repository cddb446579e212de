import gzip

import numpy as np
import pandas as pd
import pytest

from sev.datasets import DatasetNotFoundError, load_mimic_oasis
from sev.datasets._mimic_oasis import SCHEMA
from sev.exceptions import InputError


def made() -> pd.DataFrame:
    values = np.arange(42.0).reshape(3, 14) + 0.5
    frame = pd.DataFrame(values, columns=[column.name for column in SCHEMA.features])
    frame.loc[1, "gcs"] = np.nan
    return frame.assign(hospital_expire_flag=[0, 1, 0], icustay_id=[7, 8, 9])


def test_fourteen_features_of_the_paper(tmp_path):
    table = made()
    path = tmp_path / "oasis.csv"
    table[table.columns[::-1]].rename(columns=str.upper).to_csv(path, index=False)
    data = load_mimic_oasis(path)
    assert list(data.X) == [
        "age",
        "preiculos",
        "gcs",
        "heartrate_min",
        "heartrate_max",
        "meanbp_min",
        "meanbp_max",
        "resprate_min",
        "resprate_max",
        "tempc_min",
        "tempc_max",
        "urineoutput",
        "mechvent",
        "electivesurgery",
    ]
    pd.testing.assert_frame_equal(data.X, table[list(data.X)])
    assert (data.y.tolist(), data.y.name) == ([0, 1, 0], "hospital_expire_flag")
    assert repr(data) == "<Dataset mimic_oasis: 3 rows, 14 features, 33.3 % died in hospital>"


def test_packed_file_and_float_labels(tmp_path):
    path = tmp_path / "oasis.csv.gz"
    path.write_bytes(gzip.compress(made().astype({"hospital_expire_flag": float}).to_csv(index=False).encode()))
    X, y = load_mimic_oasis(str(path), return_X_y=True)
    assert X.shape == (3, 14)
    assert y.tolist() == [0, 1, 0]


def test_missing_columns_are_named(tmp_path):
    path = tmp_path / "oasis.csv"
    made().drop(columns=["gcs", "mechvent"]).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"oasis\.csv lacks the columns \['gcs', 'mechvent'\]"):
        load_mimic_oasis(path)


def test_columns_that_differ_only_in_capitals_are_refused(tmp_path):
    path = tmp_path / "oasis.csv"
    made().assign(AGE=1).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"oasis\.csv has the columns \['age'\] more than once"):
        load_mimic_oasis(path)


def test_cells_that_are_no_numbers_are_named(tmp_path):
    path = tmp_path / "oasis.csv"
    made().astype({"age": object}).replace({"age": {14.5: "> 89"}}).to_csv(path, index=False)
    with pytest.raises(InputError, match="row 2, column 'age': '> 89' is not a finite number"):
        load_mimic_oasis(path)
    made().astype({"hospital_expire_flag": float}).replace({"hospital_expire_flag": {1.0: np.nan}}).to_csv(
        path, index=False
    )
    with pytest.raises(InputError, match="row 2, column 'hospital_expire_flag': '' is not one of"):
        load_mimic_oasis(path)


def test_without_a_file(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"(?s)no file .*oasis\.csv.*physionet"):
        load_mimic_oasis(tmp_path / "oasis.csv")
