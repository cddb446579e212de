"""The JSON document of many explanations: everything but the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.core import Answers, Status, __version__, n_words, pack, plain_value, table_from_plain, table_to_plain, unpack
from sev.exceptions import InputError
from sev.text import Labels

if TYPE_CHECKING:
    from sev.explanations._explanations import Explanations

SCHEMA = "sev.explanations"
SCHEMA_VERSION = 1


def to_document(many: Explanations) -> dict[str, Any]:
    """Everything but the model, as plain values."""
    answers = many.answers
    numbers = [np.flatnonzero(chosen).tolist() for chosen in unpack(answers.masks, len(many.feature_names))]
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "sev_version": __version__,
        "kind": many.kind,
        "targets": [plain_value(target) for target in many.targets],
        "thresholds": [plain_value(threshold) for threshold in many.thresholds],
        "restricted": list(many.restricted),
        "labels": many.labels.to_plain(),
        "classes": [plain_value(one) for one in many.classes],
        "features": [{"name": name, "columns": list(columns)} for name, columns in many.columns.items()],
        "references": table_to_plain(many.references),
        "queries": table_to_plain(many.queries),
        "index": [plain_value(label) for label in many.index],
        "rows": {
            "status": many.statuses.tolist(),
            "lower_bound": answers.lower_bound.tolist(),
            "score": [plain_value(score) for score in answers.score],
            "result_score": [plain_value(score) for score in answers.result_score],
            "target": answers.target.tolist(),
            "reference": answers.reference.tolist(),
            "sets": [numbers[a:b] for a, b in zip(answers.offsets[:-1], answers.offsets[1:], strict=True)],
            "sets_complete": answers.complete.tolist(),
            "not_permitted": list(many.not_permitted),
            "reason": {str(row): reason for row, reason in answers.reasons.items()},
        },
    }


def from_document(document: Any) -> dict[str, Any]:
    """Arguments for ``Explanations``, from what :func:`to_document` gave."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(f"This is not a document of explanations: its schema is not {SCHEMA!r}.")
    version = document.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise InputError(
            f"This document has schema version {version!r}; this sev reads up to {SCHEMA_VERSION}: install a newer one."
        )
    try:
        return _arguments(document)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"This document of explanations is damaged: {type(error).__name__}: {error}.") from error


def _arguments(document: dict[str, Any]) -> dict[str, Any]:
    rows = document["rows"]
    features = {one["name"]: tuple(one["columns"]) for one in document["features"]}
    counts = [len(sets) for sets in rows["sets"]]
    chosen = np.zeros((sum(counts), len(features)), dtype=np.bool_)
    for number, names in enumerate(names for sets in rows["sets"] for names in sets):
        chosen[number, names] = True
    n_rows = len(rows["status"])
    answers = Answers(
        status=np.array([Status(name).code for name in rows["status"]], dtype=np.int8),
        lower_bound=np.array(rows["lower_bound"], dtype=np.int64),
        score=np.array(rows["score"], dtype=np.float64),
        result_score=np.array(rows["result_score"], dtype=np.float64),
        target=np.array(rows["target"], dtype=np.int64),
        reference=np.array(rows["reference"], dtype=np.int64),
        offsets=np.cumsum([0, *counts]).astype(np.int64),
        masks=pack(chosen) if len(chosen) else np.zeros((0, n_words(len(features))), dtype=np.uint64),
        complete=np.array(rows["sets_complete"], dtype=np.bool_),
        listed=np.ones(n_rows, dtype=np.bool_),
        reasons={int(row): reason for row, reason in rows["reason"].items()},
    )
    return {
        "answers": answers,
        "queries": table_from_plain(document["queries"], pd.Index(document["index"])),
        "references": table_from_plain(document["references"]),
        "features": features,
        "kind": document["kind"],
        "targets": tuple(document["targets"]),
        "thresholds": tuple(document["thresholds"]),
        "restricted": tuple(document["restricted"]),
        "labels": Labels.from_plain(document["labels"]) if "labels" in document else None,
        "classes": tuple(document.get("classes", ())),
        "not_permitted": tuple(rows["not_permitted"]) if "not_permitted" in rows else None,
    }
