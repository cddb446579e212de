"""The record of one decision: what was decided, why, how sure that is, and what it rests on."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import sklearn

from sev.core import Status, __version__, plain_value
from sev.explanations import Explanations, Source
from sev.reports._data import row_label
from sev.reports._spreadsheet import figure
from sev.typing import JSONObject

SCHEMA = "sev.reasons"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Provenance:
    """What all records of a batch share.

    Parameters
    ----------
    hashes : dict
        Of model, background and reference.
    settings : dict
        What was asked for.
    versions : dict
        Of the packages that answered.
    """

    hashes: dict[str, str | None]
    settings: JSONObject
    versions: dict[str, str]

    @classmethod
    def of(cls, many: Explanations, source: Source, max_reasons: int, hashes: Mapping[str, str]) -> Provenance:
        """Ask the explainer behind a batch."""
        about = source.about()
        return cls(
            hashes={**about["hashes"], **hashes},
            settings={
                "kind": many.kind,
                "values": many.values,
                "minimise": about["minimise"] if many.source is None else many.source.about()["minimise"],
                "actions": about["actions"],
                "restricted": list(many.restricted),
                "reference": about["reference"],
                "backend": about["backend"],
                "model": about["model"],
                "max_reasons": max_reasons,
                "order": many.order,
                "min_credibility": many.min_credibility,
                **about["limits"],
            },
            versions=_list_versions(about["package"]),
        )


def decision_of(many: Explanations, row: int) -> str | None:
    """What the model decided, as the labels call it or in terms of the class being explained; None where it failed."""
    answers = many.answers
    number = int(answers.target[row])
    code = int(answers.status[row])
    if code == Status.ERROR.code:
        return None
    target, other = many.targets[number], many.other_class(number)
    if code == Status.NOT_TARGET.code:
        return many.labels.decision(other) or f"not {many.labels.decision(target) or plain_value(target)}"
    return many.labels.decision(target) or str(plain_value(target))


def decision_after(many: Explanations, row: int) -> str | None:
    """What the model would decide with the change; None where there is no change or the class is not known."""
    becomes = many.becomes(row)
    if becomes is None:
        return None
    return many.labels.decision(becomes) or str(plain_value(becomes))


def record(
    many: Explanations,
    row: int,
    proof: str,
    reasons: Sequence[JSONObject],
    cut: Sequence[str],
    hidden: Sequence[str],
    provenance: Provenance,
) -> JSONObject:
    """One decision as plain values, ready for JSON."""
    answers = many.answers
    one = many[row]
    status = Status.from_code(int(answers.status[row]))
    target = int(answers.target[row])
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "row": row,
        "id": row_label(many.index[row]),
        "target": plain_value(many.targets[target]),
        "decision": decision_of(many, row),
        "score": figure(answers.score[row]),
        "threshold": figure(many.thresholds[target]),
        "score_after": figure(answers.result_score[row]),
        "class_score": None if many.class_scores is None else figure(many.class_scores.before[row]),
        "class_score_after": None if many.class_scores is None else figure(many.class_scores.after[row]),
        "becomes": plain_value(many.becomes(row)),
        "decision_after": decision_after(many, row),
        "status": str(status),
        "proof": proof,
        "not_permitted": many.not_permitted[row],
        "compared_with": many.compared_with[row],
        "credibility": figure(many.credibilities[row]),
        "size_without_limit": None if np.isnan(many.sizes_without_limit[row]) else int(many.sizes_without_limit[row]),
        "size": None if np.isnan(many.sizes[row]) else int(many.sizes[row]),
        "lower_bound": int(answers.lower_bound[row]),
        "sets": [list(names) for names in many.sets_of(row)],
        "sets_complete": bool(answers.complete[row]),
        "proof_scope": one.proof_scope,
        "values_searched": one.values_searched,
        "changes": {name: change.to_dict() for name, change in one.changes.items()},
        "cost": None if one.cost is None else figure(one.cost),
        "reasons": list(reasons),
        "cut": list(cut),
        "hidden": list(hidden),
        "error": answers.reasons.get(row),
        "hashes": provenance.hashes,
        "settings": provenance.settings,
        "versions": provenance.versions,
    }


def _list_versions(package: tuple[str, str] | None) -> dict[str, str]:
    versions = {
        "sev": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "scikit-learn": sklearn.__version__,
    }
    return versions | ({package[0]: package[1]} if package else {})
