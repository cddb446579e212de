"""From a fitted model to one whose decisions need fewer reasons, at a cost that the user sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from sev.core import list_names, tuple_of_names
from sev.exceptions import InputError, TrainingError, TrainingWarning
from sev.training._building import TaskBuilder
from sev.training._floors import Limits, floors_of, share_of_positives
from sev.training._path import PathWalker, Rows
from sev.training._progress import progress_bar
from sev.training._record import OptimizationRecord
from sev.training._settings import Parameters, Settings, settings_for
from sev.training._tuning import Tuner, tunable
from sev.training._weights import check_sample_weight, combine_weights
from sev.typing import ColumnLabel, FittedClassifier, IntArray, NativeTable, Objective

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sev.references import ReferenceLike
    from sev.training._floors import Metrics
    from sev.training._weights import ClassWeight


_PENALTIES = {"volume": (0.01, 0.03, 0.1)}
_DEFAULT_PENALTIES = (0.1, 0.3, 1.0, 3.0)
#: A validation part with fewer rows is noise: below it, cross-validation.
_ENOUGH_ROWS = 600
#: A mean SEV this close to 1, the least there is, is not worth training for.
_LEAST_GAIN = 0.01


def optimize(
    model: FittedClassifier,
    X: NativeTable,
    y: ArrayLike,
    *,
    objective: Objective = "minus",
    metric: Metrics = None,
    max_metric_loss: float = 0.005,
    max_accuracy_loss: float | None = None,
    max_rate_change: float = 0.1,
    penalties: Iterable[float] | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: ClassWeight = None,
    restricted: Iterable[str] = (),
    groups: Mapping[str, Sequence[ColumnLabel]] | None = None,
    reference: ReferenceLike = "mean",
    grow: int = 0,
    max_rows: int | None = 1000,
    random_state: int = 0,
    verbose: bool | None = None,
) -> tuple[BaseEstimator, OptimizationRecord]:
    """Tune a fitted model so that its decisions need fewer reasons, within limits on the loss of accuracy.

    Growing penalties are tried on copies of the model that are fitted again on a part of the rows and measured on the
    rest (on small data by cross-validation). Of the penalties that keep the metrics, the share of positive predictions
    and a negative reference, the one with the lowest mean SEV is then applied to the model itself, on all rows. Where
    every decision has one reason already, that is reported at once, without any training.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        On raw rows; logistic regression, ``MLPClassifier``, or boosted trees of scikit-learn, XGBoost, LightGBM or
        CatBoost, also on category columns. It is not changed.
    X, y : table of shape (n_rows, n_columns) and labels
        The rows that the model was trained on.
    objective : {"minus", "plus", "both", "volume"}, default="minus"
        Which explanations should be short.
    metric : str, callable, list of these, or mapping of these to float, default=None
        Metrics whose loss is limited: a scorer of scikit-learn such as "roc_auc" or "balanced_accuracy", or a function
        ``scorer(model, X, y)`` whose larger values are better. A mapping sets how much each may lose. None: accuracy.
    max_metric_loss : float, default=0.005
        Largest loss of each metric, where ``metric`` is not a mapping.
    max_accuracy_loss : float, default=None
        Largest loss of accuracy. None is 0.005, or no limit where ``metric`` is passed.
    max_rate_change : float, default=0.1
        Largest relative change of the share of positive predictions: 0.1 is a tenth.
    penalties : iterable of float, default=None
        Weights of the SEV term to try; None is 0.1, 0.3, 1 and 3, or 0.01, 0.03 and 0.1 for "volume".
    sample_weight : array-like of shape (n_rows,), default=None
        Weight of each row in training and in every figure; pass those that the model was fitted with.
    class_weight : dict or "balanced", default=None
        Weight of each class in training, not in the figures.
    restricted, groups, reference
        As for :class:`sev.Explainer`. With several reference rows, as of ``sev.references.Clusters(5)``, each row is
        trained against the one that it would be explained with.
    grow : int, default=0
        Trees to add to a ``GradientBoostingClassifier``; see :class:`sev.SEVGradientBoostingClassifier`.
    max_rows : int, default=1000
        Explain at most this many positive predictions of a validation part; None: all.
    random_state : int, default=0
        Seed of splits and training.
    verbose : bool, default=None
        Show a bar; None: on a terminal or in a notebook, once it takes more than three seconds.

    Returns
    -------
    model : object
        Of the same class and interface. When no penalty is acceptable and better, it is the model as it was, with a
        warning.
    record : OptimizationRecord
        The whole path, the choice, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> import sev
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 4))
    >>> y = (X.sum(axis=1) + rng.normal(size=400) > 0).astype(int)
    >>> model = LogisticRegression().fit(X, y)
    >>> better, record = sev.optimize(model, X, y, max_accuracy_loss=0.05, penalties=[1.0])
    >>> type(better).__name__, len(record.path)
    ('LogisticRegression', 2)
    """
    model, family = tunable(model)
    names = tuple_of_names(restricted, "restricted")
    builder = TaskBuilder(reference=reference, groups=groups, restricted=names, objective=objective)
    limits = Limits(floors_of(model, metric, max_metric_loss, max_accuracy_loss), max_rate_change)
    weights = _check_penalties(penalties, objective)
    given: Parameters = {"objective": objective, "schedule": "recipe", "grow": grow, "max_rate_change": max_rate_change}
    # the guard at full strength, restricted features or not: the share of positives is a limit here
    settings = {one: settings_for(family, {**given, "sev_penalty": one}, random_state) for one in weights}
    labels = _check_labels(model, y, len(X))
    measured = check_sample_weight(sample_weight, len(X))
    rows = Rows(X, labels, combine_weights(measured, class_weight, labels), measured)
    splits, validation = _split_rows(labels, random_state)
    tuner = Tuner.of(model, X, labels, builder, weights=rows.training_weights)
    walker = PathWalker(model, rows, builder, objective, limits.floors, max_rows)
    start = walker.measure_start()
    hopeless = _why_hopeless(start.lines.loc[0.0])
    if hopeless:
        record = OptimizationRecord(
            objective,
            limits.judge(start.lines),
            None,
            f"The model is returned unchanged: {hopeless}.",
            "the model's own training rows",
            walker.measure_against([start], None),
        )
        warnings.warn(record.reason, TrainingWarning, stacklevel=2)
        return model, record
    with progress_bar(len(splits) * (1 + len(weights)), "penalty path", "model", verbose) as bar:
        found = [walker.walk(split, settings, bar) for split in splits]
    path = limits.judge(pd.concat([one.lines for one in found]).groupby(level=0, sort=True).mean())
    chosen, tuned, notes = _tune_on_all_rows(tuner, rows, path, settings, limits)
    against = walker.measure_against(found, chosen)
    record = OptimizationRecord(objective, path, chosen, _tell_reason(path, chosen, limits, notes), validation, against)
    if chosen is None:
        warnings.warn(record.reason, TrainingWarning, stacklevel=2)
    return tuned, record


def _why_hopeless(line: pd.Series) -> str:
    """Why no training can shorten the explanations of a model, empty where it may."""
    if line["positive_rate"] == 0.0:
        return "it predicts no row positive, so there is no decision to explain"
    if line["sev"] < 1.0 + _LEAST_GAIN and not line["reference_positive"] and not line["unexplainable"]:
        return f"its mean SEV is already {line['sev']:.3f}, and no explanation is shorter than 1"
    return ""


def _tune_on_all_rows(
    tuner: Tuner, rows: Rows, path: pd.DataFrame, settings: dict[float, Settings], limits: Limits
) -> tuple[float | None, FittedClassifier, list[str]]:
    """Tune the model itself with the best acceptable penalty that is not degenerate on all rows either."""
    base_sev = path.loc[0.0, "sev"]
    candidates = path[path["acceptable"] & (path.index > 0.0)].sort_values("sev", kind="stable")
    notes: list[str] = []
    for penalty, line in candidates.iterrows():
        # where the reference was positive, SEV+ had no meaning and any acceptable model is better
        if not line["sev"] < base_sev and not path.loc[0.0, "reference_positive"]:
            break
        try:
            tuned = tuner.tune(settings[float(penalty)])
        except TrainingError as error:
            notes.append(f"penalty {penalty:g} on all rows: {error}")
            continue
        fault = _find_degeneracy(tuned, tuner, rows, limits)
        if not fault:
            return float(penalty), tuned, notes
        notes.append(f"penalty {penalty:g} on all rows: {fault}")
    return None, tuner.model, notes


def _find_degeneracy(tuned: FittedClassifier, tuner: Tuner, rows: Rows, limits: Limits) -> str:
    before, after = (np.asarray(one.predict_proba(rows.X))[:, 1] >= 0.5 for one in (tuner.model, tuned))
    if not after.any():
        return "no row is predicted positive"
    shares = [share_of_positives(decisions, rows.weights) for decisions in (before, after)]
    if not limits.keeps_rate(*shares):
        return f"share of positives {shares[0]:.3f} -> {shares[1]:.3f}"
    if tuner.reference_score(tuned) >= 0.5:
        return "the reference is predicted positive"
    return ""


def _tell_reason(path: pd.DataFrame, chosen: float | None, limits: Limits, notes: list[str]) -> str:
    base = path.loc[0.0]
    added = f" ({'; '.join(notes)})" if notes else ""
    if chosen is not None:
        line = path.loc[chosen]
        kept = limits.changes(base, line)
        return (
            f"Penalty {chosen:g}: mean SEV {base['sev']:.3f} -> {line['sev']:.3f}, {kept + ', ' if kept else ''}"
            f"share of positives {base['positive_rate']:.3f} -> {line['positive_rate']:.3f}{added}."
        )
    refused = [f"{penalty:g}: {line['why']}" for penalty, line in path.iterrows() if line["why"]]
    why = f"rejected were {'; '.join(refused)}" if refused else "none lowers the mean SEV"
    kept = (
        f"keeps {limits.describe()} and lowers the mean SEV"
        if limits.floors
        else "within the limits lowers the mean SEV"
    )
    return f"The model is returned unchanged: no penalty {kept}; {why}{added}."


def _check_penalties(penalties: Iterable[float] | None, objective: str) -> tuple[float, ...]:
    if penalties is None:
        return _PENALTIES.get(objective, _DEFAULT_PENALTIES)
    try:
        given = tuple(sorted({float(one) for one in penalties}))
    except (TypeError, ValueError) as error:
        raise InputError(f"penalties={penalties!r} must be a list of numbers, all above 0.") from error
    if not given or not all(np.isfinite(one) and one > 0.0 for one in given):
        raise InputError(f"penalties={list(given)} must hold at least one number, all above 0.")
    return given


def _check_labels(model: FittedClassifier, y: ArrayLike, n_rows: int) -> np.ndarray:
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != n_rows:
        raise InputError(f"y has shape {labels.shape} but X has {n_rows} rows: pass one label for each row.")
    given, known = pd.unique(labels).tolist(), np.asarray(model.classes_).tolist()
    strange = sorted(set(given) - set(known), key=str)
    if strange:
        raise InputError(f"y holds {list_names(strange, 5)}, but the classes of the model are {known}.")
    if len(given) < 2:
        raise InputError(f"Only one class in y, {given[0]!r}: two classes are needed.")
    return labels


def _split_rows(labels: np.ndarray, seed: int) -> tuple[list[tuple[IntArray, IntArray]], str]:
    if len(labels) * 0.25 >= _ENOUGH_ROWS:
        splitter = StratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
        said = "a held-out quarter of the rows"
    else:
        folds = int(min(5, pd.Series(labels).value_counts().min()))
        if folds < 2:
            raise InputError("One class has a single row: validation needs at least two rows of each class.")
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        said = f"{folds}-fold cross-validation"
    pairs: Iterator[tuple[IntArray, IntArray]] = splitter.split(np.zeros(len(labels)), labels)
    return list(pairs), said
