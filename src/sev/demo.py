"""A tour in one minute: ``python -m sev.demo``, or ``make demo``.

Trains a loan model on the bundled German Credit data, and shows which few features refused each of a handful of
applicants.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sev
from sev.text import format_value

SHOWN = 5


#: What may not be given to an applicant as a reason.
RESTRICTED = ("personal_status_sex", "age", "foreign_worker")
#: The decision behind each class, as an applicant should read it.
CLASSES = {0: "approved", 1: "refused"}
#: Features that read better with a unit or with a phrase than as "label is value".
WORDING: dict[str, dict[str, object]] = {
    "checking_status": {
        "label": "the balance of the checking account",
        "is": {"no checking account": "there is no checking account"},
        "been": {"no checking account": "there been no checking account"},
    },
    "duration": {"label": "the duration", "unit": "months"},
    "credit_amount": {"label": "the credit amount", "unit": "DM"},
    "installment_rate": {"label": "the instalments", "unit": "% of the disposable income"},
    "age": {"label": "the age", "unit": "years"},
    "savings": {"label": "the balance of savings and bonds"},
    "employment_since": {"label": "the time in the present job"},
    "residence_since": {"label": "the number of years at the present address"},
    "other_debtors": {"label": "the kind of other debtor"},
    "other_installment_plans": {"label": "the kind of other instalment plan"},
    "existing_credits": {"label": "the number of credits at this bank"},
    "people_liable": {"label": "the number of people to maintain"},
}


def train() -> tuple[Pipeline, pd.DataFrame, pd.DataFrame, pd.Series, pd.Series]:
    """A logistic regression on raw columns, as a bank might have it."""
    X, y = sev.datasets.load_german_credit(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(X_train, y_train)
    return model, X_train, X_test, y_train, y_test


def labels() -> sev.Labels:
    """Names of the features and decisions as an applicant would say them."""
    names = sev.datasets.load_german_credit().labels
    plain = {name: f"the {label}" for name, label in names.items()}
    return sev.Labels(features=plain | WORDING, classes=CLASSES)


def explainer_and_applicants() -> tuple[sev.Explainer, pd.DataFrame]:
    """The explainer of the tour, and the held-out applicants with their numbers in the first column."""
    model, X_train, X_test, y_train, _ = train()
    explainer = sev.Explainer(model, X_train, y_train, restricted=RESTRICTED, labels=labels())
    return explainer, X_test.reset_index(names="applicant")


def main(folder: str | Path = "demo-output", out: TextIO | None = None) -> None:
    """Run the tour.

    Parameters
    ----------
    folder : path-like
        Where the table, the pictures and the report go.
    out : file, default=None
        Where the text goes; None is standard output.
    """

    def say(*lines: object) -> None:
        (out or sys.stdout).write("\n".join(str(line) for line in lines) + "\n")

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model, X_train, X_test, y_train, y_test = train()
    say(
        f"A logistic regression on {X_train.shape[1]} raw columns of German Credit "
        f"(accuracy on {len(X_test)} held-out applicants: {model.score(X_test, y_test):.2f}).",
        "It refuses those it predicts to be a bad risk. Which reasons did it have?",
        f"No reason may use {', '.join(RESTRICTED[:-1])} or {RESTRICTED[-1]}.",
        "",
    )
    explainer = sev.Explainer(model, X_train, y_train, restricted=RESTRICTED, labels=labels())
    many = explainer.explain(X_test)
    refused = [number for number, size in enumerate(many.sizes) if size >= 1]
    for number in refused[:SHOWN]:
        one = many[number]
        say(
            f"Applicant {one.query.name}",
            *textwrap.wrap(one.to_text(), 100, initial_indent="  ", subsequent_indent="  "),
        )
        changed = sorted({c for names in one.sets for name in names for c in one.columns[name]}, key=list(X_test).index)
        say(textwrap.indent(one.to_frame()[changed].map(format_value).to_string(), "    "), "")
    say(*_effect_of_restriction(many), "")
    say("All refusals of the held-out applicants:", textwrap.indent(many.summary().to_string(), "  "), "")
    shares = many.feature_shares()
    say("Features most often named:", textwrap.indent((shares[shares > 0].head(6) * 100).round(1).to_string(), "  "))
    say("", "To look at:", *(f"  {path}" for path in write(many, refused, folder)))
    say("", "To change an applicant and see what follows, in the browser: make app (or: sev app --open)")


def _effect_of_restriction(many: sev.Explanations) -> list[str]:
    """What the features that may not be used would have changed."""
    counts = {what: many.not_permitted.count(what) for what in ("smaller", "only")}
    free = many.unrestricted()
    both = ~np.isnan(many.sizes) & ~np.isnan(free.sizes)  # means of the same refusals
    return [
        f"Without the restricted features a refusal that has a set takes {many.sizes[both].mean():.2f} features on "
        f"average instead of {free.sizes[both].mean():.2f};",
        f"{counts['smaller']} refusals would have a smaller set with them, {counts['only']} have none without them.",
    ]


def write(many: sev.Explanations, refused: list[int], folder: Path) -> list[Path]:
    """Write the table, the pictures and the report; return their paths."""
    table = folder / "explanations.csv"
    many.to_frame().to_csv(table)
    hardest = max(refused, key=lambda number: many.sizes[number])
    pictures = {
        "one_refusal.png": many[hardest].plot(),
        "score_path.png": many[hardest].plot("path"),
        "sizes.png": many.plot_sizes(),
        "features.png": many.plot_features(),
    }
    for name, axes in pictures.items():
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.savefig(folder / name, dpi=120, bbox_inches="tight")
    report = sev.report(many, folder / "report.html", title="Why loans were refused")
    return [table, *(folder / name for name in pictures), Path(report)]


if __name__ == "__main__":
    main()
