"""Model files of other libraries: skops, boosters, and pickles only when they are trusted."""

from __future__ import annotations

from pathlib import Path

from sev._io import write_file
from sev._registry import libraries
from sev.exceptions import ArchiveError, InputError, MissingDependencyError
from sev.files._container import naming, read_whole
from sev.files._models import model_from_bytes, model_to_bytes
from sev.typing import FittedModel

_FORMS: dict[str, str] = {
    ".skops": "skops",
    **{ending: library.package for library in libraries().values() for ending in library.endings},
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".joblib": "pickle",
}


def load_model(path: str | Path, *, trust_pickle: bool = False) -> FittedModel:
    """Read a fitted model from a file of its own library.

    Parameters
    ----------
    path : path-like
        ``.skops``, XGBoost ``.json`` or ``.ubj``, LightGBM ``.txt`` or ``.lgb``, CatBoost ``.cbm``; ``.pkl``,
        ``.pickle`` and ``.joblib`` only with ``trust_pickle``.
    trust_pickle : bool, default=False
        Read pickles, which run whatever code is in them.

    Returns
    -------
    object
        The fitted model.

    Raises
    ------
    InputError
        If the file does not exist, or no library uses its ending.
    ArchiveError
        If it is damaged, or a pickle that is not trusted.

    Examples
    --------
    >>> import tempfile, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sev.files.save_model(model, f"{folder}/model.skops")
    ...     sev.files.load_model(f"{folder}/model.skops")
    LogisticRegression()
    """
    path = Path(path)
    form = _FORMS.get(path.suffix.lower())
    if not path.exists():
        raise InputError(f"{path} does not exist: check the name and the folder.")
    if form is None:
        raise InputError(f"{path} is not known as a model file by its ending: use one of {', '.join(_FORMS)}.")
    if form == "pickle" and trust_pickle:
        return _load_pickle(path)
    with naming(path):
        return model_from_bytes(form, read_whole(path), trust_pickle=trust_pickle)


def _load_pickle(path: Path) -> FittedModel:
    import joblib

    try:
        return joblib.load(path)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(f"{path}: the pickled model needs the package {error.name!r}.") from error
    except Exception as error:  # a pickle of something else, or of another version, may raise anything
        raise ArchiveError(f"{path} cannot be unpickled ({type(error).__name__}: {str(error)[:200]}).") from error


def save_model(model: object, path: str | Path, *, allow_pickle: bool = False) -> None:
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

    Raises
    ------
    InputError
        If the ending is not that of the model's form; the message names the right one.
    UntrustedTypeError
        If the model has no safe form and ``allow_pickle`` is False.

    Examples
    --------
    >>> import tempfile, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sev.files.save_model(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), f"{folder}/model.skops")
    """
    path = Path(path)
    form, data = model_to_bytes(model, allow_pickle=allow_pickle)
    if _FORMS.get(path.suffix.lower()) != form:
        endings = ", ".join(ending for ending, known in _FORMS.items() if known == form)
        raise InputError(f"This {type(model).__name__} is saved as {form}: give the file one of the endings {endings}.")
    write_file(path, data)
