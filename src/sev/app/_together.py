"""Requests of several people answered together: a model scores a few rows about as quickly as one."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence

import pandas as pd

from sev.app._explain import Found, answer_found, check_preference, explain, options_of, search_rows
from sev.app._models import ExplainAnswer, ExplainRequest
from sev.app._scheduler import Ticket
from sev.app._served_model import ServedModel, Variant


def explain_together(
    served_models: Sequence[ServedModel], requests: Sequence[ExplainRequest], tickets: Sequence[Ticket]
) -> Iterator[ExplainAnswer | Exception]:
    """Answer requests about one model, each as if it were alone; in order, and each as soon as it is there.

    Parameters
    ----------
    served_models : sequence of ServedModel
        The model as each request wants to hear of it; they differ in language only.
    requests : sequence of ExplainRequest
        What is asked.
    tickets : sequence of Ticket
        Whether somebody still waits for each of them.

    Yields
    ------
    ExplainAnswer or Exception
        Of each request.
    """
    start = time.perf_counter()
    found = _search_together(served_models, requests, tickets)
    for place, (served, request, ticket) in enumerate(zip(served_models, requests, tickets, strict=True)):
        try:
            ticket.check()
            known = found.get(place)
            yield (
                explain(served, request, ticket)
                if known is None
                else answer_found(served, request, known, ticket, start)
            )
        except Exception as error:
            yield error


def _search_together(
    served_models: Sequence[ServedModel], requests: Sequence[ExplainRequest], tickets: Sequence[Ticket]
) -> dict[int, Found]:
    """What was found for those requests that want the same of the search; the others are left out."""
    groups: dict[Hashable, list[tuple[int, pd.DataFrame, Variant]]] = {}
    for place, (served, request, ticket) in enumerate(zip(served_models, requests, tickets, strict=True)):
        try:
            ticket.check()
            check_preference(served, request)
            row, variant = served.row_of(request), served.variant(request)
        except Exception:  # it is raised again where the request is answered alone
            continue
        groups.setdefault(_list_wishes(request, row, variant), []).append((place, row, variant))
    found: dict[int, Found] = {}
    for group in groups.values():
        if len(group) > 1:
            places, rows, variants = zip(*group, strict=True)
            found.update(
                zip(places, _search_group(served_models, requests, tickets, places, rows, variants[0]), strict=False)
            )
    return found


def _search_group(
    served_models: Sequence[ServedModel],
    requests: Sequence[ExplainRequest],
    tickets: Sequence[Ticket],
    places: Sequence[int],
    rows: Sequence[pd.DataFrame],
    variant: Variant,
) -> list[Found]:
    """What was found for rows of people with the same wishes; nothing where the rows fail together."""
    first = places[0]
    seconds = min(tickets[place].seconds_left for place in places)
    try:
        together = pd.concat(rows, ignore_index=True)
        return search_rows(served_models[first], together, variant, requests[first], seconds, requests[first].max_sets)
    except Exception:  # whose row it was turns out where each is explained alone
        return []


def _list_wishes(request: ExplainRequest, row: pd.DataFrame, variant: Variant) -> Hashable:
    """What must be equal so that rows can be searched in one call, without a change of their cells."""
    return (
        id(variant.explainer), variant.restricted, request.max_sets, tuple(options_of(request).items()),
        tuple(map(str, row.dtypes)), tuple(row.columns),
    )  # fmt: skip
