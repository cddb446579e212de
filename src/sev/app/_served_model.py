"""One model on the page: its explainer, the variants that people ask for, and rows between JSON and the model."""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np
import pandas as pd

from sev.actions import Actions, Between, ChoiceGround, NumberGround, between, cell_key
from sev.app._errors import ServiceError
from sev.app._models import ExplainRequest, FeatureLimits, Person, ReferenceRequest, ValuesMode
from sev.app._table import ROWS_OF_HEAD, Table
from sev.core import Recent, plain_row, plain_value, suggest_name
from sev.explainers import Explainer
from sev.reports import Codes
from sev.space import row_as_series
from sev.text import LANGUAGES, Labels, Speaker

if TYPE_CHECKING:
    from sev.actions import CellKey, Constant, Shifts
    from sev.explainers import Task
    from sev.space import Feature
    from sev.typing import Cell, ColumnLabel, PlainValue

#: Where rows for histograms come from.
Source = Literal["table", "background"]

#: Variants of the explainer that are kept.
_MOST_VARIANTS = 64
#: Rows of the table that are kept in the form of the model.
_MOST_ROWS = 128
#: Edited cells that are kept as columns of one row.
_MOST_CELLS = 2048
#: Characters of a cell that is kept.
_LONGEST_CELL = 100
#: What each way to choose a reference is called in :func:`sev.references.as_reference`.
_REFERENCES = {"mean": "mean", "median": "median", "cluster": "clusters", "nearest": "nearest"}
#: Searches whose processor time is remembered, and seconds of each that are quick.
_SEARCHES_NOTED, _QUICK_SEARCH = 50, 0.15
#: Rows of the table among which clusters and neighbours are looked for.
_BACKGROUND_ROWS = 2000
#: Background rows among which one is looked for that has something to undo.
_EXAMPLES = 64


class Variant(NamedTuple):
    """An explainer as a person wants it, and the features that it may not use."""

    explainer: Explainer
    restricted: tuple[str, ...]


class ServedModel:
    """An explainer with what the page needs of it.

    Parameters
    ----------
    index : int
        Its place among the models of the page.
    name : str
        What it is called there.
    explainer : Explainer
        The explainer.
    codes : Codes or None
        Reason codes.
    table : Table or None
        The table of decisions.
    """

    def __init__(self, index: int, name: str, explainer: Explainer, codes: Codes | None, table: Table | None) -> None:
        self.index, self.name, self.explainer, self.codes, self.table = index, name, explainer, codes, table
        self.columns = {str(column): column for column in explainer.form.columns}
        self.features = {feature.name: feature for feature in explainer.space.features}
        self._set_speakers(explainer.labels)
        bound = explainer.tasks[0].bound
        self.grounds = {} if bound is None else dict(zip(self.features, bound.ground.features, strict=True))
        self.has_credibility = all(task.credibility is not None for task in explainer.tasks)
        self._variants = Recent(_MOST_VARIANTS)
        self._wanted = Recent(_MOST_VARIANTS)
        self._rows = Recent(_MOST_ROWS)
        self._scores = Recent(_MOST_ROWS)
        self._edited = Recent(_MOST_CELLS)
        self._speaking = Recent(len(LANGUAGES))
        self._searches: dict[str, deque[float]] = {}

    def _set_speakers(self, labels: Labels) -> None:
        columns = {name: one.columns for name, one in self.features.items()}
        self.speaker = Speaker(columns, labels=labels)
        #: Speaks to the people concerned.
        self.letters = Speaker(columns, labels=labels, letters=True)

    def speaking(self, language: str | None) -> ServedModel:
        """The same, with sentences of another language where the explainer has no texts of its own.

        Parameters
        ----------
        language : str or None
            "en", "de" or "es"; None is the explainer's.
        """
        labels = self.explainer.labels
        chosen = labels if language is None else labels.in_language(language)
        if chosen is labels:
            return self

        def make() -> ServedModel:
            other = copy(self)  # what is kept is shared
            other._set_speakers(chosen)
            return other

        return self._speaking.get(language, make)

    # -- how long searches take ----------------------------------------------------------------------------------------

    def note_search(self, mode: ValuesMode, seconds: float) -> None:
        """Remember the processor time of a search, for one row."""
        self._searches.setdefault(mode, deque(maxlen=_SEARCHES_NOTED)).append(seconds)

    def is_quick(self, mode: ValuesMode) -> bool:
        """Whether searches take so little that nobody minds to wait for those of others."""
        noted = tuple(self._searches.get(mode, ()))
        return bool(noted) and max(noted) < _QUICK_SEARCH

    # -- rows ----------------------------------------------------------------------------------------------------------

    def row_of(self, person: Person) -> pd.DataFrame:
        """The row that a request is about, with its edits, in the form that the model takes."""
        if person.values is not None and person.row is not None:
            raise ServiceError("bad_input", "A request has either the number of a row or values, not both.", "values")
        if person.values is not None:
            return self._row_of_cells({**self._read_cells(person.values, "values"), **self._read_edits(person)})
        if person.row is None:
            raise ServiceError("bad_input", "A request needs the number of a row of the table, or values.", "row")
        if self.table is None:
            raise ServiceError("not_found", "There is no table of decisions here: send values.", "row")
        rows = self.row_of_table(person.row)
        return self._with_cells(rows, self._read_edits(person)) if person.edits else rows

    def row_of_table(self, number: int) -> pd.DataFrame:
        """A row of the table in the form that the model takes; the next edit is about the same row as a rule."""
        table = self.table
        assert table is not None
        # a copy: pandas notes on a frame everything that was derived from it, and this one stays
        return self._rows.get(number, lambda: table.frame_of_row(number, self.explainer.form)).copy()

    def _read_edits(self, person: Person) -> dict[ColumnLabel, Cell]:
        return self._read_cells(person.edits, "edits")

    def _with_cells(self, row: pd.DataFrame, cells: Mapping[ColumnLabel, Cell]) -> pd.DataFrame:
        """A row with other cells in some columns."""
        form = self.explainer.form
        if form.kind in ("polars", "pyarrow"):  # their rows are made from all cells at once
            held = row_as_series(row, 0)
            return self._row_of_cells({**{column: held[column] for column in row.columns}, **cells})
        columns = {name: column.array for name, column in row.items()}
        columns.update({name: self._cell_as_column(name, cell) for name, cell in cells.items()})
        return pd.DataFrame(columns, index=row.index)

    def _cell_as_column(self, name: ColumnLabel, cell: Cell) -> pd.api.extensions.ExtensionArray:
        """A cell as a column of one row in the background's dtype; the next edit comes with the same cells again."""
        form = self.explainer.form
        one = replace(form, kind="pandas", columns=(name,), dtypes={name: form.dtypes[name]})
        text = repr(cell)
        if len(text) > _LONGEST_CELL:
            return one.one_row({name: cell})[name].array
        return self._edited.get((name, type(cell), text), lambda: one.one_row({name: cell})[name].array)

    def _row_of_cells(self, cells: Mapping[ColumnLabel, Cell]) -> pd.DataFrame:
        missing = [name for name, column in self.columns.items() if column not in cells]
        if missing:
            raise ServiceError("bad_input", f"The row lacks the column {missing[0]!r}.", missing[0][:100])
        return self.explainer.form.one_row({column: cells[column] for column in self.explainer.form.columns})

    def _read_cells(self, values: Mapping[str, PlainValue], entry: str) -> dict[ColumnLabel, Cell]:
        return {
            self._find_column(name, entry): self.read_cell(self._find_column(name, entry), one)
            for name, one in values.items()
        }

    def _find_column(self, name: str, entry: str) -> ColumnLabel:
        if name not in self.columns:
            hint = suggest_name(name, list(self.columns))
            raise ServiceError(
                "not_found", f"{entry} name the column {name[:100]!r}, which the model does not take{hint}", entry
            )
        return self.columns[name]

    def read_cell(self, column: ColumnLabel, value: PlainValue) -> Cell:
        """A cell as the model takes it, from JSON."""
        known = self._cells.get(column, {})
        dtype = self.explainer.form.dtypes[column]
        if value is None:
            return known.get(("missing", ""), np.nan)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            _check_number(value, column)
        if cell_key(value) in known:
            return known[cell_key(value)]
        if isinstance(value, str) and pd.api.types.is_datetime64_any_dtype(dtype):
            try:
                return pd.Timestamp(value)
            except (ValueError, OverflowError):
                raise ServiceError(
                    "bad_input", f"Column {column!r} holds dates: write a date such as 2024-12-31.", str(column)
                ) from None
        return value

    @cached_property
    def _cells(self) -> dict[ColumnLabel, dict[CellKey, Cell]]:
        """For each column of a choice, the values that the background holds, by what JSON makes of them."""
        found: dict[ColumnLabel, dict[CellKey, Cell]] = {}
        for feature in self.features.values():
            ground = self.grounds.get(feature.name)
            if isinstance(ground, ChoiceGround):
                for place, column in enumerate(feature.columns):
                    cells = {cell_key(plain_value(one[place])): one[place] for one in ground.choices}
                    found[column] = {**cells, ("missing", ""): ground.missing[place]}
        return found

    def unfamiliar(self, row: pd.Series) -> list[str]:
        """Columns with values that the background does not hold."""
        found = []
        for name, feature in self.features.items():
            ground = self.grounds.get(name)
            cells = [row[column] for column in feature.columns]
            if isinstance(ground, NumberGround):
                number = float(cells[0]) if not pd.isna(cells[0]) else math.nan
                if number < ground.low or number > ground.high:
                    found.append(str(feature.columns[0]))
            elif isinstance(ground, ChoiceGround):
                for cell, column in zip(cells, feature.columns, strict=True):
                    if cell_key(plain_value(cell)) not in self._cells[column] and not pd.isna(cell):
                        found.append(str(column))
        return found

    def score_of(self, task: Task, row: pd.Series) -> float | None:
        """The score of a row that many requests are compared with; None where the model fails on it."""

        def score() -> float | None:
            frame = self.explainer.form.one_row({column: row[column] for column in self.explainer.form.columns})
            scores, problems = task.score_safely(frame)
            return None if problems else float(scores[0])

        key = (task.scorer.target, tuple(cell_key(plain_value(cell)) for cell in row))
        return self._scores.get(key, score)

    def example(self, mode: ValuesMode) -> ExplainRequest:
        """A request about a row of the background, one with something to undo where there is one."""
        rows = self.explainer.sample.iloc[:_EXAMPLES]
        task = self.explainer.tasks[0]
        scores, _ = task.score_safely(rows)
        place = int(np.argmax(task.scorer.is_positive(scores)))
        return ExplainRequest(model=self.index, values=plain_row(row_as_series(rows, place)), mode=mode)

    # -- variants ------------------------------------------------------------------------------------------------------

    def variant(self, person: Person) -> Variant:
        """The explainer with the limits and the reference of a request."""
        return self._wanted.get(_wish_of(person), lambda: self._make_variant(person))

    def has_variant(self, person: Person) -> bool:
        """Whether the explainer that a request needs is there: clusters and neighbours take long to find."""
        return _wish_of(person) in self._wanted

    def _make_variant(self, person: Person) -> Variant:
        for name in person.limits:
            self.feature(name, "limits")
        base = self.with_reference(person.reference)
        own = self.explainer.actions
        locked = {name for name, one in person.limits.items() if one.frozen}
        restricted = tuple(name for name in self.explainer.restricted if name not in person.limits or name in locked)
        restricted = tuple(dict.fromkeys([*restricted, *sorted(locked)]))
        wanted = self._actions_with(person.limits)
        if wanted == (own or Actions()):
            return Variant(base, restricted)
        key = ("actions", person.reference.model_dump_json(), wanted.digest)
        return Variant(self._variants.get(key, lambda: base.with_actions(wanted if wanted else None)), restricted)

    def _actions_with(self, limits: Mapping[str, FeatureLimits]) -> Actions:
        """The explainer's own actions, with those of a person in place of them on the features that they name."""
        own = self.explainer.actions or Actions()
        if not limits:
            return own
        aliases = {alias for name in limits for alias in (name, *map(str, self.features[name].columns))}
        named: dict[str, tuple[str, ...]] = {
            entry: tuple(name for name in getattr(own, entry) if name not in aliases)
            for entry in ("frozen", "increase", "decrease")
        }
        within = {name: one for name, one in own.within.items() if name not in aliases}
        allowed = {name: one for name, one in own.allowed.items() if name not in aliases}
        for name, one in limits.items():
            if one.frozen:
                continue  # a feature that may not be used, like those that the explainer restricts
            if one.direction != "any":
                named["increase" if one.direction == "up" else "decrease"] += (name,)
            if one.relative is not None:
                within[name] = cast("Shifts", one.relative)  # read by Actions
            elif one.low is not None or one.high is not None:
                within[name] = self._make_bounds(name, one)
            if one.allowed is not None:
                allowed[name] = tuple(cast("list[Constant]", one.allowed))  # read by Actions
        return Actions(
            frozen=named["frozen"], increase=named["increase"], decrease=named["decrease"], within=within,
            allowed=allowed, steps={n: s for n, s in own.steps.items() if n not in allowed},
            allow_missing=own.allow_missing, rules=own.rules, costs=own.costs,
        )  # fmt: skip

    def _make_bounds(self, name: str, one: FeatureLimits) -> Between:
        low, high = -math.inf if one.low is None else one.low, math.inf if one.high is None else one.high
        if low > high:
            raise ServiceError("bad_input", f"The range of {name[:100]!r} ends before it begins.", "limits")
        return between(low, high)

    def feature(self, name: str, entry: str) -> Feature:
        """A feature by its name, or an error that says which there are."""
        if name not in self.features:
            hint = suggest_name(name, list(self.features))
            raise ServiceError("not_found", f"{entry} name {name[:100]!r}, which is not a feature{hint}", entry)
        return self.features[name]

    # -- references ----------------------------------------------------------------------------------------------------

    def with_reference(self, wanted: ReferenceRequest) -> Explainer:
        """The explainer that compares with what a person has chosen."""
        if wanted.key == "default":
            return self.explainer
        if len(self.explainer.tasks) > 1:
            raise ServiceError(
                "bad_input", "This explainer explains several classes: only its own reference can be used.", "reference"
            )
        if wanted.key in ("row", "own"):
            return self._with_row(wanted)
        if wanted.key == "cluster" and wanted.cluster is not None:
            rows = self.with_reference(ReferenceRequest(key="cluster")).reference
            if wanted.cluster >= len(rows):
                raise ServiceError("not_found", f"There are {len(rows)} groups, numbered from 0.", "cluster")
            chosen = rows.iloc[[wanted.cluster]].reset_index(drop=True)
            return self._variants.get(("cluster", wanted.cluster), lambda: self.explainer.with_reference(chosen))
        name = _REFERENCES[wanted.key]
        return self._variants.get(("reference", name), lambda: self.explainer.with_reference(name, self.background()))

    def _with_row(self, wanted: ReferenceRequest) -> Explainer:
        if wanted.key == "row":
            if wanted.row is None or self.table is None:
                raise ServiceError("bad_input", "Comparing with a row needs its number, and a table.", "reference")
            rows = self.table.frame_of_row(wanted.row, self.explainer.form).reset_index(drop=True)
        else:
            if not wanted.values:
                raise ServiceError("bad_input", "Comparing with own values needs at least one value.", "reference")
            default = self.explainer.reference.iloc[[0]].reset_index(drop=True)
            cells = row_as_series(default, 0)
            own = self._read_cells(wanted.values, "reference values")
            rows = self._row_of_cells({**{column: cells[column] for column in default.columns}, **own})
        key = ("row", tuple(cell_key(cell) for cell in row_as_series(rows, 0)))
        return self._variants.get(key, lambda: self.explainer.with_reference(rows))

    def background(self) -> pd.DataFrame:
        """Rows to choose references from: the first of the table, or those that the explainer was saved with."""
        if self.table is None or not self.table.n_rows:
            return self.explainer.sample
        rows, _ = self.table.frame(np.arange(min(self.table.head.num_rows, _BACKGROUND_ROWS)), self.explainer.form)
        return rows.set_axis(self._names_of(self.table, rows.index)) if len(rows) else self.explainer.sample

    def _names_of(self, table: Table, places: pd.Index) -> list[Hashable]:
        """What the page calls rows of the head of the table: sentences name those that a person is compared with."""
        if table.id_column is not None:
            names = table.head.column(table.id_column).take(places.to_numpy()).to_pylist()
            if len(set(names)) == len(names) and None not in names:
                return names
        return [place + 1 for place in places.tolist()]

    def people(self) -> tuple[pd.DataFrame, Source]:
        """Rows for histograms, and where they come from: "table" or "background"."""
        if self.table is not None and self.table.n_rows:
            numbers = np.arange(min(self.table.head.num_rows, ROWS_OF_HEAD))
            rows, _ = self.table.frame(numbers, self.explainer.form)
            if len(rows):
                return rows, "table"
        return self.explainer.sample, "background"


def _wish_of(person: Person) -> bytes:
    """A name for the limits and the reference of a request, of the same length for all of them."""
    limits = [f"{name!r} {one.model_dump_json()}" for name, one in person.limits.items()]
    text = "\n".join([person.reference.model_dump_json(), *limits])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _check_number(value: float, column: ColumnLabel) -> None:
    try:
        is_finite = math.isfinite(value)
    except OverflowError:
        is_finite = False
    if not is_finite or abs(value) > 1e300:
        raise ServiceError("bad_input", f"The number for column {column!r} is too large.", str(column)[:100])
