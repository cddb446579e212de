"""From the explainer down, on raw columns: networks through their own search, other models through the black box."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import encoder, table
from oracle import assert_equals_oracle
from sklearn import ensemble, gaussian_process, neighbors, svm
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import sev
from sev.exceptions import FallbackWarning, MissingDependencyError
from sev.libraries.torch import TorchClassifier, torch_pipeline

ROWS_PER_KIND = 12


def as_float32(rows):
    return np.asarray(rows, dtype=np.float32)


def dense_encoder():
    return encoder(sparse_threshold=0)


def mlp(activation="relu"):
    return MLPClassifier((12, 12), activation=activation, early_stopping=True, learning_rate_init=0.02, random_state=0)


def fitted_on_table(estimator):
    X, y = table()
    return make_pipeline(dense_encoder(), estimator).fit(X, y), X, y


def trained_module(n_outputs=1, end=()):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, y = table()
    fitted = dense_encoder().fit(X)
    rows = torch.tensor(as_float32(fitted.transform(X)))
    torch.manual_seed(0)
    layers = [
        torch.nn.Linear(rows.shape[1], 12),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(12, n_outputs),
    ]
    module = torch.nn.Sequential(*layers)
    optimizer = torch.optim.Adam(module.parameters(), 0.03)
    for _ in range(60):
        optimizer.zero_grad()
        outputs = module(rows)
        logits = outputs[:, 0] if n_outputs == 1 else outputs[:, 1] - outputs[:, 0]
        torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(y, dtype=torch.float32)).backward()
        optimizer.step()
    return torch.nn.Sequential(*module, *end), fitted, X, y


def torch_on_table(n_outputs=1, **options):
    module, fitted, X, y = trained_module(n_outputs)
    return torch_pipeline(fitted, module, **options), X, y


def odd_on_table():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    module, fitted, X, y = trained_module()

    class Odd(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, rows):
            return self.inner(rows) + torch.sin(3 * rows[:, :1])

    return torch_pipeline(fitted, Odd()), X, y


def bare_module():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    module, fitted, X, y = trained_module(end=(torch.nn.Sigmoid(),))
    chosen = np.asarray(fitted.transform(X), dtype=np.float32)
    first = torch.nn.Linear(6, chosen.shape[1])
    return torch.nn.Sequential(first, *module), np.ascontiguousarray(chosen[:, -6:]), y


def skorch_on_table():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    skorch = pytest.importorskip("skorch", reason="skorch is not installed")
    X, y = table()
    torch.manual_seed(0)
    width = dense_encoder().fit_transform(X).shape[1]
    module = torch.nn.Sequential(torch.nn.Linear(width, 10), torch.nn.Tanh(), torch.nn.Linear(10, 2))
    net = skorch.NeuralNetClassifier(
        module, criterion=torch.nn.CrossEntropyLoss, max_epochs=15, lr=0.2, verbose=0, train_split=None
    )
    return make_pipeline(dense_encoder(), FunctionTransformer(as_float32), net).fit(X, y), X, y


@dataclass(frozen=True)
class Case:
    make: Callable[[], tuple[Any, Any, np.ndarray]]
    backend: str = "networks"


def black_box(estimator):
    return Case(lambda: fitted_on_table(estimator), "black box")


BASE = [("logistic", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]

CASES = {
    "mlp relu": Case(lambda: fitted_on_table(mlp())),
    "mlp tanh": Case(lambda: fitted_on_table(mlp("tanh"))),
    "mlp logistic": Case(lambda: fitted_on_table(mlp("logistic"))),
    "torch, one output": Case(torch_on_table),
    "torch, two outputs": Case(lambda: torch_on_table(2)),
    "torch, any module": Case(odd_on_table),
    "torch, bare module": Case(bare_module),
    "skorch": Case(skorch_on_table),
    "svc": black_box(svm.SVC(gamma=0.2)),
    "nu svc": black_box(svm.NuSVC(nu=0.4)),
    "neighbours": black_box(neighbors.KNeighborsClassifier(7)),
    "neighbours by radius": black_box(neighbors.RadiusNeighborsClassifier(3.0, outlier_label=0)),
    "gaussian process": black_box(gaussian_process.GaussianProcessClassifier(random_state=0)),
    "quadratic discriminant": black_box(QuadraticDiscriminantAnalysis(reg_param=0.5)),
    "stacking": black_box(ensemble.StackingClassifier(BASE, cv=3)),
    "voting": black_box(ensemble.VotingClassifier([*BASE, ("mlp", mlp())], voting="soft")),
}


@cache
def build(name):
    case = CASES[name]
    model, X, y = case.make()
    if case.backend != "black box":
        return sev.Explainer(model, X, y, reference=_negative_row(model, X, y)), X
    with pytest.warns(FallbackWarning):
        return sev.Explainer(model, X, y, reference=_negative_row(model, X, y)), X


def _negative_row(model, X, y):
    """A real row that the model calls negative, so that both kinds have something to find."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[int(np.flatnonzero((model.predict(X) == 0) & (y == 0))[0])]
    return X[int(np.argmin(TorchClassifier(model).predict_proba(X)[:, 1]))]


def own_score(model, X):
    if not isinstance(X, pd.DataFrame):
        return lambda frame: TorchClassifier(model).predict_proba(frame.to_numpy(np.float32))[:, 1]
    ask = getattr(model, "predict_proba", None)
    return (lambda frame: ask(frame)[:, 1]) if ask is not None else model.decision_function


@pytest.mark.parametrize("name", CASES)
def test_equals_the_definition_on_raw_columns(name):
    explainer, X = build(name)
    assert explainer.backend == CASES[name].backend
    score = own_score(explainer.model, X)
    features = {feature: (feature,) for feature in explainer.feature_names}
    assert len(features) == 6
    for kind in ("minus", "plus"):
        for restricted in ((), explainer.feature_names[:2]):
            many = explainer.explain(X[:80], kind=kind, restricted=restricted)
            positive = np.flatnonzero(many.statuses != "not_target")[:ROWS_PER_KIND]
            assert len(positive) >= 5
            for row in positive.tolist():
                assert_equals_oracle(many[row], score, features)
            many[int(positive[0])].verify()


@pytest.mark.parametrize("name", ["mlp relu", "torch, one output", "torch, any module", "stacking"])
def test_workers_and_batches_do_not_matter(name):
    explainer, X = build(name)
    whole = explainer.explain(X[:40]).to_frame()
    pd.testing.assert_frame_equal(explainer.explain(X[:40], n_jobs=2).to_frame(), whole, rtol=1e-5)
    pieces = pd.concat([explainer.explain(X[row : row + 1]).to_frame() for row in range(40)])
    pd.testing.assert_frame_equal(pieces, whole, rtol=1e-5)


def test_a_module_is_left_in_training_mode():
    model, X, y = torch_on_table(classes=("repaid", "failed"))
    module = model[-1].module.train()
    labels = np.array(["repaid", "failed"])[y]
    one = sev.Explainer(model, X, labels, reference=_as_negative(model, X)).explain(X[:40])
    other = sev.Explainer(model, X, labels, target="repaid", reference=_as_negative(model, X, "failed")).explain(X[:40])
    assert all(part.training for part in module.modules())
    targets = (one.statuses == "optimal").astype(int) + (other.statuses == "optimal")
    assert (targets == 1).all()


def _as_negative(model, X, label="repaid"):
    return X[model.predict(X) == label].iloc[0]


def test_a_budget_is_honest_on_raw_columns():
    explainer, X = build("mlp relu")
    many = explainer.explain(X[:40], time_limit=1e-9)
    assert set(many.statuses) == {"not_target", "undecided"}
    assert all(one.lower_bound == 1 for one in many if one.status == "undecided")


def test_importing_the_package_and_explaining_an_mlp_loads_no_torch():
    program = """
import sys
import numpy as np
import sev
from sklearn.neural_network import MLPClassifier
rows = np.random.default_rng(0).normal(size=(60, 3))
model = MLPClassifier((4,), random_state=0).partial_fit(rows, rows[:, 0] > 0, classes=[False, True])
explainer = sev.Explainer(model, rows, reference=rows[0] * 0 - 3, allow_positive_reference=True)
assert explainer.backend == "networks"
assert "torch" not in sys.modules and "skorch" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_without_torch_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"torch module needs torch: pip install 'sev\[train\]'"):
        TorchClassifier(object()).predict_proba(np.zeros((1, 2)))


def test_a_classifier_around_a_module_is_a_scikit_learn_classifier():
    from sklearn.base import clone, is_classifier
    from sklearn.utils.validation import check_is_fitted

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module, fitted, X, y = trained_module()
        model = TorchClassifier(module, classes=("no", "yes"))
        assert is_classifier(model)
        check_is_fitted(model)
        rows = fitted.transform(X)
        assert model.fit(rows, y) is model
        np.testing.assert_array_equal(clone(model).predict_proba(rows), model.predict_proba(rows))
        np.testing.assert_array_equal(model.predict(rows) == "yes", model.predict_proba(rows)[:, 1] >= 0.5)
