"""One partition of rows explained: pure, picklable, with a declared schema, so that any engine can run it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TypedDict, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa

from sev.actions import Actions
from sev.batch._cells import rows_of, used_columns
from sev.batch._extras import ExtraColumns
from sev.batch._inputs import ROWS_AT_ONCE
from sev.batch._results import problem_rows, result_schema, to_arrow
from sev.core import list_names, suggest_name
from sev.exceptions import InputError
from sev.explainers import Explainer, Settings
from sev.explanations import Explanations
from sev.typing import Kind, Minimise, Order, Parsed, SearchOptions, Values


class PartitionOptions(TypedDict, total=False):
    """What :class:`PartitionExplainer` takes beside the explainer."""

    kind: Kind
    restricted: Iterable[str] | None
    max_size: int | None
    max_sets: int
    time_limit: float | None
    keep: Iterable[str] | None
    id_column: str | None
    sets: bool
    changes: bool
    sentences: bool
    actions: Actions | Mapping[str, Parsed] | str | Path | None
    values: Values
    minimise: Minimise
    order: Order
    min_credibility: float
    credibility: bool


class PartitionExplainer:
    """Explains any partition of a table, the same way wherever it runs.

    It carries the explainer as the bytes of its file, which a worker process loads once and keeps.

    Parameters
    ----------
    archive : bytes
        The file that :meth:`sev.Explainer.save` writes.
    kind : {"minus", "plus"}, default="minus"
        As for :meth:`sev.Explainer.explain`, as are the four parameters after it.
    restricted, max_size, max_sets, time_limit
        See there.
    keep : iterable of str, default=None
        Columns to copy to the results; None: all that the model does not take, such as an application's number.
    id_column : str, default=None
        A column that identifies the rows: it is the first column of the results, even if the model takes it.
    sets : bool, default=False
        Add all minimum sets, in a column ``sets``.
    changes : bool, default=False
        Add the old and the new value of each feature that the first minimum set changes, in two columns for each
        permitted feature: ``<feature>_old`` and ``<feature>_new``. With actions or ``values``, also the ``cost`` of the
        change; with ``values``, also what is enough: ``<feature>_enough_low`` and ``<feature>_enough_high`` of a
        number, ``<feature>_enough`` of anything else, null where that is not proven.
    sentences : bool, default=False
        Add a sentence for each row, in a column ``sentence``, with the explainer's labels.
    trust_pickle : bool, default=False
        See :func:`sev.load`.
    actions : Actions, mapping or path, default=None
        What features may become, in place of the explainer's own actions.
    values, minimise, order, min_credibility
        As for :meth:`sev.Explainer.explain`.
    credibility : bool, default=False
        Add the credibility of each result, in a column ``credibility``. With ``min_credibility`` this column is always
        there, and ``size_without_limit`` holds the size of the smallest set without that limit.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"debt": [0, 2, 1, 3, 6, 5], "late": [0, 0, 1, 3, 2, 4]})
    >>> X["age"] = [40, 30, 50, 30, 40, 20]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> explainer = sev.Explainer(LogisticRegression().fit(X, y), X, y)
    >>> explain_part = sev.batch.PartitionExplainer.of(explainer, max_sets=1)
    >>> explain_part(X[4:])[["status", "size", "features"]]
        status  size         features
    4  optimal     1         ['debt']
    5  optimal     2  ['debt' 'late']
    """

    def __init__(
        self,
        archive: bytes,
        *,
        kind: Kind = "minus",
        restricted: Iterable[str] | None = None,
        max_size: int | None = None,
        max_sets: int = 100,
        time_limit: float | None = None,
        keep: Iterable[str] | None = None,
        id_column: str | None = None,
        sets: bool = False,
        changes: bool = False,
        sentences: bool = False,
        trust_pickle: bool = False,
        actions: Actions | Mapping[str, Parsed] | str | Path | None = None,
        values: Values = "reference",
        minimise: Minimise = "features",
        order: Order = "margin",
        min_credibility: float = 0.0,
        credibility: bool = False,
    ) -> None:
        if not isinstance(archive, bytes | bytearray | memoryview):
            raise InputError(
                f"archive must be the bytes of a saved explainer, got {type(archive).__name__}: read the file "
                "(path.read_bytes()), or pass an explainer to PartitionExplainer.of."
            )
        self._archive = archive
        self._actions = Actions.from_plain(actions) if isinstance(actions, Mapping) else Actions.of(actions)
        self._digest = hashlib.sha256(archive).hexdigest()
        self._trust_pickle = trust_pickle
        self._keep = None if keep is None else tuple(keep)
        self._id_column = id_column
        self._sets = sets
        self.settings: SearchOptions = {
            "kind": kind,
            "restricted": None if restricted is None else tuple(restricted),
            "max_size": max_size,
            "max_sets": max_sets,
            "time_limit": time_limit,
            "values": values,
            "minimise": minimise,
            "order": order,
            "min_credibility": min_credibility,
        }
        # wrong settings are refused here, not in a worker far away
        self._call_settings = self._settings_for(self.explainer)
        self._extras = ExtraColumns(
            self.explainer, self._call_settings, changes=changes, sentences=sentences, credibility=credibility
        )

    @classmethod
    def of(
        cls, explainer: Explainer, *, allow_pickle: bool = False, **options: Unpack[PartitionOptions]
    ) -> PartitionExplainer:
        """Make one from an explainer in memory.

        Parameters
        ----------
        explainer : Explainer
            The explainer.
        allow_pickle : bool, default=False
            As for :meth:`sev.Explainer.save`.
        **options
            As for :class:`PartitionExplainer`.

        Returns
        -------
        PartitionExplainer
            One that holds a copy of the explainer.

        Raises
        ------
        InputError
            If it is not an explainer.

        Examples
        --------
        >>> sev.batch.PartitionExplainer.of(explainer, sentences=True)(X[5:])["sentence"].iloc[0][:24]
        'Predicted 1 (score 0.991'
        """
        if not hasattr(explainer, "explain_rows"):
            raise InputError(f"Expected a sev.Explainer, or the path of a saved one, got {type(explainer).__name__}.")
        needed = options.get("credibility") or options.get("min_credibility") or options.get("order") == "credible"
        # a measure that nobody asks for is neither fitted nor sent to workers
        archive = explainer.to_bytes(allow_pickle=allow_pickle, credibility=bool(needed))
        return cls(archive, trust_pickle=allow_pickle, **options)

    @property
    def explainer(self) -> Explainer:
        """The explainer, loaded once in each process."""
        return _load_once(self._archive, self._digest, self._trust_pickle, self._actions)

    @property
    def digest(self) -> str:
        """Checksum of the explainer's file."""
        return self._digest

    @property
    def actions_digest(self) -> str | None:
        """Hash of the actions in force; None without."""
        return None if self.explainer.actions is None else self.explainer.actions.digest

    @property
    def archive(self) -> bytes:
        """The explainer's file."""
        return self._archive

    def kept_columns(self, names: list[str]) -> dict[str, str]:
        """Columns that are carried over, by their names in the results.

        A column that has the name of a result is called ``<name>_input`` there.

        Parameters
        ----------
        names : list of str
            Columns of the partition.

        Returns
        -------
        dict of str to str
            Names in the results to names in the partition.

        Raises
        ------
        InputError
            If ``keep`` names a column that is not there.

        Examples
        --------
        >>> explain_part.kept_columns(["debt", "late", "age", "number"])
        {'number': 'number'}
        """
        used = set(used_columns(names, self.explainer.form).values())
        if self._keep is None:
            chosen = [name for name in names if name not in used]
        else:
            chosen = list(self._keep)
            missing = [name for name in chosen if name not in names]
            if missing:
                raise InputError(
                    f"keep names columns that the file does not have: {missing}{suggest_name(missing[0], names)} "
                    f"It has {list_names(names)}."
                )
        if self._id_column is not None:
            if self._id_column not in names:
                raise InputError(
                    f"id_column={self._id_column!r} is not a column of the file"
                    f"{suggest_name(self._id_column, names)} It has {list_names(names)}."
                )
            chosen = [self._id_column, *(name for name in chosen if name != self._id_column)]
        results = {*result_schema(sets=True).names, *(name for name, _ in self._extras.fields)}
        return {f"{name}_input" if name in results else name: name for name in chosen}

    def schema(self, given: pa.Schema) -> pa.Schema:
        """Schema of the results for rows of a given schema.

        Parameters
        ----------
        given : pyarrow.Schema
            Of the rows.

        Returns
        -------
        pyarrow.Schema
            Of the results.

        Examples
        --------
        >>> import pyarrow
        >>> explain_part.schema(pyarrow.Table.from_pandas(X).schema).names[:3]
        ['status', 'target', 'size']
        """
        kept = [(new, given.field(old).type) for new, old in self.kept_columns(given.names).items()]
        return pa.schema([*kept, *self._result_schema()])

    def _result_schema(self) -> pa.Schema:
        return pa.schema([*result_schema(sets=self._sets), *self._extras.fields])

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Results for rows of a pandas partition, indexed like them."""
        result = self.arrow(pa.Table.from_pandas(frame, preserve_index=False)).to_pandas(types_mapper=pd.ArrowDtype)
        result.index = frame.index
        return result

    def arrow(self, table: pa.Table) -> pa.Table:
        """Results for rows of an arrow partition, in order.

        Parameters
        ----------
        table : pyarrow.Table
            Rows with the columns of the model; others are carried over.

        Returns
        -------
        pyarrow.Table
            One line for each row.

        Examples
        --------
        >>> import pyarrow
        >>> explain_part.arrow(pyarrow.Table.from_pandas(X))["status"].to_pylist()[3:]
        ['optimal', 'optimal', 'optimal']
        """
        rows, problems = rows_of(table, self.explainer.form)
        parts = [self._extras.add_to(to_arrow(many, sets=self._sets), many) for many in self._explain_rows(rows)]
        if problems:
            unread = problem_rows(list(problems.values()), sets=self._sets)
            parts.append(_with_nulls(unread, self._result_schema()))
        if not parts:
            parts = [self._result_schema().empty_table()]
        results = pa.concat_tables(parts)
        if problems:
            places = np.concatenate([rows.index.to_numpy(), np.fromiter(problems, dtype=np.int64)])
            results = results.take(pa.array(np.argsort(places, kind="stable")))
        kept = [table.column(old) for old in self.kept_columns(table.column_names).values()]
        return pa.table([*kept, *results.columns], schema=self.schema(table.schema))

    def _settings_for(self, explainer: Explainer) -> Settings:
        """Settings of all calls: as a user's, but all sets are listed at once, because all are written."""
        settings = explainer.settings_for(**self.settings)
        return replace(settings, settled=True)

    def _explain_rows(self, rows: pd.DataFrame) -> Iterator[Explanations]:
        # slices of one length, whatever the machine does: the last bit of a model's score may depend on the rows beside
        for first in range(0, len(rows), ROWS_AT_ONCE):
            yield self.explainer.explain_rows(rows.iloc[first : first + ROWS_AT_ONCE], self._call_settings)


def _load_once(archive: bytes, digest: str, trust_pickle: bool, actions: Actions | None) -> Explainer:
    """The explainer of a file, loaded once in each process: engines unpickle a partition's function again and again."""
    key = (digest, trust_pickle, None if actions is None else actions.digest)
    with _LOADING:
        explainer = _LOADED.pop(key, None)
        if explainer is None:
            explainer = Explainer.from_bytes(archive, trust_pickle=trust_pickle)
            explainer = explainer if actions is None else explainer.with_actions(actions)
        _LOADED[key] = explainer  # the last one used is the last one dropped
        while len(_LOADED) > _MOST_LOADED:
            _LOADED.pop(next(iter(_LOADED)))
    return explainer


def _with_nulls(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with the columns of a schema; those that it lacks are null."""
    missing = [field for field in schema if field.name not in table.column_names]
    for field in missing:
        table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table


_LOADED: dict[tuple[str, bool, str | None], Explainer] = {}
_LOADING = Lock()
_MOST_LOADED = 4
