"""Boosted trees as re-weighting needs them: the output of each tree, and a copy with other weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sev._registry import look_up, routes
from sev.exceptions import ModelError
from sev.typing import FloatArray, NativeTable

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.tree import DecisionTreeRegressor


class Ensemble(Protocol):
    """A fitted binary ensemble whose margin is an offset plus the sum of its trees' outputs."""

    @property
    def n_trees(self) -> int:
        """Number of trees that predictions use."""
        ...

    @property
    def offset(self) -> float:
        """What the margin starts from."""
        ...

    def outputs(self, rows: NativeTable) -> FloatArray:
        """Output of each tree on each row, shape (n_rows, n_trees).

        Rows are an array of numbers, or a DataFrame with category columns where the model was fitted on these.
        """
        ...

    def reweighted(self, weights: FloatArray, bias: float) -> BaseEstimator:
        """A model of the same library whose margin is offset + bias + outputs @ weights."""
        ...


@runtime_checkable
class Growable(Ensemble, Protocol):
    """An ensemble that takes more trees."""

    def with_trees(self, trees: list[DecisionTreeRegressor]) -> BaseEstimator:
        """A model of the same library with regression trees of scikit-learn after its own."""
        ...


def ensemble_of(model: object) -> Ensemble:
    """A fitted ensemble in the form that re-weighting needs.

    Raises
    ------
    ModelError
        When no library re-weights such models, or this one has something that cannot be re-weighted.
    """
    reweight = look_up(model, "reweight")
    if reweight is None:
        known = sorted(key.partition(".")[2] for key in routes("reweight"))
        raise ModelError(f"The trees of {type(model).__name__} cannot be re-weighted: use one of {known}.")
    ensemble: Ensemble = reweight(model)
    return ensemble
