"""What the service answers about one decision."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sev.app._models._about import About
from sev.app._models._base import Answer, Cell, Decision, FeatureValue, Histogram, StatusName
from sev.app._models._requests import ExplainRequest


class ChangeOut(Answer):
    """What becomes of one feature."""

    feature: str
    label: str
    old: FeatureValue
    new: FeatureValue
    old_text: str
    new_text: str
    enough: tuple[float | None, float | None] | None = Field(
        default=None,
        description="Every value from the first to the second changes the decision, whichever values the other changed "
        "features take within theirs: proven; null is no bound.",
    )
    enough_values: list[Cell] | None = None
    enough_text: str | None = None


class Step(Answer):
    """The score after one more feature has been changed; the first step is the row itself."""

    feature: str | None
    label: str | None
    score: float | None
    positive: bool


class Distance(Answer):
    """How far a change goes."""

    largest: float | None = Field(default=None, description="The largest change of a number, in standard deviations.")
    total: float | None = None
    categories: int = 0


class SetOut(Answer):
    """One smallest set."""

    features: list[str]
    changes: list[ChangeOut]
    result: dict[str, Cell] = Field(description="The changed row, by column.")
    result_score: float | None
    becomes: Decision | None = None
    sentence: str
    cost: float | None = None
    distance: Distance | None = None
    credibility: float | None = Field(
        default=None, description="Share of real rows of the other class that are less ordinary than the result."
    )
    path: list[Step] = Field(default=[])


class Vertex(Answer):
    """A combination of changes."""

    changed: list[str]
    score: float | None
    positive: bool


class Cube(Answer):
    """All combinations of a few changes."""

    features: list[str]
    vertices: list[Vertex]


class ReferenceUsed(Answer):
    """Whom the row was compared with."""

    key: str
    name: str
    row: dict[str, Cell]
    score: float | None = None
    table_row: int | None = None


class ExplainAnswer(Answer):
    """The answer to one decision."""

    sequence: int
    model: int
    row: dict[str, Cell] = Field(description="The row that was explained, edits made, by column.")
    score: float | None
    threshold: float
    positive: bool | None
    decision: Decision | None
    status: StatusName
    size: int | None
    lower_bound: int
    size_without_limit: int | None = Field(
        default=None, description="With min_credibility: the size of the smallest set, credible or not."
    )
    certainty: Literal["proven", "at_least", "none_proven", "none_tried", "undecided", "nothing_to_undo", "error"]
    language: str = Field(description="Language of sentence and proof.")
    sentence: str
    proof: str = Field(description="The whole proof; part of it may be in the sentence, too.")
    proof_beside_sentence: str = Field(description="What the proof adds to the sentence; may be empty.")
    scope: Literal["all", "permitted", "changes", "tried"]
    not_permitted: Literal["smaller", "equal", "only", "none"] = Field(
        description="Whether features that may not be used would allow a smaller set, an equal one, or the only one; a "
        'page must state it unless it is "none".'
    )
    values_searched: Literal["reference", "all", "candidates"]
    sets: list[SetOut]
    sets_complete: bool
    cube: Cube | None = None
    reference: ReferenceUsed
    broken_rules: list[str] = Field(default=[], description="Rules that the row itself breaks.")
    unfamiliar: list[str] = Field(default=[], description="Columns with values outside of the background.")
    reason: str = Field(default="", description="For status error: what went wrong.")
    milliseconds: float


class Price(Answer):
    """What one lock costs."""

    feature: str
    size_without: int | None
    size_with: int | None
    outcome: Literal["free", "more", "impossible", "undecided"]
    more: int | None = None
    cost_without: float | None = None
    cost_with: float | None = None
    proven: bool


class PriceAnswer(Answer):
    """What each lock costs, and all of them together."""

    sequence: int
    prices: list[Price]
    together: Price | None = None


class CurveRange(Answer):
    """A stretch of values with one decision."""

    low: float = Field(description="The first value with this decision.")
    high: float = Field(description="The last value with this decision.")
    positive: bool
    text: str = Field(description="The range in words.")


class CurvePoint(Answer):
    """One value and its score."""

    value: FeatureValue
    label: str
    score: float | None
    positive: bool
    permitted: bool = True


class CurveAnswer(Answer):
    """The curve of one feature."""

    sequence: int
    feature: str
    kind: Literal["number", "choice", "date"]
    now: FeatureValue
    threshold: float
    points: list[CurvePoint]
    ranges: list[CurveRange] = Field(default=[], description="For numbers: the decision in each range of values.")
    turns: list[float] = Field(default=[], description="For numbers: values at which the decision changes.")
    histogram: Histogram | None = None
    counts: list[int] = Field(default=[], description="For choices: how often each occurs in the background.")


class ReasonOut(Answer):
    """One reason."""

    rank: int
    feature: str
    label: str
    value: FeatureValue
    value_text: str
    reference_value: FeatureValue
    reference_text: str
    code: str | None
    text: str
    in_every_set: bool
    score_alone: float | None


class ReasonsAnswer(Answer):
    """Reason codes and sentences as they would go out."""

    sequence: int
    decision: Decision | None
    status: StatusName
    score: float | None
    threshold: float
    reasons: list[ReasonOut]
    cut: list[str] = Field(description="Features that the limit of reasons left out.")
    hidden: list[str] = Field(description="Features that the restriction hides; a notice must name them.")
    language: str = Field(description="Language of sentence and proof.")
    sentence: str
    proof: str = Field(description="What the proof adds to the sentence; may be empty.")
    has_codes: bool


class ScenarioOut(Answer):
    """A scenario with its answers."""

    name: str
    request: ExplainRequest
    explain: ExplainAnswer
    reasons: ReasonsAnswer | None = None
    prices: PriceAnswer | None = None
    curves: dict[str, CurveAnswer] = Field(default={})


class ScenariosDocument(Answer):
    """The JSON form of kept scenarios, and what the one-file page holds."""

    contract: Literal[1] = 1
    title: str
    about: About
    scenarios: list[ScenarioOut]
