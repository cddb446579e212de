"""What sentences state, from one explanation or from many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sev.core import Status
from sev.text import Statement

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._explanations import Explanations


def statement_of(one: Explanation) -> Statement:
    """What a sentence about one explanation states."""
    return Statement(
        kind=one.kind,
        status=one.status,
        target=one.target,
        score=one.score,
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
        other=one.other,
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
    for row, (status, target, score, lower_bound, reference, complete, features, count, beyond) in enumerate(rows):
        yield Statement(
            kind=many.kind,
            status=members[status],
            target=many.targets[target],
            score=score,
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
            other=others[target],
        )
