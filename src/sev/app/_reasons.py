"""The letter: reason codes and sentences as they would go out. And what locks cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from sev.app._about import describe_decision, describe_other
from sev.app._errors import ServiceError
from sev.app._explain import check_is_explained, search
from sev.app._models import Price, PriceAnswer, PriceRequest, ReasonOut, ReasonsAnswer, ReasonsRequest, name_of
from sev.app._scheduler import Ticket
from sev.app._served_model import ServedModel, Variant
from sev.core import Status, plain_value
from sev.exceptions import InputError, UnmappedReasonError
from sev.explanations import Explanation
from sev.reports import Codes, reasons
from sev.text import format_value

if TYPE_CHECKING:
    from sev.reports import Direction
    from sev.typing import Cell

_Outcome = Literal["free", "more", "impossible", "undecided"]
#: Outcomes of a lock for the page, which counts features; what they cost is beside it. All others need more features.
_OUTCOMES: dict[str, _Outcome] = {
    "free": "free",
    "costlier": "free",
    "impossible": "impossible",
    "not decided": "undecided",
}


def letter(served: ServedModel, request: ReasonsRequest, ticket: Ticket) -> ReasonsAnswer:
    """Answer ``POST /api/reasons``."""
    searched = search(served, request, ticket, 100)
    many, variant = searched.many, searched.variant
    one = many[searched.place]
    check_is_explained(one)
    lines = pd.DataFrame()
    cut: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    if one.sets:
        try:
            found = reasons(
                many,
                served.codes or _codes_of(served, one),
                max_reasons=request.max_reasons,
                explainer=variant.explainer,
            )
        except UnmappedReasonError as error:
            names = ", ".join(served.speaker.label(name)[:100] for name in error.features)
            message = f"There is no letter, because these reasons have no code: {names}. Add them to the file of codes."
            raise ServiceError("bad_input", message, "codes") from error
        lines, cut, hidden = found.table, found.cut[0], found.hidden[0]
    statement = one.statement()
    return ReasonsAnswer(
        sequence=request.sequence,
        decision=describe_other(served) if one.status is Status.NOT_TARGET else describe_decision(served, one.target),
        status=name_of(one.status),
        score=plain_value(one.score),
        threshold=one.threshold,
        reasons=[_describe_reason(served, line) for line in lines.to_dict("records")],
        cut=list(cut),
        hidden=list(hidden),
        language=served.letters.language,
        sentence=served.letters.sentence(statement),
        proof=served.letters.proof(statement, beside_sentence=True),
        has_codes=served.codes is not None,
    )


def _codes_of(served: ServedModel, one: Explanation) -> Codes:
    """Where the user has no codes: each feature's own name, and what the row says about it."""
    directions: tuple[Direction, ...] = ("above", "below", "other")
    entries = {
        (name, direction): (name, f"{served.speaker.label(name)}: {served.speaker.value(name, one.query)}")
        for name in served.features
        for direction in directions
    }
    return Codes(entries)


def _describe_reason(served: ServedModel, line: Mapping[str, Any]) -> ReasonOut:
    return ReasonOut(
        rank=int(line["rank"]),
        feature=line["feature"],
        label=line["label"],
        value=plain_value(line["value"]),
        value_text=_cell_text(served, line["feature"], line["value"]),
        reference_value=plain_value(line["reference_value"]),
        reference_text=_cell_text(served, line["feature"], line["reference_value"]),
        code=line["code"] if served.codes is not None else None,
        text=line["text"],
        in_every_set=bool(line["in_every_set"]),
        score_alone=plain_value(line["score_alone"]),
    )


def _cell_text(served: ServedModel, name: str, value: Cell) -> str:
    columns = served.features[name].columns
    return served.speaker.value(name, {columns[0]: value}) if len(columns) == 1 else format_value(value)


def price(served: ServedModel, request: PriceRequest, ticket: Ticket) -> PriceAnswer:
    """Answer ``POST /api/price``."""
    for name in request.locks:
        served.feature(name, "locks")
    row = served.row_of(request)
    variant = served.variant(request)
    scores, problems = served.explainer.tasks[0].score_safely(row)
    if problems:
        raise InputError(f"The model cannot score this row: {problems[0]}.")
    single = len(served.explainer.tasks) == 1
    if single and not served.explainer.tasks[0].scorer.is_positive(scores)[0]:
        return PriceAnswer(sequence=request.sequence, prices=[])
    locks = list(dict.fromkeys(request.locks))
    free = [name for name in locks if name not in variant.restricted and name not in variant.explainer.frozen]
    # locks that are not set share the answer without them; one that is set has an answer without it of its own
    groups = [free] if free else []
    groups += [[name] for name in locks if name not in free]
    found: dict[str, Price] = {}
    together = None
    for names in groups:
        ticket.check()
        table = _price_table(variant, row, names, request, ticket)
        found |= {name: _describe_price(name, table.loc[name]) for name in names}
        if names == locks and len(locks) > 1:
            together = _describe_price(locks[0], table.iloc[-1])
    if together is None and len(locks) > 1:
        ticket.check()
        together = _describe_price(locks[0], _price_table(variant, row, locks, request, ticket).iloc[-1])
    return PriceAnswer(sequence=request.sequence, prices=[found[name] for name in locks], together=together)


def _price_table(
    variant: Variant, row: pd.DataFrame, names: list[str], request: PriceRequest, ticket: Ticket
) -> pd.DataFrame:
    return variant.explainer.price(
        row,
        names,
        values=request.mode,
        order=request.order,
        min_credibility=request.min_credibility,
        restricted=variant.restricted,
        time_limit=max(0.05, ticket.seconds_left / 4),
    )


def _describe_price(name: str, line: pd.Series) -> Price:
    without, locked = plain_value(line["size_without"]), plain_value(line["size_with"])
    outcome = str(line["outcome"])
    kinds: dict[str, _Outcome] = {
        "free": "free",
        "costlier": "free",
        "impossible": "impossible",
        "not decided": "undecided",
    }
    kind = kinds.get(outcome, "more")
    return Price(
        feature=name,
        size_without=None if without is None else int(without),
        size_with=None if locked is None else int(locked),
        outcome=kind,
        more=int(locked - without) if kind == "more" else None,
        cost_without=plain_value(line["cost_without"]),
        cost_with=plain_value(line["cost_with"]),
        proven=bool(line["proven"]),
    )
