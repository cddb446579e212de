"""Many explanations in a table or a few numbers; the methods of :class:`sev.Explanations` document what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from sev.core import Status, kind_label, unpack
from sev.exceptions import InputError

if TYPE_CHECKING:
    from sev.explanations._explanations import Explanations


def rows_as_frame(many: Explanations) -> pd.DataFrame:
    """One line for each row: see :meth:`sev.Explanations.to_frame`."""
    many._list_sets()
    answers = many._answers
    return pd.DataFrame(
        {
            "status": many.statuses,
            "size": many.sizes,
            "lower_bound": answers.lower_bound,
            "features": many.first_sets(),
            "n_sets": np.diff(answers.offsets),
            "score": answers.score,
            "result_score": answers.result_score,
            **_class_columns(many),
            "credibility": many.credibilities,
            **({"size_without_limit": many.sizes_without_limit} if many.min_credibility > 0 else {}),
        },
        index=many.index,
    )


def _class_columns(many: Explanations) -> dict[str, list[object]]:
    """What the class with the highest score is decided by, for models that decide so."""
    scores = many.class_scores
    if scores is None:
        return {}
    name = "probability" if scores.are_probabilities else "class_score"
    # a Series keeps its dtype: of other objects pandas would make text, unless all of them are missing
    becomes = pd.Series([many.becomes(row) for row in range(len(many))], dtype=object, index=many.index)
    return {name: scores.before, f"result_{name}": scores.after, "becomes": becomes}


def mean_size(many: Explanations, unexplainable: Literal["drop", "all_features"]) -> float:
    """Mean size over the rows that have one: see :meth:`sev.Explanations.mean_size`."""
    if unexplainable not in ("drop", "all_features"):
        raise InputError(f'unexplainable={unexplainable!r} is not known: use "drop" or "all_features".')
    sizes = many._answers.sizes()
    if unexplainable == "all_features":
        sizes[many._answers.status == Status.UNEXPLAINABLE.code] = len(many._features)
    known = sizes[~np.isnan(sizes)]
    return float(known.mean()) if known.size else float("nan")


def summary_of(many: Explanations) -> pd.Series:
    """Counts and sizes of all rows: see :meth:`sev.Explanations.summary`."""
    sizes = many.sizes[~np.isnan(many.sizes)]
    explained = many._answers.status != Status.NOT_TARGET.code
    counts = {str(status): int((many._answers.status == status.code).sum()) for status in Status}
    return pd.Series(
        {
            "rows": len(many),
            "target": int(explained.sum()),
            **counts,
            "share_unexplainable": counts[Status.UNEXPLAINABLE] / explained.sum() if explained.any() else np.nan,
            "mean_size": many.mean_size(),
            "share_of_one": float((sizes == 1).mean()) if sizes.size else np.nan,
            "max_size": float(sizes.max()) if sizes.size else np.nan,
        },
        dtype=object,
        name=kind_label(many.kind),
    )


def feature_shares(many: Explanations, sets: Literal["first", "any"]) -> pd.Series:
    """How often each feature is used: see :meth:`sev.Explanations.feature_shares`."""
    if sets not in ("first", "any"):
        raise InputError(f'sets={sets!r} is not known: use "first" or "any".')
    if sets == "any":
        many._list_sets()
    answers = many._answers
    found = np.flatnonzero(answers.has_set)
    used = np.zeros(len(many._features))
    if found.size:
        starts = answers.offsets[found]
        masks = answers.masks[starts] if sets == "first" else np.bitwise_or.reduceat(answers.masks, starts, axis=0)
        used = unpack(masks, len(many._features)).mean(axis=0)
    shares = pd.Series(used, index=pd.Index(many.feature_names, name="feature"), name="share")
    return shares.sort_values(ascending=False, kind="stable")


def feature_pairs(many: Explanations) -> pd.DataFrame:
    """How often two features are used together: see :meth:`sev.Explanations.feature_pairs`."""
    found = np.flatnonzero(many._answers.has_set)
    used = unpack(many._answers.masks[many._answers.offsets[found]], len(many._features)).astype(np.float64)
    names = pd.Index(many.feature_names, name="feature")
    return pd.DataFrame(used.T @ used / max(len(found), 1), index=names, columns=names)
