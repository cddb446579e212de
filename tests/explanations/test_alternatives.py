"""Every smallest set as an explanation of its own."""

import pytest

import sev
from sev import demo


@pytest.fixture(scope="module")
def loans():
    model, X_train, X_test, y_train, _ = demo.train()
    labels = sev.Labels(features={name: f"the {name}" for name in X_train}, classes=demo.CLASSES)
    return sev.Explainer(model, X_train, y_train, labels=labels), X_test


@pytest.mark.parametrize("values", ["reference", "any"])
def test_each_set_comes_first_once_with_its_own_score_path_and_sentence(loans, values):
    explainer, rows = loans
    many = explainer.explain(rows.iloc[:60], values=values)
    several = [one for one in many if len(one.sets) > 1]
    assert several
    for one in several[:5]:
        found = one.alternatives(5)
        assert [some.explanation.features for some in found] == list(one.sets[:5])
        for number, some in enumerate(found):
            again = some.explanation
            assert set(again.sets) == set(one.sets)
            assert again.changes == one.changes_of(number)
            score = explainer.model.predict_proba(explainer.form.one_row(again.result))[0, 1]
            assert again.result_score == pytest.approx(score)
            assert some.path["score"].tolist() == pytest.approx(again.path_scores()["score"].tolist())
            assert some.path["feature"].tolist() == again.path_scores()["feature"].tolist()
            vertices = again.vertices(again.features)
            assert some.vertices["changed"].tolist() == vertices["changed"].tolist()
            assert some.vertices["score"].tolist() == pytest.approx(vertices["score"].tolist())
            alone = explainer.source.credibilities(explainer.form.one_row(again.result), one.target)[0]
            assert again.credibility == pytest.approx(alone)  # never that of another set
            assert again.result.equals(again._pair.changed(again.features))
            again.verify()
            for name in again.features:
                assert explainer.labels.features[name] in again.to_text()


def test_all_sets_are_scored_by_one_call_of_the_model(loans, monkeypatch):
    explainer, rows = loans
    one = next(one for one in explainer.explain(rows, values="any") if len(one.sets) > 2)
    calls = []
    final = type(explainer.model[-1])
    predict = final.predict_proba
    monkeypatch.setattr(final, "predict_proba", lambda self, table: calls.append(1) or predict(self, table))
    one.alternatives(10)
    assert len(calls) == 1


def test_rows_without_a_set_have_no_alternatives(loans):
    explainer, rows = loans
    one = next(one for one in explainer.explain(rows) if one.status == "not_target")
    assert one.alternatives() == ()
