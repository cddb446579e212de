import numpy as np
import pandas as pd
import pytest
from paper_references import PAPER

from sev.datasets import DatasetNotFoundError, fetch_heloc
from sev.datasets._heloc import SCHEMA
from sev.exceptions import InputError, SevWarning


def made(label: str) -> str:
    """FICO's own form: the label first, in words."""
    names = [column.name for column in SCHEMA.features]
    cells = ["-9", "-8", "-7", *["5"] * 20]
    return f"RiskPerformance,{','.join(names)}\n{label},{','.join(cells)}\n"


def test_counts_of_the_paper(published, n_encoded):
    published("fico.csv")
    data = fetch_heloc()
    assert data.X.shape == (10_459, 23)
    assert n_encoded(data.X) == 23
    assert (data.y.sum(), data.y.name) == (5_459, "RiskPerformance")
    assert all(pd.api.types.is_integer_dtype(data.X[name]) for name in data.X)


def test_reference_of_the_paper(published, reference):
    published("fico.csv")
    X, y = fetch_heloc(return_X_y=True)
    expected = PAPER["fico"]
    assert reference(X, y, list(expected)) == expected


def test_special_codes_of_the_published_file(published):
    published("fico.csv")
    kept, missing = fetch_heloc().X, fetch_heloc(special="nan").X
    assert missing["ExternalRiskEstimate"].isna().sum() == 598
    assert missing.isna().all(axis=1).sum() == 588
    assert missing.min().min() == 0
    pd.testing.assert_frame_equal(missing.fillna(kept), kept.astype("float64"))


def test_ficos_own_form(tmp_path):
    (tmp_path / "heloc_dataset_v1.csv").write_text(made("Bad"))
    with pytest.warns(SevWarning, match=r"it has 1 rows \(published: 10,459\)"):
        data = fetch_heloc(data_home=tmp_path, special="nan")
    assert data.y.tolist() == [1]
    np.testing.assert_array_equal(data.X.iloc[0], [np.nan] * 3 + [5.0] * 20)


def test_the_published_cells_in_ficos_own_form_pass(published, tmp_path):
    table = pd.read_csv(published("fico.csv"))
    label = table.pop("RiskPerformance").map({0: "Good", 1: "Bad"})
    table.insert(0, "RiskPerformance", label)
    table.to_csv(tmp_path / "heloc_dataset_v1.csv", index=False)
    assert fetch_heloc(data_home=tmp_path).y.sum() == 5_459  # a warning would be an error


def test_what_is_refused(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"(?s)fico\.csv or heloc_dataset_v1\.csv.*FICO provides"):
        fetch_heloc()
    with pytest.raises(InputError, match="special='drop' is not one of 'keep', 'nan'"):
        fetch_heloc(special="drop")
    (tmp_path / "fico.csv").write_text(made("Ugly"))
    with pytest.raises(InputError, match="column 'RiskPerformance': 'Ugly' is not one of"):
        fetch_heloc(data_home=tmp_path)
