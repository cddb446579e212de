"""An engineer trains a model whose decisions need few reasons, saves it, and explains in another process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")
ROOT = Path(__file__).parents[2]

TRAIN = """
import warnings
import numpy as np
import sev
from sklearn.model_selection import train_test_split
from users import homes

rows, denied = homes.applications(500)
rows["income"] = rows["income"].fillna(rows["income"].median())
rows = rows.astype({name: object for name in homes.CATEGORIES}).fillna({"employment": "unknown"})
train, test, y_train, y_test = train_test_split(rows, denied, random_state=0, stratify=denied)
model = sev.SEVLogisticRegression(random_state=0)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    model.fit(train, y_train)
labels = {"classes": {"yes": "denied", "no": "approved"}}
explainer = sev.Explainer(model, train, y_train, restricted=["state"], labels=labels)
explainer.save("homes.sev")
test.assign(number=range(len(test))).to_csv("test.csv", index=False)
many = explainer.explain(test)
many.to_json("there.json")
print(model.score(test, y_test), many.mean_size(), len(told))
"""

EXPLAIN = """
import json
import pandas as pd
import sev

explainer = sev.load("homes.sev")
test = pd.read_csv("test.csv", dtype={"state": str}, keep_default_na=False)
many = explainer.explain(test)
many.verify(explainer)
here, there = json.loads(many.to_json()), json.load(open("there.json"))
assert here["rows"] == there["rows"], "the saved explainer answers otherwise"
assert sev.Explanations.from_json("there.json").to_text() == many.to_text()
codes = {name: {"code": f"R{k:02d}", "text": name} for k, name in enumerate(explainer.feature_names)}
sev.reasons(many, codes, explainer=explainer).save("records")
print(explainer.backend, len(many))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("engineer")
    run(path, TRAIN)
    return path


def run(folder, code, *words):
    paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-W", "ignore", "-c", code] if code else [sys.executable, "-m", "sev.cli", *words]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_process_gives_the_same_answers_and_proves_them(folder):
    backend, n_rows = run(folder, EXPLAIN).split()
    assert backend == "linear"
    assert int(n_rows) == 125
    records = [json.loads(line) for line in (folder / "records" / "records.jsonl").read_text("utf-8").splitlines()]
    assert len(records) == 125
    assert {record["decision"] for record in records} == {"denied", "approved"}


def test_the_page_runs_as_it_stands_each_part_in_a_process_of_its_own(tmp_path):
    page = (ROOT / "docs" / "howto" / "engineer.md").read_text(encoding="utf-8")
    parts = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(parts) == 2
    for part in parts:
        run(tmp_path, part)


def test_the_command_line_gives_the_same_answers(folder):
    run(folder, "", "explain", "homes.sev", "test.csv", "-o", "answers.parquet", "-q")
    found = pd.read_parquet(folder / "answers.parquet")
    there = json.loads((folder / "there.json").read_text("utf-8"))["rows"]
    assert found["status"].tolist() == there["status"]
    assert found["score"].tolist() == pytest.approx(there["score"], abs=1e-12)
