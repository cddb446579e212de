"""An analyst who does not program: a booster on category columns, from CSV to notices, by the command line alone."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from users import homes

pytest.importorskip("pyarrow")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="runs a shell")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs lines of a shell in an empty folder in which ``sev`` is a command."""
    monkeypatch.chdir(tmp_path)
    command = tmp_path / "bin" / "sev"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sev.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    modules = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    path = os.pathsep.join([str(command.parent), os.environ["PATH"]])

    def run(code, status=0):
        env = {**os.environ, "PATH": path, "PYTHONPATH": modules}
        done = subprocess.run(["sh", "-ec", code], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == status, (code, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    return run


def test_the_page_runs_as_it_stands(shell):
    pytest.importorskip("lightgbm")
    openpyxl = pytest.importorskip("openpyxl")
    for kind, code in re.findall(r"```(python|sh)\n(.*?)```", PAGE, re.S):
        if kind == "python":
            exec(compile(code, "command_line.md", "exec"), {})
        else:
            shell(code)
    [header, *lines] = openpyxl.load_workbook("reasons.xlsx").active.iter_rows(values_only=True)
    found = pd.DataFrame(lines, columns=header)
    assert len(found) == 200
    refused = found[found["status"] != "not_target"]
    assert {"duration_old", "duration_new", "number"} <= set(found.columns)
    assert "personal_status_sex_old" not in found.columns
    assert refused["sentence"].str.startswith("Refused (score ").all()
    assert found["sentence"].str.startswith(("Refused", "Approved")).all()
    notices = sorted(Path("notices-of-may/notices").glob("*.txt"))
    explained = refused[refused["features"].notna()]
    assert [path.stem for path in notices] == sorted(explained["number"])
    text = notices[0].read_text("utf-8")
    assert re.search(r"^Your application for \d+ DM was refused\. The principal reasons:$", text, re.M)
    assert re.search(r"^  1\. .+ \(R\d\d\)$", text, re.M)
    assert "it would have been approved." in text
    page = Path("one-document/notices.html").read_text("utf-8")
    assert page.count("<h2>") == len(notices)
    assert "the amount" in Path("report.html").read_text("utf-8")
    assert "wäre das Ergebnis approved gewesen" in Path("reasons.csv").read_text("utf-8")


def save_lightgbm(rows, y):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=30, num_leaves=7, verbose=-1).fit(rows, y)
    model.booster_.save_model("model.txt")
    return model, "model.txt"


def save_xgboost(rows, y):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=30, max_depth=3, enable_categorical=True).fit(rows, y)
    model.save_model("model.ubj")
    return model, "model.ubj"


@pytest.mark.parametrize("train", [save_lightgbm, save_xgboost])
def test_from_a_csv_of_mortgages_to_notices(shell, train):
    rows, denied, new = homes.write_tables(Path())
    model, file = train(rows, (denied == "yes").astype(int))
    Path("labels.yaml").write_text(homes.LABELS, encoding="utf-8")
    Path("codes.json").write_text(json.dumps(homes.CODES), encoding="utf-8")
    Path("notice.html").write_text("<p>{{ id }} {{ decision }}: {{ reasons[0].label }} {{ reasons[0].value }}</p>\n")
    done = shell(
        f"sev fit --model {file} --data train.csv --label denied --labels labels.yaml --target yes -o homes.sev"
    )
    assert "trees" in done.stdout
    shell("sev explain homes.sev applicants.csv -o all.csv --changes --sentences -q")
    shell("sev reasons homes.sev applicants.csv --codes codes.json --id number --template notice.html -o out -q")
    shell("sev report homes.sev applicants.csv --id number -o report.html -q")
    found = pd.read_csv("all.csv")
    scores = model.predict_proba(new)[:, 1]
    assert found["score"].tolist() == pytest.approx(scores, abs=1e-6)
    assert (found["status"] != "not_target").tolist() == (scores >= 0.5).tolist()
    wide = pd.read_csv("out/reasons_wide.csv")
    assert set(wide["decision"]) == {"denied", "approved"}
    named = wide[wide["code_1"].notna()]
    assert len(named) == len(list(Path("out/notices").iterdir())) > 10
    # the change that the flat file tells undoes the decision, asked of the model itself
    for place in found.index[found["features"].notna()][:10]:
        changed = new.loc[[place]].copy()
        for name in json.loads(found.loc[place, "features"]):
            value = found.loc[place, f"{name}_new"]
            if name == "state":
                value = f"{int(value):02d}"
            changed[name] = pd.Series([value], index=[place]).astype(rows[name].dtype)
        assert model.predict_proba(changed)[0, 1] < 0.5


def test_mistakes_on_the_way_are_told_in_one_line(shell):
    rows, denied, _ = homes.write_tables(Path())
    _, file = save_lightgbm(rows, (denied == "yes").astype(int))
    fit = f"sev fit --model {file} -o homes.sev --data"
    assert "--target" in shell(f"{fit} train.csv --label denied", status=2).stderr
    assert "did you mean 'denied'?" in shell(f"{fit} train.csv --label deneid --target yes", status=2).stderr
    Path("labels.yaml").write_text("features: {incom: the income}\n")
    shown = shell(f"{fit} train.csv --label denied --target yes --labels labels.yaml", status=2).stderr
    assert "'incom', which is not a feature; did you mean 'income'?" in shown
    assert "Traceback" not in shown
