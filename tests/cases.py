"""One table of small fitted models. Every model that the registry knows has a case here, without exception."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble, linear_model, naive_bayes, svm, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

N_ROWS = 240


@cache
def numbers(n_columns: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers from -2 to 2, so that features often agree with the reference, and ties are common."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(N_ROWS, n_columns)).astype(float)
    weights = rng.normal(size=n_columns)
    y = (X @ weights + rng.normal(size=N_ROWS) > 0.5).astype(int)
    return X, y


@cache
def counts(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    X, y = numbers(6, seed)
    return np.abs(X) + y[:, None] * (X > 1), y


@cache
def table(seed: int = 2, missing: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """Text before numbers, and mixed."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], N_ROWS, p=[0.5, 0.3, 0.2]),
            "age": rng.integers(18, 80, N_ROWS),
            "town": rng.choice(["north", "south"], N_ROWS),
            "income": rng.normal(30, 10, N_ROWS).round(1),
            "job": rng.choice(["none", "clerk", "smith", "cook"], N_ROWS),
            "flag": rng.integers(0, 2, N_ROWS).astype(bool),
        }
    )
    signal = (
        (frame["colour"] == "red") * 1.5
        - (frame["job"] == "none") * 2.0
        + (frame["age"] - 45) / 20
        + (frame["income"] - 30) / 10
        + frame["flag"] * 0.7
    )
    y = (signal + rng.normal(size=N_ROWS) > 0.6).to_numpy().astype(int)
    if missing:
        frame.loc[rng.random(N_ROWS) < 0.2, "income"] = np.nan
        frame.loc[rng.random(N_ROWS) < 0.2, "job"] = None
    return frame, y


TEXT, NUMBERS = ["colour", "town", "job"], ["age", "income"]


def encoder(**options: Any) -> ColumnTransformer:
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), TEXT), (StandardScaler(), NUMBERS), remainder="passthrough", **options
    )


def log_income(frame: Any) -> Any:
    return np.log1p(np.abs(frame))


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted model, what it takes, and how it should be read.

    ``score`` is the model's own score of the second class, for models that have neither ``predict_proba`` nor
    ``decision_function``; ``rtol`` says how far the scores of one row may differ between batches.
    """

    name: str
    make: Callable[[], tuple[Any, Any, np.ndarray]]
    backend: str
    registers: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    warns: bool = False
    score: Callable[[Any, Any], np.ndarray] | None = None
    rtol: float = 1e-12

    def fitted(self) -> tuple[Any, Any, np.ndarray]:
        if self.name not in _FITTED:
            _FITTED[self.name] = self.make()
        return _FITTED[self.name]


_FITTED: dict[str, tuple[Any, Any, np.ndarray]] = {}


def on_numbers(
    name: str, model: Any, backend: str = "linear", key: str | None = None, warns: bool = False, **options: Any
) -> Case:
    def make() -> tuple[Any, Any, np.ndarray]:
        X, y = numbers()
        return model.fit(X, y), X, y

    registers = (key or f"sklearn.{type(model).__name__}",)
    return Case(name, make, backend, registers if backend != "black box" else (), options, warns)


def on_table(
    name: str, model: Any, backend: str, *, missing: bool = False, warns: bool = False, **options: Any
) -> Case:
    def make() -> tuple[Any, Any, np.ndarray]:
        X, y = table(missing=missing)
        return model.fit(X, y), X, y

    return Case(name, make, backend, (), options, warns)


def on_counts(name: str, model: Any) -> Case:
    def make() -> tuple[Any, Any, np.ndarray]:
        X, y = counts()
        return model.fit(X, y), X, y

    return Case(name, make, "linear" if "multinomial" in name else "additive", (f"sklearn.{type(model).__name__}",))


def logistic() -> linear_model.LogisticRegression:
    return linear_model.LogisticRegression()


def with_known(estimator, **parameters):
    """Return the estimator with those parameters that this version of scikit-learn has; newer ones warn without."""
    known = estimator.get_params()
    return estimator.set_params(**{name: value for name, value in parameters.items() if name in known})


def logistic_cv():
    model = linear_model.LogisticRegressionCV(Cs=2, scoring="accuracy")
    newer = "use_legacy_attributes" in model.get_params()
    return model.set_params(use_legacy_attributes=False, l1_ratios=(0,)) if newer else model


LINEAR = [
    on_numbers("logistic", logistic()),
    on_numbers("logistic, class 0", logistic(), target=0),
    on_numbers("logistic, threshold 0.8", logistic(), threshold=0.8),
    on_numbers("logistic, class 0, threshold 0.7", logistic(), target=0, threshold=0.7),
    on_numbers("linear svc, class 0, threshold", svm.LinearSVC(random_state=0), target=0, threshold=0.4),
    on_numbers("logistic, grouped", logistic(), groups={"both": [0, 3], "pair": ["x1", "x5"]}),
    on_numbers("logistic cv", logistic_cv()),
    on_numbers("sgd log loss", linear_model.SGDClassifier(loss="log_loss", random_state=0)),
    on_numbers("sgd hinge", linear_model.SGDClassifier(loss="hinge", random_state=0)),
    on_numbers("sgd modified huber", linear_model.SGDClassifier(loss="modified_huber", random_state=0)),
    on_numbers("ridge", linear_model.RidgeClassifier()),
    on_numbers("ridge cv", linear_model.RidgeClassifierCV()),
    on_numbers("linear svc", svm.LinearSVC(random_state=0)),
    on_numbers("linear svc, class 0", svm.LinearSVC(random_state=0), target=0),
    on_numbers("perceptron", linear_model.Perceptron(random_state=0)),
    on_numbers("discriminant analysis", LinearDiscriminantAnalysis()),
    on_numbers("svc, linear kernel", svm.SVC(kernel="linear")),
]

ADDITIVE = [
    on_numbers("gaussian naive bayes", naive_bayes.GaussianNB(), "additive"),
    on_numbers("bernoulli naive bayes", naive_bayes.BernoulliNB(), "additive"),
    on_counts("categorical naive bayes", naive_bayes.CategoricalNB(min_categories=8)),
    on_counts("multinomial naive bayes", naive_bayes.MultinomialNB()),
]

PIPELINES = [
    on_table("pipeline", make_pipeline(encoder(), logistic()), "linear"),
    on_table("pipeline, dense output", make_pipeline(encoder(sparse_threshold=0), logistic()), "linear"),
    on_table(
        "pipeline, imputers",
        make_pipeline(
            make_column_transformer(
                (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), TEXT),
                (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), NUMBERS),
                (FunctionTransformer(), ["flag"]),
            ),
            logistic(),
        ),
        "linear",
        missing=True,
    ),
    on_table(
        "pipeline, ordinal and function transformers",
        make_pipeline(
            make_column_transformer(
                (OrdinalEncoder(), TEXT),
                (FunctionTransformer(log_income), ["income"]),
                (with_known(KBinsDiscretizer(4), quantile_method="averaged_inverted_cdf"), ["age"]),
                ("passthrough", ["flag"]),
            ),
            svm.LinearSVC(random_state=0),
        ),
        "linear",
    ),
    on_table(
        "pipeline, union of two encodings",
        make_pipeline(
            FeatureUnion(
                [
                    ("one", make_column_transformer((StandardScaler(), NUMBERS))),
                    ("two", make_column_transformer((OneHotEncoder(), TEXT), (KBinsDiscretizer(3), ["age"]))),
                ]
            ),
            logistic(),
        ),
        "linear",
    ),
    on_table("pipeline, naive bayes", make_pipeline(encoder(sparse_threshold=0), naive_bayes.GaussianNB()), "additive"),
    on_table(
        "pipeline, principal components",
        make_pipeline(encoder(sparse_threshold=0), PCA(3), logistic()),
        "black box",
        warns=True,
    ),
    on_table(
        "pipeline, products of columns",
        make_pipeline(
            encoder(sparse_threshold=0), PolynomialFeatures(2), linear_model.LogisticRegression(max_iter=5000)
        ),
        "black box",
        warns=True,
    ),
    on_table("pipeline, neighbours", make_pipeline(encoder(), KNeighborsClassifier(7)), "black box", warns=True),
]

WRAPPERS = [
    on_table("search over a pipeline", GridSearchCV(make_pipeline(encoder(), logistic()), {}, cv=3), "linear"),
    on_table(
        "calibrated by a sigmoid",
        CalibratedClassifierCV(make_pipeline(encoder(), svm.LinearSVC(random_state=0)), ensemble=False, cv=3),
        "linear",
    ),
    on_table(
        "calibrated isotonically",
        make_pipeline(encoder(), CalibratedClassifierCV(logistic(), method="isotonic", ensemble=False, cv=3)),
        "linear",
    ),
    on_table(
        "calibrated ensemble",
        CalibratedClassifierCV(make_pipeline(encoder(), logistic()), ensemble=True, cv=3),
        "black box",
        warns=True,
    ),
    on_table(
        "fixed threshold", FixedThresholdClassifier(make_pipeline(encoder(), logistic()), threshold=0.3), "linear"
    ),
    on_table("tuned threshold", TunedThresholdClassifierCV(make_pipeline(encoder(), logistic()), cv=3), "linear"),
    on_table(
        "tuned threshold of decisions",
        make_pipeline(encoder(), TunedThresholdClassifierCV(svm.LinearSVC(random_state=0), cv=3)),
        "linear",
    ),
]


def product_and_sum(rows: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-(rows[:, 0] * rows[:, 1] + rows[:, 2] - np.abs(rows[:, 3]))))


def _callable() -> tuple[Any, Any, np.ndarray]:
    X, y = numbers()
    return product_and_sum, X, y


def _three_classes() -> tuple[Any, Any, np.ndarray]:
    X, y = numbers()
    labels = np.where(X[:, 1] > 0, "top", np.where(y == 1, "mid", "low"))
    return logistic().fit(X, labels), X, labels


BLACK_BOXES = [
    Case("callable", _callable, "black box", score=lambda model, rows: model(rows)),
    Case("three classes", _three_classes, "black box", options={"target": "top"}, warns=True),
    on_numbers("neighbours", KNeighborsClassifier(5), "black box", warns=True),
]

SMALL = {"n_estimators": 12, "max_depth": 3, "random_state": 0}


def on_library(key: str, make: Callable[[np.ndarray, np.ndarray], Any], backend: str = "trees", **known: Any) -> Case:
    """The case of a model that is fitted by a function of rows and labels; skipped where its library is missing."""

    def fitted() -> tuple[Any, Any, np.ndarray]:
        package = key.partition(".")[0]
        pytest.importorskip({"sev": "torch"}.get(package, package), reason=f"{package} is not installed")
        X, y = numbers()
        return make(X, y), X, y

    return Case(key, fitted, backend, (key,), **known)


def _xgboost(X: np.ndarray, y: np.ndarray) -> Any:
    import xgboost

    return xgboost.XGBClassifier(**SMALL, n_jobs=1).fit(X, y)


def _xgboost_booster(X: np.ndarray, y: np.ndarray) -> Any:
    import xgboost

    options = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    return xgboost.train(options, xgboost.DMatrix(X, y), 12)


def _xgboost_score(model: Any, rows: np.ndarray) -> np.ndarray:
    import xgboost

    return model.predict(xgboost.DMatrix(rows)).astype(float)


def _lightgbm(X: np.ndarray, y: np.ndarray) -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(**SMALL, n_jobs=1, verbose=-1).fit(X, y)


def _lightgbm_booster(X: np.ndarray, y: np.ndarray) -> Any:
    import lightgbm

    options = {"objective": "binary", "max_depth": 3, "num_threads": 1, "verbose": -1}
    return lightgbm.train(options, lightgbm.Dataset(X, y), 12)


def _catboost(X: np.ndarray, y: np.ndarray) -> Any:
    import catboost

    options = {"iterations": 12, "depth": 3, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    return catboost.CatBoostClassifier(**options, random_seed=0).fit(X, y)


def _treelite(X: np.ndarray, y: np.ndarray) -> Any:
    import treelite

    return treelite.sklearn.import_model(ensemble.RandomForestClassifier(10, max_depth=5, random_state=0).fit(X, y))


def _treelite_score(model: Any, rows: np.ndarray) -> np.ndarray:
    import treelite

    return treelite.gtil.predict(model, rows, nthread=1)[:, 0, 1]


def _explainable_boosting(X: np.ndarray, y: np.ndarray) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    options = {"max_bins": 8, "outer_bags": 1, "max_rounds": 30, "n_jobs": 1, "random_state": 0}
    return ExplainableBoostingClassifier(interactions=0, **options).fit(X, y)


def _passive_aggressive(X: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated by scikit-learn
        return linear_model.PassiveAggressiveClassifier(random_state=0).fit(X, y)


def _sequential(n_columns: int) -> Any:
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(n_columns, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).eval()


def _module_score(model: Any, rows: np.ndarray) -> np.ndarray:
    import torch

    with torch.no_grad():
        outputs = model(torch.as_tensor(rows.copy(), dtype=torch.float32)).numpy()[:, 0]
    return 1.0 / (1.0 + np.exp(-outputs.astype(float)))


def _torch_classifier(X: np.ndarray, y: np.ndarray) -> Any:
    from sev.libraries.torch import TorchClassifier

    return TorchClassifier(_sequential(X.shape[1]))


def _skorch(binary: bool) -> Callable[[np.ndarray, np.ndarray], Any]:
    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        import skorch
        import torch

        torch.manual_seed(0)
        last = torch.nn.Linear(8, 1 if binary else 2)
        module = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 8), torch.nn.Tanh(), last).double()
        options = {"max_epochs": 3, "lr": 0.1, "train_split": None, "verbose": 0}
        if binary:
            return skorch.NeuralNetBinaryClassifier(module, **options).fit(X, y.astype(float))
        return skorch.NeuralNetClassifier(module, criterion=torch.nn.CrossEntropyLoss, **options).fit(X, y)

    return fit


def _mlp(X: np.ndarray, y: np.ndarray) -> Any:
    model = MLPClassifier((8,), learning_rate_init=0.02, random_state=0)
    for _ in range(40):  # partial_fit, which does not warn about convergence
        model.partial_fit(X, y, classes=[0, 1])
    return model


TREES = [
    on_numbers("decision tree", tree.DecisionTreeClassifier(max_depth=5, random_state=0), "trees"),
    on_numbers("extra tree", tree.ExtraTreeClassifier(max_depth=5, random_state=0), "trees"),
    on_numbers("forest", ensemble.RandomForestClassifier(10, max_depth=5, random_state=0), "trees"),
    on_numbers("extra trees", ensemble.ExtraTreesClassifier(10, max_depth=5, random_state=0), "trees"),
    on_numbers("bagging", ensemble.BaggingClassifier(n_estimators=8, random_state=0), "trees"),
    on_numbers("ada boost", ensemble.AdaBoostClassifier(n_estimators=10, random_state=0), "trees"),
    on_numbers("gradient boosting", ensemble.GradientBoostingClassifier(**SMALL), "trees"),
    on_numbers("hist gradient boosting", ensemble.HistGradientBoostingClassifier(max_iter=12, random_state=0), "trees"),
    on_library("xgboost.XGBClassifier", _xgboost),
    on_library("xgboost.Booster", _xgboost_booster, score=_xgboost_score),
    on_library("lightgbm.LGBMClassifier", _lightgbm),
    on_library("lightgbm.Booster", _lightgbm_booster, score=lambda model, rows: model.predict(rows)),
    on_library("catboost.CatBoostClassifier", _catboost),
    on_library("treelite.Model", _treelite, score=_treelite_score),
]

NETWORKS = [
    on_library("sklearn.MLPClassifier", _mlp, "networks"),
    on_library("torch.Module", lambda X, y: _sequential(X.shape[1]), "networks", score=_module_score, rtol=1e-5),
    on_library("sev.TorchClassifier", _torch_classifier, "networks", rtol=1e-5),
    on_library("skorch.NeuralNetClassifier", _skorch(False), "networks"),
    on_library("skorch.NeuralNetBinaryClassifier", _skorch(True), "networks"),
]

OTHERS = [
    on_library("interpret.ExplainableBoostingClassifier", _explainable_boosting, "additive"),
    on_library("sklearn.PassiveAggressiveClassifier", _passive_aggressive, "linear"),
]

CASES = LINEAR + ADDITIVE + PIPELINES + WRAPPERS + BLACK_BOXES + TREES + NETWORKS + OTHERS
