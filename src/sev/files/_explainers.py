"""Explainers as files, and back."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sev._io import write_file
from sev.core import __version__
from sev.exceptions import ArchiveError, InputError
from sev.explainers._parts import ExplainerParts, TargetParts
from sev.files._container import naming, pack, read_whole, refusing, unpack
from sev.files._models import model_from_bytes, model_to_bytes
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

if TYPE_CHECKING:
    from sev.explainers import Explainer

_LIBRARIES = ("numpy", "pandas", "scikit-learn", "skops", "xgboost", "lightgbm", "catboost", "torch", "interpret-core")


def save(explainer: Explainer, path: str | Path, *, allow_pickle: bool = False) -> None:
    """Write an explainer to one file; see :meth:`sev.Explainer.save`."""
    write_file(path, to_bytes(explainer, allow_pickle=allow_pickle))


def load(path: str | Path, *, trust_pickle: bool = False) -> Explainer:
    """Read an explainer that :meth:`sev.Explainer.save` wrote.

    Nothing in the file is run: it holds numbers, texts and a model made of types from a fixed list. A file that is
    damaged or holds anything else is refused.

    Parameters
    ----------
    path : path-like
        The file.
    trust_pickle : bool, default=False
        Read a model that was saved with ``allow_pickle=True``. This runs whatever code is in the file: pass it only for
        files that you, or people you trust, have written.

    Returns
    -------
    Explainer
        It gives the same explanations, bit for bit, as the one that was saved.

    Raises
    ------
    ArchiveError
        When the file is damaged, or is no explainer.
    UntrustedTypeError
        When it holds types that are not on the list of safe ones, or a pickle that is not trusted.

    Examples
    --------
    >>> import os, tempfile, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
    >>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "loans.sev")
    ...     sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).save(path)
    ...     sev.load(path).explain_one([5.0, 0.0]).features
    ('x0',)
    """
    with naming(path):
        return from_bytes(read_whole(path), trust_pickle=trust_pickle)


def to_bytes(explainer: Explainer, *, allow_pickle: bool = False) -> bytes:
    """An explainer as the bytes of its file."""
    parts = explainer._parts()
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
    data = pack(members, description)
    _prove_round_trip(explainer, data)
    return data


def from_bytes(data: bytes, *, trust_pickle: bool = False) -> Explainer:
    """Inverse of :func:`to_bytes`."""
    from sev.explainers import Explainer

    manifest, members = unpack(data)
    if set(members) != {"explainer.json", "sample.json", "model.bin"}:
        raise ArchiveError("The file does not have the members of an explainer.")
    with refusing("its description is damaged"):
        described = _described(json.loads(members["explainer.json"]), json.loads(members["sample.json"]))
    model = model_from_bytes(manifest.get("model_form"), members["model.bin"], trust_pickle=trust_pickle)
    with refusing("its parts do not fit together"):
        return Explainer._from_parts(ExplainerParts(model=model, **described))


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


def _prove_round_trip(explainer: Explainer, data: bytes) -> None:
    """What was written must score like what was given: better now than when somebody needs it."""
    again = from_bytes(data, trust_pickle=True)
    for mine, theirs in zip(explainer._tasks, again._tasks, strict=True):
        rows = explainer._form.to_native(explainer._sample)
        same = np.array_equal(mine.scorer.scores(rows), theirs.scorer.scores(rows), equal_nan=True)
        if not same or not np.array_equal(mine.reference_scores, theirs.reference_scores):
            raise InputError(
                f"This {type(explainer.model).__name__} does not survive being saved: read back, it scores rows "
                "differently. allow_pickle=True does not help; save the model in its library's own format instead."
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
