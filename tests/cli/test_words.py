"""Errors and warnings of commands name options, not arguments of Python."""

import click
import pytest
import show_cases as cases
from click.testing import CliRunner

from sev.cli._main import main
from sev.cli._words import words_of_options


def told(message, command):
    context = click.Context(main)
    context.invoked_subcommand = command
    return words_of_options(message, context)


@pytest.mark.parametrize(
    ("command", "message", "words"),
    [
        ("fit", "threshold=7.0 lies outside [0, 1].", "--threshold 7.0 lies outside [0, 1]."),
        ("fit", 'Choose another (reference="auto" finds one).', "Choose another (--reference auto finds one)."),
        ("fit", "Pass reference= to choose another.", "Pass --reference to choose another."),
        ("fit", "groups= makes one feature of them", "--group makes one feature of them"),
        (
            "fit",
            "pass allow_positive_reference=True (on the command line: --allow-positive-reference).",
            "pass --allow-positive-reference.",
        ),
        ("fit", "pass target= that label (--target on the command line).", "pass --target that label."),
        ("explain", "the model is pickled (--trust-pickle)", "the model is pickled (--trust-pickle)"),
        ("fit", "raise `threshold`, or look", "raise --threshold, or look"),
        ("explain", "text such as ('-500', '+500')", 'text such as ["-500", "+500"]'),
        ("fit", "y_train holds labels", "the column of labels holds labels"),
        ("fit", "Clusters(n=900): the other class has only 40", "clusters:900: the other class has only 40"),
        ("fit", "Pass allow_pickle=True to pickle it", "Pass --trust-pickle to pickle it"),
        ("explain", 'kind="plus" takes only values="reference"', "--kind plus takes only --values reference"),
        ("explain", "write sev.between(1, 5) for bounds", "write {between: [1, 5]} for bounds"),
        ("explain", "threshold=7.0 is no option here", "threshold=7.0 is no option here"),
        ("report", "by='region' is not a column", "--by region is not a column"),
        ("explain", "id_column='number' is not a column", "--id number is not a column"),
        ("explain", "between(9, 1) holds no value", "{between: [9, 1]} holds no value"),
        ("train", "metric='auc' is not a scorer", "--metric auc is not a scorer"),
        ("fit", "is not fitted: call model.fit(X_train, y_train) first.", "is not fitted: fit it before you save it."),
        (
            "fit",
            "one score: pass a function that returns it.",
            "one score: in Python, pass a function that returns it.",
        ),
        ("fit", "no scores. Pass a function instead.", "no scores. In Python, pass a function instead."),
        ("fit", 'Clusters(centre="medoid") or Nearest().', "--reference nearest."),
        ("fit", "use sev.references.Nearest().", "use nearest."),
        ("train", "lower learning_rate (now 0.1), or look for", "look for"),
        ("train", "one-hot encoding do), or pass groups= of columns that belong together.", "one-hot encoding do)."),
    ],
)
def test_arguments_are_told_as_options(command, message, words):
    assert told(message, command) == words


@pytest.mark.filterwarnings("always::sev.exceptions.DecisionWarning")
def test_a_folder_of_results_says_what_else_it_holds_and_that_nothing_may_change(tmp_path):
    cases.loan_explainer().save(tmp_path / "loans.sev")
    rows, _ = cases.loans()
    rows[:20].to_csv(tmp_path / "rows.csv", index=False)
    command = ["explain", str(tmp_path / "loans.sev"), str(tmp_path / "rows.csv"), "-o", str(tmp_path / "out")]
    told = CliRunner().invoke(main, [*command, "--restricted", ",".join(rows.columns)]).stderr
    assert "Warning: All 5 features are restricted or frozen: nothing may change" in told
    assert "_explainer.sev, with the model and rows of its background" in told
    assert "may be deleted" in told
    for name in ("_explainer.sev", "_manifest.json", "_parts.jsonl"):
        (tmp_path / "out" / name).unlink()  # each of them is there
    quiet = CliRunner().invoke(main, [*command[:-1], str(tmp_path / "other"), "--quiet"])
    assert "may be deleted" not in quiet.stderr
