"""The result objects: the paper's table, frozen fields, files, HTML that stays text."""

import dataclasses
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import sev
from sev.exceptions import InputError, VerificationError

HIGH, LOW = 1.0, 0.0


def credit_risk(frame):
    """Figure 1 of the paper: the eight vertices of Housing, Loan, Education, and which are high risk."""
    rent = frame["Housing"] == "Rent"
    large = frame["Loan"] == ">$10k"
    school = frame["Education"] == "High School"
    # (0,1,0) is high, (0,0,1) and (1,0,0) are low, and no single change of the query makes it low
    return np.where(large | (rent & school), HIGH, LOW)


@pytest.fixture
def loan():
    reference = {"Housing": "Mortgage", "Loan": "5-10k", "Education": "Bachelor"}
    query = {"Housing": "Rent", "Loan": ">$10k", "Education": "High School"}
    background = pd.DataFrame([reference, query])
    return sev.Explainer(credit_risk, background, [0, 1], reference=reference), query


def test_the_papers_loan_example_plus(loan):
    explainer, query = loan
    one = explainer.explain_one(query, kind="plus")
    assert (one.size, one.sets) == (1, (("Loan",),))
    assert one.to_frame().values.tolist() == [
        ["Rent", ">$10k", "High School"],
        ["Mortgage", "5-10k", "Bachelor"],
        ["---", ">$10k", "---"],
    ]


def test_the_papers_loan_example_minus(loan):
    explainer, query = loan
    one = explainer.explain_one(query)
    assert one.size == 2
    assert set(one.sets) == {("Housing", "Loan"), ("Loan", "Education")}  # both shortest paths
    frame = one.to_frame()
    assert frame.index.tolist() == ["query", "reference", "SEV- 1", "SEV- 2"]
    assert frame.columns.tolist() == ["Housing", "Loan", "Education"]
    assert frame.loc["SEV- 1"].tolist() == ["Mortgage", "5-10k", "---"]
    assert frame.loc["SEV- 2"].tolist() == ["---", "5-10k", "Bachelor"]
    assert one.result.to_dict() == {"Housing": "Mortgage", "Loan": "5-10k", "Education": "High School"}
    assert (one.score, one.result_score) == (HIGH, LOW)


@pytest.fixture
def many():
    import cases
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    X, y = cases.table()
    X = X.set_axis([f"id{n}" for n in range(len(X))])
    model = make_pipeline(cases.encoder(), LogisticRegression()).fit(X, y)
    return sev.Explainer(model, X, y, restricted=["town"]).explain(X)


def test_arrays_and_table(many):
    frame = many.to_frame()
    assert frame.columns.tolist() == [
        "status",
        "size",
        "lower_bound",
        "features",
        "n_sets",
        "score",
        "result_score",
        "credibility",
    ]
    assert frame.index.tolist() == many.index.tolist()
    assert many.sizes.dtype == float
    assert np.isnan(many.sizes[many.statuses == "not_target"]).all()
    assert set(many.statuses) <= {str(status) for status in sev.Status}
    with pytest.raises(ValueError, match="read-only"):
        many.sizes[0] = 3
    for number in (0, 5, -1):
        one = many[number]
        row = frame.iloc[number]
        assert one.status == row["status"]
        assert one.features == row["features"]
        assert len(one.sets) == row["n_sets"]
        assert one.query.name == frame.index[number]
    assert [one.status for one in many[10:20]] == frame["status"].iloc[10:20].tolist()
    with pytest.raises(IndexError):
        many[len(many)]


def test_same_fields_whatever_the_status(many):
    seen = {status: set(many[int(np.argmax(many.statuses == status))].to_dict()) for status in set(many.statuses)}
    assert len(seen) >= 2
    assert len({frozenset(fields) for fields in seen.values()}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        many[0].size = 1


def test_means_and_shares(many):
    sizes = many.sizes[~np.isnan(many.sizes)]
    assert many.mean_size() == pytest.approx(sizes.mean())
    unexplainable = (many.statuses == "unexplainable").sum()
    expected = (sizes.sum() + 6 * unexplainable) / (len(sizes) + unexplainable)
    assert many.mean_size("all_features") == pytest.approx(expected)
    with pytest.raises(InputError, match="all_features"):
        many.mean_size("whatever")
    first = many.feature_shares()
    explained = [one for one in many if one.size]
    for name in first.index:
        assert first[name] == pytest.approx(np.mean([name in one.features for one in explained]))
        anywhere = np.mean([any(name in names for names in one.sets) for one in explained])
        assert many.feature_shares("any")[name] == pytest.approx(anywhere)
    assert first["town"] == 0
    summary = many.summary()
    assert summary["rows"] == len(many)
    assert summary["target"] == (many.statuses != "not_target").sum()


def test_json_keeps_everything_but_the_model(many, tmp_path):
    path = tmp_path / "explanations.json"
    many.to_json(path)
    document = json.loads(path.read_text())
    assert (document["schema"], document["schema_version"]) == ("sev.explanations", 2)
    back = sev.Explanations.from_json(path)
    pd.testing.assert_frame_equal(back.to_frame(), many.to_frame())
    for one, other in zip(back, many, strict=True):
        assert one.to_dict() == other.to_dict()
    assert back.to_json() == many.to_json()
    with pytest.raises(VerificationError, match=r"call verify\(explainer\)"):
        back[0].verify()


def test_a_file_can_be_verified_with_the_explainer(loan):
    explainer, query = loan
    back = sev.Explanations.from_json(explainer.explain(pd.DataFrame([query])).to_json())
    back.verify(explainer)
    honest = explainer.model
    explainer._tasks[0].scorer.__dict__["ask"] = lambda frame: np.ones(len(frame))
    with pytest.raises(VerificationError, match="recorded status is optimal, the explainer finds unexplainable"):
        back.verify(explainer)
    explainer._tasks[0].scorer.__dict__["ask"] = honest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON file"),
        ("{}", "schema"),
        ('{"schema": "sev.explanations", "schema_version": 99}', "newer"),
        ('{"schema": "sev.explanations", "schema_version": 1}', "damaged"),
    ],
)
def test_files_that_are_no_explanations(text, message):
    with pytest.raises(InputError, match=message):
        sev.Explanations.from_json(text)


@pytest.mark.parametrize("entry", ["kind", "values", "order", "minimise", "values_searched", "not_permitted"])
def test_a_document_with_an_unknown_word_is_refused(many, entry):
    document = json.loads(many.to_json())
    for place in (document, document["rows"]):
        if entry in place:
            place[entry] = "?" if place is document else ["?", *place[entry][1:]]
    with pytest.raises(InputError, match=rf"damaged.*{entry} is '\?', not one of"):
        sev.Explanations.from_json(json.dumps(document))


def test_pickle_leaves_the_model_behind(many):
    back = pickle.loads(pickle.dumps(many))
    pd.testing.assert_frame_equal(back.to_frame(), many.to_frame())


def test_html_is_escaped():
    hostile = "<script>alert(1)</script>"
    frame = pd.DataFrame({hostile: ["<b>x</b>", "y"], "n": [1.0, 2.0]})
    explainer = sev.Explainer(lambda rows: (rows[hostile] == "<b>x</b>").to_numpy().astype(float), frame, [1, 0])
    many = explainer.explain(frame)
    for page in (many._repr_html_(), many[0]._repr_html_()):
        assert "<script>" not in page
        assert "<b>" not in page
        assert "&lt;" in page


def test_sentences_name_values():
    frame = pd.DataFrame({"job": ["none", "clerk"], "age": [30, 40]})
    explainer = sev.Explainer(lambda rows: (rows["job"] == "none").to_numpy().astype(float), frame, [1, 0])
    text = explainer.explain(frame)[0].to_text()
    assert 'job is "none"' in text
    assert 'job been "clerk"' in text
    assert "nothing to explain" in explainer.explain(frame)[1].to_text()
