"""What a page needs to know before the first request: models, features, ranges, histograms, references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
import pandas as pd

from sev.actions import Actions, Between, ChoiceGround, NumberGround
from sev.app._models import (
    Choice,
    Decision,
    Feature,
    Histogram,
    Limits,
    Model,
    ReferenceChoice,
    TableColumn,
)
from sev.app._models import Table as TableOut
from sev.app._served_model import ServedModel, Source
from sev.app._table import Table
from sev.core import plain_row, plain_value
from sev.space import row_as_series
from sev.typing import FloatArray

if TYPE_CHECKING:
    from pydantic import JsonValue

    from sev.actions import FeatureGround
    from sev.typing import Cell, Cells, ColumnLabel

_Entry = TypeVar("_Entry")

_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_BINS = 24
#: Reference rows that are sent along.
_MOST_REFERENCES = 12


def describe_model(served: ServedModel) -> Model:
    """One model.

    Parameters
    ----------
    served : ServedModel
        The model.
    """
    explainer = served.explainer
    scorer = explainer.tasks[0].scorer
    people, source = served.people()
    return Model(
        index=served.index,
        name=served.name,
        target=describe_decision(served, explainer.target),
        other=describe_other(served),
        classes=[describe_decision(served, one) for one in explainer.classes_],
        threshold=explainer.threshold,
        score_kind="probability" if scorer.response == "predict_proba" and not scorer.leads else "score",
        backend=explainer.backend,
        backend_reason=explainer.backend_reason,
        features=[_describe_feature(served, name, people, source) for name in served.features],
        references=describe_references(served),
        values=["reference", "typical", "any"] if served.grounds else ["reference"],
        actions=None if explainer.actions is None else cast("dict[str, JsonValue]", explainer.actions.to_plain()),
        rules=[] if explainer.actions is None else [rule.text for rule in explainer.actions.rules],
        has_codes=served.codes is not None,
        has_credibility=served.has_credibility,
        has_cost=bool(served.grounds),
    )


def describe_decision(served: ServedModel, value: Cell) -> Decision:
    """A class and the decision that it stands for."""
    plain = plain_value(value)
    return Decision(value=plain, label=served.explainer.labels.decision(value) or str(plain))


def describe_other(served: ServedModel) -> Decision | None:
    """The other one of two classes."""
    others = [one for one in served.explainer.classes_ if one != served.explainer.target]
    return describe_decision(served, others[0]) if len(others) == 1 else None


def describe_references(served: ServedModel) -> list[ReferenceChoice]:
    """Whom a row can be compared with."""
    explainer = served.explainer
    rows = explainer.reference
    few = [] if len(rows) > _MOST_REFERENCES else [plain_row(row_as_series(rows, place)) for place in range(len(rows))]
    default = ReferenceChoice(key="default", label=explainer.reference_name, rows=few)
    if len(explainer.tasks) > 1:  # each class has references of its own
        return [default]
    others = [ReferenceChoice(key=key, label=key) for key in ("mean", "median", "cluster", "nearest")]
    if served.table is not None:
        others.append(ReferenceChoice(key="row", label="row"))
    return [default, *others, ReferenceChoice(key="own", label="own")]


def describe_table(table: Table, served_models: list[ServedModel]) -> TableOut:
    """The table of decisions."""
    used = {name for served in served_models for name in served.columns}
    columns = [TableColumn(name=name, kind=table.kind_of(name), is_feature=name in used) for name in table.names]
    return TableOut(rows=table.n_rows, columns=columns, id_column=table.id_column)


def histogram_of(
    numbers: FloatArray, source: Source, *, low: float | None = None, high: float | None = None
) -> Histogram | None:
    """How often numbers occur; None where there are none.

    Parameters
    ----------
    numbers : ndarray
        The numbers; NaN is left out.
    source : str
        Where they come from.
    low, high : float, default=None
        Ends; None: the smallest and largest number.
    """
    present = numbers[np.isfinite(numbers)]
    if not present.size:
        return None
    low = float(present.min()) if low is None else low
    high = float(present.max()) if high is None else high
    distinct = np.unique(present)
    if np.isclose(low, high):
        edges: FloatArray = np.array([low - 0.5, low + 0.5])
    elif len(distinct) <= _BINS and np.all(distinct == np.round(distinct)) and high - low <= 2 * _BINS:
        edges = np.arange(np.floor(low), np.ceil(high) + 2) - 0.5
    else:
        edges = np.linspace(low, high, _BINS + 1)
    counts, _ = np.histogram(present, edges)
    return Histogram(edges=edges.tolist(), counts=counts.tolist(), source=source, rows=len(present))


def _describe_feature(served: ServedModel, name: str, people: pd.DataFrame, source: Source) -> Feature:
    feature, ground = served.features[name], served.grounds.get(name)
    wording = served.explainer.labels.wording(dict.fromkeys(served.features, ())).get(name, {})
    columns = list(feature.columns)
    describe = partial(
        Feature,
        name=name,
        label=served.speaker.label(name),
        unit=wording.get("unit"),
        digits=wording.get("digits"),
        columns=[str(column) for column in columns],
        may_be_missing=any(_has_missing(rows[columns]) for rows in (people, served.explainer.sample)),
        restricted=name in served.explainer.restricted,
        limits=_describe_limits(served.explainer.actions, name, [str(column) for column in columns]),
    )
    if isinstance(ground, NumberGround) or (ground is None and _is_number(people, columns)):
        return _describe_number(describe, people[columns[0]], ground, source)
    return _describe_choices(describe, served, name, people, ground)


def _has_missing(rows: pd.DataFrame) -> bool:
    return bool(rows.isna().any(axis=None))


def _is_number(people: pd.DataFrame, columns: list[ColumnLabel]) -> bool:
    return len(columns) == 1 and people[columns[0]].dtype.kind in "fiu"


def _describe_number(
    describe: Callable[..., Feature], values: pd.Series, ground: NumberGround | None, source: Source
) -> Feature:
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    present = numbers[np.isfinite(numbers)]
    low = float(present.min()) if ground is None and present.size else getattr(ground, "low", None)
    high = float(present.max()) if ground is None and present.size else getattr(ground, "high", None)
    step = getattr(ground, "step", None)
    return describe(
        kind="number",
        low=plain_value(low),
        high=plain_value(high),
        step=step,
        integer=step == 1.0,
        quantiles=np.quantile(present, _QUANTILES).tolist() if present.size else [],
        histogram=histogram_of(numbers, source),
    )


def _describe_choices(
    describe: Callable[..., Feature], served: ServedModel, name: str, people: pd.DataFrame, ground: FeatureGround | None
) -> Feature:
    feature = served.features[name]
    if isinstance(ground, ChoiceGround):
        choices = list(ground.choices)
    else:
        choices = list(dict.fromkeys(people[list(feature.columns)].dropna().itertuples(index=False, name=None)))
    choices = [cells for cells in choices if not all(pd.isna(cell) for cell in cells)]
    counts = _count_choices(people, feature.columns)
    listed = [
        Choice(
            value=plain_value(cells[0])
            if len(cells) == 1
            else {str(column): plain_value(cell) for column, cell in zip(feature.columns, cells, strict=True)},
            label=served.speaker.value(name, dict(zip(feature.columns, cells, strict=True))),
            count=int(counts.get(tuple(cells), 0)),
        )
        for cells in choices
    ]
    return describe(kind="choice", choices=listed, ordered=isinstance(ground, ChoiceGround) and ground.is_ordered)


def count_choices_of(served: ServedModel, name: str) -> dict[Cells, int]:
    """How often each choice of a feature occurs."""
    return _count_choices(served.people()[0], served.features[name].columns)


def _count_choices(people: pd.DataFrame, columns: Sequence[ColumnLabel]) -> dict[Cells, int]:
    return {tuple(cells): int(n) for cells, n in people[list(columns)].astype(object).value_counts().items()}


def _describe_limits(actions: Actions | None, name: str, columns: list[str]) -> Limits:
    if actions is None:
        return Limits()
    aliases = [name, *columns]

    def entry(held: Mapping[str, _Entry]) -> _Entry | None:
        return next((held[alias] for alias in aliases if alias in held), None)

    within, allowed = entry(actions.within), entry(actions.allowed)
    up, down = (any(alias in held for alias in aliases) for held in (actions.increase, actions.decrease))
    bounds = within if isinstance(within, Between) else None
    shifts = within.to_plain() if within is not None and not isinstance(within, Between) else None
    return Limits(
        frozen=any(alias in actions.frozen for alias in aliases),
        direction="up" if up else "down" if down else "any",
        low=None if bounds is None else plain_value(bounds.low),
        high=None if bounds is None else plain_value(bounds.high),
        relative=None if shifts is None else (str(shifts[0]), str(shifts[1])),
        allowed=None if allowed is None or isinstance(allowed, Mapping) else [plain_value(one) for one in allowed],
        moves=[(plain_value(old), list(new)) for old, new in allowed.items()] if isinstance(allowed, Mapping) else None,
    )
