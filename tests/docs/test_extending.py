"""The page about backends and references of one's own: its references run, its example is there and runs."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import sev

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def test_the_code_on_the_page_runs():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 200), "debt": rng.normal(size=200)}).astype(float)
    y = (X["debt"] + X["age"] / 100 > 0.5).astype(int)
    names = {"sev": sev, "model": LogisticRegression().fit(X, y), "X": X, "y": y}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 2
    for code in blocks:
        exec(compile(code, "extending.md", "exec"), names)
    assert len(names["explainer"].reference) == 2


def test_the_example_of_the_page_runs():
    (target,) = re.findall(r"\]\(\.\./(examples/[^)]+)\)", PAGE)
    done = subprocess.run([sys.executable, ROOT / target], capture_output=True, text=True, check=True)
    assert "compared 60 explanations with the definition" in done.stdout
    assert "scorecard backend" in done.stdout
