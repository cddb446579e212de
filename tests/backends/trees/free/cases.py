"""Small fitted models with random permitted values, and everything these can do, tried through the models."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sev.actions import ChoiceDestinations, Destinations, NumberDestinations
from sev.backends import model_scores, read_model
from sev.backends.trees.free import CellProblem, FreeTrees, Goal
from sev.core import Limits
from sev.space import FeatureSpace, TableForm

N_ROWS = 200


def make_table(rng, *, missing=False, categories=False, whole=False):
    """Numbers x0 to x2 with few values, and a category or two."""
    frame = pd.DataFrame({f"x{at}": rng.normal(size=N_ROWS).round(1) for at in range(3)})
    if whole:
        frame = frame.mul(4).round().astype(np.int64)
    if missing:
        frame = frame.astype(float)
        frame[rng.random(frame.shape) < 0.15] = np.nan
    signal = frame.fillna(0.4).sum(axis=1).to_numpy() * (0.3 if whole else 1.0)
    if categories:
        codes = rng.integers(0, 5, N_ROWS)
        frame["kind"] = pd.Categorical.from_codes(codes, [*"abcde"])
        signal = signal + np.array([1.0, -1.0, 0.5, 0.0, -0.7])[codes]
    return frame, (signal + 0.3 * rng.normal(size=N_ROWS) > 0).astype(int)


def gradient_boosting(rng, seed):
    from sklearn.ensemble import GradientBoostingClassifier

    frame, labels = make_table(rng, whole=bool(seed % 2))
    return GradientBoostingClassifier(n_estimators=6, max_depth=2, learning_rate=0.6, random_state=seed), frame, labels


def forest(rng, seed):
    from sklearn.ensemble import RandomForestClassifier

    frame, labels = make_table(rng, missing=bool(seed % 2))
    return RandomForestClassifier(n_estimators=4, max_depth=3, random_state=seed), frame, labels


def histogram(rng, seed):
    from sklearn.ensemble import HistGradientBoostingClassifier

    frame, labels = make_table(rng, missing=True, categories=True)
    model = HistGradientBoostingClassifier(
        max_iter=5, max_depth=3, learning_rate=0.6, categorical_features="from_dtype", min_samples_leaf=5
    )
    return model, frame, labels


def xgboost(rng, seed):
    from xgboost import XGBClassifier

    frame, labels = make_table(rng, missing=True, categories=bool(seed % 2))
    model = XGBClassifier(n_estimators=5, max_depth=3, learning_rate=0.6, enable_categorical=True, n_jobs=1)
    return model, frame, labels


def lightgbm(rng, seed):
    from lightgbm import LGBMClassifier

    frame, labels = make_table(rng, missing=bool(seed % 3), categories=bool(seed % 2))
    options = {"zero_as_missing": True} if seed % 4 == 3 else {}
    model = LGBMClassifier(
        n_estimators=6, num_leaves=6, learning_rate=0.6, min_child_samples=5, min_data_per_group=5, cat_smooth=1.0,
        n_jobs=1, verbose=-1, **options,
    )  # fmt: skip
    return model, frame, labels


def catboost(rng, seed):
    from catboost import CatBoostClassifier

    frame, labels = make_table(rng, missing=bool(seed % 2))
    model = CatBoostClassifier(
        iterations=5, depth=2, learning_rate=0.6, verbose=0, thread_count=1, allow_writing_files=False
    )
    return model, frame, labels


def pipeline(rng, seed):
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    frame, labels = make_table(rng, missing=True, categories=True)
    frame["kind"] = frame["kind"].astype(object)
    negative = FunctionTransformer(np.negative, feature_names_out="one-to-one")
    encoder = ColumnTransformer(
        [
            ("scaled", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["x0", "x1"]),
            ("falling", make_pipeline(SimpleImputer(), negative), ["x2"]),
            ("kind", OneHotEncoder(sparse_output=False), ["kind"]),
        ]
    )
    boosting = GradientBoostingClassifier(n_estimators=6, max_depth=3, learning_rate=0.6, random_state=seed)
    return make_pipeline(encoder, boosting), frame, labels


def one_hot(rng, seed):
    from sklearn.ensemble import GradientBoostingClassifier

    frame, labels = make_table(rng, categories=True)
    blocks = pd.get_dummies(frame["kind"], prefix="kind").astype(np.int64)
    model = GradientBoostingClassifier(n_estimators=6, max_depth=3, learning_rate=0.6, random_state=seed)
    return model, pd.concat([frame.drop(columns="kind"), blocks], axis=1), labels


MODELS = {
    "gradient_boosting": ("sklearn", gradient_boosting), "forest": ("sklearn", forest),
    "histogram": ("sklearn", histogram),
    "xgboost": ("xgboost", xgboost), "lightgbm": ("lightgbm", lightgbm), "catboost": ("catboost", catboost),
    "pipeline": ("sklearn", pipeline), "one_hot": ("sklearn", one_hot),
}  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """A model with its reading, and the rows that it calls positive."""

    model: Any
    frame: pd.DataFrame
    space: FeatureSpace
    form: TableForm
    reading: Any
    trees: FreeTrees

    def positive(self, frame):
        return np.asarray(self.model.predict_proba(self.form.to_native(frame)), dtype=float)[:, 1] >= 0.5


def fit(name: str, seed: int) -> Fitted:
    package, make = MODELS[name]
    pytest.importorskip(package)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, frame, labels = make(np.random.default_rng(seed), seed)
        model.fit(frame, labels)
        form, space = TableForm.of(frame), FeatureSpace.of(frame)
        scores = model_scores(model, form.to_native(frame), labels)
        reading = read_model(model, scores, form, space, frame)
    return Fitted(model, frame, space, form, reading, FreeTrees(reading.backend, reading.encoding, space))


def random_destinations(rng, fitted: Fitted, queries: pd.DataFrame, *, missing: bool) -> Destinations:
    """One-way, bands, frozen, steps, choices and missing values, by chance."""
    out: list[Any] = []
    n = len(queries)
    for feature in fitted.space.features:
        kind = rng.random()
        background = fitted.frame[list(feature.columns)]
        if kind < 0.12:
            out.append(None)
            continue
        if len(feature.columns) > 1 or not pd.api.types.is_numeric_dtype(background.dtypes.iloc[0]):
            choices = tuple(background.drop_duplicates().itertuples(index=False, name=None))
            own = [
                next(at for at, one in enumerate(choices) if one == row)
                for row in queries[list(feature.columns)].itertuples(index=False, name=None)
            ]
            allowed = rng.random((n, len(choices))) < 0.7
            allowed[np.arange(n), own] = False
            out.append(
                ChoiceDestinations(
                    choices=choices, old=np.array(own), allowed=allowed, weight=float(rng.integers(1, 4))
                )
            )
            continue
        values = background.iloc[:, 0].to_numpy(dtype=float)
        old = queries[feature.columns[0]].to_numpy(dtype=float)
        low, high = np.full(n, np.nanmin(values)), np.full(n, np.nanmax(values))
        anchor = np.where(np.isnan(old), 0.0, old)
        if kind < 0.3:
            low = np.maximum(low, anchor)
        elif kind < 0.45:
            high = np.minimum(high, anchor)
        elif kind < 0.65:
            low, high = np.maximum(low, anchor - 0.8), np.minimum(high, anchor + 0.8)
        elif kind < 0.75:  # a band that leaves the query out
            low = anchor + 0.3
        step = None
        if pd.api.types.is_integer_dtype(background.dtypes.iloc[0]) or rng.random() < 0.3:
            step = float(rng.choice([1.0, 2.0])) if pd.api.types.is_integer_dtype(background.dtypes.iloc[0]) else 0.25
        out.append(
            NumberDestinations(
                old=old,
                low=low,
                high=high,
                step=step,
                origin=np.where(np.isnan(old), 0.0, old),
                missing=(rng.random(n) < 0.5) & missing,
                scale=float(np.nanstd(values)),
                weight=float(rng.integers(1, 4)),
            )
        )
    return Destinations(features=tuple(out))


def make_problem(fitted: Fitted, seed: int, goal: Goal = Goal.ALL, n_queries: int = 4, limits: Limits | None = None):
    """A problem over some rows of the model; None when there are none on one side."""
    rng = np.random.default_rng(seed)
    positive = fitted.positive(fitted.frame)
    down = bool(rng.random() < 0.7)
    own = np.flatnonzero(positive == down)
    if not own.size:
        return None
    queries = fitted.frame.iloc[rng.choice(own, n_queries)].reset_index(drop=True)
    low, high = fitted.reading.band(0.5)
    missing = bool(getattr(fitted.reading.backend, "takes_missing", False)) or "imputer" in str(fitted.model).lower()
    return CellProblem(
        direction=-1 if down else 1, low=low, high=high, queries=queries,
        destinations=random_destinations(rng, fitted, queries, missing=missing and fitted.frame.isna().any().any()),
        crosses=lambda frame: fitted.positive(frame) != down, goal=goal, limits=limits or Limits(max_sets=10**6),
        observed={at: np.unique(fitted.frame[one.columns[0]].dropna().to_numpy(dtype=float))
                  for at, one in enumerate(fitted.space.features)
                  if len(one.columns) == 1 and pd.api.types.is_numeric_dtype(fitted.frame[one.columns[0]].dtype)},
    )  # fmt: skip


def permitted_values(
    fitted: Fitted, problem: CellProblem, feature: int, row: int
) -> list[tuple[tuple[Any, ...], float]]:
    """Values of a feature, with their costs, that stand for all that it may take."""
    mine = problem.destinations.features[feature]
    if mine is None:
        return []
    if isinstance(mine, ChoiceDestinations):
        return [(mine.choices[choice], mine.weight) for choice in np.flatnonzero(mine.allowed[row])]
    low, high, old = mine.low[row], mine.high[row], mine.old[row]
    if mine.step is not None:
        steps = np.arange(
            np.ceil((low - mine.origin[row]) / mine.step - 1e-9),
            np.floor((high - mine.origin[row]) / mine.step + 1e-9) + 1,
        )
        values = mine.origin[row] + steps * mine.step
    else:
        values = np.concatenate([*(beside(at) for at in raw_thresholds(fitted, feature)), [low, high]])
        values = values[(values >= low) & (values <= high)]
    values = np.unique(values[values != old])
    if mine.missing[row] and not np.isnan(old):
        values = np.append(values, np.nan)
    return list(zip([(value,) for value in values.tolist()], mine.cost(row, values).tolist(), strict=True))


def beside(threshold: float) -> list[float]:
    """Both sides of a threshold, in single precision and within the rounding of a scaler."""
    single = np.float32(threshold)
    near = [np.nextafter(single, np.float32(-np.inf)), single, np.nextafter(single, np.float32(np.inf))]
    return [*map(float, near), threshold - 1e-6, threshold + 1e-6, 0.0]


def raw_thresholds(fitted: Fitted, feature: int) -> list[float]:
    """Thresholds on a raw number; behind a pipeline, halfway between the values that occur, and they themselves."""
    found = fitted.reading.backend.forest.thresholds()
    if fitted.reading.unwrapped.transforms:
        values = np.unique(fitted.frame[fitted.space.features[feature].columns[0]].dropna())
        grid = np.linspace(values[0], values[-1], 2001)
        rows = fitted.frame.iloc[np.zeros(len(grid), dtype=int)].reset_index(drop=True)
        rows[fitted.space.features[feature].columns[0]] = grid
        encoded = fitted.reading.encoding.encode(rows)
        own = np.flatnonzero(fitted.reading.encoding.column_feature == feature)
        edges = []
        for column in own:
            for threshold in found.get(int(column), ()):
                change = np.flatnonzero(np.diff(encoded[:, column] <= threshold))
                for at in change:  # a line through two points: the scalers here are lines
                    (a, b), (x, y) = encoded[at : at + 2, column], grid[at : at + 2]
                    edges.append(x + (threshold - a) * (y - x) / (b - a))
        return edges
    column = list(fitted.frame.columns).index(fitted.space.features[feature].columns[0])
    return [threshold for threshold in found.get(column, np.zeros(0)).tolist() if abs(threshold) < 1e37]


def try_everything(fitted: Fitted, problem: CellProblem, row: int) -> dict[tuple[int, ...], float]:
    """Every set of features that some permitted values take across, with the least cost, by the model itself."""
    query = problem.queries.iloc[row]
    names = [one.columns for one in fitted.space.features]
    options = [[(tuple(query[list(columns)]), 0.0, False)] for columns in names]
    for feature, some in enumerate(options):
        some += [(value, cost, True) for value, cost in permitted_values(fitted, problem, feature, row)]
    combos = list(product(*options))
    table = {}
    for feature, columns in enumerate(names):
        for at, column in enumerate(columns):
            values = [combo[feature][0][at] for combo in combos]
            dtype = problem.queries[column].dtype
            table[column] = pd.Series(values) if dtype.kind in "iuf" else pd.Series(values, dtype=dtype)
    crosses = problem.crosses(pd.DataFrame(table)[list(problem.queries.columns)])
    found: dict[tuple[int, ...], float] = {}
    for combo, good in zip(combos, crosses, strict=True):
        if good:
            features = tuple(at for at, one in enumerate(combo) if one[2])
            cost = sum(one[1] for one in combo)
            found[features] = min(cost, found.get(features, np.inf))
    return found
