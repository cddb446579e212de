"""pandas, polars, pyarrow and numpy in, the same answers out; column order never matters for named columns."""

import cases
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import sev
from sev.exceptions import InputError
from sev.space import TableForm


@pytest.fixture(scope="module")
def fitted():
    X, y = cases.table()
    return make_pipeline(cases.encoder(), LogisticRegression()).fit(X, y), X, y


def converted(frame, library):
    if library == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
    return frame


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_queries_may_come_in_any_table(fitted, library):
    model, X, y = fitted
    explainer = sev.Explainer(model, X, y)
    expected = explainer.explain(X.iloc[:50]).to_frame()
    got = explainer.explain(converted(X.iloc[:50], library)).to_frame()
    pd.testing.assert_frame_equal(expected, got)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_model_of_another_table_is_asked_in_its_own_form(library):
    X, y = cases.table()
    background = converted(X, library)
    seen = set()

    def score(rows):
        seen.add(type(rows))
        frame = rows.to_pandas()
        return 1 / (1 + np.exp(-((frame["age"] - 45) / 10 + (frame["colour"] == "red") - (frame["job"] == "none"))))

    explainer = sev.Explainer(score, background, y)
    many = explainer.explain(background[:30])
    plain = sev.Explainer(lambda frame: score(converted(frame, library)), X, y).explain(X[:30])
    assert seen == {type(background)}
    assert many.to_frame()["features"].tolist() == plain.to_frame()["features"].tolist()
    many.verify()


def test_column_order_and_extra_columns_do_not_matter(fitted):
    model, X, y = fitted
    explainer = sev.Explainer(model, X, y)
    shuffled = X[X.columns[::-1]].assign(label=y)
    pd.testing.assert_frame_equal(explainer.explain(X).to_frame(), explainer.explain(shuffled).to_frame())


def test_column_order_does_not_matter_for_a_table_of_numbers():
    X, y = cases.numbers()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    explainer = sev.Explainer(LogisticRegression().fit(frame, y), frame, y)
    pd.testing.assert_frame_equal(
        explainer.explain(frame).to_frame(), explainer.explain(frame[list("fcabed")]).to_frame()
    )


def test_missing_in_both_is_no_difference():
    from sev.space import FeatureSpace, MixedRows

    frame = pd.DataFrame({"n": [np.nan, 1.0], "t": [None, "a"], "i": [1, 2]})
    for column in frame:
        frame[column] = frame[column].convert_dtypes() if column == "i" else frame[column]
    space = FeatureSpace.of(frame)
    one_reference = MixedRows(space, frame, frame.iloc[[0]], np.zeros(2, dtype=int)).differing()
    assert one_reference.tolist() == [[False] * 3, [True] * 3]
    two_references = MixedRows(space, frame, frame, np.array([0, 0])).differing()
    assert two_references.tolist() == [[False] * 3, [True] * 3]


def test_one_row_in_many_forms(fitted):
    model, X, y = fitted
    explainer = sev.Explainer(model, X, y)
    row = int(np.flatnonzero(explainer.explain(X).sizes >= 1)[0])
    forms = [X.iloc[row], X.iloc[[row]], X.iloc[row].to_dict(), list(X.iloc[row]), tuple(X.iloc[row])]
    assert len({explainer.explain_one(form).features for form in forms}) == 1
    for form in forms:
        explainer.explain_one(form).verify()


def test_dtypes_survive_where_values_allow():
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [0.5, 1.0, 2.0],
            "c": pd.Categorical(["a", "b", "a"], categories=["b", "a"]),
            "t": ["u", "v", "u"],
            "b": [True, False, True],
        }
    )
    form = TableForm.of(frame)
    objects = form.to_frame(frame.astype(object))
    assert dict(objects.dtypes) == dict(frame.dtypes)
    unseen = form.to_frame(frame.assign(c=pd.Categorical(["z", "a", "b"])))
    assert unseen["c"].cat.categories.tolist()[:2] == ["b", "a"]
    assert unseen["c"].tolist() == ["z", "a", "b"]
    halves = form.to_frame(frame.assign(n=[1.5, 2.0, 3.0]))
    assert halves["n"].tolist() == [1.5, 2.0, 3.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, np.uint64, np.bool_])
@pytest.mark.parametrize("background", [np.float32, np.float64, np.int64, np.bool_])
def test_arrays_keep_their_dtype_whatever_the_background_has(background, dtype):
    form = TableForm.of(np.zeros((2, 3), dtype=background))
    rows = np.ones((1, 3), dtype=dtype)
    native = form.to_native(form.to_frame(rows))
    assert native.dtype == dtype
    np.testing.assert_array_equal(native, rows)


def test_a_row_without_dtypes_gets_the_background_s_where_that_keeps_its_values():
    form = TableForm.of(pd.DataFrame({"n": [1, 2], "x": np.array([0.5, 1.0], dtype=np.float32), "t": ["u", None]}))
    row = form.one_row({"n": 3.0, "x": 0.25, "t": None})
    assert dict(row.dtypes) == form.dtypes
    kept = form.one_row({"n": 3.5, "x": 0.1, "t": "u"})
    assert kept["n"].tolist() == [3.5]
    assert kept["x"].tolist() == [0.1]  # not the nearest float32


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros(4), "2-D"),
        (np.zeros((0, 3)), "no rows"),
        (np.array([["a", "b"]]), "dtype"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "unique"),
    ],
)
def test_backgrounds_that_cannot_be_used(rows, message):
    with pytest.raises(InputError, match=message):
        TableForm.of(rows)


def test_sparse_matrices_are_refused_with_a_remedy():
    from scipy.sparse import csr_matrix

    with pytest.raises(InputError, match="toarray"):
        TableForm.of(csr_matrix(np.eye(3)))
