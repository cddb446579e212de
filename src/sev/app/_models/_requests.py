"""What a page asks about one decision."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sev.app._models._base import Cell, LanguageName, Message, Minimise, Name, Order, ValuesMode


class FeatureLimits(Message):
    """What a person sets on one feature; takes the place of the explainer's own actions on it."""

    frozen: bool = False
    direction: Literal["any", "up", "down"] = "any"
    low: float | None = None
    high: float | None = None
    relative: tuple[str, str] | None = None
    allowed: list[Cell] | None = Field(default=None, max_length=10_000)


class ReferenceRequest(Message):
    """Whom to compare with."""

    key: Literal["default", "mean", "median", "cluster", "nearest", "row", "own"] = "default"
    row: int | None = Field(default=None, ge=0, description='For "row": number of a row of the table.')
    cluster: int | None = Field(default=None, ge=0, description='For "cluster": which one; null is the nearest.')
    values: dict[Name, Cell] | None = Field(
        default=None, max_length=10_000, description='For "own": the values, by column.'
    )


class Person(Message):
    """A row, given by its number in the table or by its values, with edits."""

    model: int = Field(default=0, ge=0)
    row: int | None = Field(default=None, ge=0)
    values: dict[Name, Cell] | None = Field(default=None, max_length=10_000, description="All columns of the model.")
    edits: dict[Name, Cell] = Field(default={}, max_length=10_000, description="Columns that differ from the row.")
    limits: dict[Name, FeatureLimits] = Field(
        default={}, max_length=10_000, description="What each feature may become."
    )
    reference: ReferenceRequest = ReferenceRequest()
    mode: ValuesMode = Field(default="reference", description="What values features may take.")
    minimise: Minimise = Field(
        default="features",
        description='"features": the fewest, then the least cost. "cost": the least total cost.',
    )
    order: Order = Field(
        default="margin",
        description='Which of the smallest sets comes first. "margin": the one that takes the score furthest, or under '
        'limits and with other modes than "reference" the one of least cost. "closest": the one whose largest change '
        'is the smallest. "credible": the one whose result is the most credible.',
    )
    min_credibility: float = Field(
        default=0.0, ge=0.0, le=1.0, description="The least credibility that a result must have; 0 is no limit."
    )
    language: LanguageName | None = Field(
        default=None,
        description="Language of the texts; null is the explainer's, which is also used if it has texts of its own.",
    )
    client: str = Field(default="", max_length=64, description="Random text that names one open page.")
    sequence: int = Field(default=0, ge=0, description="Grows with every edit; older ones are dropped (409).")


class ExplainRequest(Person):
    """Explain one decision."""

    prefer: Name | None = Field(default=None, description="Sets with this feature come first.")
    max_sets: int = Field(default=50, ge=1, le=200)
    with_path: bool = True
    with_cube: bool = Field(default=True, description="Scores of all combinations, for sets of up to 4 features.")


class PriceRequest(Person):
    """What locks cost."""

    locks: list[Name] = Field(
        min_length=1, max_length=200, description="Features to lock, whether or not they are frozen now."
    )


class CurveRequest(Person):
    """How the score moves with one feature, all others as they are."""

    feature: Name
    points: int = Field(default=101, ge=2, le=1001)


class ReasonsRequest(Person):
    """The letter."""

    max_reasons: int = Field(default=4, ge=1, le=20)


class Scenario(Message):
    """A named edit of a person."""

    name: str = Field(max_length=200)
    request: ExplainRequest


class ScenariosRequest(Message):
    """Scenarios to keep as one file."""

    format: Literal["html", "json"] = "html"
    title: str = Field(default="", max_length=200)
    language: str = Field(default="", max_length=10)
    scenarios: list[Scenario] = Field(min_length=1)
