"""How the score moves with one feature while all others stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.actions import ChoiceGround, NumberGround
from sev.app._about import count_choices_of, histogram_of
from sev.app._errors import ServiceError
from sev.app._explain import value_text
from sev.app._models import CurveAnswer, CurvePoint, CurveRange, CurveRequest
from sev.app._scheduler import Ticket
from sev.app._served_model import ServedModel
from sev.core import plain_value
from sev.text import EnoughRange
from sev.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from sev.actions import FeatureGround
    from sev.app._models._base import FeatureValue
    from sev.space import Feature
    from sev.typing import Cell, Cells, ColumnLabel

#: Each stretch in which the decision turns is divided so often, so many times.
_PARTS, _ROUNDS = 16, 6


def curve(served: ServedModel, request: CurveRequest, ticket: Ticket) -> CurveAnswer:
    """Answer ``POST /api/curve``."""
    feature = served.feature(request.feature, "feature")
    row = served.row_of(request)
    if len(served.explainer.tasks) > 1:
        raise ServiceError("bad_input", "The curve of one feature needs an explainer of one class.", "feature")
    ground = served.grounds.get(feature.name)
    is_number = len(feature.columns) == 1 and (
        isinstance(ground, NumberGround) or (ground is None and row[feature.columns[0]].dtype.kind in "fiu")
    )
    scorer = _RowScorer(served, row, feature)
    return _number_curve(scorer, request, ground, ticket) if is_number else _choice_curve(scorer, request, ground)


class _RowScorer:
    """Scores of one row with other values of one feature."""

    def __init__(self, served: ServedModel, row: pd.DataFrame, feature: Feature) -> None:
        self.served, self.row, self.feature = served, row, feature
        self._task = served.explainer.tasks[0]

    @property
    def threshold(self) -> float:
        return self._task.scorer.threshold

    def is_positive(self, scores: FloatArray) -> BoolArray:
        return self._task.scorer.is_positive(scores)

    def scores(self, cells: list[Cells]) -> FloatArray:
        """The model's own scores; NaN where it fails."""
        rows = self.row.iloc[np.zeros(len(cells), dtype=np.int64)].reset_index(drop=True)
        for place, column in enumerate(self.feature.columns):
            rows[column] = _column_of([one[place] for one in cells], self.row[column])
        scores, _ = self._task.score_safely(self.served.explainer.form.to_frame(rows))
        return scores


def _column_of(values: list[Cell], like: pd.Series) -> pd.Series:
    """Values in the dtype of a column, where that keeps them."""
    if isinstance(like.dtype, pd.CategoricalDtype):
        return pd.Series(values, dtype=like.dtype)
    if like.dtype.kind in "iu" and _are_integers(values):
        return pd.Series(values).astype(like.dtype)
    return pd.Series(values, dtype=like.dtype if like.dtype.kind not in "iu" else np.float64)


def _are_integers(values: list[Cell]) -> bool:
    numbers = np.array(values, dtype=np.float64)
    return bool(np.all(np.isfinite(numbers) & (numbers == np.floor(numbers))))


def _number_curve(
    scorer: _RowScorer, request: CurveRequest, ground: FeatureGround | None, ticket: Ticket
) -> CurveAnswer:
    [column] = scorer.feature.columns
    now = scorer.row[column].iloc[0]
    people, source = scorer.served.people()
    numbers = people[column].to_numpy(dtype=np.float64, na_value=np.nan)
    grid = _make_grid(numbers, ground, now, request.points)
    if not grid.size:
        raise ServiceError("bad_input", "No number of this feature is known: there is nothing to draw.", "feature")
    scores = scorer.scores([(one,) for one in grid.tolist()])
    ticket.check()
    before, turns = _find_turns(scorer, grid, scorer.is_positive(scores), getattr(ground, "step", None), ticket)
    # both ends of each turn are points of the curve: the line and the ranges are exact there
    grid, scores = _with_points(scorer, grid, scores, np.concatenate([before, turns]))
    positive = scorer.is_positive(scores)
    return CurveAnswer(
        sequence=request.sequence,
        feature=scorer.feature.name,
        kind="number",
        now=plain_value(now),
        threshold=scorer.threshold,
        points=[
            CurvePoint(
                value=one,
                label=value_text(scorer.served, scorer.feature.name, one),
                score=plain_value(score),
                positive=bool(mark),
            )
            for one, score, mark in zip(grid.tolist(), scores.tolist(), positive.tolist(), strict=True)
        ],
        ranges=_find_ranges(scorer, grid, positive),
        turns=turns.tolist(),
        histogram=histogram_of(numbers, source),
    )


def _with_points(
    scorer: _RowScorer, grid: FloatArray, scores: FloatArray, more: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values and their scores, with further values among them."""
    more = np.setdiff1d(more, grid)
    if not more.size:
        return grid, scores
    values = np.concatenate([grid, more])
    order = np.argsort(values)
    return values[order], np.concatenate([scores, scorer.scores([(one,) for one in more.tolist()])])[order]


def _make_grid(numbers: FloatArray, ground: FeatureGround | None, now: float, points: int) -> FloatArray:
    """Values to score: evenly over the range, with the row's own."""
    ends = [float(one) for one in (getattr(ground, "low", np.nan), getattr(ground, "high", np.nan))]
    known = np.array([*ends, *numbers[np.isfinite(numbers)][:1000], np.nan if pd.isna(now) else float(now)])
    known = known[np.isfinite(known)]
    if not known.size:
        return known
    low, high = float(known.min()), float(known.max())
    if getattr(ground, "step", None) == 1.0:
        grid = np.unique(np.round(np.linspace(low, high, points)))
    else:
        grid = np.linspace(low, high, points)
    return np.unique(np.append(grid, [] if pd.isna(now) else [float(now)]))


def _find_turns(
    scorer: _RowScorer, grid: FloatArray, positive: BoolArray, step: float | None, ticket: Ticket
) -> tuple[FloatArray, FloatArray]:
    """The last value of each decision and the first of the next one: stretches between two points are divided."""
    places = np.flatnonzero(positive[1:] != positive[:-1])
    low, high, before = grid[places], grid[places + 1], positive[places]
    for _ in range(_ROUNDS):
        wide = (high - low > (step or 0.0) + 1e-12) & (high - low > 1e-9 * np.maximum(1.0, np.abs(high)))
        if not wide.any():
            break
        inner = low[:, None] + (high - low)[:, None] * np.arange(1, _PARTS)[None, :] / _PARTS
        if step is not None:
            inner = np.clip(np.round(inner / step) * step, low[:, None], high[:, None])
        marks = scorer.is_positive(scorer.scores([(one,) for one in inner.ravel().tolist()])).reshape(inner.shape)
        low, high = _narrow_stretches(low, high, inner, marks == before[:, None])
        ticket.check()
    return low, high


def _narrow_stretches(
    low: FloatArray, high: FloatArray, inner: FloatArray, same: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """The first stretch at whose end the decision is another one."""
    first = np.where(same.all(axis=1), same.shape[1], np.argmin(same, axis=1))
    points = np.column_stack([low, inner, high])
    lines = np.arange(len(low))
    return points[lines, first], points[lines, first + 1]


def _find_ranges(scorer: _RowScorer, grid: FloatArray, positive: BoolArray) -> list[CurveRange]:
    """Stretches of values with the same decision; both ends have it, too."""
    starts = np.flatnonzero(np.append(True, positive[1:] != positive[:-1]))
    ends = np.append(starts[1:] - 1, len(grid) - 1)
    return [
        CurveRange(
            low=(low := float(grid[start])),
            high=(high := float(grid[end])),
            positive=bool(positive[start]),
            text=_range_text(scorer, low, high),
        )
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _range_text(scorer: _RowScorer, low: float, high: float) -> str:
    """A range in words, rounded so that the values that are named belong to it."""
    served, name = scorer.served, scorer.feature.name
    row = {scorer.feature.columns[0]: low}
    text = served.speaker.range_text(name, row, EnoughRange(low, high, False, False), {})
    if text is not None:
        return text
    return value_text(served, name, low) if low == high else f"{low:.12g} – {high:.12g}"


def _choice_curve(scorer: _RowScorer, request: CurveRequest, ground: FeatureGround | None) -> CurveAnswer:
    served, name = scorer.served, scorer.feature.name
    columns = list(scorer.feature.columns)
    own = tuple(scorer.row[column].iloc[0] for column in columns)
    listed = list(ground.choices) if isinstance(ground, ChoiceGround) else []
    # a cell of a row may be of numpy's kind, a listed one of Python's
    if _plain_cells(columns, own) not in [_plain_cells(columns, cells) for cells in listed]:
        listed.append(own)
    scores = scorer.scores(listed)
    counts = count_choices_of(served, name)
    values = [dict(zip(columns, cells, strict=True)) for cells in listed]
    return CurveAnswer(
        sequence=request.sequence,
        feature=name,
        kind="choice",
        now=_plain_cells(columns, own),
        threshold=scorer.threshold,
        points=[
            CurvePoint(
                value=_plain_cells(columns, cells),
                label=served.speaker.value(name, value),
                score=plain_value(score),
                positive=bool(mark),
            )
            for cells, value, score, mark in zip(
                listed, values, scores.tolist(), scorer.is_positive(scores).tolist(), strict=True
            )
        ],
        counts=[int(counts.get(cells, 0)) for cells in listed],
    )


def _plain_cells(columns: list[ColumnLabel], cells: Cells) -> FeatureValue:
    if len(cells) == 1:
        return plain_value(cells[0])
    return {str(column): plain_value(cell) for column, cell in zip(columns, cells, strict=True)}
