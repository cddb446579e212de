import pandas as pd
import pytest

from sev.datasets import DatasetNotFoundError, fetch_compas
from sev.datasets._compas import SCHEMA
from sev.exceptions import InputError, SevWarning

RAW = """id,sex,age,juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,days_b_screening_arrest,\
c_charge_degree,decile_score,priors_count,two_year_recid
1,Male,69,0,1,0,0,0,-1,F,1,0,0
2,Female,34,1,3,2,4,5,0,M,3,5,1
3,Male,24,0,4,0,1,4,,F,4,4,1
"""


def test_counts_of_the_paper(published, n_encoded):
    published("compas.csv")
    data = fetch_compas()
    assert data.X.shape == (6_907, 7)
    assert n_encoded(data.X) == 7
    assert (data.y.sum(), data.y.name) == (3_196, "two_year_recid")


def test_columns_derived_from_propublicas_file(tmp_path):
    (tmp_path / "compas-scores-two-years.csv").write_text(RAW)
    with pytest.warns(SevWarning, match=r"it has 2 rows \(published: 6,907\)"):
        X, y = fetch_compas(data_home=tmp_path, return_X_y=True)
    assert list(X) == [column.name for column in SCHEMA.features]
    assert X.to_numpy().tolist() == [[0, 69, 0, 0, 0, 0, 1], [1, 34, 1, 2, 7, 5, 0]]
    assert y.tolist() == [0, 1]


def test_derived_table_is_checked_against_the_published_one(published, tmp_path):
    path = published("compas.csv")
    table = pd.read_csv(path)
    raw = pd.DataFrame(
        {
            "sex": table["sex=female"].map({0: "Male", 1: "Female"}),
            "age": table["age"],
            "juv_fel_count": table["juv_fel_count"],
            "juv_misd_count": table["juv_misd_count"],
            "juv_other_count": table["juvenile_crimes"] - table["juv_fel_count"] - table["juv_misd_count"],
            "priors_count": table["priors_count"],
            "days_b_screening_arrest": "-1",
            "c_charge_degree": table["current_charge_degree=felony"].map({0: "M", 1: "F"}),
            "two_year_recid": table["two_year_recid"],
        }
    )
    unknown = raw.iloc[:307].assign(days_b_screening_arrest="")
    pd.concat([unknown, raw]).to_csv(tmp_path / "compas-scores-two-years.csv", index=False)
    derived = fetch_compas(data_home=tmp_path)  # a warning would be an error
    pd.testing.assert_frame_equal(derived.X, fetch_compas(data_home=path.parent).X)


def test_without_a_file():
    with pytest.raises(DatasetNotFoundError, match=r"(?s)compas\.csv or compas-scores-two-years\.csv.*propublica"):
        fetch_compas()


def test_other_columns_are_refused(tmp_path):
    (tmp_path / "compas.csv").write_text("age,two_year_recid\n1,0\n")
    with pytest.raises(InputError, match=r"lacks the columns \['sex=female', 'juv_fel_count'"):
        fetch_compas(data_home=tmp_path)
    (tmp_path / "compas.csv").write_text(RAW.replace(",juv_other_count", ",juv_something"))
    with pytest.raises(InputError, match=r"lacks the columns \['juv_other_count'\]"):
        fetch_compas(data_home=tmp_path)
