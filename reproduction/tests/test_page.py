"""Verdicts, tables and pages."""

import pandas as pd
import pytest

from sev_reproduction import causes, overview, restricted
from sev_reproduction._compare import beside, differs, verdict
from sev_reproduction._measure import KeptSizes
from sev_reproduction._page import as_html, as_markdown
from sev_reproduction._paper import printed_figures
from sev_reproduction._section import Section, Table
from sev_reproduction._task import Done, Results, Task


def test_the_verdict_allows_for_the_papers_rounding():
    theirs = {"test_accuracy": 0.85, "test_auc": 0.90, "sev_plus": 1.01}
    assert verdict({"test_accuracy": 0.8451, "test_auc": 0.91, "sev_plus": 1.0149}, theirs) == "met"
    found = verdict({"test_accuracy": 0.844, "test_auc": 0.91, "sev_plus": 1.016}, theirs)
    assert found == "not met: accuracy 0.844 below 0.85, SEV+ 1.016 above 1.01"


@pytest.mark.parametrize(
    ("figure", "ours", "off"),
    [("test_auc", 0.72, False), ("test_auc", 0.70, True), ("sev_plus", 1.0, False), ("sev_plus", 1.4, True)],
)
def test_baselines_have_a_tolerance(figure, ours, off):
    assert differs(figure, ours, 0.73 if figure == "test_auc" else 1.04) is off


def test_a_line_has_both_figures_and_the_number_of_splits():
    done = [
        Done(Task("models", "fico", n, "l2"), {"sev_plus": v, "reference_negative": True}, 1.0)
        for n, v in enumerate((1.2, 1.4))
    ]
    line = beside(Results(done), "fico", "l2", "sev_plus", [1.28, 0.02])
    assert (line["paper"], line["ours"], line["difference"]) == ("1.28 ± 0.02", "1.300 ± 0.141", "+0.020")
    assert (line["splits"], line["within"]) == (2, "yes")


def test_a_positive_reference_is_said_not_counted():
    done = [Done(Task("models", "fico", 0, "gbdt"), {"sev_plus": None, "reference_negative": False}, 1.0)]
    line = beside(Results(done), "fico", "gbdt", "sev_plus", [1.0, 0.0])
    assert (line["ours"], line["splits"], line["within"]) == ("reference positive", 0, "")


def test_a_mean_of_some_splits_says_so():
    done = [
        Done(Task("models", "fico", n, "gbdt"), {"sev_plus": v, "reference_negative": v is not None}, 1.0)
        for n, v in enumerate((1.2, None, None))
    ]
    line = beside(Results(done), "fico", "gbdt", "sev_plus", [1.0, 0.0])
    assert (line["ours"], line["splits"]) == ("1.200 (reference positive in 2 others)", 1)
    (said,) = (text for text in overview.section(Results(done), printed_figures()).sentences if "SEV+ of" in text)
    assert "SEV+ of FICO GBDT is known for 1 of 3 splits" in said


def test_pages_show_names_as_they_are():
    section = Section("<script>alert(1)</script>", ["a & b"], [Table("t", pd.DataFrame({"a|b": ["<b>", 1.5, None]}))])
    html = as_html(["intro"], [section], {})
    assert "<script>" not in html
    assert "&lt;b&gt;" in html
    assert "a\\|b" in as_markdown(["intro"], [section])


def test_kept_letters_are_what_plots_ask_for():
    kept = KeptSizes("1N2Ua", "minus")
    assert kept.mean_size() == pytest.approx(13 / 3)
    assert kept.statuses.tolist() == ["optimal", "not_target", "optimal", "unexplainable", "optimal"]


def test_misprinted_tables_are_not_among_the_papers_figures():
    figures = printed_figures()
    assert set(figures["performance"]["diabetes"]) == {"lr"}
    assert set(figures["performance"]["fico"]) == {"lr", "mlp", "gbdt"}
    assert any("repeat" in text for text in figures["errata"])


def test_a_condition_without_a_figure_explains_nothing():
    missing = {
        "train_accuracy": 0.75,
        "train_auc": 0.9,
        "test_accuracy": 0.73,
        "test_auc": 0.77,
        "sev_plus": None,
        "sev_plus_from_one": None,
        "sev_minus": None,
        "sev_minus_to_depth": None,
        "reference_score": 0.4,
    }
    done = [
        Done(Task("causes", "german", 0, "l1"), {"conditions": {"C = 1": missing}}, 1.0),
        Done(Task("models", "german", 0, "l1"), {"reference_negative": True, "test_accuracy": 0.7}, 1.0),
    ]
    found = {one["figure"]: one["met under"] for one in causes.differences(Results(done), printed_figures())}
    assert found["SEV+"] == found["SEV-"] == causes.NOT_MET
    assert found["accuracy"] == "C = 1 (0.73)"
    assert (found["train accuracy"], found["train AUC"]) == ("C = 1 (0.75)", causes.NOT_MET)


def test_a_condition_of_another_training_accuracy_explains_no_sev():
    def condition(accuracy):
        return {
            "train_accuracy": accuracy,
            "train_auc": 0.99,
            "test_accuracy": 0.74,
            "test_auc": 0.78,
            "sev_plus": 1.1,
            "sev_plus_from_one": 1.1,
            "sev_minus": 1.5,
            "sev_minus_to_depth": 1.5,
            "reference_score": 0.4,
        }

    ours = {"reference_negative": True, "sev_plus": 2.2, "sev_minus": 1.1}
    for accuracy, explained in ((0.95, "random tree weights (1.10)"), (1.0, causes.NOT_MET)):
        done = [
            Done(
                Task("causes", "german", 0, "gbdt_random"),
                {"conditions": {"random tree weights": condition(accuracy)}},
                1,
            ),
            Done(Task("models", "german", 0, "gbdt"), ours, 1),
        ]
        found = {one["figure"]: one["met under"] for one in causes.differences(Results(done), printed_figures())}
        assert found["SEV+"] == explained
        tables = {table.caption: table.frame for table in causes.section(Results(done), printed_figures()).tables}
        (together,) = (frame for caption, frame in tables.items() if caption.startswith("The condition"))
        assert len(together) == (explained != causes.NOT_MET)
        if len(together):
            assert together[["nearest condition", "both within"]].values.tolist() == [["random tree weights", "yes"]]


@pytest.mark.parametrize(("median", "said"), [(2.5, "not explained"), (3.1, "the median explains it")])
def test_a_difference_before_restricted_training_is_said(median, said):
    done = [
        Done(
            Task("restricted", "compas", 0, name), {"sev_restricted_all_features": value, "reference_negative": True}, 1
        )
        for name, value in (("before", 3.57), ("median", median))
    ]
    sentences = restricted.section(Results(done), printed_figures()).sentences
    assert f"COMPAS before training has SEV(R) 3.57 (paper 3.20), with the median {median:.2f}: {said}." in sentences


def test_restricted_means_count_what_has_no_set_as_all_features():
    result = {"sev_restricted_all_features": 3.0, "sev_restricted": 1.2, "restricted_unexplainable": 0.344}
    done = [Done(Task("restricted", "compas", 0, "before"), result, 1)]
    lines = restricted.restricted_lines(Results(done), printed_figures())
    found = {line["figure"]: (line["paper"], line["ours"]) for line in lines if line["splits"]}
    assert found == {"SEV(R)": ("3.20", "3.000"), "unexplainable, %": ("34.40", "34.40")}


def test_what_the_authors_code_meets_is_counted():
    def found(plus, minus):
        return {"sev_plus_from_one": plus, "sev_minus_to_depth": minus, "reference_score": 0.4}

    code = {"the authors' code, mean": found(1.1, None), "the authors' code, median": found(1.0, 1.7)}
    done = [
        Done(Task("causes", "german", 0, "l2"), {"conditions": {"as described": found(4.2, 1.0)}}, 1),
        Done(Task("causes", "german", 0, "l2_code"), {"conditions": code}, 1),
    ]
    (said,) = causes.by_the_code(Results(done), printed_figures())
    assert said.startswith("Of 2 means of SEV on Adult and German Credit")
    assert "0 are within 0.3" in said
    assert "1 by the authors' code with the mean, and 2 by it with the median" in said
    assert causes.by_the_code(Results([]), printed_figures()) == []


def test_what_does_not_reach_the_paper_is_named_with_both_figures():
    good = {"test_accuracy": 0.76, "test_auc": 0.80, "reference_negative": True}
    done = [
        Done(Task("models", "german", 0, "lr_plus"), good | {"sev_plus": 1.02}, 1),
        Done(Task("models", "german", 0, "lr_minus"), good | {"sev_minus": 1.01}, 1),
        Done(Task("models", "german", 0, "l2"), good | {"sev_plus": 4.2, "sev_minus": 1.7}, 1),
    ]
    section = overview.section(Results(done), printed_figures())
    assert any(text.startswith("Optimised models: 1 of 2 are at least as good") for text in section.sentences)
    baselines, missed = (table.frame for table in section.tables)
    assert missed.to_numpy().tolist() == [["German Credit", "All-Opt+ LR", "SEV+ 1.020 above 1.00"]]
    assert baselines.to_numpy().tolist() == [
        ["German Credit", "L2 LR", "accuracy", "0.73", "0.760", "no"],
        ["German Credit", "L2 LR", "AUC", "0.76", "0.800", "no"],
        ["German Credit", "L2 LR", "SEV+", "1.00", "4.200", "no"],
    ]
