"""The parts of an explainer as the bytes of a file, and back."""

from __future__ import annotations

import json
import platform
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import pandas as pd

from sev._registry import libraries
from sev.actions import Actions
from sev.core import __version__
from sev.credibility import LazyCredibility, credibility_from_plain, credibility_to_plain
from sev.exceptions import ArchiveError, InputError
from sev.files._container import pack, refusing, unpack
from sev.files._grounds import ground_from_plain, ground_to_plain
from sev.files._models import model_from_bytes, model_to_bytes
from sev.files._parts import ExplainerParts, TargetParts
from sev.files._plain import (
    form_from_plain,
    form_to_plain,
    frame_from_plain,
    frame_to_plain,
    space_from_plain,
    space_to_plain,
    value_from_plain,
    value_to_plain,
)
from sev.references import Assignment, FittedReference, assignment_from_plain, assignment_to_plain
from sev.space import TableForm
from sev.text import Labels
from sev.typing import JSONObject, JSONValue, Parsed


def pack_explainer(parts: ExplainerParts, *, allow_pickle: bool = False) -> bytes:
    """The parts of an explainer as the bytes of its file.

    Parameters
    ----------
    parts : ExplainerParts
        What the explainer is made of.
    allow_pickle : bool, default=False
        Pickle a model that has no safe form.

    Returns
    -------
    bytes
        A zip file.

    Raises
    ------
    InputError
        If the reference is a function, which cannot be saved.
    UntrustedTypeError
        If the model has no safe form and ``allow_pickle`` is False.
    """
    form, model = model_to_bytes(parts.model, allow_pickle=allow_pickle)
    for target in parts.targets:
        assign = target.reference.assign
        if assign is not None and not isinstance(assign, Assignment):
            raise InputError(
                f"The reference ({target.reference.name}) cannot be saved: it picks a row for each query with a Python "
                "function of its own, which no file can hold safely. Use an Assignment of sev.references, or make one "
                "explainer for each reference row and save those."
            )
    plain = {
        "form": form_to_plain(parts.form),
        "features": space_to_plain(parts.space),
        "restricted": list(parts.restricted),
        "targets": [
            {
                "target": value_to_plain(one.target),
                "threshold": one.threshold,
                "leads": one.leads,
                "reference": _reference_to_plain(one.reference),
                "ground": ground_to_plain(one.ground),
                "credibility": _credibility_to_plain(one.credibility),
            }
            for one in parts.targets
        ],
        "backend": parts.backend,
        "backend_reason": parts.backend_reason,
        "n_background": parts.n_background,
        "background_hash": parts.background_hash,
        "labels": parts.labels.to_plain(),
        "actions": None if parts.actions is None else parts.actions.to_plain(),
        "classes": [value_to_plain(one) for one in parts.classes],
    }
    description: JSONObject = {"sev_version": __version__, "versions": _find_versions(), "model_form": form}
    members = {
        "explainer.json": _write_json(plain),
        "sample.json": _write_json(frame_to_plain(parts.sample)),
        "model.bin": model,
    }
    return pack(members, description)


def unpack_explainer(data: bytes, *, trust_pickle: bool = False) -> ExplainerParts:
    """Inverse of :func:`pack_explainer`; nothing in the data is run unless a pickle is trusted.

    Parameters
    ----------
    data : bytes
        What :func:`pack_explainer` returned.
    trust_pickle : bool, default=False
        Load a pickled model, which runs whatever code is in it.

    Returns
    -------
    ExplainerParts
        Enough to make the explainer again.

    Raises
    ------
    ArchiveError
        If the data are damaged or not a sev file.
    """
    manifest, members = unpack(data)
    if set(members) != {"explainer.json", "sample.json", "model.bin"}:
        raise ArchiveError("The file is not a saved explainer: its members are not those of one.")
    with refusing("its description is damaged"):
        described = _read_description(json.loads(members["explainer.json"]), json.loads(members["sample.json"]))
    model = model_from_bytes(manifest.get("model_form"), members["model.bin"], trust_pickle=trust_pickle)
    return described(model=model)


def _read_description(plain: Parsed, sample: Parsed) -> partial[ExplainerParts]:
    form = form_from_plain(plain["form"])
    space = space_from_plain(plain["features"], form)
    rows = form.to_frame(frame_from_plain(sample), what="the proof sample")
    targets = tuple(_read_target(one, form, len(space)) for one in plain["targets"])
    known = plain.get("n_background"), plain.get("background_hash")
    if not isinstance(known[0], int | None) or not isinstance(known[1], str | None):
        raise ArchiveError("The file's description of its background is not valid.")
    if not targets or not len(rows):
        raise ArchiveError("The file has no class to explain, or no rows on which to check the model.")
    return partial(
        ExplainerParts,
        form=form,
        space=space,
        restricted=tuple(str(name) for name in plain["restricted"]),
        sample=rows,
        targets=targets,
        backend=str(plain["backend"]),
        backend_reason=str(plain["backend_reason"]),
        n_background=plain.get("n_background"),
        background_hash=plain.get("background_hash"),
        labels=Labels.from_plain(plain["labels"]) if "labels" in plain else Labels(),
        actions=Actions.from_plain(plain["actions"]) if plain.get("actions") is not None else None,
        classes=tuple(value_from_plain(one) for one in plain.get("classes", ())),
    )


def _reference_to_plain(reference: FittedReference) -> JSONObject:
    plain: JSONObject = {"name": reference.name, "rows": frame_to_plain(reference.rows)}
    if reference.assign is not None:
        plain["assign"] = assignment_to_plain(reference.assign, value_to_plain)
        plain["row_names"] = list(reference.row_names)
        plain["several"] = reference.several
    return plain


def _reference_from_plain(plain: Parsed, form: TableForm) -> FittedReference:
    rows = frame_from_plain(plain["rows"])
    if tuple(rows.columns) != form.columns or not len(rows):
        raise ArchiveError("The file is damaged: its reference has other columns than its rows. Copy or save it again.")
    if "assign" not in plain:
        return FittedReference(rows, str(plain["name"]))
    reference = FittedReference(
        rows,
        str(plain["name"]),
        assignment_from_plain(plain["assign"], value_from_plain),
        tuple(str(name) for name in plain["row_names"]),
        plain["several"] is True,
    )
    reference.candidates(rows.iloc[:1])  # what does not fit together is found now
    return reference


def _read_target(plain: Parsed, form: TableForm, n_features: int) -> TargetParts:
    reference = _reference_from_plain(plain["reference"], form)
    threshold = float(plain["threshold"])
    return TargetParts(
        target=value_from_plain(plain["target"]),
        threshold=threshold,
        leads=plain["leads"] is True,
        reference=reference,
        ground=ground_from_plain(plain.get("ground"), n_features, len(reference.rows)),
        credibility=_credibility_from_plain(plain.get("credibility"), reference.rows.iloc[:1], n_features),
    )


def _credibility_to_plain(credibility: LazyCredibility | None) -> JSONValue:
    def encode(value: object) -> JSONValue:
        return {"table": frame_to_plain(value)} if isinstance(value, pd.DataFrame) else value_to_plain(value)

    return None if credibility is None else credibility_to_plain(credibility.get(), encode)


def _credibility_from_plain(plain: Parsed, example: pd.DataFrame, n_features: int) -> LazyCredibility | None:
    def decode(cell: Parsed) -> object:
        return frame_from_plain(cell["table"]) if isinstance(cell, dict) and "table" in cell else value_from_plain(cell)

    if plain is None:
        return None
    return LazyCredibility.of_fitted(credibility_from_plain(plain, decode, example, n_features))


def _find_versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    known = (library.distribution or library.package for library in libraries().values())
    for distribution in ("numpy", "pandas", "skops", *known):
        try:
            found[distribution] = version(distribution)
        except PackageNotFoundError:
            continue
    return found


def _write_json(plain: JSONValue) -> bytes:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
