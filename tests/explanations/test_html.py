"""What notebooks show: as wide as a page at most, changed features first, and words where there is nothing."""

import re

import pytest
import show_cases as cases
from browser import chromium
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import sev
from sev import demo
from sev.core import Status

WIDTH = 700


@pytest.fixture(scope="module")
def loans():
    explainer, applicants = demo.explainer_and_applicants()
    return explainer, explainer.explain(applicants.drop(columns="applicant"))


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    with pytest.warns(sev.exceptions.ReferenceWarning), pytest.warns(sev.exceptions.FallbackWarning):
        return model, X, sev.Explainer(model, X, y, target="predicted").explain(X)


def test_everything_fits_on_a_page_of_a_notebook(loans, flowers, tmp_path):
    explainer, many = loans
    codes = {name: {"code": name, "text": f"Reason {name}"} for name in many.feature_names}
    with pytest.warns(sev.exceptions.HiddenReasonWarning):
        reasons = sev.reasons(many, codes)
    shown = [explainer, many, max(many, key=lambda one: len(one.sets)), reasons, flowers[2], flowers[2][60]]
    page = tmp_path / "page.html"
    style = f"body{{width:{WIDTH}px;margin:0;font:13px sans-serif}}td,th{{padding:4px 8px}}"
    body = "".join(f"<section>{one._repr_html_()}</section>" for one in shown)
    page.write_text(f"<!doctype html><meta charset='utf-8'><style>{style}</style>{body}", encoding="utf-8")
    with chromium() as driver:
        driver.get(page.as_uri())
        ends = driver.execute_script(
            "document.querySelectorAll('details').forEach(x => x.open = true);"
            "return [...document.querySelectorAll('p, table, summary')].map(x => x.getBoundingClientRect().right)"
        )
    assert len(ends) > 12
    assert max(ends) <= WIDTH


def test_features_that_change_come_first_and_others_are_folded(loans):
    _, many = loans
    one = next(one for one in many if one.size == 2)
    first, _, rest = one._repr_html_().partition("<details>")
    labels = re.findall(r"<tr><th [^>]*>([^<]*)</th><td", first)
    used = [name for names in one.sets[:4] for name in names]
    names = [many.labels.features[name] for name in dict.fromkeys(used)]
    assert labels == [name if isinstance(name, str) else name["label"] for name in names]
    assert f"{20 - len(labels)} other features" in rest


def test_sets_that_are_not_shown_are_counted():
    many = cases.made([(Status.OPTIMAL, [(number,) for number in range(7)])], tuple("abcdefg"))
    page = many[0]._repr_html_()
    assert "SEV- 4" in page
    assert "SEV- 5" not in page
    assert "... and 3 more sets" in page


def test_a_row_without_a_set_shows_its_values():
    page = cases.made([(Status.UNEXPLAINABLE, [])])[0]._repr_html_()
    assert "3 features</summary>" in page
    assert "SEV-" not in page


def test_an_empty_selection_has_words(loans):
    _, many = loans
    for nothing in (many[[]], many[many.sizes == 77]):
        assert repr(nothing) == "<Explanations SEV- of 0 rows>"
        assert "No row was chosen" in nothing._repr_html_()


@pytest.mark.parametrize("place", [99_999, 200, -201])
def test_a_place_that_no_row_has_is_named(loans, place):
    _, many = loans
    message = rf"No row has the place {place}: there are 200 rows, with the places 0 to 199\. For labels use \.loc"
    with pytest.raises(IndexError, match=message):
        many[place]
    with pytest.raises(sev.exceptions.InputError, match=message):
        many[[0, place]]
    with pytest.raises(IndexError, match="There are no rows"):
        many[[]][0]
    assert many[-1].query.name == many[199].query.name


def test_three_classes_show_probabilities(flowers):
    model, X, many = flowers
    frame = many.to_frame()
    expected = model.predict_proba(X).max(axis=1)
    assert frame["probability"].to_numpy() == pytest.approx(expected)
    changed = [one.result.to_frame().T.astype(float) for one in many[:20]]
    for row, result in enumerate(changed):
        assert frame["becomes"].iloc[row] == model.predict(result)[0]
    page = many._repr_html_()
    assert "result probability" in page
    assert f"<td>{expected[0]:.3g}</td>" in page
    assert "<th>score</th>" not in page  # the lead over the other classes


def test_reasons_are_shown_as_a_table():
    import numpy as np
    import pandas as pd

    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=["age", "income", "<b>debt"])
    labels = (rows["age"] + rows["<b>debt"] > 0).astype(int)
    many = sev.Explainer(LogisticRegression().fit(rows, labels), rows, labels).explain(rows)
    codes = {name: {"code": f"R{place}", "text": f"Reason {place}"} for place, name in enumerate(rows.columns)}
    found = sev.reasons(many, codes)
    page = found._repr_html_()
    assert "compared with" in page
    assert "&lt;b&gt;debt" in page
    assert "<b>" not in page
    assert page.count("<tr>") == 21
    assert f"{len(found.table) - 20} more reasons" in page
    assert repr(found).startswith("<Reasons of 80 decisions: ")
    assert "No decision has a reason" in sev.reasons(many[[]], codes)._repr_html_()
