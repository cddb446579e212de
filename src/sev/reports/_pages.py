"""The page of one chosen decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sev.explanations import Explanation, Explanations, Status
from sev.explanations._vertices import differing_features
from sev.explanations._words import Speaker, said_of

_MOST_SETS = 4
_PROOFS = {
    Status.OPTIMAL: "Proven: no smaller set of features does this.",
    Status.FEASIBLE: "The set works; a smaller one was not ruled out.",
    Status.UNEXPLAINABLE: "Proven: no allowed set of features does this.",
    Status.UNDECIDED: "A limit ended the search before a set was found.",
    Status.NOT_TARGET: "Not of the class being explained.",
    Status.ERROR: "The model failed on this row.",
}


def telling_rows(many: Explanations, count: int) -> list[int]:
    """Rows worth a page of their own: in turn one of each size, and one of each way to end without a set."""
    states = np.where(np.isnan(many.sizes), 1000.0 + many._answers.status, many.sizes)
    states[many.statuses == Status.NOT_TARGET] = np.nan
    kinds = np.unique(states[~np.isnan(states)])
    queues = [np.flatnonzero(states == kind).tolist() for kind in kinds]
    chosen: list[int] = []
    for turn in range(max((len(queue) for queue in queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(chosen) < count:
                chosen.append(queue[turn])
    return sorted(chosen)


def page_of(one: Explanation, row: int, label: Any, speaker: Speaker) -> dict[str, Any]:
    """What the template shows of one decision.

    Parameters
    ----------
    one : Explanation
        The decision.
    row : int
        Its place in the batch.
    label : object
        Its label.
    speaker : Speaker
        Says names, values and the sentence.
    """
    shown = one.sets[:_MOST_SETS]
    left = len(one.sets) - len(shown)
    base = "With the change" if one.kind == "minus" else "What is enough"
    more = f"{left} more sets of this size are not shown." if left else ""
    if not one.sets_complete:
        more += " There may be more sets of this size than were listed."
    return {
        "row": row,
        "id": label,
        "kind": one.kind,
        "proof": _PROOFS[one.status],
        "text": speaker.sentence(said_of(one)),
        "scores": _scores(one),
        "sets": [base if len(shown) == 1 else f"{base} ({number})" for number in range(1, len(shown) + 1)],
        "lines": _lines(one, shown, speaker),
        "more": more.strip(),
    }


def _lines(one: Explanation, shown: Sequence[tuple[str, ...]], speaker: Speaker) -> list[dict[str, Any]]:
    used = tuple(dict.fromkeys(name for names in shown for name in names))
    donor = one.reference if one.kind == "minus" else one.query
    differs = differing_features(one)
    lines = []
    for name in dict.fromkeys((*used, *differs, *one.columns)):
        lines.append(
            {
                "label": speaker.label(name) + (" (restricted)" if name in one.restricted else ""),
                "kind": "used" if name in used else "differs" if name in differs else "same",
                "query": speaker.value(name, one.query),
                "reference": speaker.value(name, one.reference),
                "cells": [speaker.value(name, donor) if name in names else "" for names in shown],
            }
        )
    return lines


def _scores(one: Explanation) -> dict[str, Any] | None:
    """Places on a rail from the lowest to the highest score, in percent."""
    scores = {"this decision": one.score}
    if one.result_score is not None:
        scores["with the change" if one.kind == "minus" else "what is enough"] = one.result_score
    values = [*scores.values(), one.threshold]
    if not np.isfinite(values).all():
        return None
    low, high = (0.0, 1.0) if min(values) >= 0 and max(values) <= 1 else (min(values), max(values))

    def at(score: float) -> float:
        return round(100 * (score - low) / ((high - low) or 1.0), 2)

    # labels stay clear of the ends, and the second one goes below when both would meet
    close = len(scores) == 2 and abs(at(values[0]) - at(values[1])) < 34
    marks = [
        {
            "kind": "positive" if score >= one.threshold else "negative",
            "at": at(score),
            "label_at": min(max(at(score), 11), 89),
            "side": "above",
            "text": f"{name} {score:.3g}",
        }
        for name, score in scores.items()
    ]
    if close:
        higher, lower = sorted(marks, key=lambda mark: -float(str(mark["at"])))
        middle = min(max((float(str(higher["at"])) + float(str(lower["at"]))) / 2, 28), 72)
        higher["label_at"], lower["label_at"] = middle + 17, middle - 17
    return {
        "marks": marks,
        "threshold": at(one.threshold),
        "threshold_label": min(max(at(one.threshold), 9), 91),
        "threshold_text": f"{one.threshold:.3g}",
        "words": ", ".join(f"{name}: score {score:.3g}" for name, score in scores.items())
        + f"; threshold {one.threshold:.3g}",
    }
