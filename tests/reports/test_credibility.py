"""The report says how credible each result is, and how many are."""

import gzip
import json
import re
from base64 import b64decode
from html import unescape

import numpy as np
import pytest
import show_cases as cases

import sev
from sev.reports import report


def _written(many, path, **options):
    text = report(many, path / "r.html", **options).read_text("utf-8")
    form, data = re.search(r'data-form="(\w+)">([^<]*)</script>', text).groups()
    return text, json.loads(data if form == "json" else gzip.decompress(b64decode(data)))


@pytest.mark.parametrize(
    ("language", "column", "card"),
    [
        ("en", "Credibility", "credible: at least"),
        ("de", "Glaubwürdigkeit", "glaubwürdig: mindestens"),
        ("es", "Credibilidad", "creíbles: al menos"),
    ],
)
def test_each_decision_has_its_credibility_and_the_summary_the_share_of_credible_ones(tmp_path, language, column, card):
    many = cases.loan_explainer().explain(cases.loans()[0][:120])
    text, data = _written(many, tmp_path, language=language)
    known = ~np.isnan(many.credibilities)
    assert known.sum() > 10
    assert [share is not None for share in data["credibility"]] == known.tolist()
    np.testing.assert_allclose(np.array(data["credibility"], dtype=float)[known], many.credibilities[known], rtol=1e-3)
    heads = re.findall(r'data-column="(\w+)"><button type="button">([^<]*)<', text)
    assert dict(heads)["credibility"].startswith(column)
    cards = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", text))
    [shown] = [value for name, value in cards.items() if unescape(name).startswith(card)]
    share = f"{100 * (many.credibilities[known] >= 0.05).mean():.0f}"
    assert shown == (f"{share}%" if language == "en" else f"{share} %")


def test_with_a_limit_it_is_the_limit_that_counts(tmp_path):
    many = cases.loan_explainer().explain(cases.loans()[0][:60], min_credibility=0.3)
    text, _ = _written(many, tmp_path)
    assert re.search(r"credible: at least 30 ?%", text)
    assert np.nanmin(many.credibilities) >= 0.3


def test_without_a_measure_there_is_no_column(tmp_path):
    rows, labels = cases.loans()
    model = cases.loan_explainer().model
    many = sev.Explainer(model, rows, labels, credibility=False).explain(rows[:20])
    text, data = _written(many, tmp_path)
    assert 'data-column="credibility"' not in text
    assert "credible:" not in text
    assert set(data["credibility"]) == {None}
