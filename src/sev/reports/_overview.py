"""What the report says before it lists decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sev.core import Status, kind_label, plain_value
from sev.explanations import Explanations, Groups
from sev.reports._data import row_label, shown_scores
from sev.reports._permitted import group_table, permitted_changes
from sev.text import Speaker
from sev.typing import ClassLabel, FloatArray, Parsed

_MOST_LISTED, _MOST_FEATURES, _MOST_REFERENCES = 25, 20, 4
#: From which credibility on an answer counts as credible where the call had no limit.
_CREDIBLE = 0.05
_ENDINGS = (Status.UNEXPLAINABLE, Status.UNDECIDED, Status.ERROR)


def overview(
    many: Explanations,
    sentences: Sequence[str],
    speaker: Speaker,
    about: Mapping[str, Parsed] | None,
    by: Groups | None = None,
) -> dict[str, object]:
    """Everything that the template shows above the table of decisions."""
    explained = int((many.statuses != Status.NOT_TARGET).sum())
    return {
        "subtitle": _make_subtitle(many, speaker),
        "cards": _make_cards(many, explained, speaker),
        "sizes": _make_size_bars(many, explained, speaker),
        "size_note": speaker.text("report_size_note", label=kind_label(many.kind), n=speaker.count(explained)),
        "shares": _make_share_bars(many, speaker),
        "shares_note": speaker.text("report_shares_note", more=_shares_note(many, speaker)),
        "facts": _list_facts(many, about, speaker),
        "has_credibility": bool(_known_credibilities(many).size),
        **permitted_changes(many, about, speaker),
        **group_table(many, by, speaker),
        **_list_rows_without(many, sentences, speaker),
        **_make_reference_table(many, speaker),
        "options": [
            (str(status), f"{speaker.text(f'status_{status}')} ({speaker.count(count)})")
            for status in Status
            if (count := int((many.statuses == status).sum()))
        ],
    }


def _make_subtitle(many: Explanations, speaker: Speaker) -> str:
    return speaker.text(
        "report_subtitle",
        n=speaker.count(len(many)),
        target=", ".join(speaker.decision(target) for target in many.targets),
        label=kind_label(many.kind),
        what=speaker.text(f"report_{many.kind}" if many.values == "reference" else "report_minus_any"),
    )


def _class_and_decision(target: ClassLabel, speaker: Speaker) -> str:
    name, decision = repr(plain_value(target)), speaker.decision(target)
    return name if decision == name else f"{name} ({decision})"


def _make_cards(many: Explanations, explained: int, speaker: Speaker) -> list[tuple[str, str]]:
    sizes = many.sizes[~np.isnan(many.sizes)]
    cards = [
        ("report_card_decisions", speaker.count(len(many))),
        ("report_card_target", speaker.count(explained)),
        ("report_card_reason", speaker.count(sizes.size)),
        ("report_card_mean", speaker.number(sizes.mean(), ".2f") if sizes.size else "–"),
        ("report_card_one", speaker.percent((sizes == 1).mean(), ".0f") if sizes.size else "–"),
    ]
    known = _known_credibilities(many)
    if known.size:
        cards.append(("report_card_credible", speaker.percent((known >= _least_credibility(many)).mean(), ".0f")))
    cards += [
        (f"status_{status}", speaker.count(count))
        for status in _ENDINGS
        if (count := int((many.statuses == status).sum())) or status is Status.UNEXPLAINABLE
    ]
    return [(speaker.text(name, share=speaker.percent(_least_credibility(many))), value) for name, value in cards]


def _known_credibilities(many: Explanations) -> FloatArray:
    """The credibility of each answer that has one."""
    shares = many.credibilities
    return shares[~np.isnan(shares)]


def _least_credibility(many: Explanations) -> float:
    """From which credibility on an answer is counted as credible: the limit of the call, where it had one."""
    return many.min_credibility or _CREDIBLE


def _make_bar(label: str, count: float, top: float, number: str, kind: str = "") -> dict[str, object]:
    # the longest bar leaves space for the number beside it
    return {"label": label, "number": number, "kind": kind, "width": round(72 * count / top, 2) if top else 0}


def _make_size_bars(many: Explanations, explained: int, speaker: Speaker) -> list[dict[str, object]]:
    sizes = many.sizes[~np.isnan(many.sizes)].astype(int)
    first, last = (int(min(sizes.min(), 1)), int(sizes.max())) if sizes.size else (1, 1)
    counts = [(str(size), int((sizes == size).sum()), "") for size in range(first, last + 1)]
    counts += [
        (speaker.text(f"status_{status}"), int((many.statuses == status).sum()), str(status)) for status in _ENDINGS
    ]
    counts = [one for one in counts if one[1] or not one[2] or one[2] == Status.UNEXPLAINABLE]
    top = max(count for _, count, _ in counts)
    return [
        _make_bar(
            label, count, top, f"{speaker.count(count)} ({speaker.percent(count / max(explained, 1), '.1f')})", kind
        )
        for label, count, kind in counts
    ]


def _make_share_bars(many: Explanations, speaker: Speaker) -> list[dict[str, object]]:
    shares = many.feature_shares()
    top = float(shares.max()) if len(shares) else 0.0
    used = [name for name in shares.index if shares[name] > 0][:_MOST_FEATURES]
    shown = [*used, *(name for name in shares.index if name in many.restricted)]
    return [
        _make_bar(speaker.label(name), shares[name], top, speaker.text("report_restricted"), "restricted")
        if name in many.restricted
        else _make_bar(speaker.label(name), shares[name], top, speaker.percent(shares[name], ".1f"))
        for name in shown
    ]


def _shares_note(many: Explanations, speaker: Speaker) -> str:
    unused = int(((shares := many.feature_shares()) == 0).sum()) - len(many.restricted)
    left = len(shares) - unused - len(many.restricted) - _MOST_FEATURES
    parts = [
        speaker.text("report_less_used", n=speaker.count(left)) if left > 0 else "",
        speaker.text("report_never_used", n=speaker.count(unused)) if unused > 0 else "",
    ]
    return "".join(f"; {part}" for part in parts if part)


def _list_facts(
    many: Explanations, about: Mapping[str, Parsed] | None, speaker: Speaker
) -> list[tuple[str, str, bool]]:
    facts: list[tuple[str, object]] = []
    if about is not None:
        rows = about["n_background"]
        facts += [
            ("model", _name_model(about, speaker)),
            ("backend", _known_text(f"report_backend_{about['backend'].replace(' ', '_')}", about["backend"], speaker)),
            ("package", " ".join(about["package"]) if about["package"] else None),
            ("background", speaker.text("report_fact_rows", n=speaker.count(rows)) if rows else None),
        ]
    facts += [
        ("target", ", ".join(_class_and_decision(target, speaker) for target in many.targets)),
        ("threshold", _tell_threshold(many, speaker)),
        ("kind", kind_label(many.kind)),
        ("features", speaker.count(len(many.feature_names))),
        ("restricted", ", ".join(map(speaker.label, many.restricted)) or speaker.text("report_none")),
    ]
    if about is None:
        facts.append(("model", speaker.text("report_fact_no_model")))
    hashes = {} if about is None else about["hashes"]
    return [
        *((speaker.text(f"report_fact_{name}"), str(value), False) for name, value in facts if value is not None),
        *(
            (
                speaker.text("report_fact_hash", what=_known_text(f"report_hash_{name}", name, speaker)),
                str(digest),
                True,
            )
            for name, digest in hashes.items()
            if digest is not None
        ),
    ]


def _name_model(about: Mapping[str, Parsed], speaker: Speaker) -> str:
    """Class of the model; of a pipeline also that of its last step."""
    if about["last_step"] is None:
        return str(about["class"])
    return speaker.text("report_fact_pipeline", what=about["class"], last=about["last_step"])


def _known_text(name: str, otherwise: str, speaker: Speaker) -> str:
    """A text of the language, or what it is called in records: backends may come from other packages."""
    return speaker.text(name) if speaker.has_text(name) else otherwise


def _tell_threshold(many: Explanations, speaker: Speaker) -> str:
    if many.class_scores is not None:
        return speaker.text("report_fact_highest")
    return ", ".join(speaker.number(threshold, ".6g") for threshold in dict.fromkeys(many.thresholds))


def _list_rows_without(many: Explanations, sentences: Sequence[str], speaker: Speaker) -> dict[str, object]:
    rows = np.flatnonzero(np.isin(many.statuses, [str(status) for status in _ENDINGS]))
    scores, _ = shown_scores(many)
    lines = [
        {
            "id": row_label(many.index[row]),
            "status": speaker.text(f"status_{many.statuses[row]}"),
            "score": speaker.number(scores[row], ".4g") if np.isfinite(scores[row]) else "",
            "text": sentences[row],
        }
        for row in rows[:_MOST_LISTED].tolist()
    ]
    left = len(rows) - len(lines)
    return {
        "without": lines,
        "without_note": speaker.text("report_without_note", n=speaker.count(len(rows))),
        "without_more": speaker.text("report_without_more", n=speaker.count(left)) if left else "",
    }


def _make_reference_table(many: Explanations, speaker: Speaker) -> dict[str, object]:
    if many.values != "reference":  # each set has values of its own, and no row stands for them
        return {"references": []}
    shown: list[pd.Series] = [many.references.iloc[row] for row in range(min(len(many.references), _MOST_REFERENCES))]
    left = len(many.references) - len(shown)
    one = len(many.references) == 1
    name = speaker.text("report_reference")
    return {
        "reference_note": speaker.text("report_reference_one" if one else "report_reference_many"),
        "reference_names": [speaker.text("report_value")]
        if one
        else [f"{name} {number}" for number in range(1, len(shown) + 1)],
        "references": [
            {"label": speaker.label(feature), "cells": [speaker.value(feature, row) for row in shown]}
            for feature in many.feature_names
        ],
        "reference_more": speaker.text("report_reference_more", n=speaker.count(left)) if left > 0 else "",
    }
