"""One explanation out of many: a row of their columns, and what is computed of it on demand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sev.core import Answers, Status
from sev.explanations._classes import ClassScores
from sev.explanations._explanation import Explanation
from sev.explanations._pair import Pair
from sev.space import to_pandas_for_model
from sev.text import NotPermitted
from sev.typing import ClassLabel

if TYPE_CHECKING:
    from sev.explanations._explanations import Explanations


def explanation_of(many: Explanations, row: int) -> Explanation:
    """The explanation of one row; what takes a score is computed when it is looked at."""
    many, row = many._with_listed_row(row)
    answers, place = many._listed_row(row)
    sets = tuple(many._name_sets(answers.sets_of(place)))
    number = int(answers.reference[place])
    pair = Pair(_one_row(many._queries, row), _one_row(many._references, number), many.space, many.kind)
    return Explanation(
        kind=many.kind,
        status=Status.from_code(int(answers.status[place])),
        size=len(sets[0]) if sets else None,
        lower_bound=int(answers.lower_bound[place]),
        features=sets[0] if sets else (),
        sets=sets,
        sets_complete=bool(answers.complete[place]),
        score=float(answers.score[place]),
        result_score=float(answers.result_score[place]) if sets else None,
        threshold=many._thresholds[answers.target[place]],
        target=many._targets[answers.target[place]],
        restricted=many.restricted,
        columns=many._features,
        reason=answers.reasons.get(place, ""),
        labels=many.labels,
        other=many.other_class(int(answers.target[place])),
        values=many.values,
        values_searched=many.values_searched[row],
        efforts=many.efforts,
        has_actions=many.has_actions,
        compared_with=many.compared_with[row],
        order=many.order,
        first_of_all=bool(answers.first_of_all[place]),
        min_credibility=many.min_credibility,
        size_without_limit=_as_integer(answers.size_without_limit[place]),
        _credibility=partial(_credibility_of, many, row),
        limits=many.limits,
        minimise=many.minimise,
        _moved=_moved_rows(many, answers, place),
        _enough=() if many._enough is None else many._enough[answers.offsets[place] : answers.offsets[place + 1]],
        _pair=pair,
        _classes=partial(_class_scores_of, many, row),
        _source=many._source,
        _compare=None if not many.restricted else partial(_not_permitted_of, many, row),
    )


def _moved_rows(many: Explanations, answers: Answers, place: int) -> pd.DataFrame | None:
    """The changed row of each set, where every set has values of its own."""
    if many._set_references is None:
        return None
    return many._references.iloc[many._set_references[answers.offsets[place] : answers.offsets[place + 1]]]


def _class_scores_of(many: Explanations, row: int) -> tuple[ClassScores | None, ClassLabel]:
    """Class scores of one row, and what it becomes; the other rows are not scored for it."""
    decides_by_lead = many.source is not None and many.source.decides_by_lead
    is_known = "class_scores" in many.__dict__ or len(many) == 1 or not decides_by_lead
    one = many if is_known else many._take_rows(np.array([row], dtype=np.int64))
    place = row if one is many else 0
    scores = one.class_scores
    return (None if scores is None else scores.take(np.array([place]))), one.becomes(place)


def _credibility_of(many: Explanations, row: int) -> float | None:
    """Credibility of one row; the others are not measured for it."""
    known = "credibilities" in many.__dict__ or len(many) == 1
    value = many.credibilities[row] if known else many._take_rows(np.array([row], dtype=np.int64)).credibilities[0]
    return None if np.isnan(value) else float(value)


def _not_permitted_of(many: Explanations, row: int) -> NotPermitted:
    if many._not_permitted is not None:
        return many._not_permitted[row]
    return many._take_rows(np.array([row], dtype=np.int64)).not_permitted[0]


def _as_integer(size: float) -> int | None:
    return None if np.isnan(size) else int(size)


def _one_row(frame: pd.DataFrame, row: int) -> pd.DataFrame:
    """A table of one row of its own: rows that are changed after the call change no explanation."""
    return to_pandas_for_model(frame) if len(frame) == 1 else frame.iloc[[row]]  # to take rows is much slower
