"""Every request of the JSON interface, compared with what the package itself answers."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sev
from sev.app import Service, Settings, Table
from sev.app._about import describe_model


def post(client, path, **body):
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def error_of(answer):
    assert set(answer.json()) == {"error"}
    return answer.json()["error"]


# -- about -------------------------------------------------------------------------------------------------------------


def test_about_describes_the_model_and_its_features(client, loans):
    explainer, applicants = loans
    about = client.get("/api/about").json()
    [model] = about["models"]
    assert about["title"] == "Loans"
    assert about["contract"] == 1
    assert model["threshold"] == explainer.threshold
    assert model["target"] == {"value": 1, "label": "refused"}
    assert model["other"] == {"value": 0, "label": "approved"}
    features = {one["name"]: one for one in model["features"]}
    assert list(features) == list(explainer.feature_names)
    assert {name for name, one in features.items() if one["restricted"]} == set(explainer.restricted)
    duration = features["duration"]
    assert (duration["kind"], duration["integer"], duration["step"]) == ("number", True, 1.0)
    assert sum(duration["histogram"]["counts"]) == duration["histogram"]["rows"] == len(applicants)
    purpose = features["purpose"]
    assert purpose["kind"] == "choice"
    counts = applicants["purpose"].value_counts()
    assert {one["value"]: one["count"] for one in purpose["choices"]} == {
        one["value"]: counts.get(one["value"], 0) for one in purpose["choices"]
    }
    assert about["table"]["rows"] == len(applicants)
    assert [one["name"] for one in about["table"]["columns"] if not one["is_feature"]] == ["applicant"]


def test_about_is_made_once_however_many_ask_at_the_same_time(loans, monkeypatch):
    explainer, applicants = loans
    service = Service([("loans", explainer)], Table.of_frame(applicants))
    made, others = [], threading.Barrier(3)

    def describe(served):
        made.append(served)
        time.sleep(0.2)  # long enough for the others to come in as well, where nothing holds them
        return describe_model(served)

    monkeypatch.setattr("sev.app._service.describe_model", describe)

    def ask(_):
        others.wait(60)
        return service.about()

    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(ask, range(3)))
    assert len(made) == 1
    assert all(one is answers[0] for one in answers)


def test_about_tells_the_actions_of_each_feature(loans, connect):
    explainer, _ = loans
    actions = sev.Actions(
        frozen=["age"],
        increase=["residence_since"],
        within={"credit_amount": ("-20%", "+0%"), "duration": sev.between(6, 48)},
        allowed={"purpose": ["education"], "housing": {"rent": ["own"]}},
    )
    client = connect(Service([("loans", explainer.with_actions(actions))]))
    limits = {one["name"]: one["limits"] for one in client.get("/api/about").json()["models"][0]["features"]}
    assert limits["age"]["frozen"]
    assert limits["residence_since"]["direction"] == "up"
    assert limits["credit_amount"]["relative"] == ["-20%", "+0%"]
    assert (limits["duration"]["low"], limits["duration"]["high"]) == (6, 48)
    assert limits["purpose"]["allowed"] == ["education"]
    assert limits["housing"]["moves"] == [["rent", ["own"]]]


# -- rows --------------------------------------------------------------------------------------------------------------


def test_a_page_of_rows_has_cells_and_statuses(client, loans):
    explainer, applicants = loans
    many = explainer.explain(applicants[list(explainer.feature_names)])
    answer = client.get("/api/rows", params={"offset": 20, "limit": 30}).json()
    assert answer["total"] == len(applicants)
    assert [one["row"] for one in answer["rows"]] == list(range(20, 50))
    for one in answer["rows"]:
        row = one["row"]
        assert one["id"] == applicants["applicant"].iloc[row]
        assert one["cells"]["purpose"] == applicants["purpose"].iloc[row]
        assert one["status"] == many.statuses[row]
        assert one["score"] == pytest.approx(many.scores[row])
        assert one["size"] == (None if np.isnan(many.sizes[row]) else many.sizes[row])
        assert tuple(one["features"]) == many.first_sets()[row]


@pytest.mark.parametrize("descending", [False, True])
def test_rows_are_sorted_by_columns_and_by_results(client, loans, descending):
    _, applicants = loans
    wanted = {"sort": "credit_amount", "descending": descending, "limit": 200}
    amounts = [one["cells"]["credit_amount"] for one in client.get("/api/rows", params=wanted).json()["rows"]]
    assert amounts == sorted(applicants["credit_amount"].tolist(), reverse=descending)
    wanted["sort"] = "@score"
    scores = [one["score"] for one in client.get("/api/rows", params=wanted).json()["rows"]]
    assert scores == sorted(scores, reverse=descending)
    assert len(scores) == len(applicants)


def test_rows_are_filtered_by_columns_results_and_text(client, loans):
    explainer, applicants = loans
    many = explainer.explain(applicants[list(explainer.feature_names)])

    def numbers(**wanted):
        return [one["row"] for one in client.get("/api/rows", params={"limit": 200, **wanted}).json()["rows"]]

    assert numbers(status=["not_target"]) == np.flatnonzero(many.statuses == "not_target").tolist()
    assert numbers(size=[2, 3]) == np.flatnonzero(np.isin(many.sizes, [2, 3])).tolist()
    used = [row for row in range(len(many)) if any("duration" in names for names in many.sets_of(row))]
    assert used
    assert numbers(uses="duration") == used
    long = np.flatnonzero((applicants["duration"] >= 24) & (applicants["purpose"] != "education")).tolist()
    where = [json.dumps(["duration", ">=", 24]), json.dumps(["purpose", "!=", "education"])]
    assert numbers(where=where) == long
    text = np.flatnonzero(
        applicants.select_dtypes(exclude="number").apply(lambda cells: cells.str.contains("education")).any(axis=1)
    )
    assert numbers(search="EDUCATION") == text.tolist()
    first = int(applicants["applicant"].iloc[7])
    assert 7 in numbers(search=str(first))


def test_rows_can_be_sent_with_some_columns_only(client):
    answer = client.get("/api/rows", params={"columns": ["duration"], "limit": 1}).json()
    assert set(answer["rows"][0]["cells"]) == {"applicant", "duration"}


def test_rows_refuse_columns_and_conditions_that_there_are_not(client):
    for wanted in ({"sort": "income"}, {"columns": ["income"]}, {"uses": "income"}):
        answer = client.get("/api/rows", params=wanted)
        assert answer.status_code == 404
        assert "income" in error_of(answer)["message"]
    for condition in ("duration >= 3", '["duration"]', '["duration","~",3]', '["duration",">","long"]'):
        answer = client.get("/api/rows", params={"where": condition})
        assert answer.status_code == 400, condition
        assert error_of(answer)["field"] == "where"


# -- one decision ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["reference", "any"])
def test_explain_answers_as_the_explainer_does(client, loans, refused, mode):
    explainer, applicants = loans
    for row in refused[:6]:
        answer = post(client, "explain", row=row, mode=mode)
        one = explainer.explain_one(applicants[list(explainer.feature_names)].iloc[row], values=mode)
        assert (answer["status"], answer["size"], answer["lower_bound"]) == (one.status, one.size, one.lower_bound)
        assert answer["score"] == pytest.approx(one.score)
        assert [tuple(some["features"]) for some in answer["sets"]] == list(one.sets)[:50]
        assert answer["sentence"] == one.to_text()
        assert answer["certainty"] == "proven"
        assert answer["decision"] == {"value": 1, "label": "refused"}
        for number, some in enumerate(answer["sets"]):
            assert {one["feature"]: one["new"] for one in some["changes"]} == {
                name: change.to_dict()["new"] for name, change in one.changes_of(number).items()
            }


@pytest.mark.parametrize("mode", ["reference", "any"])
def test_every_set_is_scored_by_the_model(client, loans, refused, mode):
    explainer, _ = loans
    for row in refused[:5]:
        answer = post(client, "explain", row=row, mode=mode)
        for some in answer["sets"]:
            table = explainer.form.one_row(some["result"])
            score = float(explainer.model.predict_proba(table)[0, 1])
            assert some["result_score"] == pytest.approx(score)
            assert score < explainer.threshold
            assert some["path"][0]["score"] == pytest.approx(answer["score"])
            assert some["path"][-1]["score"] == pytest.approx(score)
            assert {step["feature"] for step in some["path"][1:]} == set(some["features"])
            assert some["becomes"]["label"] == "approved"


def test_edits_change_the_row_that_is_explained(client, loans, refused):
    explainer, applicants = loans
    row = applicants[list(explainer.feature_names)].iloc[refused[0]].to_dict()
    edits = {"duration": 6, "credit_amount": 500, "checking_status": "no checking account"}
    edited = post(client, "explain", row=refused[0], edits=edits)
    sent = post(client, "explain", values={**row, **edits})
    assert edited["row"] == sent["row"]
    assert edited["row"]["duration"] == 6
    assert edited["status"] == "not_target"
    assert edited["certainty"] == "nothing_to_undo"
    assert edited["decision"]["label"] == "approved"
    assert edited["score"] == sent["score"] == pytest.approx(explainer.explain_one({**row, **edits}).score)


def test_limits_lock_and_release_features(client, loans, refused):
    explainer, applicants = loans
    rows = applicants[list(explainer.feature_names)]
    for row in refused[:8]:
        free = post(client, "explain", row=row)
        locked = free["sets"][0]["features"]
        answer = post(client, "explain", row=row, limits={name: {"frozen": True} for name in locked})
        one = explainer.explain_one(rows.iloc[row], restricted=[*explainer.restricted, *locked])
        assert (answer["status"], answer["size"]) == (one.status, one.size)
        assert all(not set(locked) & set(some["features"]) for some in answer["sets"])
        released = post(client, "explain", row=row, limits={name: {} for name in explainer.restricted})
        whole = explainer.explain_one(rows.iloc[row], restricted=[])
        assert (released["status"], released["size"]) == (whole.status, whole.size)
        assert released["scope"] == "all"


def test_directions_and_ranges_are_those_of_actions(client, loans, refused):
    explainer, applicants = loans
    limits = {"duration": {"direction": "down", "low": 12}, "credit_amount": {"relative": ["-20%", "+0%"]}}
    actions = sev.Actions(
        decrease=["duration"], within={"duration": sev.between(12, None), "credit_amount": ("-20%", "+0%")}
    )
    limited = explainer.with_actions(actions)
    for row in refused[:8]:
        answer = post(client, "explain", row=row, limits=limits, mode="any")
        one = limited.explain_one(applicants[list(explainer.feature_names)].iloc[row], values="any")
        assert (answer["status"], answer["size"]) == (one.status, one.size)
        assert [tuple(some["features"]) for some in answer["sets"]] == list(one.sets)[:50]
        assert answer["scope"] == one.proof_scope


def test_an_end_that_is_only_permitted_is_told_apart_from_what_is_enough(client, refused):
    found = []
    for row in refused[:20]:
        answer = post(client, "explain", row=row, limits={"duration": {"low": 5}}, mode="any")
        found += [one for some in answer["sets"] for one in some["changes"] if one["feature"] == "duration"]
    told = [one["enough_text"] for one in found if one["enough"] and one["enough"][0] < one["enough"][1]]
    assert told
    for text, (low, high) in zip(told, (one["enough"] for one in found if one["enough_text"]), strict=True):
        assert text == f"at most {high:g} months (permitted from {low:g} months)"


def test_limits_take_the_place_of_the_explainers_own(loans, connect, refused):
    explainer, applicants = loans
    client = connect(
        Service(
            [("loans", explainer.with_actions({"frozen": ["checking_status"], "increase": ["credit_amount"]}))],
            Table.of_frame(applicants),
        )
    )

    def first_set(row):
        return post(client, "explain", row=row, limits={"checking_status": {}})["sets"][0]["features"]

    row = next(row for row in refused if "checking_status" in first_set(row))
    own = post(client, "explain", row=row)
    assert all("checking_status" not in some["features"] for some in own["sets"])
    assert own["not_permitted"] in ("smaller", "equal", "only")
    amount = post(client, "explain", row=row, limits={"credit_amount": {"direction": "up"}})
    assert amount["sets"] == own["sets"]


def test_sets_with_a_preferred_feature_come_first(client, refused):
    for row in refused:
        answer = post(client, "explain", row=row, mode="any")
        names = [some["features"] for some in answer["sets"]]
        other = next((one for some in names[1:] for one in some if one not in names[0]), None)
        if other is not None:
            break
    preferred = post(client, "explain", row=row, mode="any", prefer=other)
    features = [some["features"] for some in preferred["sets"]]
    assert other in features[0]
    assert sorted(features) == sorted(names)
    has = [other in some for some in features]
    assert has == sorted(has, reverse=True)


@pytest.mark.parametrize("key", ["default", "mean", "median", "cluster", "nearest"])
def test_the_reference_is_another_person_who_gets_the_other_decision(client, loans, refused, key):
    explainer, _ = loans
    answer = post(client, "explain", row=refused[0], reference={"key": key})
    row = explainer.form.one_row(answer["reference"]["row"])
    assert explainer.model.predict_proba(row)[0, 1] < explainer.threshold
    for change in answer["sets"][0]["changes"]:
        assert change["new"] == answer["reference"]["row"][change["feature"]]


def test_the_reference_is_a_row_of_the_table_or_own_values(client, loans, refused):
    _, applicants = loans
    other = next(row for row in range(len(applicants)) if post(client, "explain", row=row)["status"] == "not_target")
    answer = post(client, "explain", row=refused[0], reference={"key": "row", "row": other})
    assert answer["reference"]["table_row"] == other
    assert answer["reference"]["row"]["duration"] == applicants["duration"].iloc[other]
    own = post(client, "explain", row=refused[0], reference={"key": "own", "values": {"duration": 11}})
    assert own["reference"]["row"]["duration"] == 11
    same = client.post("/api/explain", json={"row": refused[0], "reference": {"key": "row", "row": refused[1]}})
    assert same.status_code == 400
    assert "itself predicted" in error_of(same)["message"]
    group = post(client, "explain", row=refused[0], reference={"key": "cluster", "cluster": 1})
    assert group["reference"]["key"] == "cluster"
    none = client.post("/api/explain", json={"row": refused[0], "reference": {"key": "cluster", "cluster": 99}})
    assert none.status_code == 404


@pytest.mark.parametrize("mode", ["reference", "any"])
@pytest.mark.parametrize(
    "reference", [{}, {"key": "median"}, {"key": "own", "values": {"duration": 6, "savings": "unknown or none"}}]
)
def test_the_score_of_the_reference_is_the_models(client, loans, refused, reference, mode):
    explainer, _ = loans
    compared = post(client, "explain", row=refused[0], reference=reference, mode=mode)["reference"]
    row = explainer.form.one_row(compared["row"])
    assert compared["score"] == pytest.approx(explainer.model.predict_proba(row)[0, 1])


def test_price_tells_what_each_lock_costs(client, loans, refused):
    explainer, applicants = loans
    rows = applicants[list(explainer.feature_names)]
    locks = ["checking_status", "duration", "age"]
    for row in refused[:4]:
        answer = post(client, "price", row=row, locks=locks)
        assert [one["feature"] for one in answer["prices"]] == locks
        for one in answer["prices"]:
            [line] = explainer.price(rows.iloc[row], [one["feature"]], values="reference").itertuples()
            outcome = {"not decided": "undecided", "costlier": "free"}.get(line.outcome, line.outcome)
            assert one["outcome"] == (outcome if outcome in ("free", "impossible", "undecided") else "more")
            assert one["size_without"] == line.size_without
            assert one["more"] == (line.size_with - line.size_without if one["outcome"] == "more" else None)
        [*_, together] = explainer.price(rows.iloc[row], locks, values="reference").itertuples()
        assert answer["together"]["size_with"] == (None if together.outcome == "impossible" else together.size_with)
    edits = {"duration": 6, "checking_status": "no checking account"}
    accepted = post(client, "price", row=refused[0], edits=edits, locks=locks)
    assert accepted["prices"] == []


def test_locks_that_are_not_set_are_priced_in_one_call(client, loans, refused, monkeypatch):
    explainer, applicants = loans
    row = applicants[list(explainer.feature_names)].iloc[refused[0]]
    table = explainer.price(row, ["checking_status", "duration"], values="reference")
    calls = []
    price = type(explainer).price

    def count(self, row, names, **options):
        calls.append(list(names))
        return price(self, row, names, **options)

    monkeypatch.setattr(type(explainer), "price", count)
    answer = post(client, "price", row=refused[0], locks=["checking_status", "duration"])
    assert calls == [["checking_status", "duration"]]
    sizes = [None if np.isnan(size) else size for size in table["size_with"].astype(float)]
    assert [one["size_with"] for one in (*answer["prices"], answer["together"])] == sizes


def test_the_letter_has_the_codes_that_were_given(loans, connect, refused):
    explainer, applicants = loans
    codes = {
        name: {"code": f"R{number}", "text": f"text {number}"} for number, name in enumerate(explainer.feature_names)
    }
    client = connect(Service([("loans", explainer)], Table.of_frame(applicants), codes=codes))
    assert client.get("/api/about").json()["models"][0]["has_codes"]
    answer = post(client, "reasons", row=refused[0], max_reasons=2)
    many = explainer.explain(applicants[list(explainer.feature_names)].iloc[[refused[0]]])
    table = sev.reasons(many, codes, max_reasons=2).table
    assert [(one["code"], one["text"], one["feature"]) for one in answer["reasons"]] == list(
        table[["code", "text", "feature"]].itertuples(index=False, name=None)
    )
    assert answer["has_codes"]


def test_a_letter_without_codes_names_the_features(client, refused):
    answer = post(client, "reasons", row=refused[0])
    assert not answer["has_codes"]
    assert answer["reasons"]
    assert all(one["code"] is None and one["label"] in one["text"] for one in answer["reasons"])
    assert "score" not in answer["sentence"]  # the letter speaks to the applicant


def test_a_letter_states_a_proof_where_fewer_changes_are_possible(client, loans, refused):
    explainer, applicants = loans
    sizes = explainer.explain(applicants[list(explainer.feature_names)]).sizes
    one, several = (next(row for row in refused if (sizes[row] == 1) == is_one) for is_one in (True, False))
    assert post(client, "reasons", row=one)["proof"] == ""
    answer = post(client, "reasons", row=several)
    assert answer["proof"] == "Fewer permitted changes would not have been enough: proven."
    assert "enough" not in answer["sentence"]


# -- the whole table ---------------------------------------------------------------------------------------------------


def test_another_threshold_turns_as_many_decisions_as_there_are_scores_between(client, loans):
    explainer, applicants = loans
    scores = explainer.explain(applicants[list(explainer.feature_names)]).scores
    answer = client.get("/api/threshold", params={"value": 0.3}).json()
    assert answer["become_positive"] == int(((scores >= 0.3) & (scores < 0.5)).sum()) > 0
    assert answer["become_negative"] == 0
    assert answer["positive_then"] - answer["positive_now"] == answer["become_positive"]
    assert sum(answer["histogram"]["counts"]) == len(applicants)
    assert answer["complete"]


def test_groups_count_what_the_rows_are(client, loans):
    explainer, applicants = loans
    many = explainer.explain(applicants[list(explainer.feature_names)])
    positive = many.statuses != "not_target"
    answer = client.get("/api/groups", params={"by": "housing"}).json()
    assert {one["value"] for one in answer["groups"]} == set(applicants["housing"])
    for one in answer["groups"]:
        mine = (applicants["housing"] == one["value"]).to_numpy()
        assert one["rows"] == mine.sum()
        assert one["positive"] == (mine & positive).sum()
        sizes = many.sizes[mine]
        assert one["mean_size"] == pytest.approx(np.nanmean(sizes))
        assert sum(one["sizes"].values()) == np.isfinite(sizes).sum()
    ages = client.get("/api/groups", params={"by": "age"}).json()["groups"]
    assert sum(one["rows"] for one in ages) == len(applicants)
    for one in ages:
        inside = (applicants["age"] >= one["low"]) & (applicants["age"] < one["high"] + (one is ages[-1]))
        assert one["rows"] == inside.sum()
    assert client.get("/api/groups", params={"by": "income"}).status_code == 404


# -- files -------------------------------------------------------------------------------------------------------------


def test_scenarios_are_kept_as_json(client, refused):
    request = {"row": refused[0], "edits": {"duration": 30}}
    wanted = {"format": "json", "title": "Kept", "scenarios": [{"name": "a", "request": request}]}
    document = post(client, "scenarios", **wanted)
    [one] = document["scenarios"]
    explained = post(client, "explain", **request)
    assert {**one["explain"], "milliseconds": 0} == {**explained, "milliseconds": 0}
    assert set(one["curves"]) <= {name for some in explained["sets"] for name in some["features"]}
    assert document["about"]["readonly"]


def test_scenarios_are_limited(client, refused):
    wanted = {"scenarios": [{"name": str(number), "request": {"row": refused[0]}} for number in range(21)]}
    answer = client.post("/api/scenarios", json=wanted)
    assert answer.status_code == 413
    assert error_of(answer)["code"] == "too_large"


# -- two models --------------------------------------------------------------------------------------------------------


def test_two_models_answer_about_the_same_person(loans, connect, refused):
    explainer, applicants = loans
    strict = explainer.with_actions({"frozen": ["checking_status"]})
    client = connect(Service([("a", explainer), ("b", strict)], Table.of_frame(applicants)))
    assert [one["name"] for one in client.get("/api/about").json()["models"]] == ["a", "b"]
    answers = [post(client, "explain", row=refused[0], model=model) for model in (0, 1)]
    assert [one["model"] for one in answers] == [0, 1]
    assert answers[0]["row"] == answers[1]["row"]
    assert client.post("/api/explain", json={"row": 0, "model": 2}).status_code == 404


# -- wrong requests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["NaN", "1e999", "[1]", '{"a": 1}'])
def test_a_cell_of_no_permitted_type_is_named_by_its_column(client, cell):
    content = '{"row": 0, "edits": {"amount": 1, "duration": CELL, "age": [2]}}'.replace("CELL", cell)
    answer = client.post("/api/explain", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    error = error_of(answer)
    assert error["field"] == "edits.duration"
    assert error["message"] == "edits.duration: Input should be a finite number, a text, true, false or null."


def test_an_error_about_an_unknown_entry_names_it_and_not_a_cell(client):
    body = {"row": 0, "x" * 5000: 1, "edits": {"duration": [1]}, "limits": {"duration": {"low": "a"}}}
    for more in ({}, {"model": "first"}):
        answer = client.post("/api/explain", json={**more, **body})
        error = error_of(answer)
        assert answer.status_code == 422
        assert len(error["field"]) <= 200
        assert len(error["message"]) < 400
    assert error["field"] == "model"
    assert "true, false" not in error["message"]  # that is said of cells


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "row"),
        ({"row": 10_000}, 404, "row"),
        ({"row": 0, "values": {"duration": 1}}, 400, "values"),
        ({"values": {"duration": 1}}, 400, "checking_status"),
        ({"row": 0, "edits": {"income": 1}}, 404, "edits"),
        ({"row": 0, "edits": {"duration": 10**400}}, 400, "duration"),
        ({"row": 0, "edits": {"duration": "long"}}, 400, None),
        ({"row": 0, "limits": {"income": {}}}, 404, "limits"),
        ({"row": 0, "limits": {"duration": {"low": 5, "high": 1}}}, 400, "limits"),
        ({"row": 0, "limits": {"purpose": {"direction": "up"}}}, 400, None),
        ({"row": 0, "limits": {"purpose": {"allowed": ["yacht"]}}}, 400, None),
        ({"row": 0, "prefer": "income"}, 404, "prefer"),
        ({"row": 0, "typo": 1}, 422, "typo"),
        ({"row": -1}, 422, "row"),
    ],
)
def test_wrong_requests_name_what_is_wrong(client, body, status, field):
    answer = client.post("/api/explain", json=body)
    assert answer.status_code == status, answer.text
    error = error_of(answer)
    assert error["field"] == field
    assert error["code"] == ("not_found" if status == 404 else "bad_input")


def test_unknown_paths_and_methods_are_errors_of_the_same_shape(client):
    assert error_of(client.get("/api/nothing"))["code"] == "not_found"
    assert client.get("/api/explain").status_code == 405


def test_without_a_table_rows_are_sent(loans, connect):
    explainer, applicants = loans
    client = connect(Service([("loans", explainer)], settings=Settings(title="")))
    about = client.get("/api/about").json()
    assert about["table"] is None
    assert about["models"][0]["features"][1]["histogram"]["source"] == "background"
    assert client.get("/api/rows").status_code == 404
    assert client.post("/api/explain", json={"row": 1}).status_code == 404
    row = applicants[list(explainer.feature_names)].iloc[1].to_dict()
    assert post(client, "explain", values=row)["row"]["duration"] == row["duration"]


def test_health_and_metrics(client):
    assert client.get("/healthz").json()["status"] == "ok"
    client.get("/api/about")
    text = client.get("/metrics").text
    assert 'sev_requests_total{path="/api/about",status="200"}' in text
    assert 'sev_request_seconds_bucket{path="/api/about",le="+Inf"}' in text
    gauges = ["sev_requests_running", "sev_requests_waiting", "sev_rows_known", "process_resident_memory_bytes"]
    assert [name for name in gauges if f"\n{name} " not in text] == []


def test_the_script_of_the_page_is_one_answer_that_a_browser_keeps(client):
    answer = client.get("/page/served.js")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "\nimport " not in answer.text
    again = client.get("/page/served.js", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/page/served.js", headers={"if-none-match": '"other"'}).text == answer.text


def test_what_the_first_person_needs_is_made_before_they_come(loans, connect):
    explainer, _ = loans
    service = Service([("loans", sev.Explainer.from_bytes(explainer.to_bytes(credibility=False)))])
    asked = []
    made = service.served_models[0].example
    service.served_models[0].example = lambda mode: asked.append(mode) or made(mode)
    client = connect(service)
    for _ in range(600):
        if len(asked) == 2:
            break
        time.sleep(0.05)
    assert asked == ["reference", "any"]
    assert made("any").mode == "any"
    assert post(client, "explain", values=made("any").values)["positive"] is True
