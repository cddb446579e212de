"""From a fitted model to one whose decisions need fewer reasons, at a cost that the user sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from tqdm.auto import tqdm

from sev.exceptions import InputError, TrainingError, TrainingWarning
from sev.training._quality import Measure
from sev.training._record import OptimizationRecord
from sev.training._settings import Family, Settings, settings_for
from sev.training._tuning import Tuner, checked_names, tunable
from sev.typing import IntArray, Kind, NativeTable

_KINDS: dict[str, tuple[Kind, ...]] = {
    "plus": ("plus",),
    "volume": ("plus",),
    "minus": ("minus",),
    "both": ("plus", "minus"),
}
_PENALTIES = {"volume": (0.01, 0.03, 0.1)}
_DEFAULT_PENALTIES = (0.1, 0.3, 1.0, 3.0)
#: A validation part with fewer rows is noise: below it, cross-validation.
_ENOUGH_ROWS = 600


def optimize(
    model: Any,
    X: NativeTable,
    y: Any,
    *,
    objective: str = "minus",
    max_accuracy_loss: float = 0.005,
    max_rate_change: float = 0.1,
    penalties: Iterable[float] | None = None,
    restricted: Iterable[str] = (),
    groups: Mapping[str, Sequence[Any]] | None = None,
    reference: Any = "mean",
    grow: int = 0,
    max_rows: int | None = 1000,
    random_state: int = 0,
    verbose: bool = False,
) -> tuple[Any, OptimizationRecord]:
    """Tune a fitted model so that its decisions need fewer reasons, within a floor on accuracy.

    A path of growing penalties is tried on copies of the model that are fitted afresh on a part of the rows and
    measured on the rest (on small data by cross-validation). The penalty with the lowest mean SEV among those that
    keep accuracy, the share of positive predictions and a negative reference is then applied to the model itself, on
    all rows.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        On raw rows; logistic regression, ``MLPClassifier``, or boosted trees of scikit-learn, XGBoost or LightGBM. It
        is not changed.
    X, y : table of shape (n_rows, n_columns) and labels
        The rows that the model was trained on.
    objective : {"minus", "plus", "both", "volume"}, default="minus"
        Which explanations should be short.
    max_accuracy_loss : float, default=0.005
        Accuracy that may be given up.
    max_rate_change : float, default=0.1
        How much the share of positive predictions may change, as a share of itself.
    penalties : iterable of float, default=None
        Weights of the SEV term to try; None is 0.1, 0.3, 1 and 3, or 0.01, 0.03 and 0.1 for "volume".
    restricted, groups, reference
        As for :class:`sev.Explainer`.
    grow : int, default=0
        Trees to add to a ``GradientBoostingClassifier``; see :class:`sev.SEVGradientBoostingClassifier`.
    max_rows : int, default=1000
        Explain at most this many positive predictions of a validation part; None: all.
    random_state : int, default=0
        Seed of splits and training.
    verbose : bool, default=False
        Show a bar.

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
    tuner = Tuner(reference=reference, groups=groups, restricted=checked_names(restricted))
    limits = _Limits(max_accuracy_loss, max_rate_change)
    weights = _checked_penalties(penalties, objective)
    settings = [_settings(family, objective, weight, grow, random_state) for weight in weights]
    labels = _labels(model, y, len(X))
    splits, validation = _splits(labels, random_state)
    tuner.check(model, X, labels)
    found = []
    with tqdm(total=len(splits) * (1 + len(weights)), disable=not verbose, desc="penalty path") as bar:
        for train, rest in splits:
            found.append(_walk(model, X, labels, (train, rest), settings, tuner, objective, max_rows, bar))
    path = limits.judged(pd.concat(found).groupby(level=0, sort=True).mean())
    chosen, tuned, notes = _apply(model, X, labels, path, dict(zip(weights, settings, strict=True)), tuner, limits)
    record = OptimizationRecord(objective, path, chosen, _reason(path, chosen, limits, notes), validation)
    if chosen is None:
        warnings.warn(record.reason, TrainingWarning, stacklevel=2)
    return tuned, record


@dataclass(frozen=True)
class _Limits:
    """What a model must keep to be acceptable."""

    max_accuracy_loss: float
    max_rate_change: float

    def __post_init__(self) -> None:
        for name in ("max_accuracy_loss", "max_rate_change"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not value >= 0.0:
                raise InputError(f"{name}={value!r} must be a number of at least 0.")

    def judged(self, path: pd.DataFrame) -> pd.DataFrame:
        """The path with a verdict on every line."""
        base = path.loc[0.0]
        why = [self._trouble(base, line) for _, line in path.iterrows()]
        return path.assign(acceptable=[not one for one in why], why=why).rename_axis("penalty")

    def _trouble(self, base: pd.Series, line: pd.Series) -> str:
        if line["failed"]:
            return "training failed"
        if line["positive_rate"] == 0.0:
            return "nobody is predicted positive"
        if line["reference_positive"] and line.name != 0.0:
            return "the reference is predicted positive"
        if not self.keeps_rate(float(base["positive_rate"]), float(line["positive_rate"])):
            return f"share of positives {base['positive_rate']:.3f} -> {line['positive_rate']:.3f}"
        if line["accuracy"] < base["accuracy"] - self.max_accuracy_loss - 1e-12:
            return f"accuracy {base['accuracy']:.4f} -> {line['accuracy']:.4f}"
        return ""

    def keeps_rate(self, before: float, after: float) -> bool:
        return abs(after - before) <= self.max_rate_change * before + 1e-12


def _walk(
    model: Any,
    X: NativeTable,
    y: Any,
    split: tuple[IntArray, IntArray],
    path: list[Settings],
    tuner: Tuner,
    objective: str,
    max_rows: int | None,
    bar: Any,
) -> pd.DataFrame:
    """Metrics of one split: the model as it is, and tuned with each penalty."""
    train, rest = split
    rows, labels = _rows(X, train), y[train]
    base = clone(model).fit(rows, labels)
    measure = Measure(
        X_train=rows,
        y_train=labels,
        kinds=_KINDS[objective],
        reference=tuner.reference,
        groups=tuner.groups,
        restricted=tuner.restricted,
        max_rows=max_rows,
    )
    lines = {}
    for settings in (None, *path):
        try:
            tuned = base if settings is None else tuner.tune(base, rows, labels, settings)
            lines[0.0 if settings is None else settings.sev_penalty] = _line(
                measure.of(tuned, _rows(X, rest), y[rest]), tuner
            )
        except TrainingError:
            if settings is None:
                raise
            lines[settings.sev_penalty] = {"failed": True}
        bar.update()
    return pd.DataFrame.from_dict(lines, orient="index").fillna({"failed": False})


def _line(found: dict[str, float], tuner: Tuner) -> dict[str, float]:
    """The columns of the path, from all that was measured."""
    kinds = [key.removeprefix("sev_") for key in found if key.startswith("sev_")]
    if tuner.restricted and "restricted" in kinds:
        kinds = ["restricted"] + [kind for kind in kinds if kind == "plus"]
    return {
        **{key: found[key] for key in ("accuracy", "auc", "positive_rate")},
        "sev": float(np.mean([found[f"sev_{kind}"] for kind in kinds])),
        "share_of_one": float(np.mean([found[f"share_of_one_{kind}"] for kind in kinds])),
        "unexplainable": float(np.max([found[f"unexplainable_{kind}"] for kind in kinds])),
        "reference_score": found["reference_score"],
        "reference_positive": float(found["reference_score"] >= 0.5),
        "failed": False,
    }


def _apply(
    model: Any,
    X: NativeTable,
    y: Any,
    path: pd.DataFrame,
    settings: dict[float, Settings],
    tuner: Tuner,
    limits: _Limits,
) -> tuple[float | None, Any, list[str]]:
    """Tune the model itself with the best acceptable penalty that is not degenerate on all rows either."""
    base_sev = path.loc[0.0, "sev"]
    candidates = path[path["acceptable"] & (path.index > 0.0)].sort_values("sev", kind="stable")
    before = np.asarray(model.predict_proba(X))[:, 1] >= 0.5
    notes: list[str] = []
    for penalty, line in candidates.iterrows():
        # where the reference was positive, SEV+ had no meaning and any acceptable model is better
        if not line["sev"] < base_sev and not path.loc[0.0, "reference_positive"]:
            break
        try:
            tuned = tuner.tune(model, X, y, settings[float(penalty)])
        except TrainingError as error:
            notes.append(f"penalty {penalty:g} on all rows: {error}")
            continue
        trouble = _degenerate(tuned, X, y, before, tuner, limits)
        if not trouble:
            return float(penalty), tuned, notes
        notes.append(f"penalty {penalty:g} on all rows: {trouble}")
    return None, model, notes


def _degenerate(tuned: Any, X: NativeTable, y: Any, before: Any, tuner: Tuner, limits: _Limits) -> str:
    after = np.asarray(tuned.predict_proba(X))[:, 1] >= 0.5
    if not after.any():
        return "nobody is predicted positive"
    if not limits.keeps_rate(float(before.mean()), float(after.mean())):
        return f"share of positives {before.mean():.3f} -> {after.mean():.3f}"
    measure = Measure(
        X_train=X, y_train=y, kinds=(), reference=tuner.reference, groups=tuner.groups, restricted=tuner.restricted
    )
    explainer = measure.explainer(tuned)
    if measure.reference_score(tuned, explainer) >= 0.5:
        return "the reference is predicted positive"
    return ""


def _reason(path: pd.DataFrame, chosen: float | None, limits: _Limits, notes: list[str]) -> str:
    base = path.loc[0.0]
    said = f" ({'; '.join(notes)})" if notes else ""
    if chosen is not None:
        line = path.loc[chosen]
        return (
            f"Penalty {chosen:g}: mean SEV {base['sev']:.3f} -> {line['sev']:.3f}, accuracy {base['accuracy']:.4f} -> "
            f"{line['accuracy']:.4f}, share of positives {base['positive_rate']:.3f} -> {line['positive_rate']:.3f}"
            f"{said}."
        )
    refused = [f"{penalty:g}: {line['why']}" for penalty, line in path.iterrows() if line["why"]]
    why = f"refused were {'; '.join(refused)}" if refused else "none has a lower mean SEV than the model has"
    return (
        f"The model is returned as it was: no penalty keeps accuracy within {limits.max_accuracy_loss:g} and is "
        f"better; {why}{said}."
    )


def _checked_penalties(penalties: Iterable[float] | None, objective: str) -> tuple[float, ...]:
    if penalties is None:
        return _PENALTIES.get(objective, _DEFAULT_PENALTIES)
    given = tuple(sorted({float(one) for one in penalties}))
    if not given or not all(np.isfinite(one) and one > 0.0 for one in given):
        raise InputError(f"penalties={list(given)} must hold at least one number, all above 0.")
    return given


def _settings(family: Family, objective: str, weight: float, grow: int, seed: int) -> Settings:
    # the guard at full strength, restricted features or not: the share of positives is a limit here
    given = {"objective": objective, "schedule": "recipe", "sev_penalty": weight, "grow": grow}
    return settings_for(family, given, seed)


def _labels(model: Any, y: Any, n_rows: int) -> Any:
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != n_rows:
        raise InputError(f"y has shape {labels.shape}, X has {n_rows} rows: one label a row is needed.")
    given, known = pd.unique(labels).tolist(), np.asarray(model.classes_).tolist()
    strange = sorted(set(given) - set(known), key=str)
    if strange:
        raise InputError(f"y holds {strange[:5]}, which are no classes of the model: {known}.")
    if len(given) < 2:
        raise InputError(f"Only one class in y, {given[0]!r}: two classes are needed.")
    return labels


def _splits(labels: Any, seed: int) -> tuple[list[tuple[IntArray, IntArray]], str]:
    if len(labels) * 0.25 >= _ENOUGH_ROWS:
        splitter: Any = StratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
        said = "a validation part of a quarter of the rows"
    else:
        folds = int(min(5, pd.Series(labels).value_counts().min()))
        if folds < 2:
            raise InputError("One class has a single row: two of each are needed to validate.")
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        said = f"{folds}-fold cross-validation"
    pairs: Iterator[tuple[IntArray, IntArray]] = splitter.split(np.zeros(len(labels)), labels)
    return list(pairs), said


def _rows(X: NativeTable, rows: IntArray) -> NativeTable:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
