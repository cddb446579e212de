"""Which reader knows which model: the only file that knows every family.

Keys are ``"package.Class"``, the first part of a class's module and its name, so that no model library is imported
here. A subclass goes to the reader of its nearest registered ancestor, unless it overrides how that one scores rows,
and must prove itself like any other.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sev.backends._overrides import refuse_overrides

#: Read from what it does with a row, not from what its class is: its own `forward` is no deviation.
_READ_BY_TRACING = frozenset({"torch.Module"})

_READERS: dict[str, str] = {}
_SCORERS: dict[str, str] = {}


def register(model_key: str, reader: str) -> None:
    """Send models called ``"package.Class"`` to the reader ``"module:function"``, importing neither."""
    if _READERS.setdefault(model_key, reader) != reader:
        raise ValueError(f"{model_key!r} already goes to {_READERS[model_key]!r}")


def register_scorer(model_key: str, scorer: str) -> None:
    """Name the function that scores rows for models without ``predict_proba`` and ``decision_function``.

    ``"module:function"`` takes the model and gives a callable from rows to scores: one column, the score of the
    positive class, or one column a class.
    """
    if _SCORERS.setdefault(model_key, scorer) != scorer:
        raise ValueError(f"{model_key!r} is already scored by {_SCORERS[model_key]!r}")


def reader_for(model: object) -> Any | None:
    """The reader of a model's class or nearest ancestor, None when there is none.

    Raises
    ------
    CannotReadError
        When the model's class overrides how that ancestor scores rows.
    """
    found = _look_up(model, _READERS)
    if found is None:
        return None
    key, ancestor, reader = found
    if key not in _READ_BY_TRACING:
        refuse_overrides(model, ancestor)
    return reader


def scorer_for(model: object) -> Any | None:
    """The scorer of a model's class or nearest ancestor, None when there is none."""
    found = _look_up(model, _SCORERS)
    return None if found is None else found[2]


def registered_models() -> tuple[str, ...]:
    """All model keys that have a reader."""
    return tuple(_READERS)


def _look_up(model: object, table: dict[str, str]) -> tuple[str, type, Any] | None:
    """Key, class and function of the nearest ancestor in a table."""
    for cls in type(model).__mro__:
        key = f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
        route = table.get(key)
        if route is not None:
            module, _, function = route.partition(":")
            return key, cls, getattr(import_module(module), function)
    return None


# --- linear and additive models ---------------------------------------------------------------------------------------
_READERS |= dict.fromkeys(
    [
        "sklearn.LogisticRegression",
        "sklearn.LogisticRegressionCV",
        "sklearn.RidgeClassifier",
        "sklearn.RidgeClassifierCV",
        "sklearn.LinearSVC",
        "sklearn.Perceptron",
        "sklearn.PassiveAggressiveClassifier",
        "sklearn.LinearDiscriminantAnalysis",
    ],
    "sev.backends.linear._from_sklearn:read_linear",
)
register("sklearn.SGDClassifier", "sev.backends.linear._from_sklearn:read_sgd")
register("sklearn.SVC", "sev.backends.linear._from_sklearn:read_svc")
register("sklearn.GaussianNB", "sev.backends.linear._additive:read_gaussian_nb")
register("sklearn.BernoulliNB", "sev.backends.linear._additive:read_bernoulli_nb")
register("sklearn.CategoricalNB", "sev.backends.linear._additive:read_categorical_nb")
register("sklearn.MultinomialNB", "sev.backends.linear._additive:read_multinomial_nb")
register("interpret.ExplainableBoostingClassifier", "sev.backends.linear._additive:read_explainable_boosting")

# --- tree ensembles ---------------------------------------------------------------------------------------------------
_SKLEARN_TREES = "sev.backends.trees._from_sklearn"
for _name in ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees", "Bagging"):
    register(f"sklearn.{_name}Classifier", f"{_SKLEARN_TREES}:read_mean")
register("sklearn.GradientBoostingClassifier", f"{_SKLEARN_TREES}:read_gradient_boosting")
register("sklearn.HistGradientBoostingClassifier", f"{_SKLEARN_TREES}:read_hist_gradient_boosting")
register("sklearn.AdaBoostClassifier", f"{_SKLEARN_TREES}:read_ada_boost")
for _package, _classifier in (("xgboost", "XGBClassifier"), ("lightgbm", "LGBMClassifier")):
    _module = f"sev.backends.trees._from_{_package}"
    register(f"{_package}.{_classifier}", f"{_module}:read_classifier")
    register(f"{_package}.Booster", f"{_module}:read_booster")
    register_scorer(f"{_package}.Booster", f"{_module}:booster_scorer")
register("catboost.CatBoostClassifier", "sev.backends.trees._from_catboost:read_classifier")

# --- networks ---------------------------------------------------------------------------------------------------------
register("sklearn.MLPClassifier", "sev.backends.networks:from_sklearn")
register("torch.Module", "sev.backends.networks:from_torch")
register("sev.TorchClassifier", "sev.backends.networks:from_torch_classifier")
register("skorch.NeuralNetClassifier", "sev.backends.networks:from_skorch")
register("skorch.NeuralNetBinaryClassifier", "sev.backends.networks:from_skorch")
register_scorer("torch.Module", "sev.backends.networks:torch_scorer")
