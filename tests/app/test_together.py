"""Requests that are answered together get the answers that they would get alone, with fewer calls of the model."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sev.app import Service, Settings, Table
from sev.app._errors import ServiceError, SupersededError
from sev.app._models import ExplainRequest
from sev.app._scheduler import Ticket


def plain(answer):
    return as_text(answer.model_dump(mode="json", exclude={"milliseconds", "sequence"}))


def as_text(answer):
    """JSON, in which 12 and 12.0 differ."""
    return json.dumps(rounded(answer), indent=1)


def rounded(value):
    """The same without the last digits: the product of a matrix has others for other numbers of rows."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return list(map(rounded, value)) if isinstance(value, (list, tuple)) else value


@pytest.fixture(autouse=True)
def _searches_are_quick(monkeypatch):
    """What is joined does not depend on how busy the machine is: a second counts as quick."""
    monkeypatch.setattr("sev.app._served_model._QUICK_SEARCH", 1.0)


def requests_of(rows, **options):
    return [ExplainRequest(row=row, **options) for row in rows]


@pytest.mark.parametrize("mode", ["reference", "typical", "any"])
def test_answers_are_those_of_requests_alone(service, refused, mode):
    rows = [*refused[:5], 0, 1, 2]
    requests = [
        *requests_of(rows, mode=mode),
        *requests_of(refused[5:8], mode=mode, language="de"),
        *requests_of(refused[:2], mode=mode, limits={"duration": {"direction": "down"}}),
        *requests_of(refused[:4], mode=mode, limits={"checking_status": {"frozen": True}}),
        *requests_of(refused[2:4], mode=mode, limits={"duration": {"frozen": True}}, max_sets=1),
        *requests_of(refused[:2], mode=mode, edits={"duration": 12.5}),
        *requests_of(refused[:2], mode=mode, order="closest"),
        *requests_of(refused[:2], mode=mode, reference={"key": "nearest"}),
    ]
    together = list(service.explain_together(requests, [Ticket(60) for _ in requests]))
    for request, found in zip(requests, together, strict=True):
        assert plain(found) == plain(service.explain(request, Ticket(60)))


def test_the_model_scores_rows_of_several_people_in_one_call(loans, refused, monkeypatch):
    explainer, applicants = loans
    service = Service([("loans", explainer)], Table.of_frame(applicants, "applicant"))
    sizes = []
    explain = type(explainer).explain

    def count(self, rows, **options):
        sizes.append(len(rows))
        return explain(self, rows, **options)

    monkeypatch.setattr(type(explainer), "explain", count)
    requests = [*requests_of(refused[:4]), *requests_of(refused[:3], mode="any")]
    list(service.explain_together(requests, [Ticket(60) for _ in requests]))
    assert sizes == [4, 3]


@pytest.mark.parametrize("mode", ["reference", "any"])
def test_what_a_lock_hides_is_searched_for_all_of_them_at_once(service, refused, monkeypatch, mode):
    from sev.explainers._source import ExplainerSource

    sizes = []
    answer = ExplainerSource.answer

    def count(self, queries):
        sizes.append(len(queries))
        return answer(self, queries)

    monkeypatch.setattr(ExplainerSource, "answer", count)
    requests = requests_of(refused[:4], mode=mode, limits={"duration": {"frozen": True}})
    together = list(service.explain_together(requests, [Ticket(60) for _ in requests]))
    assert sizes == [4]
    for request, found in zip(requests, together, strict=True):
        assert plain(found) == plain(service.explain(request, Ticket(60)))
    assert sizes == [4, 1, 1, 1, 1]


def test_what_is_wrong_with_one_request_is_told_to_nobody_else(service, refused):
    bad = [
        ExplainRequest(row=10**6),
        ExplainRequest(row=refused[0], edits={"nothing": 1}),
        ExplainRequest(row=refused[0], prefer="nothing"),
        ExplainRequest(row=refused[0], reference={"key": "own"}),
    ]
    good = requests_of(refused[:2])
    requests = [bad[0], good[0], *bad[1:], good[1]]
    found = list(service.explain_together(requests, [Ticket(60) for _ in requests]))
    assert [isinstance(one, ServiceError) for one in found] == [True, False, True, True, True, False]
    for request, one in zip(requests, found, strict=True):
        if isinstance(one, ServiceError):
            with pytest.raises(ServiceError) as alone:
                service.explain(request, Ticket(60))
            assert (one.code, str(one)) == (alone.value.code, str(alone.value))
        else:
            assert plain(one) == plain(service.explain(request, Ticket(60)))


def test_people_who_typed_on_are_not_worked_for(service, refused):
    requests, tickets = requests_of(refused[:3]), [Ticket(60) for _ in range(3)]
    tickets[1].dropped = True
    first, second, third = service.explain_together(requests, tickets)
    assert isinstance(second, SupersededError)
    assert plain(first) == plain(service.explain(requests[0], Ticket(60)))
    assert plain(third) == plain(service.explain(requests[2], Ticket(60)))


def test_rows_that_fail_together_are_explained_alone(service, loans, refused, monkeypatch):
    explain = type(loans[0]).explain

    def fail(self, rows, **options):
        if len(rows) > 1:
            raise RuntimeError("only one row at a time")
        return explain(self, rows, **options)

    monkeypatch.setattr(type(loans[0]), "explain", fail)
    requests = requests_of(refused[:3])
    for request, found in zip(
        requests, service.explain_together(requests, [Ticket(60) for _ in requests]), strict=True
    ):
        assert plain(found) == plain(service.explain(request, Ticket(60)))


def test_long_searches_are_not_joined(loans, refused):
    explainer, applicants = loans
    service = Service([("loans", explainer)], Table.of_frame(applicants, "applicant"))
    request = ExplainRequest(row=refused[0])
    assert not service.can_join(request)  # nothing is known yet
    service.explain(request, Ticket(60))
    served = service.served_models[0]
    served.note_search("any", 0.001)
    served.note_search("typical", 0.001)
    assert service.can_join(ExplainRequest(row=refused[0], mode="any"))
    served.note_search("any", 3.0)
    assert not service.can_join(ExplainRequest(row=refused[0], mode="any"))
    assert service.can_join(ExplainRequest(row=refused[0], mode="typical"))
    readonly = Service([("loans", explainer)], settings=Settings(readonly=True))
    with pytest.raises(ServiceError, match="read only"):
        readonly.can_join(ExplainRequest(values={"duration": 1}))


def test_many_people_at_once_are_answered_through_the_interface(client, service, refused):
    rows = np.resize(refused, 40).tolist()
    client.post("/api/explain", json={"row": rows[0]})
    start, joined = threading.Barrier(20), []
    together = service.explain_together

    def count(requests, tickets):
        joined.append(len(requests))
        return together(requests, tickets)

    service.explain_together = count

    def ask(number):
        if number < 20:
            start.wait(30)
        answer = client.post("/api/explain", json={"row": rows[number], "client": f"p{number}", "sequence": 1})
        return answer.status_code, answer.json()

    try:
        with ThreadPoolExecutor(20) as threads:
            answers = list(threads.map(ask, range(40)))
    finally:
        del service.explain_together
    assert max(joined) > 1
    for row, (status, answer) in zip(rows, answers, strict=True):
        assert status == 200
        del answer["milliseconds"], answer["sequence"]
        assert as_text(answer) == plain(service.explain(ExplainRequest(row=row), Ticket(60)))


def test_edits_are_answered_one_by_one_and_hold_up_nothing_else(loans, refused, connect, monkeypatch):
    explainer, applicants = loans
    service = Service([("loans", explainer)], Table.of_frame(applicants, "applicant"), settings=Settings(seconds=60))
    monkeypatch.setattr("sev.app._scheduler._PATIENCE", 60.0)
    client = connect(service)
    assert client.post("/api/explain", json={"row": refused[0]}).status_code == 200  # searches are known to be quick
    explain, entered, go_on, groups = service.explain, threading.Event(), threading.Event(), []

    def held(request, ticket):
        entered.set()
        assert go_on.wait(60)
        return explain(request, ticket)

    def note(requests, tickets):
        groups.append(len(requests))
        return Service.explain_together(service, requests, tickets)

    monkeypatch.setattr(service, "explain", held)
    monkeypatch.setattr(service, "explain_together", note)
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(client.post, "/api/explain", json={"row": refused[0]})
        assert entered.wait(60)
        others = [threads.submit(client.post, "/api/explain", json={"row": row}) for row in refused[1:6]]
        letter = client.post("/api/reasons", json={"row": refused[0]})  # on a thread of its own
        end = time.monotonic() + 60
        while "sev_requests_waiting 5" not in client.get("/metrics").text:
            assert time.monotonic() < end
        go_on.set()
        codes = [one.result().status_code for one in (first, *others)]
    assert (letter.status_code, codes, groups) == (200, [200] * 6, [5])


def test_requests_for_which_something_is_made_first_are_not_joined(loans, refused):
    explainer, applicants = loans
    service = Service([("loans", explainer)], Table.of_frame(applicants, "applicant"), settings=Settings(seconds=60))
    wishes = [
        {},
        {"reference": {"key": "cluster"}},
        {"limits": {"duration": {"direction": "down"}}},
        {"limits": {"duration": {"frozen": True}, "purpose": {"frozen": True}}},
    ]
    requests = [ExplainRequest(row=refused[0], **wish) for wish in wishes]
    for request in requests:
        service.served_model(0).note_search(request.mode, 0.01)
        assert not service.can_join(request)
        service.explain(request, Ticket(60))
        assert service.can_join(request)
        assert service.can_join(request.model_copy(update={"row": refused[1], "sequence": 5}))
