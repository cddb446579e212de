"""One decision: what led to it, what would change it, and how certain that is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, cast

import numpy as np
import pandas as pd

from sev.app._about import describe_decision, describe_other
from sev.app._errors import ServiceError
from sev.app._models import (
    ChangeOut,
    Cube,
    Decision,
    Distance,
    ExplainAnswer,
    ExplainRequest,
    Person,
    ReferenceUsed,
    SetOut,
    Step,
    Vertex,
    name_of,
)
from sev.app._scheduler import Ticket
from sev.app._served_model import ServedModel, Variant
from sev.core import Status, plain_row, plain_value
from sev.explanations import Alternative, Change, Explanation, Explanations, Interval
from sev.text import Statement, enough_in_text

if TYPE_CHECKING:
    from sev.app._models._base import FeatureValue
    from sev.typing import Cell, Minimise, Order, Values

#: Sets that have a sentence, a path and a score; the others of ``max_sets`` are listed by their features.
_MOST_CUBE_FEATURES = 4
#: Part of the time of a request that the search may take.
_SEARCH_SHARE = 0.6

Certainty = Literal["proven", "at_least", "none_proven", "none_tried", "undecided", "nothing_to_undo", "error"]
_CERTAINTY: dict[Status, Certainty] = {
    Status.OPTIMAL: "proven",
    Status.FEASIBLE: "at_least",
    Status.UNDECIDED: "undecided",
    Status.NOT_TARGET: "nothing_to_undo",
    Status.ERROR: "error",
}


class Wanted(TypedDict):
    """What a request asks of the search, under the names that explainers have for it."""

    values: Values
    minimise: Minimise
    order: Order
    min_credibility: float


class Found(NamedTuple):
    """What the search found for one row: all that one call found, the row's place in it, and who searched."""

    many: Explanations
    place: int
    variant: Variant

    def query(self) -> pd.DataFrame:
        """The row."""
        queries = self.many.queries
        return queries if len(queries) == 1 else queries.iloc[[self.place]]


def search(served: ServedModel, person: Person, ticket: Ticket, max_sets: int = 50) -> Found:
    """Explain the row of a request.

    Parameters
    ----------
    served : ServedModel
        The model.
    person : Person
        The row, its edits, limits and reference.
    ticket : Ticket
        Ends the work when nobody waits for it.
    max_sets : int
        Smallest sets to list.
    """
    row = served.row_of(person)
    ticket.check()
    variant = served.variant(person)
    ticket.check()
    (found,) = search_rows(served, row, variant, person, ticket.seconds_left, max_sets)
    ticket.check()
    return found


def search_rows(
    served: ServedModel, rows: pd.DataFrame, variant: Variant, person: Person, seconds: float, max_sets: int
) -> list[Found]:
    """Explain rows of people who want the same of the search."""
    begin = time.thread_time()
    many = variant.explainer.explain(
        rows,
        restricted=variant.restricted,
        max_sets=max_sets,
        time_limit=max(0.05, seconds * _SEARCH_SHARE / len(rows)),
        **options_of(person),
    )
    _ = many.not_permitted  # of all rows at once; each explanation alone, and each of its sets, would search again
    served.note_search(person.mode, (time.thread_time() - begin) / len(rows))
    return [Found(many, place, variant) for place in range(len(rows))]


def options_of(person: Person) -> Wanted:
    """What a request asks of the search, under the names that explainers have for it."""
    return {
        "values": person.mode,
        "minimise": person.minimise,
        "order": person.order,
        "min_credibility": person.min_credibility,
    }


def explain(served: ServedModel, request: ExplainRequest, ticket: Ticket) -> ExplainAnswer:
    """Answer ``POST /api/explain``."""
    start = time.perf_counter()
    check_preference(served, request)
    return answer_found(served, request, search(served, request, ticket, request.max_sets), ticket, start)


def check_preference(served: ServedModel, request: ExplainRequest) -> None:
    """Refuse a preference for what is not a feature."""
    if request.prefer is not None:
        served.feature(request.prefer, "prefer")


def answer_found(
    served: ServedModel, request: ExplainRequest, found: Found, ticket: Ticket, start: float
) -> ExplainAnswer:
    """The answer to a request, from what the search found."""
    one = found.many[found.place]
    listed = one.alternatives(request.max_sets) if one.sets else ()
    ticket.check()
    if request.prefer is not None:
        listed = tuple(sorted(listed, key=lambda some: request.prefer not in some.explanation.features))
    first = listed[0] if listed else None
    statement = (first.explanation if first else one).statement()
    failed = one.status is Status.ERROR
    return ExplainAnswer(
        sequence=request.sequence,
        model=served.index,
        row=plain_row(one.query),
        score=plain_value(one.score),
        threshold=one.threshold,
        positive=None if failed else one.status is not Status.NOT_TARGET,
        decision=_describe_outcome(served, one),
        status=name_of(one.status),
        size=one.size,
        lower_bound=one.lower_bound,
        size_without_limit=one.size_without_limit,
        certainty=_describe_certainty(one),
        language=served.speaker.language,
        sentence=served.speaker.sentence(statement),
        proof=served.speaker.proof(statement),
        proof_beside_sentence=served.speaker.proof(statement, beside_sentence=True),
        scope=one.proof_scope,
        not_permitted=one.not_permitted,
        values_searched=one.values_searched,
        sets=[
            _describe_set(served, some, statement if some is first else None, with_path=request.with_path)
            for some in listed
        ],
        sets_complete=one.sets_complete,
        cube=_describe_cube(first) if request.with_cube else None,
        reference=_describe_reference(served, request, one, found),
        broken_rules=_broken_rules(found),
        unfamiliar=served.unfamiliar(one.query),
        reason=one.reason,
        milliseconds=(time.perf_counter() - start) * 1000,
    )


def _describe_certainty(one: Explanation) -> Certainty:
    if one.status is Status.UNEXPLAINABLE:
        return "none_tried" if one.proof_scope == "tried" else "none_proven"
    return _CERTAINTY[one.status]


def _describe_outcome(served: ServedModel, one: Explanation) -> Decision | None:
    if one.status is Status.ERROR:
        return None
    return describe_other(served) if one.status is Status.NOT_TARGET else describe_decision(served, one.target)


def _describe_set(served: ServedModel, some: Alternative, statement: Statement | None, *, with_path: bool) -> SetOut:
    one = some.explanation
    assert one.result is not None
    becomes = one.other if one.other is not None else one.becomes
    return SetOut(
        features=list(one.features),
        changes=[_describe_change(served, name, change, one) for name, change in one.changes.items()],
        result=plain_row(one.result),
        result_score=plain_value(one.result_score),
        becomes=None if becomes is None else describe_decision(served, becomes),
        sentence=served.speaker.sentence(statement or one.statement()),
        cost=plain_value(one.cost),
        distance=_describe_distance(one),
        credibility=plain_value(one.credibility),
        path=_describe_path(served, some.path) if with_path and some.path is not None else [],
    )


def _describe_change(served: ServedModel, name: str, change: Change, one: Explanation) -> ChangeOut:
    """What becomes of one feature, for people too."""
    plain = change.to_dict()
    enough = change.enough
    return ChangeOut(
        feature=name,
        label=served.speaker.label(name),
        old=cast("FeatureValue", plain["old"]),
        new=cast("FeatureValue", plain["new"]),
        old_text=value_text(served, name, change.old),
        new_text=value_text(served, name, change.new),
        enough=(_finite_end(enough.low), _finite_end(enough.high)) if isinstance(enough, Interval) else None,
        enough_values=[plain_value(value) for value in enough] if isinstance(enough, tuple) else None,
        enough_text=served.speaker.range_text(name, one.result, enough_in_text(enough), one.limits),
    )


def value_text(served: ServedModel, name: str, value: Cell) -> str:
    """The value of a feature as people write it."""
    columns = served.features[name].columns
    return served.speaker.value(name, value if isinstance(value, Mapping) else {columns[0]: value})


def _finite_end(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _describe_distance(one: Explanation) -> Distance | None:
    """How far the change goes, in standard deviations of the background; no distance where no number changes."""
    far = one.distance
    if far is None:
        return None
    moves_numbers = far.categories < len(one.changes)
    return Distance(
        largest=far.largest if moves_numbers else None,
        total=far.total if moves_numbers else None,
        categories=far.categories,
    )


def _describe_path(served: ServedModel, path: pd.DataFrame) -> list[Step]:
    return [
        Step(
            feature=feature or None,
            label=served.speaker.label(feature) if feature else None,
            score=plain_value(score),
            positive=bool(positive),
        )
        for feature, score, positive in zip(path["feature"], path["score"], path["positive"], strict=True)
    ]


def _describe_cube(some: Alternative | None) -> Cube | None:
    if some is None or some.vertices is None or len(some.explanation.features) > _MOST_CUBE_FEATURES:
        return None
    lines = zip(some.vertices["changed"], some.vertices["score"], some.vertices["positive"], strict=True)
    return Cube(
        features=list(some.explanation.features),
        vertices=[
            Vertex(changed=list(changed), score=plain_value(score), positive=bool(positive))
            for changed, score, positive in lines
        ],
    )


def _describe_reference(served: ServedModel, person: Person, one: Explanation, found: Found) -> ReferenceUsed:
    explainer = found.variant.explainer
    task = next(task for task in explainer.tasks if task.scorer.target == one.target)
    row = one.reference
    if person.mode != "reference" or explainer.actions is not None:  # the explanation's own holds permitted values
        row = task.reference.rows.iloc[int(task.reference.assigned(found.query())[0])]
    return ReferenceUsed(
        key=person.reference.key,
        name=explainer.reference_name,
        row=plain_row(row),
        score=served.score_of(task, row),
        table_row=person.reference.row if person.reference.key == "row" else None,
    )


def _broken_rules(found: Found) -> list[str]:
    bound = found.variant.explainer.tasks[0].bound
    if bound is None or not bound.rules:
        return []
    row = found.query()
    return [rule.text for rule in bound.rules if bool(rule.broken(bound.cells(rule, row))[0])]


def check_is_explained(one: Explanation) -> None:
    """Refuse rows on which the model fails."""
    if one.status is Status.ERROR:
        raise ServiceError("bad_input", f"The model cannot score this row: {one.reason}.")
