"""The published way of flexible and of credible SEV, computed as the authors' code has it, beside the exact answers.

Flexible: each number gets one second value, the best of five between two quantiles when all other features are at the
reference, and a query is answered with sets of the first reference or of the second; sets of one feature are never
tried with the second. Credible: sets are tried in order of size; the first that crosses and is likely enough is the
answer, and where there is none, one that is not likely enough, without a remark.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from sev_reproduction import _measure
from sev_reproduction._plan import Plan
from sev_reproduction._task import Task
from sev_reproduction.decision_sparsity._setting import Setting, setting, tasks_of

NAME = "published"

#: Half width of the band of quantiles, and values that are tried in it.
BAND, N_VALUES = 0.1, 5
#: Largest set that is tried for credible answers; theirs is six.
MOST_FEATURES = 3
#: Quantile of the likelihoods of the answers without a limit that becomes the limit.
QUANTILE = 0.75


def tasks(plan: Plan) -> list[Task]:
    """Linear models and boosted trees on every split."""
    return tasks_of(NAME, plan, ("l2", "gbdt"))


def run(task: Task, plan: Plan) -> dict[str, Any]:
    """Their flexible and credible answers, and the exact ones to the same queries."""
    on = setting(task, plan)
    return {"flexible": _flexible(on, plan), "credible": _credible(on, plan)}


def _flexible(on: Setting, plan: Plan) -> dict[str, Any]:
    first = on.explainer("mean")
    options = {"max_sets": 1, "time_limit": plan.time_limit}
    one = _measure.quietly(first.explain, on.rows, **options).sizes
    exact = _measure.quietly(first.explain, on.rows, values="typical", **options).sizes
    second = on.explainer(second_reference(on, first.reference))
    other = _measure.quietly(second.explain, on.rows, **options).sizes
    theirs = published_sizes(one, other)
    either = np.fmin(one, other)
    return {
        "queries": len(one),
        "size, theirs": _mean(theirs),
        "size, theirs also at one feature": _mean(either),
        "size, exact": _mean(exact),
        "exact is smaller": _share(_finite(exact) < _finite(theirs)),
        "one feature was enough but not tried": _share((_finite(either) == 1) & (_finite(theirs) > 1)),
        "without_answer, theirs": _share(np.isnan(theirs)),
        "without_answer, exact": _share(np.isnan(exact)),
    }


def published_sizes(first: Any, second: Any) -> Any:
    """Sizes that the published search finds from those against each of its two references.

    At every size the first reference is tried before the second, and the second from two features on only.
    """
    return np.where(first == 1, first, np.fmin(first, np.maximum(second, 2.0)))


def second_reference(on: Setting, reference: pd.DataFrame) -> pd.DataFrame:
    """The reference with each number at the best of its five values, one number tried at a time."""
    chosen = reference.astype(dict.fromkeys(on.numbers, float)).copy()
    for name in on.numbers:
        known = np.sort(on.negatives[name].dropna().to_numpy(dtype=float))
        if len(np.unique(known)) <= 2:
            continue  # two values are a category
        value = float(reference[name].iloc[0])
        position = np.searchsorted(known, value) / len(known)
        low, high = np.quantile(known, np.clip([position - BAND, position + BAND], 0.0, 1.0))
        tried = pd.concat([reference] * N_VALUES, ignore_index=True).astype({name: float})
        tried[name] = np.linspace(low, high, N_VALUES)
        chosen[name] = tried[name].iloc[int(np.argmin(on.scores(tried)))]
    return chosen


def _credible(on: Setting, plan: Plan) -> dict[str, Any]:
    reference = on.explainer("mean").reference
    rows = on.rows.iloc[: plan.max_queries]
    crossed = [Crossings.of(on, row, reference.iloc[0]) for _, row in rows.iterrows()]
    crossed = [one for one in crossed if len(one.sizes)]
    if not crossed:
        return {"queries": 0}
    limit = float(np.quantile([one.likelihoods[0] for one in crossed], QUANTILE))
    answers = [one.first_above(limit) for one in crossed]
    kept = [size for size, is_credible in answers if is_credible]
    return {
        "queries": len(answers),
        "size without limit": _mean([one.sizes[0] for one in crossed]),
        "size, theirs": _mean([size for size, _ in answers]),
        "size of credible answers": _mean(kept),
        "not credible and not marked": 1.0 - len(kept) / len(answers),
    }


class Crossings:
    """Every set of up to three features that changes a decision, in order of size, with the result's likelihood."""

    def __init__(self, sizes: Any, likelihoods: Any) -> None:
        self.sizes = sizes
        self.likelihoods = likelihoods

    @classmethod
    def of(cls, on: Setting, row: pd.Series, reference: pd.Series) -> Crossings:
        """Try all sets on one query, stopping two sizes after the smallest that works."""
        columns = list(on.X_train.columns)
        # sets with a feature that has the reference's value already are no sets of changes
        differing = [name for name in columns if row[name] != reference[name]]
        dtypes = on.X_train.dtypes.to_dict()
        sizes, likelihoods = [], []
        for size in range(1, MOST_FEATURES + 1):
            sets = list(combinations(differing, size))
            if not sets:
                break
            frame = pd.DataFrame([row.tolist()] * len(sets), columns=columns)
            for name in columns:
                mine = np.array([name in one for one in sets])
                frame[name] = frame[name].astype(object).where(~mine, reference[name])
            frame = frame.astype({k: v if v.kind not in "iu" else float for k, v in dtypes.items()}, errors="ignore")
            crosses = frame[on.scores(frame) < 0.5]
            sizes += [size] * len(crosses)
            likelihoods += on.likelihood(crosses).tolist()
        return cls(np.array(sizes), np.array(likelihoods))

    def first_above(self, limit: float) -> tuple[int, bool]:
        """Size of the first set whose result is likely enough, or of the very first where none is."""
        enough = np.flatnonzero(self.likelihoods > limit)
        return (int(self.sizes[enough[0]]), True) if enough.size else (int(self.sizes[0]), False)


def _mean(values: Any) -> float | None:
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return float(known.mean()) if known.size else None


def _share(truth: Any) -> float | None:
    return float(np.mean(truth)) if len(truth) else None


def _finite(sizes: Any) -> Any:
    return np.where(np.isnan(sizes), np.inf, sizes)
