"""Boosters that were trained on category columns, given as files, with rows from CSV, which has lost the categories."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from users import homes

import sev
from sev.backends import restore_categories, trained_columns
from sev.cli import main
from sev.exceptions import InputError

pytest.importorskip("pyarrow")


def run(*words, status=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == status, (result.output, result.stderr, result.exception)
    return result


def lightgbm_model(rows, y):
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=25, num_leaves=7, verbose=-1).fit(rows, y)


def xgboost_model(rows, y):
    settings = {"n_estimators": 25, "max_depth": 3, "enable_categorical": True}
    return pytest.importorskip("xgboost").XGBClassifier(**settings).fit(rows, y)


MODELS = {"lightgbm": lightgbm_model, "xgboost": xgboost_model}
FILES = {
    "lightgbm": {
        "m.txt": lambda model, path: model.booster_.save_model(path),
        "m.pkl": joblib.dump,
        "booster.pkl": lambda model, path: joblib.dump(model.booster_, path),
    },
    "xgboost": {
        "m.ubj": lambda model, path: model.save_model(path),
        "m.json": lambda model, path: model.save_model(path),
        "m.pkl": joblib.dump,
        "booster.pkl": lambda model, path: joblib.dump(model.get_booster(), path),
    },
}


@pytest.mark.parametrize(("library", "name"), [(library, name) for library in FILES for name in FILES[library]])
def test_categories_of_a_booster_file_are_found_again(library, name, tmp_path):
    rows, denied, new = homes.write_tables(tmp_path)
    model = MODELS[library](rows, (denied == "yes").astype(int))
    FILES[library][name](model, str(tmp_path / name))
    # the file's columns come in another order than the model's, with one that it does not take
    table = pd.read_csv(tmp_path / "train.csv", dtype=str)[[*reversed(rows.columns), "denied"]]
    table.assign(note="x", denied=(denied == "yes").astype(int)).to_csv(tmp_path / "train.csv", index=False)
    words = ("fit", "--model", tmp_path / name, "--data", tmp_path / "train.csv", "--label", "denied", "-q", "--json")
    told = json.loads(run(*words, "-o", tmp_path / "one.sev", "--trust-pickle").stdout)
    assert told["backend"] == "trees"
    assert told["features"] == list(rows.columns)
    found = run("explain", tmp_path / "one.sev", tmp_path / "applicants.csv", "--json", "-q", "--trust-pickle").stdout
    lines = [json.loads(line) for line in found.splitlines()]
    assert [line["score"] for line in lines] == pytest.approx(model.predict_proba(new)[:, 1], abs=1e-6)
    expected = sev.Explainer(model, rows, (denied == "yes").astype(int)).explain(new)
    assert [line["status"] for line in lines] == expected.statuses.tolist()
    assert [tuple(line["features"] or ()) for line in lines] == expected.first_sets()


def test_catboost_takes_its_categories_from_the_texts(tmp_path):
    catboost = pytest.importorskip("catboost")
    rows, denied, _ = homes.write_tables(tmp_path)
    table = pd.read_csv(tmp_path / "train.csv", dtype={"state": str}, keep_default_na=False, na_values={"income": [""]})
    names = list(homes.CATEGORIES)
    model = catboost.CatBoostClassifier(iterations=10, cat_features=names, verbose=False, one_hot_max_size=5)
    model.fit(table[list(rows.columns)], denied).save_model(str(tmp_path / "m.cbm"))
    rows = pd.read_csv(tmp_path / "train.csv", dtype=str)
    rows[rows["employment"].notna()].assign(state="1").to_csv(tmp_path / "train.csv", index=False)
    words = ("fit", "--model", tmp_path / "m.cbm", "--data", tmp_path / "train.csv", "--label", "denied", "-q")
    assert "state 1" in run(*words, "-o", tmp_path / "one.sev").stdout


def test_a_text_that_is_no_category_is_named_with_its_row(tmp_path):
    rows, denied, _ = homes.write_tables(tmp_path)
    lightgbm_model(rows, denied == "yes").booster_.save_model(str(tmp_path / "m.txt"))
    table = pd.read_csv(tmp_path / "train.csv", dtype=str)
    table.loc[7, "purpose"] = "boat"
    table.to_csv(tmp_path / "train.csv", index=False)
    words = ("fit", "--model", tmp_path / "m.txt", "--data", tmp_path / "train.csv", "--label", "denied")
    message = run(*words, "-o", tmp_path / "one.sev", status=2).stderr
    assert "row 7: column 'purpose' holds 'boat', which is not a category" in message
    assert "['build', 'buy', 'refinance']" in message


def test_a_booster_without_category_names_gets_a_remedy(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    rows, denied, _ = homes.write_tables(tmp_path)
    codes = rows.assign(**{name: rows[name].cat.codes.where(rows[name].notna()) for name in homes.CATEGORIES})
    kinds = ["c" if name in homes.CATEGORIES else "q" for name in rows.columns]
    data = xgboost.DMatrix(codes.astype(float), denied == "yes", feature_types=kinds, enable_categorical=True)
    xgboost.train({"objective": "binary:logistic"}, data, 5).save_model(tmp_path / "old.ubj")
    words = ("fit", "--model", tmp_path / "old.ubj", "--data", tmp_path / "train.csv", "--label", "denied")
    message = run(*words, "-o", tmp_path / "one.sev", status=2).stderr
    assert "column 'property' holds text" in message
    assert "XGBoost 3.1 or newer" in message


def test_ordered_and_constant_categories_of_lightgbm_are_found_by_their_cells(tmp_path):
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "grade": pd.Categorical(generator.choice([1, 2, 5], 300), ordered=True),
            "only": pd.Categorical(["x"] * 300),
            "size": generator.normal(size=300),
            "kind": pd.Categorical(generator.choice(["a", "b"], 300)),
        }
    )
    model = lightgbm_model(rows, (rows["grade"].astype(int) + rows["size"] > 2).astype(int))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    restored = restore_categories(model.booster_, pd.read_csv(tmp_path / "rows.csv"), "rows.csv")
    assert restored["grade"].cat.categories.tolist() == [1, 2, 5]
    assert model.booster_.predict(restored).tolist() == model.booster_.predict(rows).tolist()
    twice = rows.assign(size=generator.choice([1, 2, 5], 300))[["size", "grade", "only", "kind"]]
    booster = lightgbm_model(twice, generator.integers(0, 2, 300)).booster_
    with pytest.raises(InputError, match="it is not clear which columns"):
        restore_categories(booster, twice.astype({"grade": int, "only": str, "kind": str}), "rows.csv")


def test_cells_are_compared_with_categories_by_what_they_mean():
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "number": pd.Categorical(generator.choice([1.5, 2.0], 200)),
            "text": pd.Categorical(generator.choice(["007", "08"], 200)),
            "flag": pd.Categorical(generator.choice([True, False], 200)),
        }
    )
    model = lightgbm_model(rows, generator.integers(0, 2, 200))
    texts = rows.astype(str).assign(number=rows["number"].astype(float).map("{:.2f}".format))
    assert model.predict_proba(restore_categories(model, texts, "X")).tolist() == model.predict_proba(rows).tolist()


def test_columns_without_names_stay_in_the_order_of_the_file():
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 2)
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, data, 2)
    assert trained_columns(booster) is None


@pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning")
def test_a_booster_is_not_explained_for_the_class_that_its_scores_are_not_of(tmp_path):
    """A file without classes has scores only: which label they are of is seen by comparing them."""
    rows, denied, _ = homes.write_tables(tmp_path)
    lightgbm_model(rows, (denied == "yes").astype(int)).booster_.save_model(str(tmp_path / "m.txt"))
    table = pd.read_csv(tmp_path / "train.csv", dtype=str)
    table.assign(denied=np.where(denied == "yes", "refused", "agreed")).to_csv(tmp_path / "train.csv", index=False)
    words = ("fit", "--model", tmp_path / "m.txt", "--data", tmp_path / "train.csv", "--label", "denied", "-q")
    told = run(*words, "-o", tmp_path / "one.sev", "--target", "agreed", status=2).stderr
    assert "lower for rows with the label 'agreed' than for rows with 'refused'" in told
    assert "use --target refused." in told
    assert not (tmp_path / "one.sev").exists()
    run(*words, "-o", tmp_path / "one.sev", "--target", "refused")


@pytest.mark.parametrize("words", [(), ("--numbers", "income")])
def test_a_cell_that_spoils_a_column_of_numbers_is_named(words, tmp_path):
    """One text in a column of numbers makes it text, and which columns hold categories is not clear any more."""
    rows, denied, _ = homes.write_tables(tmp_path)
    lightgbm_model(rows, (denied == "yes").astype(int)).booster_.save_model(str(tmp_path / "m.txt"))
    table = pd.read_csv(tmp_path / "train.csv", dtype=str).assign(denied=(denied == "yes").astype(int))
    table.loc[5, "income"] = "lots"
    table.to_csv(tmp_path / "train.csv", index=False)
    given = ("fit", "--model", tmp_path / "m.txt", "--data", tmp_path / "train.csv", "--label", "denied", "-q", "-o")
    told = run(*given, tmp_path / "one.sev", *words, status=2).stderr
    assert "income" in told
    assert "'lots' in row 5" in told
    assert "leave them empty" in told
