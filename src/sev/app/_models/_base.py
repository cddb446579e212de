"""Cells, names and the two bases: what every request and every answer is made of."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from sev.core import Status

#: A cell: a number, text, boolean, or null for a missing value. Dates are ISO 8601 text.
Cell = bool | int | float | str | None
#: What a feature holds: a cell, or for a feature of several columns an object of them.
FeatureValue = Cell | dict[str, Cell]
Name = Annotated[str, Field(max_length=20_000)]
LanguageName = Literal["en", "de", "es"]
StatusName = Literal["optimal", "feasible", "unexplainable", "undecided", "not_target", "error"]
ValuesMode = Literal["reference", "typical", "any"]
Minimise = Literal["features", "cost"]
Order = Literal["margin", "closest", "credible"]


def name_of(status: Status) -> StatusName:
    """The name of a status, as the interface has it."""
    return cast("StatusName", str(status))


class Message(BaseModel):
    """Base of requests: unknown entries are errors, so that a misspelled option is not ignored."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Answer(BaseModel):
    """Base of answers."""

    model_config = ConfigDict(allow_inf_nan=False)


class ErrorBody(Answer):
    """What went wrong, for programs (``code``) and for people (``message``)."""

    code: Literal[
        "bad_input",
        "unauthorized",
        "forbidden",
        "read_only",
        "not_found",
        "superseded",
        "too_large",
        "too_many_requests",
        "busy",
        "timeout",
        "unavailable",
        "internal",
    ]
    message: str
    field: str | None = Field(default=None, description="The entry of the request, the column or the feature.")


class ErrorAnswer(Answer):
    """Every answer whose HTTP status is 400 or above."""

    error: ErrorBody


class Decision(Answer):
    """A class of the model and the decision that it stands for."""

    value: Cell
    label: str


class Histogram(Answer):
    """How often values occur in the background."""

    edges: list[float] = Field(description="Bounds of the bars, ascending: one more than counts.")
    counts: list[int]
    source: Literal["table", "background"] = Field(description="Whose values: the table's, or training rows'.")
    rows: int = Field(description="How many rows were counted.")
