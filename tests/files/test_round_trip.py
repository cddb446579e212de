"""What is saved comes back and explains the same rows the same way, bit for bit."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from files import loans
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import sev
from sev.exceptions import InputError, UntrustedTypeError
from sev.files._models import model_from_bytes, model_to_bytes

MODELS = {
    "linear": LogisticRegression(),
    "forest": RandomForestClassifier(5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "calibrated": CalibratedClassifierCV(LogisticRegression(), ensemble=False),
    "naive": GaussianNB(),
    "neighbours": KNeighborsClassifier(),
    "vectors": SVC(kernel="rbf"),
    "network": MLPClassifier((3,), max_iter=20, random_state=0),
}


def quietly(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


def same(one, other, rows):
    assert one.explain(rows).to_json() == other.explain(rows).to_json()


@pytest.mark.parametrize("name", MODELS)
def test_models_survive(name, tmp_path):
    explainer = quietly(lambda: loans.explainer(MODELS[name], restricted=["income"], threshold=None))
    explainer.save(tmp_path / "one.sev")
    again = sev.load(tmp_path / "one.sev")
    assert repr(again) == repr(explainer)
    assert again.restricted == ("income",)
    same(explainer, again, loans.rows(20, seed=1))


def booster(library):
    package = pytest.importorskip(library)
    rows = loans.rows()[loans.NUMBERS].fillna(0.0).to_numpy()
    y = (loans.labels(loans.rows()) == "refused").astype(int)
    options = {"catboost": {"verbose": 0, "allow_writing_files": False}, "lightgbm": {"verbose": -1}}.get(library, {})
    kind = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier", "catboost": "CatBoostClassifier"}[library]
    return package, getattr(package, kind)(n_estimators=5, **options).fit(rows, y), rows, y


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_boosters_survive(library):
    _, model, rows, y = booster(library)
    explainer = quietly(lambda: sev.Explainer(model, rows, y, allow_positive_reference=True))
    same(explainer, sev.Explainer.from_bytes(explainer.to_bytes()), rows[:10])


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_raw_boosters_are_kept_in_their_own_format(library):
    package, model, rows, _ = booster(library)
    raw = model.get_booster() if library == "xgboost" else model.booster_
    form, data = model_to_bytes(raw, allow_pickle=False)
    assert form == library
    given = package.DMatrix(rows) if library == "xgboost" else rows
    np.testing.assert_array_equal(model_from_bytes(form, data).predict(given), raw.predict(given))


def test_the_proof_sample_and_the_reference_come_back_exactly():
    frame = loans.rows()
    frame["when"] = pd.date_range("2020-01-01", periods=len(frame), tz="Europe/Berlin")
    frame["small"] = frame["income"].astype("float32")
    frame["count"] = pd.array([*range(len(frame) - 1), None], dtype="Int64")
    frame["word"] = pd.Series(["a", None, *["b"] * (len(frame) - 2)], dtype=object)

    def score(rows):
        return (rows["age"] > 50).to_numpy() * 0.5 + 0.25

    explainer = quietly(lambda: sev.Explainer(score, frame, reference="median", allow_positive_reference=True))
    again = sev.Explainer.from_bytes(explainer.to_bytes(allow_pickle=True), trust_pickle=True)
    pd.testing.assert_frame_equal(explainer._sample, again._sample)
    pd.testing.assert_frame_equal(explainer.reference, again.reference)
    assert again._form.dtypes == explainer._form.dtypes


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_tables_survive(library):
    pytest.importorskip(library)
    frame = loans.rows().drop(columns="income")
    if library == "polars":
        import polars

        table = polars.from_pandas(frame)
    else:
        import pyarrow

        table = pyarrow.Table.from_pandas(frame, preserve_index=False)

    def score(rows):
        return np.asarray(rows["age"].to_numpy() > 50, dtype=float)

    explainer = quietly(lambda: sev.Explainer(score, table))
    again = sev.Explainer.from_bytes(explainer.to_bytes(allow_pickle=True), trust_pickle=True)
    assert again._form.schema == explainer._form.schema
    same(explainer, again, table[:10])


def test_a_column_of_a_type_that_no_file_holds_is_named():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"age": [20.0, 30.0, 60.0, 70.0], "arrival": arrow.array([1, 2, 1, 2], arrow.time64("us"))})

    def score(rows):
        return np.asarray(rows["age"].to_numpy() > 50, dtype=float)

    explainer = quietly(lambda: sev.Explainer(score, table))
    with pytest.raises(
        sev.exceptions.InputError, match=r"Column 'arrival' of arrow type time64\[us\] cannot be saved: con"
    ):
        explainer.to_bytes(allow_pickle=True)


def test_a_real_row_as_reference_survives():
    explainer = loans.explainer(reference=sev.references.NearestToMean())
    again = sev.Explainer.from_bytes(explainer.to_bytes())
    pd.testing.assert_frame_equal(explainer.reference, again.reference)
    same(explainer, again, loans.rows(20, seed=1))


class ByHome:
    """Compares owners with one row and tenants with another."""

    def fit(self, background):
        rows = background.rows.loc[background.negatives]
        rows = rows.loc[~background.is_positive(rows)]
        first = pd.concat([rows[rows["home"] == home].head(1) for home in ("own", "rent")], ignore_index=True)
        return sev.references.FittedReference(first, "by home", lambda some: (some["home"] == "rent").to_numpy(int))


def test_references_with_code_of_their_own_are_refused_before_writing(tmp_path):
    explainer = loans.explainer(reference=ByHome())
    with pytest.raises(InputError, match=r"by home.*function of its own.*one explainer for each"):
        explainer.save(tmp_path / "one.sev", allow_pickle=True)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder does not exist.*nowhere'$"):
        loans.explainer().save(tmp_path / "nowhere" / "one.sev")


def test_every_class_is_explained_as_before():
    frame = loans.rows()
    y = np.select([frame["age"] < 40, frame["age"] < 60], ["low", "middle"], "high")
    model = loans.pipeline(RandomForestClassifier(5, random_state=0)).fit(frame, y)
    explainer = quietly(lambda: sev.Explainer(model, frame, y, target="predicted"))
    same(explainer, sev.Explainer.from_bytes(explainer.to_bytes()), frame[:10])


def test_explainers_are_pickled_by_their_parts():
    explainer = loans.explainer()
    same(explainer, pickle.loads(pickle.dumps(explainer)), loans.rows(10, seed=2))


def test_saving_twice_gives_the_same_bytes():
    explainer = loans.explainer()
    assert explainer.to_bytes() == explainer.to_bytes()


def test_a_model_without_a_safe_form_needs_two_agreements(tmp_path):
    frame = loans.rows()

    def score(rows):
        return (rows["age"] > 50).to_numpy().astype(float)

    explainer = sev.Explainer(score, frame)
    with pytest.raises(UntrustedTypeError, match=r"allow_pickle=True.*runs whatever code"):
        explainer.save(tmp_path / "one.sev")
    assert not (tmp_path / "one.sev").exists()
    explainer.save(tmp_path / "one.sev", allow_pickle=True)
    with pytest.raises(UntrustedTypeError, match=r"one\.sev.*runs whatever code.*trust_pickle=True"):
        sev.load(tmp_path / "one.sev")
    same(explainer, sev.load(tmp_path / "one.sev", trust_pickle=True), frame[:5])


def test_a_model_that_skops_changes_is_refused(monkeypatch):
    from sev.files import _models

    explainer = loans.explainer()
    other = loans.pipeline(LogisticRegression(C=1e-3))
    monkeypatch.setitem(_models._READERS, "skops", lambda data: other)
    with pytest.raises(InputError, match="cannot be saved: when it is loaded again"):
        explainer.to_bytes()


def test_an_older_file_stays_when_saving_fails(tmp_path, monkeypatch):
    path = tmp_path / "one.sev"
    path.write_bytes(b"older")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        loans.explainer().save(path)
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]
