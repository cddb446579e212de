"""How the columns that transformers make depend on a number: scalers, bins, splines, powers, and what holds these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sev.backends import ColumnCurve, Curves, follow_curves

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin
    from sklearn.compose import ColumnTransformer
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    from sklearn.pipeline import FeatureUnion, Pipeline


#: What a step makes; None where nothing is known about it.
Made = list[ColumnCurve | None] | None


def through_pipeline(step: Pipeline, columns: Curves) -> Made:
    """One step after the other."""
    made: Made = list(columns)
    for _, one in step.steps:
        if one is None or one == "passthrough":
            continue
        made = None if made is None else follow_curves(one, made)
    return made


def through_column_transformer(step: ColumnTransformer, columns: Curves) -> Made:
    """Each transformer with its own columns; what is not known leaves its columns unknown."""
    places = step.output_indices_
    width = max((one.stop for one in places.values()), default=0)
    made: list[ColumnCurve | None] = [None] * width
    for name, transformer, _ in step.transformers_:
        mine = [columns[place] for place in step._transformer_to_input_indices.get(name, [])]
        at = places.get(name, slice(0, 0))
        if isinstance(transformer, str):
            part: Made = mine if transformer == "passthrough" else None
        else:
            part = follow_curves(transformer, mine)
        if part is not None and len(part) == at.stop - at.start:
            made[at] = part
    return made


def through_union(step: FeatureUnion, columns: Curves) -> Made:
    """The columns of all transformers beside each other."""
    made: list[ColumnCurve | None] = []
    for _, one in step.transformer_list:
        if one == "drop":
            continue
        part = list(columns) if one == "passthrough" else follow_curves(one, columns)
        if part is None:
            return None
        made += part
    return made


def through_scaler(step: TransformerMixin, columns: Curves) -> Made:
    """StandardScaler, RobustScaler, MaxAbsScaler and MinMaxScaler."""
    if getattr(step, "clip", False):
        return None
    ones, zeros = np.ones(len(columns)), np.zeros(len(columns))
    scale = getattr(step, "scale_", None)
    factors = ones if scale is None else np.asarray(scale, dtype=np.float64)
    if hasattr(step, "data_min_"):
        offsets = np.asarray(step.min_, dtype=np.float64)
    else:
        centre = getattr(step, "center_", None) if hasattr(step, "center_") else getattr(step, "mean_", None)
        uses_centre = getattr(step, "with_centering", getattr(step, "with_mean", False))
        factors = ones / factors
        offsets = -np.asarray(centre, dtype=np.float64) * factors if uses_centre and centre is not None else zeros
    return [
        None if one is None else one.scaled(float(factor), float(offset))
        for one, factor, offset in zip(columns, factors, offsets, strict=True)
    ]


def through_imputer(step: TransformerMixin, columns: Curves) -> Made:
    """SimpleImputer: numbers that are known stay, and whether they are missing is constant."""
    if not (isinstance(step.missing_values, float) and np.isnan(step.missing_values)):
        return None
    empty = [isinstance(one, float) and np.isnan(one) for one in step.statistics_]
    kept = [one for one, gone in zip(columns, empty, strict=True) if step.keep_empty_features or not gone]
    indicators = 0 if step.indicator_ is None else len(step.indicator_.features_)
    return [*kept, *(ColumnCurve.constant() for _ in range(indicators))]


def through_selection(step: TransformerMixin, columns: Curves) -> Made:
    """Transformers that leave columns out."""
    return [columns[place] for place in np.flatnonzero(step.get_support()).tolist()]


def through_bins(step: TransformerMixin, columns: Curves) -> Made:
    """KBinsDiscretizer: steps between its edges."""
    made: list[ColumnCurve | None] = []
    for one, edges, n_bins in zip(columns, step.bin_edges_, step.n_bins_, strict=True):
        part = None if one is None else one.cut(edges[1:-1], 0)
        made += [part] * (1 if step.encode == "ordinal" else int(n_bins))
    return made


def through_threshold(step: TransformerMixin, columns: Curves) -> Made:
    """Binarizer: one step."""
    return [None if one is None else one.cut(np.array([step.threshold]), 0) for one in columns]


def through_splines(step: TransformerMixin, columns: Curves) -> Made:
    """SplineTransformer: polynomials between its knots, and beyond the last of them."""
    if step.extrapolation == "periodic":
        return None
    made: list[ColumnCurve | None] = []
    for one, spline in zip(columns, step.bsplines_, strict=True):
        n_splines = spline.c.shape[1] - (0 if step.include_bias else 1)
        part = None if one is None else one.cut(spline.t, max(1, int(step.degree)))
        made += [part] * n_splines
    return made


def through_powers(step: TransformerMixin, columns: Curves) -> Made:
    """PolynomialFeatures: powers of one column; products of several are not known."""
    made: list[ColumnCurve | None] = []
    for powers in np.asarray(step.powers_).tolist():
        used = [(columns[place], power) for place, power in enumerate(powers) if power]
        if not used:
            made.append(ColumnCurve.constant())
            continue
        (one, power), *others = used
        made.append(None if others or one is None else one.powered(int(power)))
    return made


def through_function(step: TransformerMixin, columns: Curves) -> Made:
    """FunctionTransformer without a function."""
    return list(columns) if step.func is None else None


# -- estimators that a backend encodes rows for ------------------------------------------------------------------------


def through_gaussian(step: GaussianNB, columns: Curves) -> Made:
    """GaussianNB: a difference of squares for each column."""
    return [None if one is None else one.powered(2) for one in columns]


def through_bernoulli(step: BernoulliNB, columns: Curves) -> Made:
    """BernoulliNB: one step, or a line where it takes 0 and 1 only."""
    if step.binarize is None:
        return [None if one is None else one.scaled(1.0, 0.0).powered(1) for one in columns]
    return [None if one is None else one.cut(np.array([step.binarize]), 0) for one in columns]
