from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from paper_references import PAPER

from sev.datasets import DatasetNotFoundError, fetch_adult
from sev.datasets._adult import N_POSITIVE, SCHEMA
from sev.exceptions import InputError, SevWarning

TRAIN, TEST = 32_561, 16_281
LINE = b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, ?, "


def made_rows(n: int, positive: int, age: int) -> pd.DataFrame:
    """Rows as OpenML gives them: categories, NaN for a missing value, floats for numbers."""
    frame = pd.DataFrame({name: np.zeros(n) for name in SCHEMA.names})
    for column in SCHEMA.features:
        if column.kind == "text":
            frame[column.name] = pd.Categorical(["White"] * n)
    frame["age"] = float(age)
    frame["workclass"] = pd.Categorical([np.nan] * n, categories=["Private"])
    frame["class"] = pd.Categorical([">50K"] * positive + ["<=50K"] * (n - positive))
    return frame


def openml(monkeypatch, *parts: pd.DataFrame) -> list[dict]:
    asked = []
    frame = pd.concat(parts, ignore_index=True)

    def fetch_openml(**kwargs):
        asked.append(kwargs)
        return SimpleNamespace(frame=frame)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return asked


def test_counts_of_the_paper(published, n_encoded, no_network):
    published("adult.data")
    data = fetch_adult()
    assert data.X.shape == (32_561, 14)
    assert n_encoded(data.X) == 107
    assert data.y.sum() == 7_841
    assert (data.X["workclass"] == "?").sum() == 1_836
    assert repr(data) == "<Dataset adult: 32,561 rows, 14 features, 24.1 % >50K>"


def test_reference_of_the_paper(published, reference, no_network):
    published("adult.data")
    X, y = fetch_adult(return_X_y=True)
    expected = PAPER["adult"]
    assert reference(X, y, list(expected)) == expected


@pytest.mark.parametrize("train_first", [False, True])
def test_published_rows_are_found_in_openmls_table(published, monkeypatch, cache, train_first):
    path = published("adult.data")
    train = pd.DataFrame(SCHEMA.read(path.read_bytes(), str(path)))
    for column in train.select_dtypes(exclude="number"):
        train[column] = train[column].where(train[column] != "?").astype("category")
    test = train.iloc[:TEST].assign(age=17)
    asked = openml(monkeypatch, *((train, test) if train_first else (test, train)))
    monkeypatch.delenv("SEV_DATA_HOME")
    X, y = fetch_adult(return_X_y=True)
    assert len(asked) == 1
    assert (cache / "adult.data").read_bytes() == path.read_bytes()
    again = fetch_adult(data_home=path.parent)
    pd.testing.assert_frame_equal(X, again.X)
    pd.testing.assert_series_equal(y, again.y)


@pytest.mark.parametrize("train_first", [False, True])
def test_openml_copy_is_kept_and_asked_for_once(monkeypatch, cache, train_first):
    train, test = made_rows(TRAIN, N_POSITIVE, age=39), made_rows(TEST, 9, age=17)
    asked = openml(monkeypatch, *((train, test) if train_first else (test, train)))
    with pytest.warns(SevWarning, match="data set 1590 .* not the published file: it has 32,561 rows") as caught:
        X, y = fetch_adult(return_X_y=True)
    assert caught[0].filename == __file__
    assert asked == [{"data_id": 1590, "as_frame": True, "parser": "pandas", "cache": False}]
    assert X.shape == (TRAIN, 14)
    assert set(X["age"]) == {39}
    assert set(X["workclass"]) == {"?"}
    assert pd.api.types.is_integer_dtype(X["age"])
    assert (y.sum(), y.name) == (N_POSITIVE, "income_above_50k")
    with pytest.warns(SevWarning, match=r"adult\.data has the right columns") as caught:
        again = fetch_adult()
    assert caught[0].filename == __file__
    assert len(asked) == 1
    pd.testing.assert_frame_equal(again.X, X)
    assert [path.name for path in cache.iterdir()] == ["adult.data"]


@pytest.mark.parametrize(("n", "positive"), [(TRAIN + TEST, 5), (TRAIN - 1, N_POSITIVE)])
def test_another_table_at_openml_is_refused(monkeypatch, cache, n, positive):
    openml(monkeypatch, made_rows(n, positive, age=39))
    with pytest.raises(InputError, match="neither its first nor its last 32,561 are the published training rows"):
        fetch_adult()
    assert not cache.exists()


def test_openml_without_a_column_is_refused(monkeypatch):
    openml(monkeypatch, made_rows(5, 1, age=39).drop(columns="race"))
    with pytest.raises(InputError, match=r"OpenML's data set 1590 lacks the columns \['race'\]"):
        fetch_adult()


def test_offline(monkeypatch):
    def fetch_openml(**kwargs):
        raise URLError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    with pytest.raises(DatasetNotFoundError, match=r"(?s)no file adult\.data.*ics\.uci\.edu.*no route to host"):
        fetch_adult()


def test_no_download_unless_allowed(no_network):
    with pytest.raises(DatasetNotFoundError, match=r"no file adult\.data"):
        fetch_adult(download_if_missing=False)


def test_file_with_other_rows_warns_and_with_other_columns_raises(tmp_path, no_network):
    file = tmp_path / "adult.data"
    file.write_bytes(LINE + b"<=50K\n" + LINE + b">50K\n\n")
    with pytest.warns(SevWarning, match=r"it has 2 rows \(published: 32,561\)"):
        data = fetch_adult(data_home=tmp_path)
    assert data.y.tolist() == [0, 1]
    assert data.X["native-country"].tolist() == ["?", "?"]
    file.write_bytes(LINE.replace(b"White, ", b"") + b"<=50K\n")
    with pytest.raises(InputError, match="has 14 columns where 15 are expected"):
        fetch_adult(data_home=tmp_path)
