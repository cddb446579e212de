"""Names for the types that travel through the package."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
#: Sets of features, one row a set, packed 64 features to a word (feature j is bit ``j % 64`` of word ``j // 64``).
MaskArray: TypeAlias = NDArray[np.uint64]

#: ``"minus"`` changes the query towards the reference, ``"plus"`` the reference towards the query.
Kind: TypeAlias = Literal["minus", "plus"]
#: What features may become: the reference's values, those near to it, or any permitted ones.
Values: TypeAlias = Literal["reference", "typical", "any"]
#: What an answer has the least of.
Minimise: TypeAlias = Literal["features", "cost"]
#: Which of the smallest sets comes first.
Order: TypeAlias = Literal["margin", "closest", "credible"]
#: Which of the permitted values were searched: one for each feature, all of them, or a list of candidates.
ValuesSearched: TypeAlias = Literal["reference", "all", "candidates"]
#: What training shortens: decisions of one kind or both, or of a linear model the volume of its decisions.
Objective: TypeAlias = Literal["volume", "plus", "minus", "both"]
#: Which of a model's outputs is its score; "predict": it returns labels only.
Response: TypeAlias = Literal["predict_proba", "decision_function", "call", "predict"]
#: What a column of a table is called: text in most tables, any key in pandas.
ColumnLabel: TypeAlias = Hashable
#: A value of a table: text, a number, a date, a missing value, or whatever else its column holds.
Cell: TypeAlias = object
#: The values of one feature in one row: one for each of its columns.
Cells: TypeAlias = tuple[Cell, ...]
#: The type of a column: numpy's or one that extends pandas, such as a category.
Dtype: TypeAlias = "np.dtype[np.generic] | pd.api.extensions.ExtensionDtype"
#: The name of a class of a model: what its ``classes_`` holds, such as 1, True or "defaulted".
ClassLabel: TypeAlias = Hashable
#: A row by its columns: a mapping with names of any type, or a Series of pandas.
Row: TypeAlias = "Mapping[Any, Cell] | pd.Series"
#: One row in any of the forms that the interface takes: a Series, a mapping, cells in order, a table of one row.
RowLike: TypeAlias = "Row | pd.DataFrame | Sequence[Cell] | np.ndarray"
#: The classes of rows: a column of a table, an array or a list.
LabelsLike: TypeAlias = "ArrayLike | pd.Series"
#: Part of a file as it was parsed, before any check: whoever reads it finds out what it is.
Parsed: TypeAlias = Any
#: A value without parts that JSON can hold.
PlainValue: TypeAlias = bool | int | float | str | None
#: What JSON can hold.
JSONValue: TypeAlias = "bool | int | float | str | Sequence[JSONValue] | Mapping[str, JSONValue] | None"
#: A document for JSON under construction, by the names of its fields.
JSONObject: TypeAlias = dict[str, JSONValue]
#: A table in whatever form the model takes: pandas, polars, pyarrow or numpy. Each has other methods: look at the type.
NativeTable: TypeAlias = Any
#: What makes an empty table of such a form anew: a schema of polars or pyarrow, the dtype of an array, None for pandas.
TableSchema: TypeAlias = "pa.Schema | pl.Schema | np.dtype[np.generic] | None"

#: What a model, or a step before it, returned for rows, before any check: an array, a table, a sparse matrix, a list.
ModelOutput: TypeAlias = Any
#: A fitted model of any library: what is called or read on it depends on its class.
FittedModel: TypeAlias = Any


class MenuOptions(TypedDict, total=False):
    """What :meth:`sev.Explainer.menu` takes of the options of :meth:`sev.Explainer.explain`."""

    restricted: Iterable[str] | None
    max_sets: int
    time_limit: float | None
    max_predictions: int | None
    min_credibility: float


class PriceOptions(MenuOptions, total=False):
    """What :meth:`sev.Explainer.price` takes of them."""

    max_size: int | None
    order: Order


class SearchOptions(PriceOptions, total=False):
    """All of them that say what is searched: the fields of :class:`sev.explainers.ExplainOptions`."""

    kind: Kind
    values: Values
    minimise: Minimise


class VerifyOptions(PriceOptions, total=False):
    """What :meth:`sev.Explainer.explain` takes beside a kind: also how many workers there are, and what is shown."""

    values: Values
    minimise: Minimise
    n_jobs: int
    progress: bool


class WorkOptions(VerifyOptions, total=False):
    """All options of :meth:`sev.Explainer.explain`."""

    kind: Kind


class FittedClassifier(Protocol):
    """What training and comparison need of a model: the probabilities of its classes, as scikit-learn has them."""

    @property
    def classes_(self) -> np.ndarray:
        """The classes, in the order of the probabilities."""
        ...

    def predict_proba(self, X: NativeTable, /) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : table or array
            Rows as the model takes them.

        Returns
        -------
        ndarray of float
            Of shape (n_rows, n_classes).
        """
        ...
