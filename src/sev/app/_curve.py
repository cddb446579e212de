"""How the score moves with one feature while all others stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sev.actions import ChoiceGround, NumberGround
from sev.app._about import count_choices_of, histogram_of
from sev.app._bench import Bench
from sev.app._desk import Ticket
from sev.app._errors import ServiceError
from sev.app._explain import value_text
from sev.app._models import CurveAnswer, CurvePoint, CurveRange, CurveRequest
from sev.core import plain_value
from sev.typing import BoolArray, FloatArray

#: Each stretch in which the decision turns is divided so often, so many times.
_PARTS, _ROUNDS = 16, 6


def curve(bench: Bench, request: CurveRequest, ticket: Ticket) -> CurveAnswer:
    """Answer ``POST /api/curve``."""
    feature = bench.feature(request.feature, "feature")
    row = bench.row_of(request)
    if len(bench.explainer.tasks) > 1:
        raise ServiceError("bad_input", "The curve of one feature needs an explainer of one class.", "feature")
    ground = bench.grounds.get(feature.name)
    is_number = len(feature.columns) == 1 and (
        isinstance(ground, NumberGround) or (ground is None and row[feature.columns[0]].dtype.kind in "fiu")
    )
    scorer = _RowScorer(bench, row, feature)
    return _number_curve(scorer, request, ground, ticket) if is_number else _choice_curve(scorer, request, ground)


class _RowScorer:
    """Scores of one row with other values of one feature."""

    def __init__(self, bench: Bench, row: pd.DataFrame, feature: Any) -> None:
        self.bench, self.row, self.feature = bench, row, feature
        self._task = bench.explainer.tasks[0]

    @property
    def threshold(self) -> float:
        return self._task.scorer.threshold

    def is_positive(self, scores: FloatArray) -> BoolArray:
        return self._task.scorer.is_positive(scores)

    def scores(self, cells: list[tuple[Any, ...]]) -> FloatArray:
        """The model's own scores; NaN where it fails."""
        rows = self.row.iloc[np.zeros(len(cells), dtype=np.int64)].reset_index(drop=True)
        for place, column in enumerate(self.feature.columns):
            rows[column] = _column_of([one[place] for one in cells], self.row[column])
        scores, _ = self._task.score_safely(self.bench.explainer.form.to_frame(rows))
        return scores


def _column_of(values: list[Any], like: pd.Series) -> pd.Series:
    """Values in the dtype of a column, where that keeps them."""
    if isinstance(like.dtype, pd.CategoricalDtype):
        return pd.Series(values, dtype=like.dtype)
    if like.dtype.kind in "iu" and all(float(one).is_integer() for one in values):
        return pd.Series(values).astype(like.dtype)
    return pd.Series(values, dtype=like.dtype if like.dtype.kind not in "iu" else np.float64)


def _number_curve(scorer: _RowScorer, request: CurveRequest, ground: Any, ticket: Ticket) -> CurveAnswer:
    [column] = scorer.feature.columns
    now = scorer.row[column].iloc[0]
    people, source = scorer.bench.people()
    numbers = people[column].to_numpy(dtype=np.float64, na_value=np.nan)
    grid = _grid(numbers, ground, now, request.points)
    if not grid.size:
        raise ServiceError("bad_input", "No number of this feature is known: there is nothing to draw.", "feature")
    scores = scorer.scores([(one,) for one in grid.tolist()])
    positive = scorer.is_positive(scores)
    ticket.check()
    step = getattr(ground, "step", None)
    turns = _turns(scorer, grid, positive, step, ticket)
    return CurveAnswer(
        sequence=request.sequence,
        feature=scorer.feature.name,
        kind="number",
        now=plain_value(now),
        threshold=scorer.threshold,
        points=[
            CurvePoint(
                value=one,
                label=value_text(scorer.bench, scorer.feature.name, one),
                score=plain_value(score),
                positive=bool(mark),
            )
            for one, score, mark in zip(grid.tolist(), scores.tolist(), positive.tolist(), strict=True)
        ],
        ranges=_ranges(grid, positive, turns),
        turns=turns.tolist(),
        histogram=histogram_of(numbers, source),
    )


def _grid(numbers: FloatArray, ground: Any, now: Any, points: int) -> FloatArray:
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


def _turns(scorer: _RowScorer, grid: FloatArray, positive: BoolArray, step: float | None, ticket: Ticket) -> FloatArray:
    """The first value of each new decision, found by dividing the stretches between two points again and again."""
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
        low, high = _narrow(low, high, inner, marks == before[:, None])
        ticket.check()
    return high


def _narrow(low: FloatArray, high: FloatArray, inner: FloatArray, same: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The first stretch at whose end the decision is another one."""
    first = np.where(same.all(axis=1), same.shape[1], np.argmin(same, axis=1))
    points = np.column_stack([low, inner, high])
    lines = np.arange(len(low))
    return points[lines, first], points[lines, first + 1]


def _ranges(grid: FloatArray, positive: BoolArray, turns: FloatArray) -> list[CurveRange]:
    starts = [float(grid[0]), *turns.tolist()]
    ends = [*turns.tolist(), float(grid[-1])]
    first = bool(positive[0])
    return [
        CurveRange(low=low, high=high, positive=first if number % 2 == 0 else not first)
        for number, (low, high) in enumerate(zip(starts, ends, strict=True))
    ]


def _choice_curve(scorer: _RowScorer, request: CurveRequest, ground: Any) -> CurveAnswer:
    bench, name = scorer.bench, scorer.feature.name
    columns = list(scorer.feature.columns)
    own = tuple(scorer.row[column].iloc[0] for column in columns)
    listed = list(ground.choices) if isinstance(ground, ChoiceGround) else []
    if repr(own) not in set(map(repr, listed)):
        listed.append(own)
    scores = scorer.scores(listed)
    counts = count_choices_of(bench, name)
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
                label=bench.speaker.value(name, value),
                score=plain_value(score),
                positive=bool(mark),
            )
            for cells, value, score, mark in zip(
                listed, values, scores.tolist(), scorer.is_positive(scores).tolist(), strict=True
            )
        ],
        counts=[int(counts.get(cells, 0)) for cells in listed],
    )


def _plain_cells(columns: list[Any], cells: tuple[Any, ...]) -> Any:
    if len(cells) == 1:
        return plain_value(cells[0])
    return {str(column): plain_value(cell) for column, cell in zip(columns, cells, strict=True)}
