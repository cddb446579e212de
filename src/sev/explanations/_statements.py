"""What sentences state, from one explanation or from many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from sev.core import Status
from sev.explanations._changes import EnoughValues
from sev.text import Enough, Statement, enough_in_text

if TYPE_CHECKING:
    from sev.explanations._classes import ClassScores
    from sev.explanations._explanation import Explanation
    from sev.explanations._explanations import Explanations


def statement_of(one: Explanation) -> Statement:
    """What a sentence about one explanation states."""
    scores = one.class_scores
    return Statement(
        kind=one.kind,
        status=one.status,
        target=one.target,
        score=one.score if scores is None else float(scores.before[0]),
        threshold=one.threshold,
        features=one.features,
        n_sets=len(one.sets),
        sets_complete=one.sets_complete,
        lower_bound=one.lower_bound,
        restricted=one.restricted,
        reason=one.reason,
        query=one.query,
        reference=one.reference,
        not_permitted=one.not_permitted,
        other=one.other if scores is None else one.becomes,
        highest=_find_highest(scores),
        values=one.values,
        searched=one.values_searched,
        has_actions=one.has_actions,
        compared_with=one.compared_with,
        min_credibility=one.min_credibility,
        size_without_limit=one.size_without_limit,
        minimise=one.minimise,
        enough=_tell_enough(one._enough[0]) if one._enough else {},
        limits=one.limits,
    )


def statements_of(many: Explanations) -> Iterator[Statement]:
    """One statement for each row, without making an :class:`Explanation` for each."""
    answers = many.answers
    cells = {column: many.queries[column].tolist() for column in many.queries.columns}
    references = [many.references.iloc[[row]].astype(object).iloc[0].to_dict() for row in range(len(many.references))]
    members = [Status.from_code(code) for code in range(len(Status))]
    n_sets = np.diff(answers.offsets).tolist()
    rows = zip(
        *(answers.status.tolist(), answers.target.tolist(), answers.score.tolist(), answers.lower_bound.tolist()),
        *(answers.reference.tolist(), answers.complete.tolist(), many.first_sets(), n_sets, many.not_permitted),
        strict=True,
    )
    others = [many.other_class(target) for target in range(len(many.targets))]
    scores = many.class_scores
    highest = _find_highest(scores)
    without = many.sizes_without_limit
    enough: dict[int, Mapping[str, EnoughValues]] = {}
    if many.enough is not None:  # those of all first sets at once
        found = np.flatnonzero(answers.has_set)
        enough = dict(zip(found.tolist(), many.enough.get(answers.offsets[found].tolist()), strict=True))
    for row, (status, target, score, lower_bound, reference, complete, features, count, beyond) in enumerate(rows):
        yield Statement(
            kind=many.kind,
            status=members[status],
            target=many.targets[target],
            score=score if scores is None else float(scores.before[row]),
            threshold=many.thresholds[target],
            features=features,
            n_sets=count,
            sets_complete=complete,
            lower_bound=lower_bound,
            restricted=many.restricted,
            reason=answers.reasons.get(row, ""),
            query={column: cells[column][row] for name in features for column in many.columns[name]},
            reference=references[reference],
            not_permitted=beyond,
            other=others[target] if scores is None else many.becomes(row),
            highest=highest,
            values=many.values,
            searched=many.values_searched[row],
            has_actions=many.has_actions,
            compared_with=many.compared_with[row],
            min_credibility=many.min_credibility,
            size_without_limit=None if np.isnan(without[row]) else int(without[row]),
            minimise=many.minimise,
            enough=_tell_enough(enough[row]) if row in enough else {},
            limits=many.limits,
        )


def _tell_enough(enough: Mapping[str, EnoughValues]) -> dict[str, Enough]:
    """Ranges as pairs of ends, choices as lists."""
    known = {name: enough_in_text(one) for name, one in enough.items()}
    return {name: one for name, one in known.items() if one is not None}


def _find_highest(scores: ClassScores | None) -> Literal["probability", "score"] | None:
    if scores is None:
        return None
    return "probability" if scores.are_probabilities else "score"
