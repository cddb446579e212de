"""What is read from a file is believed only as far as the explainer confirms it."""

import json
import warnings

import cases
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import sev
from sev.exceptions import FallbackWarning, VerificationError


def fitted(model, **options):
    X, y = cases.table()
    X = X.set_axis([f"id{n}" for n in range(len(X))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)  # neighbours are a black box
        explainer = sev.Explainer(make_pipeline(cases.encoder(), model).fit(X, y), X, y, **options)
    return explainer, X


@pytest.fixture(scope="module")
def honest():
    explainer, X = fitted(LogisticRegression(), restricted=["town"])
    many = explainer.explain(X)
    return explainer, many, json.loads(many.to_json())


def forged(document, **changes):
    """The document with some of its rows changed."""
    return {**document, "rows": {**document["rows"], **changes}}


def refused(document, explainer, match, **options):
    read = sev.Explanations.from_json(json.dumps(document))
    with pytest.raises(VerificationError, match=match):
        read.verify(explainer, **options)
    return read


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=4), KNeighborsClassifier()])
@pytest.mark.parametrize("kind", ["minus", "plus"])
def test_honest_files_pass(model, kind):
    explainer, X = fitted(model)
    many = explainer.explain(X.iloc[:60], kind=kind)
    many.verify()
    read = sev.Explanations.from_json(many.to_json())
    read.verify(explainer)
    for one in list(read)[:10]:
        one.verify(explainer)


def test_honest_files_of_every_class_pass():
    X, _ = cases.table()
    y = np.digitize(X["age"].fillna(0), X["age"].quantile([0.3, 0.6]))
    model = make_pipeline(cases.encoder(), DecisionTreeClassifier(max_depth=4)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = sev.Explainer(model, X, y, target="predicted", allow_positive_reference=True)
    read = sev.Explanations.from_json(explainer.explain(X.iloc[:40]).to_json())
    read.verify(explainer)
    read[3].verify(explainer)


def test_a_forged_reference_is_noticed(honest):
    explainer, _, document = honest
    values = [list(column) for column in document["references"]["values"]]
    number = document["references"]["dtypes"].index("float64")
    values[number][0] += 1e3
    refused({**document, "references": {**document["references"], "values": values}}, explainer, "reference differs")


def test_a_forged_threshold_is_noticed(honest):
    explainer, _, document = honest
    refused({**document, "thresholds": [0.01]}, explainer, r"threshold differs: 0\.01 in these explanations, 0\.5")


def test_forged_restrictions_are_noticed(honest):
    explainer, _, document = honest
    everything = [feature["name"] for feature in document["features"]]
    refused({**document, "restricted": everything}, explainer, "restricted features differ")
    refused({**document, "restricted": []}, explainer, "restricted features differ")


def test_restrictions_of_a_call_are_confirmed_when_they_are_named(honest):
    explainer, many, _ = honest
    read = sev.Explanations.from_json(explainer.explain(many._queries, restricted=["age"]).to_json())
    with pytest.raises(VerificationError, match=r"\['age'\] in these explanations.*pass restricted="):
        read.verify(explainer)
    read.verify(explainer, restricted=["age"])


def test_forged_classes_and_features_are_noticed(honest):
    explainer, _, document = honest
    refused({**document, "targets": ["another"]}, explainer, "explained classes differ")
    features = [{**one, "name": f"{one['name']}!"} for one in document["features"]]
    refused({**document, "features": features, "restricted": []}, explainer, "features differ")


def with_status(document, row, status, **more):
    rows = document["rows"]
    changes = {"status": [status if number == row else one for number, one in enumerate(rows["status"])]}
    for name, value in more.items():
        changes[name] = [value if number == row else one for number, one in enumerate(rows[name])]
    return forged(document, **changes)


def explained_row(document):
    return document["rows"]["status"].index("optimal")


def test_a_forged_unexplainable_is_noticed(honest):
    explainer, _, document = honest
    row = explained_row(document)
    bad = with_status(document, row, "unexplainable", sets=[], result_score=None)
    read = refused(bad, explainer, f"Row 'id{row}': its recorded status is unexplainable, the explainer finds optimal")
    with pytest.raises(VerificationError, match="unexplainable"):
        read[row].verify(explainer)


@pytest.mark.parametrize("status", ["not_target", "error"])
def test_decisions_cannot_be_hidden(honest, status):
    explainer, _, document = honest
    bad = with_status(document, explained_row(document), status, sets=[], result_score=None)
    refused(bad, explainer, f"recorded status is {status}, the explainer finds optimal")


def test_reasons_that_do_not_work_are_noticed(honest):
    explainer, many, document = honest
    names = list(many.feature_names)
    for row in np.flatnonzero(many.statuses == "optimal"):
        one = many[int(row)]
        others = [name for name in names if name != "town" and not any(name in chosen for chosen in one.sets)]
        if one.size == 1 and others:
            break
    bad = with_status(document, int(row), "optimal", sets=[[names.index(others[0])]])
    refused(bad, explainer, "should be below the threshold|the explainer finds other sets|recorded score")
    bad = with_status(document, int(row), "feasible", sets=[[names.index(others[0])]], sets_complete=False)
    refused(bad, explainer, "should be below the threshold")


def test_sets_that_are_too_large_or_left_out_are_noticed(honest):
    explainer, many, document = honest
    row = next(int(row) for row in np.flatnonzero(many.statuses == "optimal") if many[int(row)].size == 1)
    names = list(many.feature_names)
    mine = names.index(many[row].features[0])
    other = next(number for number, name in enumerate(names) if number != mine and name != "town")
    bad = with_status(document, row, "optimal", sets=[sorted([mine, other])], lower_bound=2)
    refused(bad, explainer, "its recorded smallest set has 2 features, the smallest set has 1")
    bad = with_status(document, row, "feasible", sets=[sorted([mine, other])], lower_bound=2)
    refused(bad, explainer, "its recorded lower bound is 2, the smallest set has 1")
    several = next(int(row) for row in range(len(many)) if len(many[row].sets) > 1)
    bad = with_status(document, several, "optimal", sets=document["rows"]["sets"][several][:1])
    refused(bad, explainer, "the explainer finds other sets")


def test_forged_scores_are_noticed(honest):
    explainer, _, document = honest
    row = explained_row(document)
    wrong = with_status(document, row, "optimal", score=0.999)
    refused(wrong, explainer, r"recorded score is 0\.999, the model's score is 0\.")
    wrong = with_status(document, row, "optimal", result_score=0.0)
    refused(wrong, explainer, r"recorded score is 0\.0, the model's score is")


def test_the_number_of_further_rows_is_told(honest):
    explainer, many, document = honest
    count = int((many.statuses == "optimal").sum())
    status = ["unexplainable" if one == "optimal" else one for one in document["rows"]["status"]]
    refused(forged(document, status=status), explainer, rf"\(and {count - 1} more\)")


def test_a_claim_that_takes_longer_is_not_called_false(monkeypatch):
    explainer, X = fitted(KNeighborsClassifier())
    read = sev.Explanations.from_json(explainer.explain(X.iloc[:40]).to_json())
    monkeypatch.setattr(
        type(explainer),
        "explain",
        lambda self, rows, **_: self.explain_rows(rows, self.settings_for(max_size=1, max_predictions=None)),
    )
    with pytest.raises(VerificationError, match="within its limits: raise time_limit or max_predictions"):
        read.verify(explainer)


def test_scores_that_are_not_numbers_are_never_across():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0, 2.0]})
    explainer = sev.Explainer(lambda rows: (rows["a"] > 0.5).to_numpy(dtype=float), frame, [0, 1, 1])
    many = explainer.explain(frame)
    explainer._tasks[0].scorer.__dict__["ask"] = lambda rows: np.where(rows["a"] < 0.5, np.nan, 1.0)
    with pytest.raises(VerificationError, match="score is nan"):
        many.verify()


def test_nothing_is_verified_one_row_at_a_time(honest, monkeypatch):
    """A batch is scored in a few calls of the model, however many rows it has."""
    from sev.explanations import _explanations

    explainer, many, _ = honest
    monkeypatch.setattr(_explanations, "explanation_of", lambda *_: pytest.fail("made a row"))
    calls = []
    real = explainer._tasks[0].scorer.ask
    explainer._tasks[0].scorer.__dict__["ask"] = lambda rows: (calls.append(len(rows)), real(rows))[1]
    try:
        many.verify()
    finally:
        explainer._tasks[0].scorer.__dict__["ask"] = real
    assert len(calls) == 2
