"""Fitted models that between them hold every type that a saved model may hold."""

import contextlib
import inspect
import warnings

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2, f_classif, mutual_info_classif
from sklearn.gaussian_process import GaussianProcessClassifier, kernels
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sev.files._trusted import is_public_estimator

_QUIET_CAT = {"verbose": 0, "allow_writing_files": False}
COLUMNS = ["age", "income", "debt"]


def numbers(n_rows=120, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 3)).round(3)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def table(n_rows=120, seed=0):
    X, y = numbers(n_rows, seed)
    frame = pd.DataFrame(X, columns=COLUMNS)
    frame["home"] = np.where(X[:, 2] > 0, "own", "rent")
    return frame, y


def texts(n_rows=60):
    generator = np.random.default_rng(0)
    words = generator.choice(["loan", "car", "house", "late"], size=(n_rows, 3))
    frame = pd.DataFrame({"why": [" ".join(row) for row in words], "n": generator.normal(size=n_rows)})
    return frame, np.array([int("late" in row) for row in frame["why"]])


def three_classes():
    X, _ = numbers()
    return X, np.digitize(X[:, 0], [-0.5, 0.5])


def encoder():
    return make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["home"]), (StandardScaler(), COLUMNS))


def _gaussian(kernel):
    return lambda: (GaussianProcessClassifier(kernel, optimizer=None), *numbers(30))


def _pipe(*steps):
    return lambda: (make_pipeline(*steps), *numbers())


def _tuned(scoring):
    return lambda: (TunedThresholdClassifierCV(LogisticRegression(), cv=2, scoring=scoring), *numbers())


def _boost(library, kind, **options):
    def make():
        import importlib

        return getattr(importlib.import_module(library), kind)(n_estimators=4, **options), *numbers()

    return make


def _own(kind, **options):
    def make():
        import sev

        return getattr(sev, kind)(random_state=0, **options), *table(150)

    return make


def _ebm():
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(max_rounds=20, interactions=1, n_jobs=1, random_state=0), *table(200)


def _catboost_categories():
    from catboost import CatBoostClassifier

    frame, y = table(300)
    model = CatBoostClassifier(iterations=4, depth=3, cat_features=["home", "town"], random_seed=0, **_QUIET_CAT)
    towns = np.random.default_rng(0).choice([f"t{number}" for number in range(8)], 300)
    return model, frame[["home", "age"]].assign(town=towns), (towns < "t4") ^ (y > 0)


def _catboost_lopsided():
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=4, grow_policy="Lossguide", max_leaves=6, **_QUIET_CAT), *numbers(300)


def _catboost_core():
    from catboost import CatBoost

    return CatBoost(
        {"iterations": 4, "verbose": 0, "allow_writing_files": False, "loss_function": "Logloss"}
    ), *numbers()


ZOO = {
    "linear": lambda: (make_pipeline(encoder(), LogisticRegression()), *table()),
    "tree": lambda: (DecisionTreeClassifier(max_depth=3, random_state=0), *numbers()),
    "forest": lambda: (RandomForestClassifier(3, max_depth=3, random_state=0), *numbers()),
    "extra trees": lambda: (ExtraTreesClassifier(3, max_depth=3, random_state=0), *numbers()),
    "boosting": lambda: (GradientBoostingClassifier(n_estimators=3, random_state=0), *numbers()),
    "boosting of three": lambda: (GradientBoostingClassifier(n_estimators=3, random_state=0), *three_classes()),
    "histogram": lambda: (HistGradientBoostingClassifier(max_iter=3, random_state=0), *numbers()),
    "histogram of three": lambda: (HistGradientBoostingClassifier(max_iter=3, random_state=0), *three_classes()),
    "bagging": lambda: (BaggingClassifier(DecisionTreeClassifier(max_depth=2), 3, random_state=0), *numbers()),
    "adaboost": lambda: (AdaBoostClassifier(n_estimators=3, random_state=0), *numbers()),
    "stacking": lambda: (
        StackingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=2))], cv=2),
        *numbers(),
    ),
    "voting": lambda: (
        VotingClassifier([("a", LogisticRegression()), ("b", KNeighborsClassifier())], voting="soft"),
        *numbers(),
    ),
    "sigmoid": lambda: (CalibratedClassifierCV(LogisticRegression(), cv=2), *numbers()),
    "isotonic": lambda: (
        CalibratedClassifierCV(DecisionTreeClassifier(max_depth=2), method="isotonic", cv=2),
        *numbers(),
    ),
    "temperature": lambda: (CalibratedClassifierCV(LogisticRegression(), method="temperature", cv=2), *three_classes()),
    "kd tree": lambda: (KNeighborsClassifier(algorithm="kd_tree", leaf_size=5), *numbers()),
    "kd tree, manhattan": lambda: (KNeighborsClassifier(algorithm="kd_tree", metric="manhattan"), *numbers()),
    "ball tree": lambda: (KNeighborsClassifier(algorithm="ball_tree", p=3, leaf_size=5), *numbers()),
    "brute neighbours": lambda: (KNeighborsClassifier(algorithm="brute"), *numbers()),
    "imputed neighbours": _pipe(KNNImputer(), LogisticRegression()),
    "vectors": lambda: (SVC(), *numbers()),
    "vectors of three": lambda: (SVC(), *three_classes()),
    "network": lambda: (MLPClassifier((4,), max_iter=30, random_state=0), *numbers()),
    "network, sgd": lambda: (MLPClassifier((4,), max_iter=30, solver="sgd", random_state=0), *numbers()),
    "gradient descent": lambda: (SGDClassifier(loss="log_loss", random_state=0), *numbers()),
    "discriminant": lambda: (LinearDiscriminantAnalysis(), *numbers()),
    "one or rest": lambda: (OneVsRestClassifier(LogisticRegression()), numbers()[0], np.ones(120, dtype=int) * 1),
    "chi2": _pipe(FunctionTransformer(np.abs), SelectKBest(chi2, k=2), LogisticRegression()),
    "f": _pipe(SelectKBest(f_classif, k=2), LogisticRegression()),
    "mutual information": _pipe(SelectKBest(mutual_info_classif, k=2), LogisticRegression()),
    "imputed": _pipe(SimpleImputer(), LogisticRegression()),
    "selected columns": lambda: (
        make_pipeline(
            ColumnTransformer(
                [("n", StandardScaler(), make_column_selector(dtype_include=np.number))],
                remainder=OrdinalEncoder(dtype=np.float32),
            ),
            LogisticRegression(),
        ),
        *table(),
    ),
    "words": lambda: (
        make_pipeline(ColumnTransformer([("w", CountVectorizer(), "why")]), LogisticRegression()),
        *texts(),
    ),
    "weighted words": lambda: (
        make_pipeline(ColumnTransformer([("w", TfidfVectorizer(), "why")]), LogisticRegression()),
        *texts(),
    ),
    "fixed threshold": lambda: (FixedThresholdClassifier(LogisticRegression(), threshold=0.4), *numbers()),
    "tuned threshold": lambda: (TunedThresholdClassifierCV(LogisticRegression(), cv=2), *numbers()),
    **{f"tuned threshold, {name}": _tuned(name) for name in ("f1", "accuracy")},
    "gaussian process": _gaussian(kernels.ConstantKernel() * kernels.RBF() + kernels.WhiteKernel()),
    "gaussian process, matern": _gaussian(kernels.Matern()),
    "gaussian process, dot": _gaussian(kernels.DotProduct()),
    "gaussian process, quadratic": _gaussian(kernels.RationalQuadratic()),
    "gaussian process of three": lambda: (GaussianProcessClassifier(optimizer=None), *three_classes()),
    "xgboost": _boost("xgboost", "XGBClassifier", max_depth=2),
    "xgboost forest": _boost("xgboost", "XGBRFClassifier", max_depth=2),
    "lightgbm": _boost("lightgbm", "LGBMClassifier", num_leaves=4, verbose=-1),
    "catboost": _boost("catboost", "CatBoostClassifier", depth=2, **_QUIET_CAT),
    "catboost with categories": _catboost_categories,
    "catboost, lopsided": _catboost_lopsided,
    "catboost core": _catboost_core,
    "explainable boosting": _ebm,
    "own logistic": _own("SEVLogisticRegression", max_iter=5),
    "own network": _own("SEVMLPClassifier", max_iter=5),
    "own boosting": _own(
        "SEVGradientBoostingClassifier",
        max_iter=5,
        base_estimator=GradientBoostingClassifier(n_estimators=3, max_depth=2),
    ),
}


def fitted(name):
    """A fitted model of the zoo and its rows and labels."""
    model, X, y = ZOO[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y), X, y


# -- every public estimator of scikit-learn ----------------------------------------------------------------------------


def estimator_names():
    """Full names of scikit-learn's public estimators."""
    # whether these are listed must not depend on what else has been imported
    from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
    from sklearn.utils import all_estimators

    found = {f"{kind.__module__}.{kind.__name__}": kind for _, kind in all_estimators()}
    return {name: kind for name, kind in found.items() if is_public_estimator(name)}


def _arguments(kind):
    """Arguments for estimators that have no defaults for all."""
    tree = DecisionTreeClassifier(max_depth=2)
    wanted = set(inspect.signature(kind.__init__).parameters)
    given = {
        "estimator": LogisticRegression() if "Classifier" in kind.__name__ or "Search" in kind.__name__ else tree,
        "estimators": [("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=2))],
        "transformers": [("a", StandardScaler(), [0, 1])],
        "transformer_list": [("a", StandardScaler())],
        "steps": [("s", StandardScaler()), ("m", LogisticRegression())],
        "param_grid": {"C": [0.1, 1.0]},
        "param_distributions": {"C": [0.1, 1.0]},
        "dictionary": np.eye(3),
        "n_estimators": 3,
        "max_iter": 20,
        "n_components": 2,
        "cv": 2,
    }
    return {name: value for name, value in given.items() if name in wanted}


def unfitted(kind):
    """An estimator of a kind with small settings."""
    for options in (_arguments(kind), {}):
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some are deprecated
            return kind(**options)
    return kind.__new__(kind)


def estimator(kind):
    """An estimator of a kind, fitted if that can be done on small rows of numbers, and rows that it takes."""
    X, y = numbers(60)
    model = unfitted(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [(X, y), (abs(X), y), (X[:, 0], y), (X[:, :1], y), (X, np.column_stack([y, 1 - y])), (_words(), y)]
        for rows, labels in pairs:
            with contextlib.suppress(Exception):
                return kind(**model.get_params(deep=False)).fit(rows, labels), rows
    return model, X


def _words():
    return [" ".join(row) for row in np.random.default_rng(0).choice(["a1", "b1", "c1"], size=(60, 3))]
