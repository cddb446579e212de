"""More than two classes: probabilities in words, and the class that a row becomes."""

import json
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import sev

# black boxes until the exact solvers take more than two classes
pytestmark = [
    pytest.mark.filterwarnings("ignore::sev.exceptions.FallbackWarning"),
    pytest.mark.filterwarnings("ignore::sev.exceptions.ReferenceWarning"),
]

X, NUMBERS = load_iris(return_X_y=True, as_frame=True)
Y = np.array(["setosa", "versicolor", "virginica"])[NUMBERS]
MODEL = LogisticRegression(max_iter=500).fit(X, Y)
CODES = {name: {"code": f"R{place}", "text": name} for place, name in enumerate(X.columns)}


@pytest.fixture(scope="module", params=["versicolor", "predicted"])
def many(request):
    return sev.Explainer(MODEL, X, Y, target=request.param).explain(X[::6])


def test_the_class_that_a_row_becomes_is_the_models_own(many):
    found = 0
    for row, one in enumerate(many):
        if one.result is None:
            assert one.becomes is None is many.becomes(row)
            continue
        found += 1
        result = one.result.to_frame().T.astype(float)
        assert one.becomes == many.becomes(row) == MODEL.predict(result)[0] != one.target
        probabilities = MODEL.predict_proba(result)[0]
        assert one.class_scores.after[0] == pytest.approx(probabilities[list(MODEL.classes_).index(one.target)])
    assert found >= 8


def test_sentences_have_probabilities_and_the_class(many):
    for row, sentence in enumerate(many.to_text()):
        assert sentence == many[row].to_text()
        number = MODEL.predict_proba(X[::6].iloc[[row]])[0, list(MODEL.classes_).index(many[row].target)]
        assert f"(probability {number:.3g}, " in sentence
        if many[row].becomes:
            assert f"the prediction would have been {many[row].becomes!r}" in sentence
        for code in ("de", "es"):
            assert "{" not in many[row].to_text(language=code)


def test_they_survive_files_and_choices(many):
    texts = many.to_text()
    assert pickle.loads(pickle.dumps(many)).to_text() == texts
    again = sev.Explanations.from_json(many.to_json())
    assert again.to_text() == texts
    assert [one.becomes for one in again] == [one.becomes for one in many]
    assert many[10:14].to_text() == texts[10:14]


def test_one_row_does_not_score_the_others(monkeypatch):
    scored = []
    real = LogisticRegression.predict_proba

    def count(self, rows):
        scored.append(len(rows))
        return real(self, rows)

    monkeypatch.setattr(LogisticRegression, "predict_proba", count)
    many = sev.Explainer(MODEL, X, Y, target="versicolor").explain(X[::6])
    scored.clear()
    assert "would have been" in many[10].to_text()
    assert scored
    assert max(scored) == 1


def test_reports_and_records_show_probabilities(many, tmp_path):
    page = sev.report(many, tmp_path / "report.html").read_text("utf-8")
    assert "the class with the highest score is predicted" in page
    data = json.loads(page.split('type="application/json"')[1].partition(">")[2].partition("</script>")[0])
    places = [list(MODEL.classes_).index(one.target) for one in many]
    expected = MODEL.predict_proba(X[::6])[np.arange(len(many)), places]
    assert data["score"] == pytest.approx(expected, rel=1e-3)
    found = sev.reasons(many, CODES)
    for row, record in enumerate(found.records()):
        assert record["becomes"] == record["decision_after"] == many.becomes(row)
        assert record["class_score"] == pytest.approx(expected[row])
    assert found.wide["decision_after"].dropna().isin(MODEL.classes_).all()


def test_labels_name_what_it_becomes():
    labels = {"classes": {"setosa": "small", "versicolor": "medium", "virginica": "large"}}
    one = sev.Explainer(MODEL, X, Y, target="versicolor", labels=labels).explain_one(X.iloc[60])
    assert one.to_text().startswith("Medium (probability 0.")
    assert (
        one.to_text()
        .split(", with all else equal, ")[1]
        .startswith(f"it would have been {labels['classes'][one.becomes]}")
    )


def test_decision_values_are_called_scores():
    model = LinearSVC().fit(X, Y)
    one = sev.Explainer(model, X, Y, target="virginica").explain_one(X.iloc[140])
    assert "(score 0." in one.to_text() or "(score 1." in one.to_text()
    assert "probability" not in one.to_text()


def test_two_classes_keep_their_threshold():
    two = Y != "setosa"
    one = sev.Explainer(LogisticRegression().fit(X[two], Y[two]), X[two], Y[two]).explain_one(X.iloc[140])
    assert one.class_scores is None
    assert one.becomes == "versicolor"
    assert "at least 0.5" in one.to_text()
