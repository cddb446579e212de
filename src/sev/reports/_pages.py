"""The page of one chosen decision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sev.core import Status
from sev.explanations import Explanation, Explanations
from sev.text import Speaker, enough_in_text

_MOST_SETS = 4


def representative_rows(many: Explanations, count: int) -> list[int]:
    """Rows worth a page of their own: in turn one of each size and of each way to end without a set, and of rows of
    one size those with other features than the rows before first.
    """
    states = np.where(np.isnan(many.sizes), 1000.0 + many.answers.status, many.sizes)
    states[many.statuses == Status.NOT_TARGET] = np.nan
    kinds = np.unique(states[~np.isnan(states)])
    first_sets = many.first_sets()
    queues = [_different_first(np.flatnonzero(states == kind).tolist(), first_sets) for kind in kinds]
    chosen: list[int] = []
    for turn in range(max((len(queue) for queue in queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(chosen) < count:
                chosen.append(queue[turn])
    return sorted(chosen)


def _different_first(rows: Sequence[int], first_sets: Sequence[tuple[str, ...]]) -> list[int]:
    seen: set[tuple[str, ...]] = set()
    new: list[int] = []
    repeated: list[int] = []
    for row in rows:
        (repeated if first_sets[row] in seen else new).append(row)
        seen.add(first_sets[row])
    return new + repeated


def page_of(one: Explanation, row: int, label: object, speaker: Speaker) -> dict[str, object]:
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
    base = speaker.text("report_with_change" if one.kind == "minus" else "report_enough")
    more = speaker.text("report_more_sets", n=speaker.count(left)) if left else ""
    if not one.sets_complete:
        more += " " + speaker.text("report_maybe_more_sets")
    return {
        "row": row,
        "id": label,
        "kind": one.kind,
        "reference": one.values == "reference",  # else each set has values of its own
        "proof": " ".join(
            filter(None, (speaker.proof(one.statement(), beside_sentence=True), _tell_credibility(one, speaker)))
        ),
        "text": speaker.sentence(one.statement()),
        "scores": _place_scores(one, speaker),
        "sets": [base if len(shown) == 1 else f"{base} ({number})" for number in range(1, len(shown) + 1)],
        "lines": _make_lines(one, shown, speaker),
        "more": more.strip(),
        "cost": _tell_cost(one, speaker),
    }


def _tell_credibility(one: Explanation, speaker: Speaker) -> str:
    """How ordinary the result is, where that is known."""
    share = one.credibility
    return "" if share is None else speaker.text("report_credibility", share=speaker.percent(share))


def _make_lines(one: Explanation, shown: Sequence[tuple[str, ...]], speaker: Speaker) -> list[dict[str, object]]:
    used = tuple(dict.fromkeys(name for names in shown for name in names))
    differs = one.differing_features
    lines: list[dict[str, object]] = []
    for name in dict.fromkeys((*used, *differs, *one.columns)):
        lines.append(
            {
                "label": speaker.label(name)
                + (f" ({speaker.text('report_restricted')})" if name in one.restricted else ""),
                "kind": "used" if name in used else "differs" if name in differs else "same",
                "query": speaker.value(name, one.query),
                "reference": speaker.value(name, one.reference),
                "cells": [
                    _new_value(one, number, name, speaker) if name in names else ""
                    for number, names in enumerate(shown)
                ],
            }
        )
    return lines


def _new_value(one: Explanation, number: int, name: str, speaker: Speaker) -> str:
    """What a set makes of a feature: all values that do where they are known, else the one that was found."""
    made = one.donor_of(number)
    several = speaker.range_text(name, made, enough_in_text(one.enough_of(number).get(name)), one.limits)
    return speaker.value(name, made) if several is None else several


def _tell_cost(one: Explanation, speaker: Speaker) -> str:
    """The cost of the first set, where features may take values of their own or have weights."""
    if one.cost is None or not one.efforts or not (one.has_actions or one.values != "reference"):
        return ""
    return speaker.text("report_cost", value=speaker.number(one.cost))


def _place_scores(one: Explanation, speaker: Speaker) -> dict[str, object] | None:
    """Places on a rail from the lowest to the highest score, in percent."""
    classes = one.class_scores
    before, after = one.score, one.result_score
    if classes is not None:  # of the class itself, not its lead over the others, and without a threshold
        before, after = float(classes.before[0]), None if after is None else float(classes.after[0])
    scores = {_lower_first(speaker.text("report_this_decision")): before}
    if after is not None:
        changed = speaker.text("report_with_change" if one.kind == "minus" else "report_enough")
        scores[_lower_first(changed)] = after
    values = [*scores.values(), *([one.threshold] if classes is None else [])]
    if not np.isfinite(values).all():
        return None
    low, high = (0.0, 1.0) if min(values) >= 0 and max(values) <= 1 else (min(values), max(values))

    def at(score: float) -> float:
        return round(100 * (score - low) / ((high - low) or 1.0), 2)

    # labels stay clear of the ends, and the second one goes below when both would meet
    close = len(scores) == 2 and abs(at(values[0]) - at(values[1])) < 34
    marks = [
        {
            "kind": "positive" if (score >= one.threshold if classes is None else place == 0) else "negative",
            "at": at(score),
            "label_at": min(max(at(score), 11), 89),
            "side": "above",
            "text": f"{name} {speaker.number(score)}",
        }
        for place, (name, score) in enumerate(scores.items())
    ]
    if close:
        higher, lower = sorted(marks, key=lambda mark: -float(str(mark["at"])))
        middle = min(max((float(str(higher["at"])) + float(str(lower["at"]))) / 2, 28), 72)
        higher["label_at"], lower["label_at"] = middle + 17, middle - 17
    words = ", ".join(f"{name}: {speaker.number(score)}" for name, score in scores.items())
    if classes is not None:
        return {"marks": marks, "threshold": None, "words": words}
    threshold = f"{speaker.text('report_threshold')} {speaker.number(one.threshold)}"
    return {
        "marks": marks,
        "threshold": at(one.threshold),
        "threshold_label": min(max(at(one.threshold), 9), 91),
        "threshold_text": threshold,
        "words": f"{words}; {threshold}",
    }


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
