"""One dictionary of names, kept in the explainer, saved with it, and used wherever results are shown."""

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError, UnknownFeatureError

X = pd.DataFrame({"debt": [0.0, 1.0, 2.0, 7.0, 8.0, 9.0], "late": [False, True, False, True, False, True]})
Y = ["good", "good", "good", "bad", "bad", "bad"]
LABELS = sev.Labels(
    features={"debt": {"label": "the debt", "unit": "EUR"}, "late": "late payments"},
    classes={"good": "approved", "bad": "refused"},
)


def _explainer(labels=LABELS):
    return sev.Explainer(LogisticRegression().fit(X, Y), X, Y, target="bad", reference="median", labels=labels)


def test_the_explainers_labels_are_used_in_sentences():
    one = _explainer().explain_one(X.iloc[4])
    assert one.to_text() == (
        f"Refused (score {one.score:.3g}, at least 0.5) because the debt is 8 EUR. Had the debt been 1 EUR, with all "
        "else equal, it would have been approved."
    )
    assert _explainer().explain(X.iloc[[4]]).to_text() == [one.to_text()]


def test_without_labels_the_other_class_is_named():
    assert _explainer(None).explain_one(X.iloc[4]).to_text().endswith("the prediction would have been 'good'.")


def test_the_wording_of_a_call_goes_over_the_labels():
    text = _explainer().explain_one(X.iloc[4]).to_text(wording={"debt": "what you owe"}, language="de")
    assert "what you owe (8)" in text
    assert "wäre das Ergebnis approved gewesen" in text


def test_labels_reach_report_and_records(tmp_path):
    many = _explainer().explain(X)
    page = sev.report(many, tmp_path / "report.html").read_text("utf-8")
    assert "it would have been approved" in page
    assert "the debt" in page


def test_labels_survive_files_and_workers(tmp_path):
    explainer = _explainer()
    explainer.save(tmp_path / "loans.sev")
    again = sev.load(tmp_path / "loans.sev")
    assert again.labels == explainer.labels
    many = again.explain(X)
    assert many.to_text() == explainer.explain(X).to_text()
    assert sev.Explanations.from_json(many.to_json()).to_text() == many.to_text()


def test_keys_that_are_not_text_survive_files(tmp_path):
    values = {True: "was late", False: "was never late"}
    labels = sev.Labels(features={"late": {"values": values}}, classes={"bad": "no"})
    explainer = _explainer(labels)
    explainer.save(tmp_path / "loans.sev")
    assert sev.load(tmp_path / "loans.sev").labels == labels


def test_labels_may_be_a_file(tmp_path):
    path = tmp_path / "labels.yaml"
    path.write_text("features:\n  debt: the debt\nclasses:\n  good: approved\n  bad: refused\nlanguage: es\n")
    assert "el resultado habría sido approved" in _explainer(path).explain_one(X.iloc[4]).to_text()


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ({"features": {"dept": "the debt"}}, UnknownFeatureError, "did you mean 'debt'"),
        ({"debt": "the debt"}, InputError, "unknown entry 'debt'.*below features"),
        ({"classes": {"good": 1}}, InputError, r"classes\['good'\] is 1"),
        ({"features": ["debt"]}, InputError, "expected a mapping"),
        ({"language": {"minuss": ""}}, InputError, "did you mean 'minus'"),
    ],
)
def test_wrong_labels_are_refused_when_the_explainer_is_made(labels, error, message):
    with pytest.raises(error, match=message):
        _explainer(labels)


def test_yes_and_no_are_text_in_files(tmp_path):
    path = tmp_path / "labels.yaml"
    path.write_text("classes: {yes: refused, no: approved, true: x}\n")
    assert dict(sev.Labels.of(path).classes) == {"yes": "refused", "no": "approved", True: "x"}


def test_a_class_that_the_model_does_not_have_is_refused():
    with pytest.raises(
        InputError, match=r"classes names 'goood'.*did you mean 'good'\? Its classes are \['bad', 'good'"
    ):
        _explainer({"classes": {"goood": "approved"}})


def test_a_row_with_nothing_to_explain_has_its_decision_named():
    labels = {"classes": {"good": "approved", "bad": "refused"}}
    sentences = _explainer(labels).explain(X).to_text()
    assert any(sentence.startswith("Approved (score ") for sentence in sentences)
    assert not any("Not predicted" in sentence for sentence in sentences)
