"""What a black box tells about engineered columns, and that its advice holds."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sev
from sev.exceptions import FallbackWarning


def add_ratio(frame):
    return frame.assign(ratio=frame["debt"] / (1 + frame["income"] ** 2))


def test_the_groups_that_a_black_box_proposes_make_it_exact():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["debt", "income", "age"])
    y = (X["debt"] > X["income"]).astype(int)
    model = make_pipeline(FunctionTransformer(add_ratio), LogisticRegression()).fit(X, y)
    with pytest.warns(FallbackWarning, match="groups=") as told:
        assert sev.Explainer(model, X, y).backend == "black box"
    groups = eval(re.search(r"groups=(\{.*?\})", str(told[0].message)).group(1))
    assert groups == {"debt and income": ["debt", "income"]}
    assert sev.Explainer(model, X, y, groups=groups).backend == "linear"
