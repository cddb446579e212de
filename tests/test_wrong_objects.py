"""What is passed in place of something else is refused by name, not by what Python meets inside."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import sev
from sev.exceptions import InputError, SevError

mpl.use("agg")


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.integers(0, 9, 60), "late": rng.integers(0, 5, 60), "age": rng.integers(20, 70, 60)})
    y = (X["debt"] + X["late"] > 6).astype(int)
    model = LogisticRegression().fit(X, y)
    explainer = sev.Explainer(model, X, y)
    many = explainer.explain(X[:20])
    return X, y, model, explainer, many


WRONG = {
    "rows of different lengths": lambda X, y, model, explainer, many: explainer.explain([[1, 2], [1]]),
    "labels is 5": lambda X, y, model, explainer, many: sev.Explainer(model, X, y, labels=5),
    "groups is 3": lambda X, y, model, explainer, many: sev.Explainer(model, X, y, groups=3),
    "got one that holds": lambda X, y, model, explainer, many: sev.Explainer(model, X, y, restricted=[["age"]]),
    "restricted must be a list of names, got 5": lambda X, y, model, explainer, many: explainer.explain(
        X[:2], restricted=5
    ),
    "time_limit='a'": lambda X, y, model, explainer, many: explainer.explain(X[:2], time_limit="a"),
    "n_jobs=0": lambda X, y, model, explainer, many: explainer.explain(X, n_jobs=0),
    "n_jobs=None": lambda X, y, model, explainer, many: explainer.explain(X, n_jobs=None),
    r"No row has the label \(0, 1\)": lambda X, y, model, explainer, many: many.loc[0, 1],
    "verify takes an explainer, got LogisticRegression": lambda X, y, model, explainer, many: many.verify(model),
    "verify takes an explainer, got int": lambda X, y, model, explainer, many: many[0].verify(5),
    "unrestricted takes an explainer": lambda X, y, model, explainer, many: many.unrestricted(model),
    "locks must be a list of names": lambda X, y, model, explainer, many: explainer.price(X.iloc[0], 5),
    "By.*name one column": lambda X, y, model, explainer, many: sev.references.By(["age"]),
    "codes is 5": lambda X, y, model, explainer, many: sev.reasons(many, 5),
    "reasons takes explanations of many": lambda X, y, model, explainer, many: sev.reasons(many[0], {}),
    "max_reasons='a'": lambda X, y, model, explainer, many: sev.reasons(many, {}, max_reasons="a"),
    "report takes explanations of many": lambda X, y, model, explainer, many: sev.report(many[0], "no.html"),
    "decisions names row 'a'": lambda X, y, model, explainer, many: sev.report(many, "no.html", decisions=["a"]),
    "no models to compare": lambda X, y, model, explainer, many: sev.compare(model, X, y),
    "kinds must be a list": lambda X, y, model, explainer, many: sev.compare({"a": model}, X, y, kinds=5),
    "methods must be a list": lambda X, y, model, explainer, many: sev.compare_methods(model, X, y, X[:2], methods=5),
    "Expected a sev.Explainer": lambda X, y, model, explainer, many: sev.batch.PartitionExplainer.of(model),
    "rows_per_part='a'": lambda X, y, model, explainer, many: sev.batch.explain_files(
        explainer, "x.csv", "out", rows_per_part="a"
    ),
    "n_jobs='a'": lambda X, y, model, explainer, many: sev.batch.explain_files(explainer, "x.csv", "out", n_jobs="a"),
    "plane needs a mapping": lambda X, y, model, explainer, many: sev.plots.plane(5),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_objects_are_refused_by_name(case, message):
    with pytest.raises(InputError, match=message):
        WRONG[message](*case)


@pytest.mark.parametrize("name", ["changes", "hypercube", "ranges", "score_path"])
def test_pictures_of_one_explanation_refuse_many(case, name):
    with pytest.raises(InputError, match=rf"plots\.{name} draws one explanation, got Explanations"):
        getattr(sev.plots, name)(case[-1])


@pytest.mark.parametrize("name", ["sizes", "feature_shares", "regions", "together"])
def test_pictures_of_many_explanations_refuse_one(case, name):
    with pytest.raises(InputError, match=rf"plots\.{name} draws explanations of many rows, got Explanation:"):
        getattr(sev.plots, name)(case[-1][0])


@pytest.mark.parametrize("name", ["flips", "menu", "methods", "tradeoff"])
def test_pictures_of_tables_refuse_other_objects(case, name):
    with pytest.raises(InputError, match="draws a table, got Explanations"):
        getattr(sev.plots, name)(case[-1])


def test_a_picture_of_no_models_says_so(case):
    with pytest.raises(InputError, match=r"plots\.sizes has nothing to draw"):
        sev.plots.sizes({})


def test_training_refuses_what_is_not_a_list(case):
    pytest.importorskip("torch")
    X, y, model, *_ = case
    with pytest.raises(InputError, match="restricted must be a list of names, got 5"):
        sev.SEVLogisticRegression(restricted=5).fit(X, y)
    for wrong in ({"penalties": 5}, {"penalties": ["a"]}, {"restricted": 5}):
        with pytest.raises(SevError, match=f"{next(iter(wrong))}.* must be a list"):
            sev.optimize(model, X, y, **wrong)
