"""The curve of one feature: scores are the model's own, and what is written of a range holds at both of its ends."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.app import Service, Table


def post(client, path, **body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_curve_turns_where_the_decision_does(client, loans, refused):
    explainer, applicants = loans
    rows = applicants[list(explainer.feature_names)]
    found = 0
    for row in refused[:15]:
        answer = post(client, "curve", row=row, feature="credit_amount", points=31)
        frame = rows.iloc[[row] * len(answer["points"])].assign(
            credit_amount=[one["value"] for one in answer["points"]]
        )
        scores = explainer.model.predict_proba(frame)[:, 1]
        assert [one["score"] for one in answer["points"]] == pytest.approx(scores.tolist())
        for turn in answer["turns"]:
            found += 1
            at, before = explainer.model.predict_proba(rows.iloc[[row] * 2].assign(credit_amount=[turn, turn - 1]))[
                :, 1
            ]
            assert (at >= explainer.threshold) != (before >= explainer.threshold)
            assert turn == int(turn)
        ends = [one["low"] for one in answer["ranges"]] + [answer["ranges"][-1]["high"]]
        assert ends == sorted(ends)
        assert len(answer["ranges"]) == len(answer["turns"]) + 1
    assert found


def test_both_ends_of_a_range_of_the_curve_have_its_decision(client, loans, refused):
    explainer, applicants = loans
    rows = applicants[list(explainer.feature_names)]
    turned = 0
    for row, name in product(refused[:15], ["duration", "credit_amount"]):
        answer = post(client, "curve", row=row, feature=name, points=7)
        for one in answer["ranges"]:
            ends = rows.iloc[[row] * 2].assign(**{name: [one["low"], one["high"]]})
            assert (explainer.model.predict_proba(ends)[:, 1] >= explainer.threshold).tolist() == [one["positive"]] * 2
            assert f"{one['low']:.0f}" in one["text"].replace(",", "")
            assert f"{one['high']:.0f}" in one["text"].replace(",", "")
        turned += len(answer["turns"])
        points = {point["value"]: point["positive"] for point in answer["points"]}
        assert all(points[end] == one["positive"] for one in answer["ranges"] for end in (one["low"], one["high"]))
    assert turned


def test_ends_of_ranges_are_rounded_into_them(connect):
    rows = pd.DataFrame({"rate": np.linspace(0.0, 10.0, 201), "other": np.tile([0.0, 1.0, 2.0], 67)})
    model = LogisticRegression(C=1e6, max_iter=1000).fit(rows, (rows["rate"] > 3.4567).astype(int))
    explainer = sev.Explainer(model, rows)
    client = connect(Service([("rates", explainer)], Table.of_frame(rows)))
    answer = post(client, "curve", row=150, feature="rate")
    below, above = answer["ranges"]
    ends = [float(re.findall(r"[0-9.]+", below["text"])[1]), float(re.findall(r"[0-9.]+", above["text"])[0])]
    scores = model.predict_proba(rows.iloc[[150] * 2].assign(rate=ends))[:, 1]
    assert [below["positive"], above["positive"]] == [False, True] == (scores >= explainer.threshold).tolist()
    assert ends[1] - ends[0] < 0.0101


def test_the_curve_of_a_choice_scores_every_value(client, loans, refused):
    explainer, applicants = loans
    answer = post(client, "curve", row=refused[0], feature="purpose")
    rows = applicants[list(explainer.feature_names)]
    for one in answer["points"]:
        score = explainer.model.predict_proba(rows.iloc[[refused[0]]].assign(purpose=one["value"]))[0, 1]
        assert one["score"] == pytest.approx(float(score))
    assert answer["now"] == rows["purpose"].iloc[refused[0]]
    assert sum(answer["counts"]) == len(applicants)


def test_the_curve_of_a_yes_or_no_has_each_value_once(connect):
    rows = pd.DataFrame({"member": np.tile([True, False], 50), "income": np.linspace(0.0, 10.0, 100)})
    model = LogisticRegression().fit(rows, rows["income"] + 2 * rows["member"] > 6)
    client = connect(Service([("members", sev.Explainer(model, rows))], Table.of_frame(rows)))
    answer = post(client, "curve", row=98, feature="member")
    assert sorted(one["value"] for one in answer["points"]) == [False, True]
    assert answer["now"] is True
    assert answer["counts"] == [50, 50]
