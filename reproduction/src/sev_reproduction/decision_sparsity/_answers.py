"""What is kept of the answers to some queries: sizes, distances, likelihoods, and how many have none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import sev

from sev_reproduction.decision_sparsity._setting import Setting


def figures(
    setting: Setting, sizes: Iterable[float], changed: list[pd.Series | None], seconds: float
) -> dict[str, Any]:
    """Figures of the answers to the queries of a setting.

    Parameters
    ----------
    setting : Setting
        Model and queries.
    sizes : iterable of float
        Size of each answer, NaN where there is none.
    changed : list of Series or None
        The changed row of each query, None where there is none.
    seconds : float
        Processor time for all queries.
    """
    found = np.asarray(list(sizes), dtype=float)
    answered = [
        (before, after)
        for (_, before), after in zip(setting.rows.iterrows(), changed, strict=True)
        if after is not None
    ]
    largest = [setting.largest_change(before, after) for before, after in answered]
    likelihood = setting.likelihood(_as_frame(setting, [after for _, after in answered]))
    return {
        "queries": len(found),
        "size": float(np.nanmean(found)) if answered else None,
        "without_answer": float(np.isnan(found).mean()) if len(found) else None,
        "largest_change": float(np.median(largest)) if largest else None,
        "likelihood": float(np.median(likelihood)) if len(likelihood) else None,
        "milliseconds": 1000.0 * seconds / len(found) if len(found) else None,
    }


def closest(setting: Setting, one: sev.Explanation) -> pd.Series | None:
    """The changed row of the minimum set with the smallest largest change, as the follow-up takes it; None: no set."""
    query = one.query.to_dict()
    nearest, least = None, np.inf
    for number, features in enumerate(one.sets):
        donor = one.donor_of(number)
        change = max((setting.change(name, query[name], donor[name]) for name in features), default=0.0)
        if nearest is None or change < least:
            nearest, least = (features, donor), change
    if nearest is None:
        return None
    row = one.query.astype(object)
    row[list(nearest[0])] = nearest[1][list(nearest[0])]
    return row


def _as_frame(setting: Setting, rows: list[pd.Series]) -> pd.DataFrame:
    columns = setting.X_train.columns
    frame = pd.DataFrame([row[columns].tolist() for row in rows], columns=columns)
    return frame.astype(setting.X_train.dtypes.to_dict(), errors="ignore")
