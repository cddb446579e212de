"""The parts of an explainer as the bytes of a file, and back."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sev.core import __version__
from sev.exceptions import ArchiveError, InputError
from sev.files._container import pack, refusing, unpack
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
from sev.references import FittedReference
from sev.text import Labels

_LIBRARIES = ("numpy", "pandas", "scikit-learn", "skops", "xgboost", "lightgbm", "catboost", "torch", "interpret-core")


def pack_explainer(parts: ExplainerParts, *, allow_pickle: bool = False) -> bytes:
    """The parts of an explainer as the bytes of its file.

    Parameters
    ----------
    parts : ExplainerParts
        What the explainer is made of.
    allow_pickle : bool, default=False
        Pickle a model that has no safe form.
    """
    form, model = model_to_bytes(parts.model, allow_pickle=allow_pickle)
    for target in parts.targets:
        if target.reference.assign is not None:
            raise InputError(
                f"The reference ({target.reference.name}) picks a row for each query with a function of its own, which "
                "has no form that is safe to load. Make one explainer for each reference row and save those."
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
                "reference": {"name": one.reference.name, "rows": frame_to_plain(one.reference.rows)},
            }
            for one in parts.targets
        ],
        "backend": parts.backend,
        "backend_reason": parts.backend_reason,
        "n_background": parts.n_background,
        "background_hash": parts.background_hash,
        "labels": parts.labels.to_plain(),
    }
    description = {"sev_version": __version__, "versions": _versions(), "model_form": form}
    members = {"explainer.json": _json(plain), "sample.json": _json(frame_to_plain(parts.sample)), "model.bin": model}
    return pack(members, description)


def unpack_explainer(data: bytes, *, trust_pickle: bool = False) -> ExplainerParts:
    """Inverse of :func:`pack_explainer`; nothing in the data is run unless a pickle is trusted."""
    manifest, members = unpack(data)
    if set(members) != {"explainer.json", "sample.json", "model.bin"}:
        raise ArchiveError("The file does not have the members of an explainer.")
    with refusing("its description is damaged"):
        described = _described(json.loads(members["explainer.json"]), json.loads(members["sample.json"]))
    model = model_from_bytes(manifest.get("model_form"), members["model.bin"], trust_pickle=trust_pickle)
    return ExplainerParts(model=model, **described)


def _described(plain: Any, sample: Any) -> dict[str, Any]:
    form = form_from_plain(plain["form"])
    space = space_from_plain(plain["features"], form)
    rows = form.to_frame(frame_from_plain(sample), what="the proof sample")
    targets = tuple(_target(one, form) for one in plain["targets"])
    known = plain.get("n_background"), plain.get("background_hash")
    if not isinstance(known[0], int | None) or not isinstance(known[1], str | None):
        raise ArchiveError("The file says strange things about its background.")
    if not targets or not len(rows):
        raise ArchiveError("The file names no class to explain, or holds no rows to prove it on.")
    return {
        "form": form,
        "space": space,
        "restricted": tuple(str(name) for name in plain["restricted"]),
        "sample": rows,
        "targets": targets,
        "backend": str(plain["backend"]),
        "backend_reason": str(plain["backend_reason"]),
        "n_background": plain.get("n_background"),
        "background_hash": plain.get("background_hash"),
        "labels": Labels.from_plain(plain["labels"]) if "labels" in plain else Labels(),
    }


def _target(plain: Any, form: Any) -> TargetParts:
    rows = frame_from_plain(plain["reference"]["rows"])
    if tuple(rows.columns) != form.columns or not len(rows):
        raise ArchiveError("The file's reference does not have the columns of its rows.")
    threshold = float(plain["threshold"])
    return TargetParts(
        target=value_from_plain(plain["target"]),
        threshold=threshold,
        leads=plain["leads"] is True,
        reference=FittedReference(rows, str(plain["reference"]["name"])),
    )


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _json(plain: Any) -> bytes:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
