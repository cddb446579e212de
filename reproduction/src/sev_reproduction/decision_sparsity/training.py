"""Models trained for one reference or for clusters, measured against the mean, the clusters and the nearest rows."""

from __future__ import annotations

from typing import Any

import sev

from sev_reproduction import _measure, _models
from sev_reproduction._data import FIRST_SEED, split
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task
from sev_reproduction.decision_sparsity._setting import CLUSTERS, tasks_of

NAME = "training"

FAMILIES: dict[str, Any] = {"lr": sev.SEVLogisticRegression, "gbdt": sev.SEVGradientBoostingClassifier}
#: What the models of a task are trained for; None: nothing, the base model as it is.
TRAINED_FOR = ("nothing", "mean", "clusters")


def tasks(plan: Plan) -> list[Task]:
    """Linear models and boosted trees on every split."""
    return tasks_of(NAME, plan, tuple(FAMILIES))


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """Accuracy, and mean SEV- against three references, of three models."""
    X_train, X_test, y_train, y_test = split(task.data, task.split, plan)
    references = {"mean": "mean", "clusters": sev.references.Clusters(CLUSTERS[task.data]), "nearest": "nearest"}
    options = {"random_state": FIRST_SEED + task.split, "max_rate_change": None}
    models = {}
    for name in TRAINED_FOR:
        given = {"sev_penalty": 0.0, "max_iter": 1} if name == "nothing" else {"reference": references[name]}
        models[name], _ = _models.fitted(FAMILIES[task.variant](**options, **given), X_train, y_train)
    # the base model is the same for all: a tuned one starts from it
    models["nothing"].final_estimator_ = models["nothing"].base_estimator_
    found: dict[str, Any] = {name: {} for name in TRAINED_FOR}
    for against, reference in references.items():
        table = _measure.quietly(
            sev.compare,
            models,
            X_test,
            y_test,
            X_train=X_train,
            y_train=y_train,
            kinds=["minus"],
            reference=reference,
            max_rows=plan.max_test_rows,
        )
        for name, line in table.iterrows():
            found[str(name)] |= {
                "accuracy": line["accuracy"],
                "auc": line["auc"],
                "positive_rate": line["positive_rate"],
                f"SEV, {against}": line["sev_minus"],
            }
    return {name: {key: float(value) for key, value in line.items()} for name, line in found.items()}
