"""What the report says before it lists decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from sev.explanations import Explanations, Status, kind_label
from sev.explanations._json import plain_value
from sev.explanations._words import Speaker
from sev.reports._data import row_label

_MOST_LISTED, _MOST_FEATURES, _MOST_REFERENCES = 25, 20, 4
_ENDINGS = (Status.UNEXPLAINABLE, Status.UNDECIDED, Status.ERROR)


def overview(
    many: Explanations, sentences: Sequence[str], speaker: Speaker, about: dict[str, Any] | None
) -> dict[str, Any]:
    """Everything that the template shows above the table of decisions."""
    explained = int((many.statuses != Status.NOT_TARGET).sum())
    return {
        "subtitle": _subtitle(many),
        "cards": _cards(many, explained),
        "sizes": _sizes(many, explained),
        "size_note": f"{kind_label(many.kind)} of the {explained:,} decisions of the class being explained.",
        "shares": _shares(many, speaker),
        "shares_note": _shares_note(many),
        "facts": _facts(many, about),
        **_without(many, sentences),
        **_reference(many, speaker),
        "options": [
            (str(status), f"{str(status).replace('_', ' ')} ({count:,})")
            for status in Status
            if (count := int((many.statuses == status).sum()))
        ],
    }


def _subtitle(many: Explanations) -> str:
    targets = ", ".join(repr(plain_value(target)) for target in many._targets)
    what = (
        "the fewest features which, set to the reference's values, undo the decision"
        if many.kind == "minus"
        else "the fewest features which alone, with all else as in the reference, bring the decision about"
    )
    return f"{len(many):,} decisions; explained: predicted {targets}. {kind_label(many.kind)}: {what}."


def _cards(many: Explanations, explained: int) -> list[tuple[str, str]]:
    sizes = many.sizes[~np.isnan(many.sizes)]
    cards = [
        ("decisions", f"{len(many):,}"),
        ("of the class being explained", f"{explained:,}"),
        ("with a reason", f"{sizes.size:,}"),
        ("mean features needed", f"{sizes.mean():.2f}" if sizes.size else "–"),
        ("need only one feature", f"{(sizes == 1).mean():.0%}" if sizes.size else "–"),
    ]
    return cards + [
        (str(status), f"{count:,}")
        for status in _ENDINGS
        if (count := int((many.statuses == status).sum())) or status is Status.UNEXPLAINABLE
    ]


def _bar(label: str, count: float, top: float, number: str, kind: str = "") -> dict[str, Any]:
    # room is left for the number beside the longest bar
    return {"label": label, "number": number, "kind": kind, "width": round(72 * count / top, 2) if top else 0}


def _sizes(many: Explanations, explained: int) -> list[dict[str, Any]]:
    sizes = many.sizes[~np.isnan(many.sizes)].astype(int)
    first, last = (int(min(sizes.min(), 1)), int(sizes.max())) if sizes.size else (1, 1)
    counts = [(str(size), int((sizes == size).sum()), "") for size in range(first, last + 1)]
    counts += [(str(status), int((many.statuses == status).sum()), str(status)) for status in _ENDINGS]
    counts = [one for one in counts if one[1] or not one[2] or one[2] == Status.UNEXPLAINABLE]
    top = max(count for _, count, _ in counts)
    return [
        _bar(label, count, top, f"{count:,} ({count / max(explained, 1):.1%})", kind) for label, count, kind in counts
    ]


def _shares(many: Explanations, speaker: Speaker) -> list[dict[str, Any]]:
    shares = many.feature_shares()
    top = float(shares.max()) if len(shares) else 0.0
    used = [name for name in shares.index if shares[name] > 0][:_MOST_FEATURES]
    shown = [*used, *(name for name in shares.index if name in many.restricted)]
    return [
        _bar(speaker.label(name), shares[name], top, "restricted", "restricted")
        if name in many.restricted
        else _bar(speaker.label(name), shares[name], top, f"{shares[name]:.1%}")
        for name in shown
    ]


def _shares_note(many: Explanations) -> str:
    unused = int(((shares := many.feature_shares()) == 0).sum()) - len(many.restricted)
    left = len(shares) - unused - len(many.restricted) - _MOST_FEATURES
    parts = [f"{left} less used" if left > 0 else "", f"{unused} never used" if unused > 0 else ""]
    return "".join(f"; {part}" for part in parts if part)


def _facts(many: Explanations, about: dict[str, Any] | None) -> list[tuple[str, str, bool]]:
    facts: list[tuple[str, Any, bool]] = []
    if about is not None:
        facts += [
            ("Model", about["model"], False),
            ("Read as", about["backend"], False),
            ("Package", " ".join(about["package"]) if about["package"] else None, False),
            ("Background", f"{about['n_background']:,} rows" if about["n_background"] else None, False),
        ]
    thresholds = ", ".join(f"{threshold:.6g}" for threshold in dict.fromkeys(many._thresholds))
    facts += [
        ("Class being explained", ", ".join(repr(plain_value(target)) for target in many._targets), False),
        ("Threshold of the score", thresholds, False),
        ("Kind", f"{kind_label(many.kind)} (kind={many.kind!r})", False),
        ("Features", f"{len(many.feature_names):,}", False),
        ("Restricted", ", ".join(many.restricted) or "none", False),
    ]
    if about is not None:
        facts += [(f"Hash of {name}", digest, True) for name, digest in about["hashes"].items()]
    else:
        facts.append(("Model", "not with these explanations, which were read from a file", False))
    return [(label, str(value), is_code) for label, value, is_code in facts if value is not None]


def _without(many: Explanations, sentences: Sequence[str]) -> dict[str, Any]:
    rows = np.flatnonzero(np.isin(many.statuses, [str(status) for status in _ENDINGS]))
    lines = [
        {
            "id": row_label(many.index[row]),
            "status": many.statuses[row],
            "score": f"{many.scores[row]:.4g}" if np.isfinite(many.scores[row]) else "",
            "text": sentences[row],
        }
        for row in rows[:_MOST_LISTED].tolist()
    ]
    left = len(rows) - len(lines)
    return {
        "without": lines,
        "without_note": f"{len(rows):,} decisions of the class being explained have no reason that could be given.",
        "without_more": f"{left:,} more are in the table of all decisions, under their statuses." if left else "",
    }


def _reference(many: Explanations, speaker: Speaker) -> dict[str, Any]:
    shown: list[pd.Series] = [many._references.iloc[row] for row in range(min(len(many._references), _MOST_REFERENCES))]
    left = len(many._references) - len(shown)
    one = len(many._references) == 1
    return {
        "reference_note": "The row that every decision is compared with: what its features are changed to."
        if one
        else "The rows that decisions are compared with: what their features are changed to.",
        "reference_names": ["Value"] if one else [f"Reference {number}" for number in range(1, len(shown) + 1)],
        "references": [
            {"label": speaker.label(name), "cells": [speaker.value(name, row) for row in shown]}
            for name in many.feature_names
        ],
        "reference_more": f"{left} more references are not shown." if left > 0 else "",
    }
