"""What ``sev explain`` can write for those who read it in a spreadsheet, and labels on the command line."""

import json
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from files import loans
from users import homes

import sev
from sev.cli import main

pytest.importorskip("pyarrow")
openpyxl = pytest.importorskip("openpyxl")


def run(*words, status=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == status, (result.output, result.stderr, result.exception)
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("outputs")
    loans.explainer(restricted=["age"]).save(path / "one.sev")
    rows = loans.rows(60, seed=1)
    rows.assign(note=["=1+2", "-5", "\x07bell", *"x" * 57]).to_csv(path / "new.csv", index=False)
    (path / "labels.yaml").write_text(
        "features: {income: {label: the income, unit: EUR}, branch: the branch}\n"
        "classes: {refused: turned down, granted: paid out}\nlanguage: de\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def expected(folder):
    rows = pd.read_csv(folder / "new.csv", dtype={"branch": str})[["age", "income", "branch", "home"]]
    return sev.load(folder / "one.sev").explain(rows)


def test_changes_have_old_and_new_values(folder, expected):
    run("explain", folder / "one.sev", folder / "new.csv", "--changes", "-o", folder / "flat.csv", "-q")
    found = pd.read_csv(folder / "flat.csv", dtype={"branch_old": str, "branch_new": str})
    changed = [name for name in found.columns if name.endswith(("_old", "_new"))]
    assert changed == [f"{name}_{when}" for name in ("income", "branch", "home") for when in ("old", "new")]
    assert expected.sizes[~np.isnan(expected.sizes)].size > 5
    for row, one in enumerate(expected):
        for name in ("income", "branch", "home"):
            old, new = found.loc[row, f"{name}_old"], found.loc[row, f"{name}_new"]
            if name in one.features:
                assert old == one.query[name] or (pd.isna(old) and pd.isna(one.query[name]))
                assert new == pytest.approx(one.reference[name]) if name == "income" else new == one.reference[name]
            else:
                assert pd.isna(old)
                assert pd.isna(new)


def test_plus_changes_go_the_other_way(folder):
    words = ("explain", folder / "one.sev", folder / "new.csv", "--changes", "--json", "-q", "--kind", "plus")
    lines = [json.loads(line) for line in run(*words).stdout.splitlines()]
    rows = pd.read_csv(folder / "new.csv", dtype={"branch": str})
    [first, *_] = [line for line in lines if line["features"]]
    name = first["features"][0]
    assert first[f"{name}_new"] == rows.loc[first["row"], name]


def test_sentences_are_those_of_python_in_every_language(folder, expected):
    run("explain", folder / "one.sev", folder / "new.csv", "--sentences", "-o", folder / "words.parquet", "-q")
    assert pd.read_parquet(folder / "words.parquet")["sentence"].tolist() == expected.to_text()
    words = ("explain", folder / "one.sev", folder / "new.csv", "--sentences", "--json", "-q")
    lines = [json.loads(line) for line in run(*words, "--labels", folder / "labels.yaml").stdout.splitlines()]
    labels = sev.Labels.of(folder / "labels.yaml")
    sentences = [line["sentence"] for line in lines]
    words_of_labels = ("the income", "EUR", "wäre das Ergebnis paid out gewesen")
    assert any(all(word in one for word in words_of_labels) for one in sentences)
    assert labels.language == "de"
    lines = [json.loads(line) for line in run(*words, "--language", "es").stdout.splitlines()]
    assert [line["sentence"] for line in lines] == expected.to_text(language="es")


def test_rows_that_cannot_be_read_have_no_extra_columns(folder):
    text = (folder / "new.csv").read_text("utf-8").splitlines()
    (folder / "odd.csv").write_text("\n".join([*text[:3], "old,1,x,own,n", *text[3:6]]) + "\n", encoding="utf-8")
    words = ("explain", folder / "one.sev", folder / "odd.csv", "--sentences", "--changes", "--json", "-q")
    lines = [json.loads(line) for line in run(*words, status=3).stdout.splitlines()]
    assert [line["status"] == "error" for line in lines] == [False, False, True, False, False, False]
    assert lines[2]["sentence"] is None
    assert lines[3]["sentence"]


def test_excel_holds_the_same_rows_and_no_formulas(folder, expected):
    words = ("explain", folder / "one.sev", folder / "new.csv", "--changes", "--sentences", "--sets", "-q", "-o")
    run(*words, folder / "out.xlsx")
    sheet = openpyxl.load_workbook(folder / "out.xlsx").active
    [header, *lines] = sheet.iter_rows(values_only=True)
    found = pd.DataFrame(lines, columns=header)
    assert found["status"].tolist() == expected.statuses.tolist()
    assert found["score"].tolist() == pytest.approx(expected.scores)
    assert found["sentence"].tolist() == expected.to_text()
    assert found["features"].fillna("").tolist() == [", ".join(names) for names in expected.first_sets()]
    assert found["note"].tolist()[:3] == ["=1+2", "-5", "\ufffdbell"]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "inlineStr", "n", "b"}
    assert sheet.freeze_panes == "A2"
    first = (folder / "out.xlsx").read_bytes()
    time.sleep(2.1)  # the dates in a zip file have steps of two seconds
    run(*words, folder / "again.xlsx")
    assert (folder / "again.xlsx").read_bytes() == first
    assert zipfile.ZipFile(folder / "again.xlsx").testzip() is None


def test_an_excel_sheet_that_is_full_is_refused(folder, monkeypatch):
    from sev.batch import _excel

    monkeypatch.setattr(_excel, "MOST_ROWS", 10)
    result = run("explain", folder / "one.sev", folder / "new.csv", "-o", folder / "full.xlsx", status=1)
    assert "holds 9 rows and there are more: write .csv or .parquet" in result.stderr
    assert not (folder / "full.xlsx").exists()
    assert (
        "also be written as .xlsx"
        in run("explain", folder / "one.sev", folder / "new.csv", "-o", "x.xls", status=2).stderr
    )


def test_labels_are_saved_by_fit_and_used_by_report_and_reasons(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rows, denied, _ = homes.write_tables(tmp_path)
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=7, verbose=-1).fit(rows, denied == "yes")
    model.booster_.save_model(str(tmp_path / "homes.txt"))
    (tmp_path / "labels.yaml").write_text(homes.LABELS, encoding="utf-8")
    (tmp_path / "codes.json").write_text(json.dumps(homes.CODES), encoding="utf-8")
    words = ("fit", "--model", tmp_path / "homes.txt", "--data", tmp_path / "train.csv", "--label", "denied", "-q")
    run(*words, "--target", "yes", "--labels", tmp_path / "labels.yaml", "-o", tmp_path / "homes.sev")
    explainer = sev.load(tmp_path / "homes.sev")
    assert explainer.labels.decision("no") == "approved"
    assert explainer.classes_ == ("no", "yes")
    run("report", tmp_path / "homes.sev", tmp_path / "applicants.csv", "-o", tmp_path / "r.html", "-q")
    assert "the share of income for payments" in (tmp_path / "r.html").read_text("utf-8")
    run(
        "report",
        tmp_path / "homes.sev",
        tmp_path / "applicants.csv",
        "-o",
        tmp_path / "de.html",
        "-q",
        "--language",
        "de",
    )
    assert '<html lang="de"' in (tmp_path / "de.html").read_text("utf-8")
    (tmp_path / "short.yaml").write_text("classes: {yes: refused, no: granted}\nfeatures: {income: the pay}\n")
    words = ("reasons", tmp_path / "homes.sev", tmp_path / "applicants.csv", "--codes", tmp_path / "codes.json", "-q")
    run(*words, "--labels", tmp_path / "short.yaml", "-o", tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "reasons.csv")
    assert set(table["decision"]) == {"refused"}
    assert "the pay" in set(table["label"])
    (tmp_path / "wrong.yaml").write_text("features: {incme: the pay}\n")
    assert "did you mean 'income'" in run(*words, "--labels", tmp_path / "wrong.yaml", "-o", "x", status=2).stderr


def test_names_for_the_columns_of_arrays():
    from sklearn.linear_model import LogisticRegression

    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
    y = [0, 0, 0, 1, 1, 1]
    names = ["debt", "late"]
    explainer = sev.Explainer(
        LogisticRegression().fit(X, y), X, y, feature_names=names, labels={"features": {"debt": "it"}}
    )
    assert explainer.explain_one([5.0, 0.0]).features == ("debt",)
    again = sev.Explainer.from_bytes(explainer.to_bytes())
    assert again.feature_names == ("debt", "late")
    assert "because it is 4" in again.explain(X[4:]).to_text()[0]
    for wrong, message in ((["debt"], "1 names, but the rows have 2"), ("ab", "list of texts"), (["a", "a"], "unique")):
        with pytest.raises(sev.exceptions.InputError, match=message):
            sev.Explainer(LogisticRegression().fit(X, y), X, y, feature_names=wrong)
    frame = pd.DataFrame(X, columns=names)
    with pytest.raises(sev.exceptions.InputError, match="for arrays"):
        sev.Explainer(LogisticRegression().fit(frame, y), frame, y, feature_names=names)
