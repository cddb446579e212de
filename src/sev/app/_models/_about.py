"""What there is: models with their features and references, the table, the limits of the service."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from sev.app._models._base import Answer, Cell, Decision, FeatureValue, Histogram, ValuesMode


class Choice(Answer):
    """One value of a feature without an order of numbers."""

    value: FeatureValue = Field(description="What to put into the row: a cell, or for several columns an object.")
    label: str = Field(description="Its name in labels, or the value itself.")
    count: int | None = Field(default=None, description="How often it occurs in the background.")


class Limits(Answer):
    """What a number or choice may become; the same entries as in a request."""

    frozen: bool = False
    direction: Literal["any", "up", "down"] = "any"
    low: float | None = None
    high: float | None = None
    relative: tuple[str, str] | None = Field(
        default=None, description='Changes from the row\'s value, such as ["-20%", "+0%"] or ["-500", "+500"].'
    )
    allowed: list[Cell] | None = None
    moves: list[tuple[Cell, list[Cell]]] | None = Field(default=None, description="Which value may become which.")


class Feature(Answer):
    """What a person would call one thing: a column, or several that move together."""

    name: str
    label: str
    unit: str | None = None
    digits: int | None = None
    kind: Literal["number", "choice", "date"]
    columns: list[str]
    integer: bool = Field(default=False, description="Only integers occur.")
    step: float | None = None
    low: float | None = Field(default=None, description="Smallest value of the background.")
    high: float | None = None
    quantiles: list[float] = Field(
        default=[], description="Quantiles of the background at 0, 5, 25, 50, 75, 95 and 100 %."
    )
    histogram: Histogram | None = None
    choices: list[Choice] = Field(default=[])
    ordered: bool = Field(default=False, description="The choices have an order, such as low, medium, high.")
    may_be_missing: bool = Field(default=False, description="Missing values occur in the background.")
    restricted: bool = Field(default=False, description="No explanation may use it, unless a request releases it.")
    limits: Limits = Field(description="The explainer's own actions.")


class ReferenceChoice(Answer):
    """One way to choose whom a row is compared with."""

    key: Literal["default", "mean", "median", "cluster", "nearest", "row", "own"]
    label: str
    rows: list[dict[str, Cell]] = Field(default=[], description="Reference rows where they are few.")
    row_labels: list[str] = Field(default=[])


class Model(Answer):
    """One explainer."""

    index: int
    name: str
    target: Decision = Field(description="The class being explained; its rows have something to undo.")
    other: Decision | None = Field(default=None, description="The other one of two classes.")
    classes: list[Decision]
    threshold: float
    score_kind: Literal["probability", "score"]
    backend: str
    backend_reason: str = Field(default="", description="For a black box: why it could not be read.")
    features: list[Feature]
    references: list[ReferenceChoice]
    values: list[ValuesMode]
    actions: dict[str, JsonValue] | None = Field(default=None, description="All actions in force, as sev.Actions.")
    rules: list[str] = Field(default=[])
    has_codes: bool = Field(default=False, description="Whether reason codes were given (--codes).")
    has_credibility: bool = False
    has_cost: bool = True


class TableColumn(Answer):
    """One column of the table of decisions."""

    name: str
    kind: Literal["number", "text", "boolean", "date"]
    is_feature: bool


class Table(Answer):
    """The table of decisions."""

    rows: int
    columns: list[TableColumn]
    id_column: str | None = None


class ServiceLimits(Answer):
    """What the service accepts."""

    body_bytes: int
    rows_per_page: int
    seconds_per_request: float
    requests_at_once: int
    scenarios: int


class About(Answer):
    """All that a page needs to start."""

    contract: Literal[1] = 1
    version: str
    title: str
    language: str
    readonly: bool
    has_page: bool
    revision: str = Field(description="Changes when the models or the table change; part of links.")
    models: list[Model]
    table: Table | None = None
    limits: ServiceLimits


class Health(Answer):
    """Whether the service answers."""

    status: Literal["ok"] = "ok"
    version: str
