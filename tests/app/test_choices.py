"""What counts as the best answer: the order of the sets, the least credibility, and what is minimised."""

import numpy as np
import pytest

import sev
from sev.app import Service, Table


def post(client, path, **body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def rows(loans):
    explainer, applicants = loans
    return applicants[list(explainer.feature_names)]


@pytest.fixture(scope="module")
def several(loans, rows):
    """Refused rows that have several smallest sets."""
    explainer, _ = loans
    return [row for row, one in enumerate(explainer.explain(rows)) if len(one.sets) > 2][:12]


@pytest.mark.parametrize("order", ["closest", "credible"])
def test_the_sets_come_in_the_order_that_was_asked_for(client, loans, rows, several, order):
    explainer, _ = loans
    found, margins = [], []
    for row in several:
        answer = post(client, "explain", row=row, order=order)
        one = explainer.explain_one(rows.iloc[[row]], order=order)
        assert [tuple(some["features"]) for some in answer["sets"]] == list(one.sets)
        found.append([some["features"] for some in answer["sets"]])
        margins.append([some["features"] for some in post(client, "explain", row=row)["sets"]])
        far = [
            -some["credibility"] if order == "credible" else some["distance"]["largest"] or 0.0
            for some in answer["sets"]
        ]
        assert far == sorted(far)
    assert found != margins  # on these rows the order makes a difference


def test_every_set_has_its_own_credibility(client, loans, rows, several):
    explainer, _ = loans
    shares = set()
    for row in several[:4]:
        for some in post(client, "explain", row=row)["sets"]:
            result = explainer.form.one_row(some["result"])
            [share] = explainer.source.credibilities(result, explainer.target)
            assert some["credibility"] == pytest.approx(share)
            shares.add(round(some["credibility"], 6))
    assert len(shares) > 2


def test_a_least_credibility_may_need_more_features_and_the_answer_says_how_many_it_took_without(client, loans, rows):
    explainer, _ = loans
    least = 0.3
    many = explainer.explain(rows, min_credibility=least)
    larger = np.flatnonzero(np.nan_to_num(many.sizes) > np.nan_to_num(many.sizes_without_limit))
    assert larger.size
    for row in larger[:3].tolist():
        answer = post(client, "explain", row=row, min_credibility=least)
        assert answer["size"] == many.sizes[row] > answer["size_without_limit"] == many.sizes_without_limit[row]
        assert all(some["credibility"] >= least for some in answer["sets"])
        assert "30 %" in answer["proof"] or "30%" in answer["proof"]


def test_the_least_cost_is_minimised(client, loans, rows, refused):
    explainer, _ = loans
    cheaper = 0
    for row in refused[:6]:
        fewest = post(client, "explain", row=row, mode="any")
        cheapest = post(client, "explain", row=row, mode="any", minimise="cost")
        one = explainer.explain_one(rows.iloc[[row]], values="any", minimise="cost")
        assert cheapest["sets"][0]["features"] == list(one.features)
        assert cheapest["sets"][0]["cost"] == pytest.approx(one.cost)
        assert cheapest["sets"][0]["cost"] <= fewest["sets"][0]["cost"] + 1e-9
        cheaper += cheapest["sets"][0]["cost"] < fewest["sets"][0]["cost"] - 1e-9
    assert cheaper


def test_prices_and_letters_are_those_of_the_same_answer(client, loans, rows):
    explainer, _ = loans
    least = 0.3
    many = explainer.explain(rows, min_credibility=least)
    sizes = np.nan_to_num(many.sizes)
    row = int(np.flatnonzero(sizes > np.nan_to_num(many.sizes_without_limit))[0])
    lock = many[row].features[0]
    [price] = post(client, "price", row=row, min_credibility=least, locks=[lock])["prices"]
    assert price["size_without"] == sizes[row]
    letter = post(client, "reasons", row=row, min_credibility=least)
    assert {one["feature"] for one in letter["reasons"]} >= set(many[row].features) - set(letter["cut"])


def test_an_explainer_without_credibility_says_so_and_refuses_to_order_by_it(loans, connect, rows, refused):
    explainer, _ = loans
    plain = sev.Explainer.from_bytes(explainer.to_bytes(credibility=False))
    client = connect(Service([("with", explainer), ("without", plain)], Table.of_frame(rows)))
    has = [model["has_credibility"] for model in client.get("/api/about").json()["models"]]
    assert has == [True, False]
    answer = post(client, "explain", model=1, row=refused[0])
    assert all(some["credibility"] is None for some in answer["sets"])
    for asked in ({"order": "credible"}, {"min_credibility": 0.5}):
        wrong = client.post("/api/explain", json={"model": 1, "row": refused[0], **asked})
        assert wrong.status_code == 400
        assert wrong.json()["error"]["code"] == "bad_input"
        assert "credibility=False" in wrong.json()["error"]["message"]


@pytest.mark.parametrize(
    "asked", [{"order": "nearest"}, {"min_credibility": 1.5}, {"min_credibility": -0.1}, {"minimise": "regret"}]
)
def test_choices_that_there_are_not_are_refused(client, refused, asked):
    answer = client.post("/api/explain", json={"row": refused[0], **asked})
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == next(iter(asked))
