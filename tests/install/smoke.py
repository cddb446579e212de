"""Explain a linear model and boosted trees with an installed package; needs nothing beyond its dependencies."""

import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import sev


def main():
    if len(sys.argv) > 1:  # the folder in which the package must be
        assert Path(sys.argv[1]).resolve() in Path(sev.__file__).resolve().parents, sev.__file__
    rows = np.random.default_rng(0).normal(size=(300, 5))
    labels = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0.3).astype(int)
    for model in LogisticRegression(), GradientBoostingClassifier(n_estimators=20):
        many = sev.Explainer(model.fit(rows, labels), rows, labels).explain(rows)
        summary = many.summary()
        assert summary["optimal"] > 50, summary
        many[int(np.flatnonzero(many.to_frame()["status"] == "optimal")[0])].verify()


if __name__ == "__main__":
    main()
