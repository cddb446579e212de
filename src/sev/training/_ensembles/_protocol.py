"""The contract of an ensemble that can be re-weighted."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from sev.typing import FloatArray


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

    def outputs(self, rows: Any) -> FloatArray:
        """Output of each tree on each row, shape (n_rows, n_trees).

        Rows are an array of numbers, or a DataFrame with category columns where the model was fitted on these.
        """
        ...

    def reweighted(self, weights: FloatArray, bias: float) -> Any:
        """A model of the same library whose margin is offset + bias + outputs @ weights."""
        ...


@runtime_checkable
class Growable(Ensemble, Protocol):
    """An ensemble that takes more trees."""

    def with_trees(self, trees: list[Any]) -> Any:
        """A model of the same library with regression trees of scikit-learn after its own."""
        ...
