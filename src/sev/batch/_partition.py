"""One partition of rows explained: pure, picklable, with a declared schema, so that any engine can run it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from sev.batch._cells import rows_of, used_columns
from sev.batch._inputs import ROWS_AT_ONCE
from sev.batch._results import problem_rows, result_schema, to_arrow
from sev.exceptions import InputError
from sev.explainers import DEFAULT_MAX_PREDICTIONS, Explainer
from sev.typing import Kind


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
        Columns to carry over to the results; None: all that the model does not take, such as an application's number.
    sets : bool, default=False
        Give all minimum sets, in a column ``sets``.
    trust_pickle : bool, default=False
        See :func:`sev.load`.
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
        sets: bool = False,
        trust_pickle: bool = False,
    ) -> None:
        self._archive = archive
        self._digest = hashlib.sha256(archive).hexdigest()
        self._trust_pickle = trust_pickle
        self._keep = None if keep is None else tuple(keep)
        self._sets = sets
        self.settings: dict[str, Any] = {
            "kind": kind,
            "restricted": None if restricted is None else tuple(restricted),
            "max_size": max_size,
            "max_sets": max_sets,
            "time_limit": time_limit,
        }
        # wrong settings are refused here, not in a worker far away
        self._asked = self._asked_of(self.explainer)

    @classmethod
    def of(cls, explainer: Explainer, *, allow_pickle: bool = False, **options: Any) -> PartitionExplainer:
        """Make one from an explainer in memory; ``allow_pickle`` as for :meth:`sev.Explainer.save`."""
        return cls(explainer.to_bytes(allow_pickle=allow_pickle), trust_pickle=allow_pickle, **options)

    @property
    def explainer(self) -> Explainer:
        """The explainer, loaded once in each process."""
        return _loaded(self._digest, _Bytes(self._archive), self._trust_pickle)

    @property
    def digest(self) -> str:
        """Checksum of the explainer's file."""
        return self._digest

    @property
    def archive(self) -> bytes:
        """The explainer's file."""
        return self._archive

    def kept_columns(self, names: list[str]) -> dict[str, str]:
        """Columns that are carried over, by their names in the results.

        A column that has the name of a result is called ``<name>_input`` there.
        """
        used = set(used_columns(names, self.explainer.form).values())
        if self._keep is None:
            chosen = [name for name in names if name not in used]
        else:
            chosen = list(self._keep)
            missing = [name for name in chosen if name not in names]
            if missing:
                raise InputError(f"keep names columns that the file does not have: {missing}. It has {names[:12]}.")
        results = result_schema(sets=True).names
        return {f"{name}_input" if name in results else name: name for name in chosen}

    def schema(self, given: pa.Schema) -> pa.Schema:
        """Schema of the results for rows of a given schema."""
        kept = [(new, given.field(old).type) for new, old in self.kept_columns(given.names).items()]
        return pa.schema([*kept, *result_schema(sets=self._sets)])

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Results for rows of a pandas partition, indexed like them."""
        result = self.arrow(pa.Table.from_pandas(frame, preserve_index=False)).to_pandas(types_mapper=pd.ArrowDtype)
        result.index = frame.index
        return result

    def arrow(self, table: pa.Table) -> pa.Table:
        """Results for rows of an arrow partition, in order."""
        rows, problems = rows_of(table, self.explainer.form)
        parts = [to_arrow(many, sets=self._sets) for many in self._explained(rows)]
        if problems:
            parts.append(problem_rows(list(problems.values()), sets=self._sets))
        if not parts:
            parts = [result_schema(sets=self._sets).empty_table()]
        results = pa.concat_tables(parts)
        if problems:
            places = np.concatenate([rows.index.to_numpy(), np.fromiter(problems, dtype=np.int64)])
            results = results.take(pa.array(np.argsort(places, kind="stable")))
        kept = [table.column(old) for old in self.kept_columns(table.column_names).values()]
        return pa.table([*kept, *results.columns], schema=self.schema(table.schema))

    def _asked_of(self, explainer: Explainer) -> Any:
        """Settings of all calls: as a user's, but all sets are listed at once, because all are written."""
        asked = explainer.settings_for(**self.settings, max_predictions=DEFAULT_MAX_PREDICTIONS)
        return replace(asked, settled=True)

    def _explained(self, rows: pd.DataFrame) -> Iterator[Any]:
        # slices of one length, whatever the machine does: the last bit of a model's score may depend on the rows beside
        for first in range(0, len(rows), ROWS_AT_ONCE):
            yield self.explainer.explain_rows(rows.iloc[first : first + ROWS_AT_ONCE], self._asked)


class _Bytes:
    """Bytes that do not take part in comparisons: their digest stands for them in the cache."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bytes)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=4)
def _loaded(digest: str, archive: _Bytes, trust_pickle: bool) -> Explainer:
    return Explainer.from_bytes(archive.data, trust_pickle=trust_pickle)
