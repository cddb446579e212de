"""The data that each picture draws."""

import numpy as np
import pandas as pd
import pytest
import show_cases as cases
from sklearn.linear_model import LogisticRegression

import sev
from sev import plots
from sev.core import Status
from sev.exceptions import InputError, UnknownFeatureError, VerificationError
from sev.plots import (
    _changes,
    _feature_shares,
    _flips,
    _flow,
    _hypercube,
    _menu,
    _methods,
    _ranges,
    _regions,
    _score_path,
    _sizes,
    _together,
    _tradeoff,
)
from sev.plots._shown import speaker_of


def test_sizes_keeps_every_explained_row():
    table = _sizes._prepare({"a": cases.every_status(), "b": cases.made([(Status.OPTIMAL, [(0,)])])})
    assert table.set_index(["series", "size"])["count"].to_dict() == {
        ("a", "1"): 1,
        ("a", "2"): 1,
        ("a", "3"): 1,
        ("a", "unexplainable"): 1,
        ("a", "undecided"): 1,
        ("a", "error"): 1,
        ("b", "1"): 1,
        ("b", "2"): 0,
        ("b", "3"): 0,
        ("b", "unexplainable"): 0,
        ("b", "undecided"): 0,
        ("b", "error"): 0,
    }
    assert table[table["series"] == "a"]["share"].sum() == pytest.approx(1)


def test_sizes_of_nothing_explained():
    table = _sizes._prepare({"": cases.made([(Status.NOT_TARGET, [])])})
    assert table["count"].tolist() == [0]
    assert table["share"].tolist() == [0.0]
    plots.sizes(cases.made([(Status.NOT_TARGET, [])]))


def test_sizes_zero_has_its_bar():
    table = _sizes._prepare({"": cases.made([(Status.OPTIMAL, [()])], kind="plus")})
    assert table["size"].tolist() == ["0", "1"]


def test_feature_shares_marks_restricted_ones_and_never_leaves_them_out():
    many = cases.made([(Status.OPTIMAL, [(0,)]), (Status.OPTIMAL, [(0, 1)])], restricted=("debt",))
    table = _feature_shares._prepare({"": many}, "first", 2)
    assert table[["feature", "share", "restricted"]].values.tolist() == [["age", 1.0, False], ["debt", 0.0, True]]
    ax = plots.feature_shares(many)
    assert "restricted" in [text.get_text() for text in ax.texts]


def test_feature_shares_can_look_at_all_sets():
    many = cases.made([(Status.OPTIMAL, [(0,), (1,)])])
    table = _feature_shares._prepare({"": many}, "any", 5)
    assert table.set_index("feature")["share"].to_dict() == {"age": 1.0, "income": 1.0}


def test_together_counts_pairs():
    many = cases.made([(Status.OPTIMAL, [(0, 1)]), (Status.OPTIMAL, [(0,)]), (Status.UNEXPLAINABLE, [])])
    table = _together._prepare(many, 5)
    assert table.to_numpy().tolist() == [[1.0, 0.5], [0.5, 0.5]]


def test_together_of_nothing_explained_can_be_drawn():
    plots.together(cases.made([(Status.UNEXPLAINABLE, [])]))


def test_flow_counts_every_row_once_and_orders_sizes_first():
    before, after = cases.every_status(), cases.every_status()[::-1]
    after._queries = before._queries
    table = _flow._prepare(before, after)
    assert table["rows"].sum() == 7
    assert table["before"].tolist() == ["1", "2", "3", "unexplainable", "undecided", "error", "not_target"]


def test_flow_leaves_out_only_rows_that_neither_explains():
    many = cases.every_status()
    assert _flow._prepare(many, many)["rows"].sum() == 6


def test_flow_of_different_rows_is_refused():
    with pytest.raises(InputError, match="the same rows"):
        plots.flow(cases.every_status(), cases.every_status()[:3])
    with pytest.raises(InputError, match="row 0 is labelled 0 in one and 6 in the other"):
        plots.flow(cases.every_status(), cases.every_status()[::-1])


def test_changes_lists_features_of_the_sets_first():
    one = cases.every_status()[1]
    table = _changes._prepare(one, 2, 3, speaker_of(one))
    assert table["feature"].tolist() == ["age", "income", "debt"]
    assert table["the change (1)"].tolist() == ["-1.50", "-2.50", ""]
    assert table["the change (2)"].tolist() == ["", "-2.50", "-3.50"]
    assert table["query"].tolist() == ["1", "11", "21"]


def test_changes_of_plus_shows_what_the_query_brings():
    one = cases.made([(Status.OPTIMAL, [(1,)])], kind="plus")[0]
    table = _changes._prepare(one, 1, 3, speaker_of(one))
    assert table["what is enough"].tolist() == ["10", "", ""]


@pytest.mark.parametrize("row", range(7))
def test_changes_draws_every_status(row):
    ax = plots.changes(cases.every_status()[row])
    assert ax.get_title(loc="left").startswith(("Predicted 'bad'", "Not predicted 'bad'", "The model failed"))


@pytest.fixture(scope="module")
def two():
    return next(one for one in cases.loan_explainer().explain(cases.loans()[0]) if one.size == 2)


def test_hypercube_has_all_vertices_and_the_models_own_scores(two):
    vertices, edges = _hypercube._prepare(two, ("amount", "months", "age"), None)
    assert len(vertices) == 8
    assert len(edges) == 12
    assert vertices["score"].iloc[0] == pytest.approx(two.score)
    model = cases.loan_model()
    row = two.query.to_frame().T.astype(float)
    row[["amount", "age"]] = two.reference[["amount", "age"]].to_numpy(dtype=float)
    of_two = vertices.set_index("letters").loc["AC", "score"]
    assert of_two == pytest.approx(model.predict_proba(row)[0, 1])


def test_shortest_paths_lead_to_the_sets_and_nowhere_else(two):
    names = two.features + tuple(name for name in two.columns if name not in two.features)[:1]
    vertices, edges = _hypercube._prepare(two, names, None)
    ends = {frozenset(vertices["changed"][end]) for end in edges.loc[edges["shortest"], "end"]}
    inside = {frozenset(one) for one in two.sets if set(one) <= set(names)}
    assert inside <= ends
    assert all(any(end <= one for one in inside) for end in ends)


def test_plus_starts_at_the_reference(two):
    plus = cases.loan_explainer().explain_one(two.query, kind="plus")
    vertices, _ = _hypercube._prepare(plus, plus.features, None)
    assert not vertices["positive"].iloc[0]
    assert vertices["positive"].iloc[-1]


def test_a_cube_has_one_to_four_features(two):
    with pytest.raises(InputError, match="one to four"):
        plots.hypercube(two, features=list(two.columns))
    with pytest.raises(UnknownFeatureError, match="nobody"):
        plots.hypercube(two, features=["nobody"])
    with pytest.raises(InputError, match="at most 10 features, got 12"):
        cases.made([(Status.OPTIMAL, [(0,)])], tuple("abcdefghijkl"))[0].vertices(
            "abcdefghijkl", explainer=two_source()
        )


def two_source():
    return cases.loan_explainer()


def test_score_path_ends_where_the_explanation_ends(two):
    table = _score_path._prepare(two, None, speaker_of(two))
    assert table["score"].iloc[0] == pytest.approx(two.score)
    assert table["score"].iloc[-1] == pytest.approx(two.result_score)
    assert table["positive"].tolist() == [True, True, False]
    assert table["label"].iloc[0] == "query"
    steps = pd.DataFrame([two.query] * 2).astype(float).reset_index(drop=True)
    for row, name in enumerate(two.features):
        steps.loc[row, name] = two.reference[name]
    alone = cases.loan_model().predict_proba(steps)[:, 1]
    assert table["score"].iloc[1] == pytest.approx(alone.min())


def test_no_path_without_a_set():
    with pytest.raises(InputError, match="unexplainable"):
        plots.score_path(cases.every_status()[3])


def test_scores_need_a_model_which_may_be_passed(two):
    stored = type(cases.every_status()).from_json(cases.loan_explainer().explain(cases.loans()[0][:60]).to_json())
    one = next(one for one in stored if one.sets)
    with pytest.raises(VerificationError, match="pass explainer="):
        one.vertices()
    assert len(one.vertices(explainer=cases.loan_explainer())) == 16


def test_regions_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"])
    rows = plots.plane({"a": (-3.0, 3.0), "b": (-3.0, 3.0)}, n=7)
    from sev import Explainer

    explainer = Explainer(lambda rows: np.asarray(rows).sum(axis=1), X, reference=[0.0, -0.5], threshold=1.0)
    codes, scores, reference, threshold = _regions._prepare(explainer.explain(rows))
    assert codes.loc[3.0, 3.0] == 2  # either alone leaves the other above the line
    assert codes.loc[0.0, 2.0] == 1  # the first one alone crosses
    assert codes.loc[-3.0, 0.0] == 0
    assert threshold == 1.0
    assert reference.tolist() == [0.0, -0.5]
    assert scores[0, 0] == -6.0


def test_regions_need_a_grid():
    scattered = cases.made([(Status.OPTIMAL, [(0,)])] * 3, ("a", "b"))
    with pytest.raises(InputError, match="regular grid"):
        plots.regions(scattered)
    with pytest.raises(InputError, match="two columns"):
        plots.regions(cases.every_status())
    with pytest.raises(InputError, match="two features"):
        plots.plane({"a": (0, 1)})


METHODS = pd.DataFrame(
    {
        "method": ["SEV"] * 3 + ["LIME-C"] * 3,
        "query": [0, 1, 2] * 2,
        "flips": [1, 2, 1, 4, np.nan, 12],
        "seconds": [0.1, 0.1, 0.4, 1.0, 1.0, 4.0],
    }
)


def test_methods_means_are_over_answered_queries():
    table = _methods._prepare(METHODS)
    assert table["flips"].tolist() == [pytest.approx(4 / 3), 8.0]
    assert table["seconds"].tolist() == [pytest.approx(0.2), 2.0]
    assert table["unanswered"].tolist() == [0, pytest.approx(1 / 3)]


def test_flips_show_queries_without_an_answer():
    table = _flips._prepare(METHODS, 3).set_index(["series", "size"])["count"]
    assert table["SEV"].to_dict() == {"1": 2, "2": 1, "rest": 0, "none": 0}
    assert table["LIME-C"].to_dict() == {"1": 0, "2": 0, "rest": 2, "none": 1}
    ticks = [tick.get_text() for tick in plots.flips(METHODS, most=3).get_xticklabels()]
    assert ticks == ["1", "2", "3 or more", "none found"]


def test_tables_without_their_columns_are_refused():
    with pytest.raises(InputError, match="flips"):
        plots.methods(METHODS.drop(columns="flips"))
    with pytest.raises(InputError, match="mean_size"):
        plots.tradeoff(pd.DataFrame({"accuracy": [1.0]}))
    with pytest.raises(InputError, match="lacks the columns"):
        plots.tradeoff(pd.DataFrame({"accuracy": [1.0]}), size="nothing")


@pytest.mark.parametrize(
    ("kinds", "restricted", "size", "label"),
    [
        (("plus", "minus"), (), None, "mean SEV-"),
        (("plus",), (), None, "mean SEV+"),
        (("plus", "minus"), ("age",), "sev_restricted", "mean SEV(R)"),
    ],
)
def test_tradeoff_draws_what_compare_returns(kinds, restricted, size, label):
    X, y = cases.loans()
    models = {"one": cases.loan_model(), "other": cases.loan_model()}
    table = sev.compare(models, X, y, kinds=kinds, restricted=restricted, max_rows=20)
    ax = plots.tradeoff(table, size=size)
    assert ax.get_xlabel().startswith(f"{label}:")
    column = size or f"sev_{kinds[-1]}"
    points = np.concatenate([drawn.get_offsets() for drawn in ax.collections])
    assert points.tolist() == table[[column, "accuracy"]].to_numpy().tolist()


def test_tradeoff_names_models_without_a_point():
    table = pd.DataFrame({"accuracy": [0.7, 0.8], "mean_size": [1.5, np.nan]}, index=["a", "b"])
    points, without = _tradeoff._prepare(table, "accuracy", "mean_size")
    assert points.index.tolist() == ["a"]
    assert without == ["b"]


def test_results_delegate(two):
    many = cases.every_status()
    assert many.plot_sizes().get_title(loc="left").startswith("How many")
    assert many.plot_features().get_title(loc="left") == "Features that explain"
    assert many.plot_together().get_title(loc="left") == "Features that explain together"
    assert two.plot().get_title(loc="left") == "Predicted 'refuse': 2 features undo it"
    assert two.plot("hypercube").get_title(loc="left") == "SEV- = 2"
    assert "threshold" in two.plot("path").get_title(loc="left")
    with pytest.raises(InputError, match="is not a plot"):
        two.plot("pie")


def test_pictures_use_the_labels_of_the_results(monkeypatch):
    explainer = cases.loan_explainer()  # others use it as well
    labels = {"features": {"amount": {"label": "what you owe", "unit": "EUR"}}, "classes": {"refuse": "turned down"}}
    monkeypatch.setattr(explainer, "labels", sev.Labels(**labels))
    many = explainer.explain(cases.loans()[0][:60])
    one = next(one for one in many if one.features == ("amount",))
    ax = one.plot()
    drawn = " ".join(text.get_text() for text in ax.texts) + ax.get_title(loc="left")
    assert "what you owe" in drawn
    assert "EUR" in drawn
    assert "turned down" in " ".join(text.get_text() for text in ax.figure.findobj(type(ax.texts[0])))


def test_a_restricted_picture_says_which_features_its_proof_is_over():
    many = cases.loan_explainer().explain(cases.loans()[0][:300], restricted=["amount", "months"])
    headings = {_changes._make_headings(one, speaker_of(one))[1] for one in many if one.status == "optimal"}
    assert all(heading.startswith("no smaller set of the permitted features works") for heading in headings)
    assert any("a smaller one exists with features that may not be used" in heading for heading in headings)


@pytest.fixture(scope="module")
def recourse():
    """An explainer with actions, and explanations with ranges."""
    rows, labels = cases.loans()
    made = cases.loan_explainer()
    explainer = sev.Explainer(
        made.model, rows, labels, reference=made.reference, actions={"frozen": [made.feature_names[0]]}
    )
    return explainer, explainer.explain(rows[:80], values="any")


def test_ranges_hold_where_values_are_and_which_do(recourse):
    _, many = recourse
    kinds = set()
    for one in many:
        if one.size is None:
            continue
        table = _ranges._prepare(one, len(one.sets) - 1, speaker_of(one))
        changed = one.changes_of(len(one.sets) - 1)
        assert table["feature"].tolist() == list(changed)
        for line in table.to_dict("records"):
            change = changed[line["feature"]]
            assert "(now " in line["text"]
            if line["categories"] is None:
                assert (line["old"], line["new"]) == (change.old, change.new)
                assert line["low"] <= min(change.old, change.new) <= max(change.old, change.new) <= line["high"]
                assert len(line["values"]) > 10
                if change.enough is not None:
                    assert line["enough"][:2] == (change.enough.low, change.enough.high)
            else:
                shares = [share for _, share, _ in line["categories"]]
                assert sum(shares) == pytest.approx(1)
                told = {name: kind for name, _, kind in line["categories"]}
                assert told[line["old"]] == "old"
                assert told[line["new"]] == "do"
                assert line["old"] != line["new"]
            kinds.add(line["categories"] is None)
    assert kinds
    again = sev.Explanations.from_json(many.to_json())
    one = next(one for one in again if one.size)
    assert one.background() is None
    plots.ranges(one)  # without a background


def test_ranges_need_a_set(recourse):
    _, many = recourse
    with pytest.raises(InputError, match="There is no change to draw: the status is not_target"):
        plots.ranges(next(one for one in many if one.status == "not_target"))
    with pytest.raises(InputError, match="number=99 is not a set"):
        plots.ranges(next(one for one in many if one.size), number=99)


def test_the_menu_is_drawn_from_what_works(recourse):
    explainer, many = recourse
    one = next(one for one in many if one.size)
    table = explainer.menu(one.query, 2)
    drawn = _menu._prepare(table, explainer.labels, many.limits, 5)
    working = table[table["outcome"] == "works"].sort_values(["size", "cost"], kind="stable")
    assert len(drawn) == min(5, len(working)) > 0
    assert drawn["cost"].tolist() == working["cost"].head(5).tolist()
    assert drawn["changes"].str.contains("(now ", regex=False).all()
    head, below = _menu._make_headings(table, len(drawn), speaker_of(many))
    assert head.startswith(str(len(working)))
    assert f"{(table['outcome'] == 'cannot work').sum()} cannot" in below
    plots.menu(table[table["outcome"] == "cannot work"])
    with pytest.raises(InputError, match="lacks the column 'enough'"):
        plots.menu(table.drop(columns="enough"))


def test_a_cube_with_values_of_their_own_shows_the_first_set_alone():
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=list("abc"))
    labels = rows.sum(axis=1) > 0
    explainer = sev.Explainer(LogisticRegression().fit(rows, labels), rows, labels)
    one = next(one for one in explainer.explain(rows, values="any") if len(one.sets) > 1)
    names = _hypercube._main_features(one)
    vertices, edges = _hypercube._prepare(one, names, None)
    assert names == one.sets[0]
    assert edges["shortest"].sum() == len(names)
    assert not vertices.loc[vertices["n_changed"] == len(names), "positive"].any()
    every = tuple("abc")
    vertices, edges = _hypercube._prepare(one, every, None)
    ends = {frozenset(vertices["changed"][end]) for end in edges.loc[edges["shortest"], "end"]}
    assert ends == {frozenset(one.sets[0][: k + 1]) for k in range(len(one.sets[0]))} | {
        frozenset({name}) for name in one.sets[0]
    }


def test_means_state_over_which_rows_they_are():
    before = cases.made([(Status.OPTIMAL, [(0,)]), (Status.OPTIMAL, [(0, 1)]), (Status.OPTIMAL, [(0, 1, 2)])])
    after = cases.made([(Status.OPTIMAL, [(0,)]), (Status.OPTIMAL, [(0,)]), (Status.UNEXPLAINABLE, [])])
    assert _sizes._make_subtitle({"a": before, "b": after}, speaker_of(before)) == (
        "a: 3 explained rows, mean 2.00   b: 3 explained rows, mean 1.00 of the 2 with a set"
    )
    ax = plots.flow(before, after)
    texts = [text.get_text() for text in ax.texts]
    assert [text for text in texts if "mean" in text][:2] == ["before\nmean 1.50", "after\nmean 1.00"]
    assert any("means of the 2 with a set in both" in text for text in [*texts, ax.get_title(loc="left")])
