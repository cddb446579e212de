"""The whole table: its list of decisions, another threshold, groups of rows."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sev.app._models._base import Answer, Cell, Histogram, Message, Name, StatusName

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "missing", "present"]
Condition = tuple[Name, Operator, Cell]


class RowsRequest(Message):
    """Which rows of the table, in which order."""

    model: int = Field(default=0, ge=0)
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=50, ge=1, le=500)
    search: str = Field(default="", max_length=200, description="Text that a cell of the row contains.")
    sort: Name | None = Field(default=None, description='A column, or "@score", "@status", "@size".')
    descending: bool = False
    status: list[StatusName] = Field(default=[], max_length=6)
    size: list[int] = Field(default=[], max_length=50)
    uses: Name | None = Field(default=None, description="Feature in one of the smallest sets.")
    where: list[Condition] = Field(default=[], max_length=20)
    columns: list[Name] = Field(default=[], max_length=500, description="Cells to send; empty is all columns.")


class RowSummary(Answer):
    """One line of the list; what is not computed yet is null."""

    row: int = Field(description="Number of the row in the table, for the other requests.")
    id: Cell = None
    cells: dict[str, Cell]
    known: bool
    score: float | None = None
    decision: str | None = None
    positive: bool | None = None
    status: StatusName | None = None
    size: int | None = None
    lower_bound: int | None = None
    features: list[str] | None = Field(default=None, description="The first smallest set.")


class RowsAnswer(Answer):
    """A page of the list."""

    rows: list[RowSummary]
    offset: int
    total: int = Field(description="Rows that match.")
    table_rows: int
    known: int = Field(description="Rows of the table whose status is known; filters see only these.")
    pending: int = Field(description="Rows of this page whose status is still being computed; ask again.")
    complete: bool = Field(description="Whether total and order are final: nothing they depend on is unknown.")


class ThresholdAnswer(Answer):
    """How many decisions would turn with another threshold."""

    model: int
    threshold: float
    value: float
    known: int
    total: int
    complete: bool
    positive_now: int
    positive_then: int
    become_positive: int
    become_negative: int
    histogram: Histogram | None = Field(default=None, description="Of the scores known so far.")


class GroupReason(Answer):
    """How often a feature is in the first smallest set."""

    feature: str
    label: str
    share: float


class Group(Answer):
    """Rows that share the value of a column."""

    label: str
    value: Cell = None
    low: float | None = None
    high: float | None = None
    is_rest: bool = Field(default=False, description="All rows whose values are in no group of their own.")
    rows: int
    positive: int
    mean_size: float | None
    sizes: dict[str, int]
    without_change: int
    share_without_change: float | None = Field(description="Of the positive rows; null where there is none.")
    reasons: list[GroupReason]


class GroupsAnswer(Answer):
    """Groups of the table."""

    model: int
    by: str
    known: int
    total: int
    complete: bool
    groups: list[Group]
