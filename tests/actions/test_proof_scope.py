"""Every place that calls an answer proven states over what."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.text import LANGUAGES, Speaker

PROVEN = {"en": "Proven", "de": "Bewiesen", "es": "Demostrado"}


def loans():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"income": rng.normal(50, 12, 200).round(1), "debt": rng.gamma(2, 5, 200).round(1)})
    rows["months"] = rng.integers(6, 60, 200)
    return rows, (0.1 * rows["debt"] - 0.06 * rows["income"] + 0.03 * rows["months"] > 0.2).to_numpy()


def explained(scope):
    rows, labels = loans()
    fitted = LogisticRegression(max_iter=1000).fit(rows, labels)
    model = fitted if scope != "tried" else lambda given: fitted.predict_proba(given)[:, 1]
    one_way = sev.Actions(decrease=["debt", "months"])
    given = {"permitted": {"restricted": ["income"]}, "changes": {"actions": one_way}, "tried": {"actions": one_way}}
    explainer = sev.Explainer(model, rows, labels, **given.get(scope, {}))
    many = explainer.explain(rows, values="any" if scope == "tried" else "reference", max_predictions=5_000)
    return many, next(one for one in many if one.status == "optimal")


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("all", "Proven: no smaller set of features does this."),
        ("permitted", "Proven: no smaller set of the permitted features does this."),
        ("changes", "Proven: no smaller set of permitted changes does this."),
        ("tried", "No smaller set of changes does this with the values that were tried"),
    ],
)
def test_a_proof_names_what_it_covers(scope, words):
    many, one = explained(scope)
    assert one.proof_scope == scope
    assert Speaker(one.columns).proof(one.statement()).startswith(words)
    for language in LANGUAGES:
        told = Speaker(one.columns, language=language).proof(one.statement())
        assert told.startswith(PROVEN[language]) == (scope != "tried")
    again = sev.Explanations.from_json(many.to_json())
    assert [other.proof_scope for other in again] == [other.proof_scope for other in many]
    assert one.to_dict()["proof_scope"] == scope


@pytest.mark.parametrize("scope", ["all", "changes", "tried"])
def test_the_picture_claims_no_more_and_shows_no_reference_that_there_is_not(scope):
    mpl.use("agg")
    _, one = explained(scope)
    ax = one.plot()
    texts = [text.get_text() for text in ax.texts]
    below = " ".join(text for text in texts if "no smaller" in text).replace("\n", " ")
    assert ("permitted changes" in below) == (scope == "changes")
    assert ("tried" in below) == (scope == "tried")
    assert ("reference" in texts) == (scope != "tried")


@pytest.mark.parametrize("scope", ["all", "tried"])
def test_the_report_shows_no_reference_that_there_is_not(scope, tmp_path):
    many, _ = explained(scope)
    sev.report(many, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ('id="reference"' in page) == (scope == "all")
    assert ('<th scope="col">Reference</th>' in page) == (scope == "all")


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_not_found_among_some_values_is_not_called_impossible(language):
    rows, labels = loans()
    fitted = LogisticRegression(max_iter=1000).fit(rows, labels)
    actions = sev.Actions(frozen=["months", "debt"], within={"income": ("-0.5", "+0.5")})
    explainer = sev.Explainer(lambda given: fitted.predict_proba(given)[:, 1], rows, labels, actions=actions)
    one = next(one for one in explainer.explain(rows, values="any") if one.status == "unexplainable")
    speaker = Speaker(one.columns, language=language)
    assert one.proof_scope == "tried"
    assert not speaker.proof(one.statement()).startswith(PROVEN[language])
    assert speaker.raw("candidates") in speaker.sentence(one.statement())


def test_changes_hold_plain_numbers():
    _, one = explained("changes")
    for change in one.changes.values():
        assert type(change.old) in (int, float)
        assert type(change.new) in (int, float)
