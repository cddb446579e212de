"""The JSON document of many explanations: everything but the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd

from sev.core import Answers, Status, __version__, n_words, pack, plain_value, unpack
from sev.exceptions import InputError
from sev.explanations._changes import EnoughValues, enough_from_plain, enough_to_plain, limits_to_plain
from sev.explanations._classes import ClassScores
from sev.explanations._json_tables import name_from_plain, name_to_plain, table_from_plain, table_to_plain
from sev.text import Labels, NotPermitted
from sev.typing import JSONObject, Kind, Minimise, Order, Parsed, Values, ValuesSearched

if TYPE_CHECKING:
    from sev.explanations._arguments import DocumentArguments
    from sev.explanations._explanations import Explanations

SCHEMA = "sev.explanations"
#: Version 1 kept None, NaN and NA apart in no column of objects.
SCHEMA_VERSION = 2


def to_document(many: Explanations) -> JSONObject:
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
        "values": many.values,
        "order": many.order,
        "min_credibility": many.min_credibility,
        "has_actions": many.has_actions,
        "actions_hash": many.actions_hash,
        "limits": {name: list(ends) for name, ends in many.limits.items()},
        "minimise": many.minimise,
        "efforts": {name: list(effort) for name, effort in many.efforts.items()},
        "features": [
            {"name": name, "columns": [name_to_plain(one) for one in columns]} for name, columns in many.columns.items()
        ],
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
            "compared_with": list(many.compared_with),
            "first_of_all": answers.first_of_all.tolist(),
            "credibility": [plain_value(one) for one in many.credibilities],
            "size_without_limit": [plain_value(one) for one in answers.size_without_limit],
            "not_permitted": list(many.not_permitted),
            "values_searched": list(many.values_searched),
            "reason": {str(row): reason for row, reason in answers.reasons.items()},
            "class_scores": None if many.class_scores is None else many.class_scores.to_plain(),
        },
        **_moved_sets(many),
    }


def _moved_sets(many: Explanations) -> JSONObject:
    """For sets that have values of their own: the number of each one's changed row, and the values that do."""
    if many.set_references is None or many.enough is None:
        return {}
    return {
        "set_references": many.set_references.tolist(),
        "enough": [enough_to_plain(entry) for entry in many.enough],
        "enough_limits": [limits_to_plain(entry) for entry in many.enough],
    }


def _read_enough(document: dict[str, Parsed]) -> tuple[Mapping[str, EnoughValues], ...] | None:
    """The values that do of each set; files of older versions do not say which ends are limits."""
    if "enough" not in document:
        return None
    limits = document.get("enough_limits") or [{}] * len(document["enough"])
    return tuple(enough_from_plain(*pair) for pair in zip(document["enough"], limits, strict=True))


def from_document(document: Parsed) -> DocumentArguments:
    """Arguments for ``Explanations``, from what :func:`to_document` returned."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(f"This is not a document of explanations: its schema is not {SCHEMA!r}.")
    version = document.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise InputError(
            f"This document has schema version {version!r}; this sev reads up to {SCHEMA_VERSION}: install a newer one."
        )
    try:
        return _read_arguments(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, NotImplementedError) as error:
        raise InputError(f"This document of explanations is damaged: {type(error).__name__}: {error}.") from error


def _read_arguments(document: dict[str, Parsed]) -> DocumentArguments:
    rows = document["rows"]
    features = {one["name"]: tuple(map(name_from_plain, one["columns"])) for one in document["features"]}
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
        size_without_limit=np.array(rows.get("size_without_limit", [None] * n_rows), dtype=np.float64),
        first_of_all=np.array(rows.get("first_of_all", rows["sets_complete"]), dtype=np.bool_),
        reasons={int(row): reason for row, reason in rows["reason"].items()},
    )
    return {
        "answers": answers,
        "queries": table_from_plain(document["queries"], pd.Index(document["index"])),
        "references": table_from_plain(document["references"]),
        "features": features,
        "kind": _read_choice(document, "kind", Kind),
        "targets": tuple(document["targets"]),
        "thresholds": tuple(document["thresholds"]),
        "restricted": tuple(document["restricted"]),
        "labels": Labels.from_plain(document["labels"]) if "labels" in document else None,
        "classes": tuple(document.get("classes", ())),
        "values": _read_choice(document, "values", Values),
        "compared_with": tuple(map(str, rows["compared_with"])) if "compared_with" in rows else None,
        "order": _read_choice(document, "order", Order),
        "min_credibility": float(document.get("min_credibility", 0.0)),
        "credibilities": np.array(rows.get("credibility", [None] * n_rows), dtype=np.float64),
        "has_actions": document.get("has_actions") is True,
        "actions_hash": document.get("actions_hash"),
        "limits": {name: (float(one[0]), float(one[1])) for name, one in document.get("limits", {}).items()},
        "minimise": _read_choice(document, "minimise", Minimise),
        "values_searched": _read_choices(rows, "values_searched", ValuesSearched),
        "set_references": None if "set_references" not in document else np.array(document["set_references"], np.int64),
        "enough": _read_enough(document),
        "efforts": {name: (float(one[0]), one[1]) for name, one in document.get("efforts", {}).items()},
        "not_permitted": _read_choices(rows, "not_permitted", NotPermitted),
        "class_scores": ClassScores.from_plain(scored) if (scored := rows.get("class_scores")) else None,
    }


def _read_choice(entries: dict[str, Parsed], name: str, choices: object) -> Any:
    """An entry that is one of a few words; in files of older versions it is absent and has the first one's meaning."""
    value = entries.get(name, get_args(choices)[0])
    if value not in get_args(choices):
        raise ValueError(f"{name} is {value!r}, not one of {', '.join(get_args(choices))}")
    return value


def _read_choices(rows: dict[str, Parsed], name: str, choices: object) -> tuple[Any, ...] | None:
    """The same for each row; None where the file has none."""
    return tuple(_read_choice({name: one}, name, choices) for one in rows[name]) if name in rows else None
