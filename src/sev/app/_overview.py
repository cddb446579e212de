"""The whole table: a page of rows, how many decisions another threshold would turn, and groups."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sev.app._about import histogram_of
from sev.app._errors import ServiceError
from sev.app._models import (
    Group,
    GroupReason,
    GroupsAnswer,
    RowsAnswer,
    RowsRequest,
    RowSummary,
    ThresholdAnswer,
    name_of,
)
from sev.app._served_model import ServedModel
from sev.app._statuses import Statuses
from sev.app._table import Finder, Table
from sev.core import Status, plain_value
from sev.text import format_value
from sev.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sev.typing import Cell, PlainValue

#: Groups that are told apart; the others are put together.
_MOST_GROUPS = 20
_N_RANGES = 5
_MOST_REASONS = 5


class _GroupEntries(TypedDict, total=False):
    """What tells a group of rows from the others."""

    value: PlainValue
    low: float
    high: float
    is_rest: bool


class _Part(NamedTuple):
    """Rows that share a label."""

    label: str
    entries: _GroupEntries
    rows: IntArray


class Overview:
    """What is known of all rows of a table under one model.

    Parameters
    ----------
    served : ServedModel
        The model.
    table : Table
        The rows.
    statuses : Statuses
        Their scores and sizes, as far as they are known.
    """

    def __init__(self, served: ServedModel, table: Table, statuses: Statuses) -> None:
        self._served, self._table, self.statuses = served, table, statuses
        self._finder = Finder(table)

    # -- a page of rows ------------------------------------------------------------------------------------------------

    def rows(self, request: RowsRequest) -> RowsAnswer:
        """Answer ``GET /api/rows``."""
        numbers = self._find_rows(request)
        chosen = numbers[request.offset : request.offset + request.limit]
        pending = self.statuses.want(chosen.tolist())
        names = self._columns_of(request)
        cells = self._table.cells(chosen, names)
        depends = bool(request.status or request.size or request.uses or (request.sort or "").startswith("@"))
        return RowsAnswer(
            rows=[self._summarise_row(int(row), line) for row, line in zip(chosen, cells, strict=True)],
            offset=request.offset,
            total=len(numbers),
            table_rows=self._table.n_rows,
            known=self.statuses.n_known,
            pending=pending,
            complete=not depends or self.statuses.is_complete,
        )

    def _columns_of(self, request: RowsRequest) -> list[str] | None:
        if not request.columns:
            return None
        for name in request.columns:
            if name not in self._table.names:
                raise ServiceError("not_found", f"The table has no column {name[:100]!r}.", "columns")
        own = [] if self._table.id_column is None else [self._table.id_column]
        return list(dict.fromkeys([*own, *request.columns]))

    def _summarise_row(self, row: int, cells: dict[str, PlainValue]) -> RowSummary:
        name = self._table.id_column
        shown = row if name is None else cells[name]
        statuses = self.statuses
        if statuses.status[row] < 0:
            return RowSummary(row=row, id=shown, cells=cells, known=False)
        status = Status.from_code(int(statuses.status[row]))
        size = int(statuses.size[row])
        positive = None if status is Status.ERROR else status is not Status.NOT_TARGET
        return RowSummary(
            row=row,
            id=shown,
            cells=cells,
            known=True,
            score=plain_value(float(statuses.score[row])),
            decision=self._name_decision(positive),
            positive=positive,
            status=name_of(status),
            size=None if size < 0 else size,
            lower_bound=int(statuses.lower_bound[row]),
            features=statuses.first_set(row),
        )

    def _name_decision(self, positive: bool | None) -> str | None:
        explainer = self._served.explainer
        others = [one for one in explainer.classes_ if one != explainer.target]
        if positive is None or (not positive and len(others) != 1):
            return None
        value = explainer.target if positive else others[0]
        return explainer.labels.decision(value) or str(plain_value(value))

    def _find_rows(self, request: RowsRequest) -> IntArray:
        """Numbers of the rows that match, in order."""
        plain = not (request.search or request.status or request.size or request.uses or request.where or request.sort)
        if plain:
            order: IntArray = np.arange(self._table.n_rows)
            return order[::-1] if request.descending else order
        # what depends on statuses is kept only as long as they stay the same
        depends = request.status or request.size or request.uses or (request.sort or "").startswith("@")
        content = request.model_dump_json(exclude={"offset", "limit", "columns"})
        key = (content, self.statuses.n_known if depends else None)
        known = self._finder.recall(key)
        return known if known is not None else self._finder.remember(key, self._search_rows(request))

    def _search_rows(self, request: RowsRequest) -> IntArray:
        mask: BoolArray = np.ones(self._table.n_rows, dtype=np.bool_)
        for name, operator, value in request.where:
            mask &= self._finder.where(name, operator, value)
        if request.search.strip():
            mask &= self._finder.containing(request.search.strip())
        if request.status:
            mask &= self.statuses.with_status(request.status)
        if request.size:
            mask &= np.isin(self.statuses.size, request.size) & (self.statuses.size >= 0)
        if request.uses is not None:
            self._served.feature(request.uses, "uses")
            mask &= self.statuses.uses(request.uses)
        if request.sort is None:
            found = np.flatnonzero(mask)
            return found[::-1] if request.descending else found
        order = self._sort_rows(request.sort, descending=request.descending)
        return order[mask[order]]

    def _sort_rows(self, sort: str, *, descending: bool) -> IntArray:
        own: dict[str, NDArray[np.number]] = {
            "@score": self.statuses.score,
            "@status": self.statuses.status,
            "@size": self.statuses.size,
        }
        if sort not in own:
            return self._finder.sorted_by(sort, descending=descending)
        values = own[sort].astype(np.float64)
        unknown = np.isnan(values) if sort == "@score" else values < 0
        return np.lexsort((np.where(unknown, 0.0, -values if descending else values), unknown))

    # -- another threshold ---------------------------------------------------------------------------------------------

    def threshold(self, value: float) -> ThresholdAnswer:
        """Answer ``GET /api/threshold``."""
        explainer = self._served.explainer
        if len(explainer.tasks) > 1 or explainer.tasks[0].scorer.leads:
            raise ServiceError("bad_input", "The class with the highest score is predicted: there is no threshold.")
        scores = self.statuses.score[self.statuses.known]
        scores = scores[np.isfinite(scores)]
        now, then = scores >= explainer.threshold, scores >= value
        return ThresholdAnswer(
            model=self._served.index,
            threshold=explainer.threshold,
            value=value,
            known=len(scores),
            total=self._table.n_rows,
            complete=self.statuses.is_complete,
            positive_now=int(now.sum()),
            positive_then=int(then.sum()),
            become_positive=int((then & ~now).sum()),
            become_negative=int((now & ~then).sum()),
            histogram=histogram_of(scores, "table"),
        )

    # -- groups --------------------------------------------------------------------------------------------------------

    def groups(self, by: str, language: str | None = None) -> GroupsAnswer:
        """Answer ``GET /api/groups``."""
        return self._in_language(language)._group_rows(by)

    def _in_language(self, language: str | None) -> Overview:
        """The same with labels of another language; what is known is shared."""
        served = self._served.speaking(language)
        if served is self._served:
            return self
        other = copy(self)
        other._served = served
        return other

    def _group_rows(self, by: str) -> GroupsAnswer:
        known = np.flatnonzero(self.statuses.known)
        if self._table.kind_of_checked(by) == "number":
            parts = self._number_groups(by, known)
        else:
            parts = self._value_groups(by, known)
        return GroupsAnswer(
            model=self._served.index,
            by=by,
            known=len(known),
            total=self._table.n_rows,
            complete=self.statuses.is_complete,
            groups=[self._summarise_part(one) for one in parts],
        )

    def _number_groups(self, by: str, known: IntArray) -> list[_Part]:
        values = self._table.column(by).take(pa.array(known)).to_numpy().astype(np.float64)
        present = values[np.isfinite(values)]
        if len(np.unique(present[:5000])) <= _MOST_GROUPS // 2 and len(np.unique(present)) <= _MOST_GROUPS // 2:
            return self._value_groups(by, known)
        whole = bool(np.all(present == np.round(present)))
        edges = np.unique(
            np.quantile(present, np.linspace(0, 1, _N_RANGES + 1), method="higher" if whole else "linear")
        )
        places = np.clip(np.searchsorted(edges, values, "right") - 1, 0, len(edges) - 2)
        parts: list[_Part] = []
        for number, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
            inside = np.isfinite(values) & (places == number)
            is_last = number == len(edges) - 2
            label = f"{self._text_of(low)} – {self._text_of(high - 1 if whole and not is_last else high)}"
            parts.append(_Part(label, {"low": low, "high": high}, known[inside]))
        missing = known[~np.isfinite(values)]
        if len(missing):
            parts.append(_Part(self._missing_text(), {}, missing))
        return parts

    def _value_groups(self, by: str, known: IntArray) -> list[_Part]:
        values = self._table.column(by).take(pa.array(known))
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        encoded = pc.dictionary_encode(values.combine_chunks(), null_encoding="encode")
        names = encoded.dictionary.to_pylist()
        places = encoded.indices.to_numpy(zero_copy_only=False)
        counts = np.bincount(places, minlength=len(names))
        order = np.argsort(-counts, kind="stable")
        parts: list[_Part] = [
            _Part(self._value_label(by, names[place]), {"value": plain_value(names[place])}, known[places == place])
            for place in order[:_MOST_GROUPS].tolist()
        ]
        rest = order[_MOST_GROUPS:]
        if len(rest):
            parts.append(_Part("…", {"is_rest": True}, known[np.isin(places, rest)]))
        return parts

    def _missing_text(self) -> str:
        return self._served.speaker.raw("missing")

    def _value_label(self, by: str, value: Cell) -> str:
        if value is None:
            return self._missing_text()
        column = self._served.columns.get(by)
        for name, feature in self._served.features.items():
            if feature.columns == (column,):
                return self._served.speaker.value(name, {column: value})
        return self._text_of(value)

    def _text_of(self, value: Cell) -> str:
        """A cell with the marks of the language."""
        word = self._served.speaker.raw
        return format_value(
            value, decimal=word("decimal"), thousands=word("thousands"), missing=word("missing"),
            yes_text=word("yes_text"), no_text=word("no_text"),
        )  # fmt: skip

    def _summarise_part(self, part: _Part) -> Group:
        statuses, rows = self.statuses, part.rows
        status, sizes = statuses.status[rows], statuses.size[rows]
        is_positive = (status != Status.NOT_TARGET.code) & (status != Status.ERROR.code)
        without = int((status == Status.UNEXPLAINABLE.code).sum())
        found: FloatArray = sizes[sizes >= 0].astype(np.float64)
        positive = int(is_positive.sum())
        return Group(
            label=part.label,
            **part.entries,
            rows=len(rows),
            positive=positive,
            mean_size=float(found.mean()) if found.size else None,
            sizes={
                str(size): int(number)
                for size, number in zip(*np.unique(found.astype(int), return_counts=True), strict=True)
            },
            without_change=without,
            share_without_change=without / positive if positive else None,
            reasons=self._group_reasons(rows[sizes >= 0]),
        )

    def _group_reasons(self, rows: IntArray) -> list[GroupReason]:
        if not len(rows):
            return []
        shares = self.statuses.first_sets(rows).mean(axis=0)
        names = self._served.explainer.feature_names
        order = np.argsort(-shares, kind="stable")[:_MOST_REASONS]
        return [
            GroupReason(
                feature=names[place], label=self._served.speaker.label(names[place]), share=float(shares[place])
            )
            for place in order.tolist()
            if shares[place] > 0
        ]
