"""Every word of a report comes from the language that was asked for."""

import gzip
import json
import re
from base64 import b64decode
from html import unescape

import pandas as pd
import pytest
import show_cases as cases
from foreign_words import english_left, latin_words, without_letters
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sev
from sev.core import Status

NAMES = {"amount": "α", "months": "β", "income": "γ", "age": "δ", "owner": "ε"}
CLASSES = {"refuse": "ω", "accept": "ψ"}
#: Classes of Python and packages, which are called so in every language.
IN_EVERY_LANGUAGE = ("Pipeline", "LogisticRegression", "StandardScaler", "SEV", "sev", "scikit-learn", "optimal")
#: Rules are shown as they were typed, and a failure as the model reported it.
AS_TYPED = ("amount", "income", "refuse", "the model raised", sev.__version__)


def loans():
    rows, labels = cases.loans()
    return rows, labels


def explainer(**options):
    rows, labels = loans()
    model = make_pipeline(StandardScaler(), LogisticRegression(C=10.0)).fit(rows, labels)
    return sev.Explainer(
        model, rows, labels, target="refuse", labels=sev.Labels(features=NAMES, classes=CLASSES), **options
    )


def every_status():
    made = cases.every_status(tuple(NAMES.values()), target="ω", restricted=("ε",), complete=False)
    made._answers.reasons.clear()
    return made


def permitted_changes():
    actions = sev.Actions(
        frozen=["age"],
        increase=["income"],
        decrease=["months"],
        within={"amount": sev.between(1000.5, None)},
        allowed={"owner": [0, 1]},
        steps={"months": 1},
        rules=["amount <= 20 * income"],
        costs={"income": 2.5},
    )
    rows = loans()[0]
    return explainer(actions=actions).explain(rows[:40], values="any"), {"by": "owner"}


REPORTS = {
    "every status": lambda: (every_status(), {}),
    "plus": lambda: (explainer().explain(loans()[0][:30], kind="plus"), {}),
    "one row": lambda: (explainer().explain(loans()[0][:1]), {}),
    "restricted": lambda: (explainer().explain(loans()[0][:60], restricted=["amount", "months"]), {}),
    "credible only": lambda: (explainer().explain(loans()[0][:30], min_credibility=0.2), {}),
    "permitted changes": permitted_changes,
    "several references": lambda: (explainer(reference=sev.references.Clusters(3)).explain(loans()[0][:30]), {}),
    "searches cut short": lambda: (
        cases.made([(Status.UNDECIDED, []), (Status.FEASIBLE, [(0,)])], ("α", "β"), target="ω"),
        {},
    ),
}


def shown_text(page):
    """What a reader can see: text, attributes with text, and what the script puts into the table."""
    form, data = re.search(r'data-form="(\w+)">([^<]*)</script>', page).groups()
    table = json.loads(data if form == "json" else gzip.decompress(b64decode(data)))
    visible = re.sub(r"<(script|style|code).*?</\1>|<meta[^>]*>", " ", page, flags=re.DOTALL)
    attributes = re.findall(r'(?:aria-label|placeholder|data-failed|title)="([^"]*)"', visible)
    texts = [re.sub("<[^>]*>", "\n", visible), *attributes, *table["names"], *table["texts"].values()]
    return unescape("\n".join([*texts, *table["features"], *table["text"]]))


def written(name, tmp_path, language):
    many, options = REPORTS[name]()
    return shown_text(sev.report(many, tmp_path / "r.html", language=language, **options).read_text("utf-8"))


@pytest.mark.parametrize("name", REPORTS)
def test_no_word_of_a_report_is_written_in_its_code(name, tmp_path):
    text = re.sub(r"\{\w+\}", "", written(name, tmp_path, without_letters()))  # the script fills these in
    assert latin_words(text, *IN_EVERY_LANGUAGE, *AS_TYPED) == []


@pytest.mark.parametrize("code", ["de", "es"])
@pytest.mark.parametrize("name", REPORTS)
def test_no_english_is_left_in_a_report(name, code, tmp_path):
    text = written(name, tmp_path, code)
    for known in AS_TYPED:
        text = text.replace(known, "")
    assert english_left(text, code) == []
    assert not re.findall(r"\d\.\d{1,2}\b|\d%", text.replace(version_of("scikit-learn"), ""))


def version_of(package):
    from importlib.metadata import version

    return version(package)


@pytest.mark.parametrize(
    ("code", "model"),
    [
        ("en", "Pipeline ending in LogisticRegression"),
        ("de", "Pipeline, endet mit LogisticRegression"),
        ("es", "Pipeline que termina en LogisticRegression"),
    ],
)
def test_the_model_is_described_in_the_language(code, model, tmp_path):
    assert model in written("one row", tmp_path, code)


def test_a_model_that_is_no_pipeline_is_named(tmp_path):
    rows = pd.DataFrame({"α": [0.0, 1.0, 2.0, 3.0], "β": [1.0, 0.0, 1.0, 0.0]})
    model = LogisticRegression().fit(rows, [0, 0, 1, 1])
    many = sev.Explainer(model, rows, [0, 0, 1, 1]).explain(rows)
    assert "\nLogisticRegression\n" in shown_text(sev.report(many, tmp_path / "r.html").read_text("utf-8"))
