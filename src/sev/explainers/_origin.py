"""Where explanations come from: the model and the rows behind an explainer, by name and by hash."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

from sev.explainers._hashing import model_hash
from sev.typing import FittedModel


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

    model: FittedModel
    backend: str
    n_background: int | None
    background_hash: str | None

    @cached_property
    def model_hash(self) -> str | None:
        """Hash of the fitted model's state; None for a model whose state cannot be read."""
        return model_hash(self.model)

    @property
    def model_name(self) -> str:
        """Class of the model; of a pipeline also that of its last step."""
        name = type(self.model).__name__
        return f"{name} ending in {self.last_step}" if self.last_step else name

    @property
    def last_step(self) -> str | None:
        """Class of the last step of a pipeline; None for other models."""
        steps = getattr(self.model, "steps", None)
        return type(steps[-1][1]).__name__ if steps else None

    @property
    def package(self) -> tuple[str, str] | None:
        """The package that the model's class is from, and its version."""
        name = _DISTRIBUTIONS.get(top := type(self.model).__module__.partition(".")[0], top)
        try:
            return name, version(name)
        except PackageNotFoundError:
            return None


_DISTRIBUTIONS = {"sklearn": "scikit-learn"}
