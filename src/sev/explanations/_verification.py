"""Asking the model again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.core import Status
from sev.exceptions import VerificationError
from sev.typing import Kind

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation


def changed_row(kind: Kind, query: pd.Series, reference: pd.Series, columns: Sequence[Any]) -> pd.Series:
    """The query with some columns from the reference, or for "plus" the reference with some from the query."""
    base, donor = (query, reference) if kind == "minus" else (reference, query)
    values = np.array(base, dtype=object)
    values[base.index.get_indexer(list(columns))] = np.array(donor, dtype=object)[
        donor.index.get_indexer(list(columns))
    ]
    return pd.Series(values, index=base.index, name=base.name, dtype=object)


def verify_all(explanations: Sequence[Explanation], explainer: Any = None) -> None:
    """Score every query and every changed row anew, in one call of the model for each class.

    Raises
    ------
    VerificationError
        Names the first row and set that the model does not confirm.
    """
    decided = [one for one in explanations if one.status is not Status.ERROR]
    if not decided and explanations:
        raise VerificationError(f"There is nothing to verify: {explanations[0].reason}.")
    for target, group in groupby(decided, key=lambda one: one.target):
        some = list(group)
        source = explainer.source if explainer is not None else some[0]._source
        if source is None:
            raise VerificationError("These explanations carry no model: pass the explainer, verify(explainer).")
        claims = [claim for one in some for claim in _claims(one)]
        rows = pd.DataFrame([row.to_numpy(dtype=object) for _, _, row, _ in claims], columns=claims[0][2].index)
        for (one, what, _, positive), score in zip(claims, source.score_rows(rows, target), strict=True):
            if (score >= one.threshold) != positive:
                side = "at least" if positive else "below"
                raise VerificationError(
                    f"Row {one.query.name!r}, {what}: the model's score is {score!r}, it should be {side} the "
                    f"threshold {one.threshold!r}."
                )


def _claims(one: Explanation) -> list[tuple[Explanation, str, pd.Series, bool]]:
    """What an explanation says about the model: rows, and whether each is predicted as the target."""
    claims = [(one, "as given", one.query, one.status is not Status.NOT_TARGET)]
    for names in one.sets:
        columns = [column for name in names for column in one.columns[name]]
        row = changed_row(one.kind, one.query, one.reference, columns)
        claims.append((one, f"with {list(names)} changed", row, one.kind == "plus"))
    return claims
