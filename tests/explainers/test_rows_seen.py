"""Through the public interface: the model sees the user's own rows, and rows mixed as the user would mix them."""

import cases
import numpy as np
import pandas as pd
import pytest
from oracle import oracle
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import sev


def assert_smallest(one, score, features):
    size, sets = oracle(score, one.query.to_dict(), one.reference.to_dict(), features, threshold=one.threshold)
    assert one.size == size
    assert {frozenset(names) for names in one.sets} == sets


def test_none_stays_none_in_object_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: pd.Series(rng.choice(["a", "b", None], 120), dtype=object) for name in ("u", "v", "w")})
    seen = set()

    def score(rows):
        for column in rows:
            seen.update(type(value) for value in rows[column])
        return np.mean([[value is None for value in rows[column]] for column in rows], axis=0)

    explainer = sev.Explainer(score, frame, threshold=0.3, reference=pd.Series({"u": "a", "v": "a", "w": "a"}))
    many = explainer.explain(frame)
    assert seen == {str, type(None)}
    expected = frame.isna().sum(axis=1).astype(float)
    np.testing.assert_array_equal(np.nan_to_num(many.sizes), expected)


@pytest.mark.parametrize("reference", ["mean", "auto"])
def test_integers_that_a_pipeline_makes_text_of(reference):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 5, size=(200, 4)), columns=list("abcd"))
    y = ((frame["a"] == 3) * 2 + (frame["b"] > 2) + rng.normal(size=200) / 2 > 1).astype(int)
    text = FunctionTransformer(lambda rows: rows.astype(str), feature_names_out="one-to-one")
    model = make_pipeline(text, OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(frame, y)
    explainer = sev.Explainer(model, frame, y, reference=reference)
    many = explainer.explain(frame.iloc[:60])
    columns = list(frame.columns)

    def score(rows):
        """Each vertex alone, each cell as it is in the row that it comes from."""
        alone = [pd.DataFrame({c: [row[c]] for c in columns}) for row in rows]
        return np.array([model.predict_proba(one)[0, 1] for one in alone])

    found = 0
    for number, one in enumerate(many):
        if one.status not in ("optimal", "unexplainable"):
            continue
        query = {c: int(frame[c].iloc[number]) for c in columns}
        other = {c: int(v) if float(v).is_integer() else float(v) for c, v in one.reference.items()}
        from itertools import combinations

        for size in range(1, 5):
            vertices = list(combinations(columns, size))
            scores = score([{c: other[c] if c in chosen else query[c] for c in columns} for chosen in vertices])
            works = {frozenset(chosen) for chosen, one_score in zip(vertices, scores, strict=True) if one_score < 0.5}
            if works:
                break
        assert {frozenset(names) for names in one.sets} == works
        found += 1
    assert found > 10
    many.verify()


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, np.float32])
def test_arrays_reach_callables_in_their_dtype(dtype):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, size=(80, 5)).astype(dtype)
    seen = set()

    def score(rows):
        seen.add(rows.dtype)
        return rows.astype(float).mean(axis=1)

    explainer = sev.Explainer(score, X, threshold=0.5, reference=np.zeros(5, dtype=dtype))
    many = explainer.explain(X)
    assert seen == {np.dtype(dtype)}
    assert set(many.statuses) == {"optimal", "not_target"}


def test_integers_beyond_2_to_53_are_not_rounded():
    X = np.array([[2**53 + 1, 0], [2**53 + 3, 1], [2**53, 0], [0, 1]])
    explainer = sev.Explainer(lambda rows: (rows[:, 0] % 2) * 1.0, X, threshold=0.5, reference=X[3])
    assert explainer.explain(X).statuses.tolist() == ["optimal", "optimal", "not_target", "not_target"]


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_queries_of_float64_keep_their_digits_beside_a_background_of_float32(container):
    X, y = cases.numbers()
    background = container((X / 10).astype(np.float32))
    queries = container(X / 10 + 1e-9)

    def score(rows):
        return np.asarray(rows, dtype=np.float64).sum(axis=1)

    explainer = sev.Explainer(
        score,
        background,
        y,
        threshold=0.0,
        reference=background[:1] if container is np.asarray else background.iloc[0],
        allow_positive_reference=True,
    )
    np.testing.assert_array_equal(explainer.explain(queries).scores, score(queries))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_nan_and_null_stay_apart(library):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(3)
    table = pl.DataFrame({name: rng.choice([0.0, 1.0, np.nan], 60) for name in "abc"})
    table = table.with_columns(pl.when(pl.col("a") == 1.0).then(None).otherwise(pl.col("a")).alias("a"))
    given = table if library == "polars" else table.to_arrow()

    def score(rows):
        rows = rows if library == "polars" else pl.from_arrow(rows)
        return sum(rows[name].is_nan().fill_null(False).cast(pl.Float64) for name in "abc").to_numpy() / 3

    explainer = sev.Explainer(score, given, threshold=0.3, reference={"a": 0.0, "b": 0.0, "c": 0.0})
    many = explainer.explain(given)
    np.testing.assert_array_equal(many.scores, score(given))
    np.testing.assert_array_equal(np.nan_to_num(many.sizes), np.round(score(given) * 3))
    many.verify()


def test_columns_1_and_text_1_are_two_features():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=[1, "1", "x"])
    explainer = sev.Explainer(
        lambda rows: rows[1] - 10 * rows["1"], frame, threshold=0.0, reference=pd.Series({1: -9.0, "1": 9.0, "x": 0.0})
    )
    assert len(explainer.feature_names) == 3
    many = explainer.explain(frame)
    assert set(many.sizes[many.statuses == "optimal"]) == {1.0}
    assert explainer.explain(frame, restricted=[1]).restricted == ("1 (int)",)
    assert explainer.explain(frame, restricted=["1"]).restricted == ("1",)
