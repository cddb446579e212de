"""Where explanations come from: the model and the rows behind an explainer, by name and by hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib
import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False)
class Origin:
    """What a record of a decision says about the model and its background.

    Parameters
    ----------
    model : object
        The model as the user gave it.
    backend : str
        How it is read.
    n_background : int or None
        Number of background rows.
    background_hash : str or None
        Of the background rows, taken when the explainer was made, so that later changes of the table do not matter.
    """

    model: Any
    backend: str
    n_background: int | None
    background_hash: str | None

    @cached_property
    def model_hash(self) -> str | None:
        """SHA-1 of the fitted model's state; None for a model that has no state that can be read."""
        try:
            return joblib.hash(self.model, hash_name="sha1")
        except Exception:  # whatever a foreign object raises when it is pickled
            return None

    @property
    def model_name(self) -> str:
        """Class of the model; of a pipeline also that of its last step."""
        name = type(self.model).__name__
        steps = getattr(self.model, "steps", None)
        return f"{name} ending in {type(steps[-1][1]).__name__}" if steps else name

    @property
    def package(self) -> tuple[str, str] | None:
        """The package that the model's class is from, and its version."""
        name = _DISTRIBUTIONS.get(top := type(self.model).__module__.partition(".")[0], top)
        try:
            return name, version(name)
        except PackageNotFoundError:
            return None


_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def table_hash(frame: pd.DataFrame) -> str:
    """SHA-256 of names, dtypes and values of a table, its index aside.

    Examples
    --------
    >>> import pandas as pd
    >>> from sev.explainers._origin import table_hash
    >>> one, other = pd.DataFrame({"a": ["x", None]}), pd.DataFrame({"a": ["x", "None"]})
    >>> table_hash(one) == table_hash(one.set_index([[7, 8]])), table_hash(one) == table_hash(other)
    (True, False)
    """
    digest = hashlib.sha256()
    for column in frame.columns:
        values = frame[column]
        digest.update(repr((str(column), str(values.dtype), len(values))).encode())
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiubmM":
            digest.update(np.ascontiguousarray(values.to_numpy()).data.cast("B") if len(values) else b"")
            continue
        codes, uniques = pd.factorize(values, use_na_sentinel=True)
        digest.update(codes.astype(np.int64).tobytes())
        digest.update(repr([(type(one).__name__, str(one)) for one in uniques]).encode())
    return digest.hexdigest()
