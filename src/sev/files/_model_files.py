"""Model files of other libraries: skops, boosters, and pickles only when they are trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sev._io import write_file
from sev.exceptions import InputError
from sev.files._container import naming, read_whole
from sev.files._models import model_from_bytes, model_to_bytes

_FORMS: dict[str, str] = {
    ".skops": "skops",
    ".ubj": "xgboost",
    ".json": "xgboost",
    ".txt": "lightgbm",
    ".lgb": "lightgbm",
    ".cbm": "catboost",
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".joblib": "pickle",
}


def load_model(path: str | Path, *, trust_pickle: bool = False) -> Any:
    """Read a fitted model from a file of its own library.

    Parameters
    ----------
    path : path-like
        ``.skops``, XGBoost ``.json`` or ``.ubj``, LightGBM ``.txt`` or ``.lgb``, CatBoost ``.cbm``; ``.pkl``,
        ``.pickle`` and ``.joblib`` only with ``trust_pickle``.
    trust_pickle : bool, default=False
        Read pickles, which run whatever code is in them.
    """
    path = Path(path)
    form = _FORMS.get(path.suffix.lower())
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    if form is None:
        raise InputError(f"{path} has an ending that no model library uses: use one of {', '.join(_FORMS)}.")
    if form == "pickle" and trust_pickle:
        import joblib

        return joblib.load(path)
    with naming(path):
        return model_from_bytes(form, read_whole(path), trust_pickle=trust_pickle)


def save_model(model: Any, path: str | Path, *, allow_pickle: bool = False) -> None:
    """Write a fitted model to a file that :func:`load_model` reads.

    Parameters
    ----------
    model : object
        The model.
    path : path-like
        Its ending must be that of the form that the model has: ``.skops`` for estimators and pipelines, ``.ubj`` and
        ``.txt`` for raw boosters; ``.pkl`` only with ``allow_pickle``.
    allow_pickle : bool, default=False
        Pickle a model that has no safe form.
    """
    path = Path(path)
    form, data = model_to_bytes(model, allow_pickle=allow_pickle)
    if _FORMS.get(path.suffix.lower()) != form:
        endings = ", ".join(ending for ending, known in _FORMS.items() if known == form)
        raise InputError(f"This {type(model).__name__} is saved as {form}: give the file one of the endings {endings}.")
    write_file(path, data)
