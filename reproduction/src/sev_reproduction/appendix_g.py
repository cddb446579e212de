"""Appendix G: what L2X costs in accuracy, by the number of features that it may keep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sev.comparison import L2X
from sklearn.metrics import roc_auc_score

from sev_reproduction import _measure, _peers
from sev_reproduction._data import FIRST_SEED, TITLES
from sev_reproduction._plan import DATA, Plan
from sev_reproduction._section import Picture, Section, Table, spread
from sev_reproduction._task import Results, Task

NAME = "appendix_g"
TITLE = "Appendix G: accuracy and AUC of L2X"
NEEDS_QUERIES = False

SPLITS = 3
#: Numbers of features to keep, as far as there are so many.
KEPT = (1, 2, 3, 5, 8, 13, 20)
#: L2X is trained on at most so many rows.
MAX_ROWS = 8000
#: Steps of training, whatever the number of rows, and rows in each.
STEPS, BATCH = 800, 200
_COLOURS = ("#0072B2", "#D55E00")


def tasks(plan: Plan) -> list[Task]:
    """A few splits of every data set."""
    return [Task(NAME, data, split, "gbdt") for data in plan.runnable for split in plan.splits_of(data)[:SPLITS]]


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """The paper's GBDT, and L2X on its encoded rows for each number of features."""
    fitted = _peers.gbdt(task, plan)
    encode = fitted.model[0]
    train, test = (_encoded(encode, rows) for rows in (fitted.X_train, fitted.X_test))
    groups = _groups(encode, list(train.columns))
    rows = np.random.default_rng(FIRST_SEED + task.split).permutation(len(train))[:MAX_ROWS]
    output = np.asarray(_measure.quietly(fitted.model.predict_proba, fitted.X_train))[rows, 1]
    n_features = fitted.X_train.shape[1]
    epochs = math.ceil((STEPS // 20 if plan.quick else STEPS) * BATCH / len(rows))
    by_k = {}
    for k in [k for k in KEPT if k < n_features] + [n_features]:
        explainer = L2X(k, groups=groups, epochs=epochs, batch_size=BATCH, random_state=FIRST_SEED + task.split)
        explainer.fit(train.iloc[rows], output)
        by_k[k] = _quality(explainer.predict_proba(test)[:, 1], fitted.y_test)
    base = np.asarray(_measure.quietly(fitted.model.predict_proba, fitted.X_test))[:, 1]
    return {"k": by_k, "base": _quality(base, fitted.y_test), "n_features": n_features}


def _encoded(encode: Any, rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(_measure.quietly(encode.transform, rows), columns=encode.get_feature_names_out())


def _groups(encode: Any, columns: list[str]) -> dict[str, list[str]]:
    """The columns of each text feature, and of each number its own: no column is left to be guessed about."""
    groups: dict[str, list[str]] = {}
    for name, _, features in encode.transformers_:
        for feature in features if name != "remainder" else ():
            own = [f"{name}__{feature}"] if f"{name}__{feature}" in columns else []
            others = [
                column
                for column in columns
                if column.startswith(f"{name}__{feature}_")
                and not any(column.startswith(f"{name}__{longer}_") for longer in _longer(feature, features))
            ]
            groups[f"feature {feature}"] = own or others
    return groups


def _longer(feature: str, features: Any) -> list[str]:
    return [other for other in features if other != feature and str(other).startswith(f"{feature}_")]


def _quality(scores: Any, labels: Any) -> dict[str, float]:
    return {
        "accuracy": float(((scores >= 0.5) == (np.asarray(labels) == 1)).mean()),
        "auc": float(roc_auc_score(labels, scores)),
    }


def section(results: Results, paper: Mapping[str, Any]) -> Section:
    """Accuracy and AUC against k."""
    tables, pictures = [], []
    for data in DATA:
        done = [one.result for one in results.of(NAME, data)]
        if done:
            tables.append(Table(f"{TITLES[data]}, {done[0]['n_features']} features", _table(done)))
            pictures.append(_picture(data, done))
    sentences = [
        "L2X chooses k features for each row and predicts the model's output from them alone; the model is the paper's "
        "GBDT, and accuracy and AUC are against the labels of the test rows. It is written in torch from the "
        f"description of Chen et al. (2018), a one-hot block is one feature, and it is trained for {STEPS} "
        f"steps on at most {MAX_ROWS:,} rows. The paper prints pictures only; what it says is that explanations of few "
        "features by L2X cost accuracy.",
    ]
    return Section(TITLE, sentences if tables else ["Not run."], tables, pictures)


def _ks(done: list[dict[str, Any]]) -> list[str]:
    return sorted(done[0]["k"], key=int)


def _table(done: list[dict[str, Any]]) -> pd.DataFrame:
    lines = []
    for k in _ks(done):
        lines.append(
            {
                "k": k,
                **{name: spread([one["k"][k][name] for one in done]) for name in ("accuracy", "auc")},
                "splits": len(done),
            }
        )
    base = {name: spread([one["base"][name] for one in done]) for name in ("accuracy", "auc")}
    frame = pd.DataFrame([*lines, {"k": "the model itself", **base, "splits": len(done)}])
    return frame.rename(columns={"auc": "AUC"})


def _picture(data: str, done: list[dict[str, Any]]) -> Picture:
    def draw() -> Any:
        return _draw_picture(done, TITLES[data])

    return Picture(f"l2x_{data}", f"Accuracy and AUC of L2X against k on {TITLES[data]}", draw)


def _draw_picture(done: list[dict[str, Any]], title: str) -> Any:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    figure, axes = plt.subplots(figsize=(7.0, 3.4), layout="constrained")
    ks = _ks(done)
    for (name, label), colour in zip((("accuracy", "accuracy"), ("auc", "AUC")), _COLOURS, strict=True):
        means = [float(np.mean([one["k"][k][name] for one in done])) for k in ks]
        axes.plot([int(k) for k in ks], means, marker="o", color=colour, label=f"{label} of L2X")
        base = float(np.mean([one["base"][name] for one in done]))
        axes.axhline(base, color=colour, linestyle="--", linewidth=1, label=f"{label} of the model")
    axes.set_xlabel("features kept (k)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"{title}: L2X", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
