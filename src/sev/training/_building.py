"""The one way to a training task: rows, their reference and the feature of each encoded column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pandas as pd

from sev.backends import ColumnwiseEncoding, as_float_matrix, representative_rows
from sev.references import Background
from sev.space import FeatureSpace, TableForm
from sev.training._categories import CategoryCodes
from sev.training._reference import TaskReference
from sev.training._task import TrainingTask
from sev.typing import BoolArray, ColumnLabel, FloatArray, IntArray, NativeTable

if TYPE_CHECKING:
    from sev.references import ReferenceLike


class Encoded(NamedTuple):
    """Rows and the references in encoded space, and the feature of each encoded column."""

    rows: FloatArray
    references: FloatArray
    column_feature: IntArray


class RowEncoder(Protocol):
    """Raw rows to the columns that the final estimator takes, and where each of these comes from."""

    def encode(self, frame: pd.DataFrame, reference: TaskReference) -> Encoded:
        """Rows and the references in encoded space."""
        ...

    @property
    def native(self) -> Callable[[FloatArray], NativeTable] | None:
        """Encoded rows in the final estimator's own form; None: they are."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskBuilder:
    """What a task is made with, whatever the rows.

    Parameters
    ----------
    reference, groups, restricted
        As for :class:`sev.Explainer`.
    objective : str, default="minus"
        Which explanations should be short.
    """

    reference: ReferenceLike = "mean"
    groups: Mapping[str, Sequence[ColumnLabel]] | None = None
    restricted: Iterable[str] = ()
    objective: str = "minus"

    def space(self, frame: pd.DataFrame) -> FeatureSpace:
        """Which columns move as one."""
        return FeatureSpace.of(frame, self.groups)

    def build(
        self,
        frame: pd.DataFrame,
        positives: BoolArray,
        encoder: RowEncoder,
        is_positive: Callable[[pd.DataFrame], BoolArray],
        *,
        weights: FloatArray | None = None,
        categories: frozenset[ColumnLabel] = frozenset(),
    ) -> tuple[TrainingTask, TaskReference]:
        """A task, and what its rows are compared with.

        Parameters
        ----------
        frame : DataFrame
            Raw rows.
        positives : ndarray of bool, shape (n_rows,)
            Rows labelled with the class whose decisions are explained.
        encoder : RowEncoder
            Raw to encoded rows.
        is_positive : callable
            The base model's decision about raw rows.
        weights : ndarray of shape (n_rows,), default=None
            Weight of each row.
        categories : frozenset of columns
            Columns that the base model takes as categories.
        """
        space = self.space(frame)
        background = Background(frame, ~positives, TableForm.of(frame), space, is_positive, categories)
        reference = TaskReference(self.reference, background)
        if self.objective == "volume":
            reference.refuse_several('objective="volume"')
        encoded = encoder.encode(frame, reference)
        task = TrainingTask(
            rows=encoded.rows,
            labels=positives.astype(np.float64),
            column_feature=encoded.column_feature,
            reference=encoded.references[0] if reference.assigned is None else encoded.references,
            allowed=~space.select(self.restricted, what="restricted"),
            weights=None if weights is None else weights / weights.mean(),
            native=encoder.native,
            assigned=reference.assigned,
        )
        return task, reference


class KnownEncoder:
    """An encoder that says itself which raw column each encoded column comes from.

    Parameters
    ----------
    encode : callable
        Raw rows to encoded ones.
    rows : ndarray of shape (n_rows, n_encoded_columns)
        The training rows, encoded already.
    column_feature : ndarray of int, shape (n_encoded_columns,)
        The feature of each encoded column.
    """

    native = None

    def __init__(
        self, encode: Callable[[pd.DataFrame], FloatArray], rows: FloatArray, column_feature: IntArray
    ) -> None:
        self._encode = encode
        self._rows = rows
        self._column_feature = column_feature

    def encode(self, frame: pd.DataFrame, reference: TaskReference) -> Encoded:
        """Rows and the references in encoded space."""
        return Encoded(self._rows, self._encode(reference.rows), self._column_feature)


class ProbedEncoder:
    """The steps before the final estimator of a user's pipeline, tried feature by feature.

    Parameters
    ----------
    transform : callable
        Those steps.
    form, space : TableForm, FeatureSpace
        What rows look like and which columns move together.
    frame : DataFrame
        Rows to try it on.

    Raises
    ------
    CannotReadError
        When an encoded column depends on more than one feature.
    """

    def __init__(
        self, transform: Callable[[NativeTable], NativeTable], form: TableForm, space: FeatureSpace, frame: pd.DataFrame
    ) -> None:
        sample = frame.iloc[representative_rows(frame)]
        self._codes = CategoryCodes.of(transform(form.to_native(frame.iloc[:1])))
        encode = partial(self._encode_native, transform)
        self._encoding = ColumnwiseEncoding(encode, form, space, sample)

    def _encode_native(self, transform: Callable[[NativeTable], NativeTable], rows: NativeTable) -> FloatArray:
        encoded = transform(rows)
        return as_float_matrix(encoded if self._codes is None else self._codes.encode(encoded))

    @property
    def native(self) -> Callable[[FloatArray], NativeTable] | None:
        """Codes of categories back to category columns, where the final estimator takes these."""
        return None if self._codes is None else self._codes.decode

    def encode(self, frame: pd.DataFrame, reference: TaskReference) -> Encoded:
        """Rows and the references in encoded space; columns that only a reference moves find their feature too."""
        encoding = self._encoding
        rows, references = encoding.encode(frame), encoding.encode(reference.rows)
        assigned = reference.assigned
        if assigned is None:
            assigned = np.zeros((len(frame), 1), dtype=np.int64)
        for numbers in np.ascontiguousarray(assigned.T):
            encoding.own_new_columns(frame, reference.rows, numbers, rows, references)
        return Encoded(rows, references, encoding.column_feature)
