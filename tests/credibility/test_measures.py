"""How ordinary rows are: every measure on mixed raw columns, its ranks, and its form in files."""

import json

import numpy as np
import pandas as pd
import pytest

from sev.credibility import (
    Credibility,
    GaussianMixture,
    IsolationForest,
    MixedCredibility,
    NearestNeighbours,
    OtherRows,
    as_measure,
    credibility_from_plain,
    credibility_to_plain,
)
from sev.exceptions import ArchiveError, InputError
from sev.references import Background
from sev.space import FeatureSpace, MixedRows, TableForm

MEASURES = [IsolationForest(n_trees=20), GaussianMixture(2), NearestNeighbours(3)]


def _mixed_table(n_rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "income": rng.normal(50, 10, n_rows),
            "children": rng.integers(0, 5, n_rows),
            "region": rng.choice(["north", "south", "west"], n_rows, p=[0.6, 0.38, 0.02]),
            "owner": rng.choice([True, False], n_rows),
            "paid_late": rng.choice([1.0, 0.0], n_rows),
            "kind_a": 0,
            "kind_b": 0,
            "kind_c": 0,
        }
    )
    kinds = rng.integers(0, 3, n_rows)
    for number, name in enumerate(("kind_a", "kind_b", "kind_c")):
        table[name] = (kinds == number).astype(int)
    table.loc[::13, "income"] = np.nan
    table.loc[::17, "region"] = None
    return table


def _others(table: pd.DataFrame | None = None) -> OtherRows:
    form = TableForm.of(_mixed_table() if table is None else table, None)
    rows = form.to_frame(_mixed_table() if table is None else table)
    space = FeatureSpace.of(rows, None)
    negatives = np.arange(len(rows)) % 3 > 0
    return OtherRows.of(Background(rows, negatives, form, space, lambda some: np.zeros(len(some), dtype=np.bool_)))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda one: type(one).__name__)
class TestEveryMeasure:
    def test_credibility_is_the_share_of_real_rows_that_are_less_ordinary(self, measure):
        others = _others()
        credibility = Credibility.of(measure, others)
        real = np.asarray(credibility.measure.ordinariness_of_real(others))
        rows = others.rows.iloc[:50]
        ordinary = credibility.measure.ordinariness(credibility.measure.encode(rows))
        expected = [(real < one).mean() for one in ordinary]
        assert credibility.of_rows(rows, others.form).tolist() == expected
        assert len(set(expected)) > 5

    def test_an_unusual_row_is_not_credible_and_a_common_one_is(self, measure):
        others = _others()
        unusual = others.rows.iloc[[0]].assign(income=500.0, children=40, region="moon")
        credibility = Credibility.of(measure, others)
        assert credibility.of_rows(unusual, others.form)[0] == 0.0
        assert credibility.of_rows(others.rows, others.form).max() > 0.9

    def test_the_limit_is_where_the_share_is_large_enough(self, measure):
        others = _others()
        credibility = Credibility.of(measure, others)
        ordinary = credibility.measure.ordinariness(credibility.measure.encode(others.rows))
        for share in (0.0, 1 / len(others.rows), 0.05, 1 / 3, 0.5, 1.0, 1.1):
            enough = credibility.shares(ordinary) >= share
            assert (ordinary > credibility.more_than(share)).tolist() == enough.tolist()

    def test_mixed_rows_are_measured_as_if_they_were_built(self, measure):
        others = _others()
        fitted = measure.fit(others)
        queries, references = others.rows.iloc[:30], others.rows.iloc[100:103]
        rng = np.random.default_rng(1)
        assigned = rng.integers(0, 3, 30)
        rows, sets = rng.integers(0, 30, 200), rng.random((200, len(others.space))) < 0.5
        built = MixedRows(others.space, queries, references, assigned).frame(rows, sets)
        mixed = MixedCredibility(fitted, queries, references, assigned).ordinariness(rows, sets)
        assert mixed.tolist() == fitted.ordinariness(fitted.encode(built)).tolist()

    def test_the_same_rows_have_the_same_values_in_every_batch_and_fit(self, measure):
        others = _others()
        one, other = measure.fit(others), measure.fit(others)
        together = one.ordinariness(one.encode(others.rows))
        alone = [other.ordinariness(other.encode(others.rows.iloc[[row]]))[0] for row in range(40)]
        assert together[:40].tolist() == alone

    def test_files_hold_it_exactly(self, measure):
        others = _others()
        credibility = Credibility.of(measure, others)

        def encode(value):
            return {"table": value.to_dict("split")} if isinstance(value, pd.DataFrame) else value

        def decode(plain):
            if isinstance(plain, dict) and "table" in plain:
                return pd.DataFrame(plain["table"]["data"], columns=plain["table"]["columns"])
            return plain

        plain = json.loads(json.dumps(credibility_to_plain(credibility, encode)))
        again = credibility_from_plain(plain, decode, others.rows.iloc[:1], len(others.space))
        rows = others.rows
        assert again.of_rows(rows, others.form).tolist() == credibility.of_rows(rows, others.form).tolist()
        assert again.name == credibility.name


def test_a_damaged_file_is_refused():
    others = _others()
    plain = credibility_to_plain(Credibility.of(IsolationForest(n_trees=3), others), lambda value: value)
    for path, value in (
        (("measure", "type"), "Popen"),
        (("measure", "left"), {"array": "AAAA", "dtype": "<i8", "shape": [3]}),
        (("measure", "left"), {"array": "", "dtype": "<i8", "shape": [0]}),
        (("ranks",), {"array": "", "dtype": "|O", "shape": [0]}),
        (("ranks",), []),
    ):
        damaged = json.loads(json.dumps(plain))
        place = damaged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with pytest.raises(ArchiveError):
            credibility_from_plain(damaged, lambda one: one, others.rows.iloc[:1], len(others.space))


def test_path_lengths_are_those_of_scikit_learn():
    from sklearn.ensemble import IsolationForest as Theirs

    rng = np.random.default_rng(2)
    others = _others(pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd")))
    fitted = IsolationForest(n_trees=50).fit(others)
    theirs = Theirs(n_estimators=50, max_samples=256, random_state=0).fit(others.rows.to_numpy(dtype=np.float32))
    scores = theirs.score_samples(others.rows.to_numpy(dtype=np.float32))
    lengths = fitted.ordinariness(fitted.encode(others.rows)) / 50
    expected = -np.log2(-scores) * _normaliser(256)
    assert np.abs(lengths - expected).max() < 1e-5


def _normaliser(n_rows: int) -> float:
    return 2.0 * (np.log(n_rows - 1.0) + np.euler_gamma) - 2.0 * (n_rows - 1.0) / n_rows


def test_sums_of_path_lengths_are_exact_in_every_order():
    others = _others()
    fitted = IsolationForest(n_trees=30).fit(others)
    leaves = fitted.value[fitted.left < 0]
    assert (leaves == np.round(leaves * 2.0**20) / 2.0**20).all()


def test_a_function_of_the_users_own():
    others = _others()
    credibility = Credibility.of(lambda rows: -rows["children"].to_numpy(), others)
    children = others.rows["children"].to_numpy()
    expected = [(children > one).mean() for one in children]
    assert credibility.of_rows(others.rows, others.form).tolist() == expected


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda rows: np.zeros(3), "shape"),
        (lambda rows: np.full(len(rows), np.nan), "NaN"),
        (lambda rows: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_function_that_fails_on_real_rows_is_an_error(function, problem):
    with pytest.raises(InputError, match=problem):
        Credibility.of(function, _others())


def test_a_function_cannot_be_saved():
    credibility = Credibility.of(lambda rows: -rows["children"].to_numpy(), _others())
    with pytest.raises(InputError, match="safe to load"):
        credibility_to_plain(credibility, lambda value: value)


@pytest.mark.parametrize("given", ["forest", 3, IsolationForest])
def test_what_is_no_measure_is_refused(given):
    with pytest.raises(InputError, match="credibility="):
        as_measure(given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: IsolationForest(n_trees=0),
        lambda: IsolationForest(max_samples=1),
        lambda: GaussianMixture(n_components=True),
        lambda: GaussianMixture(regularisation=0),
        lambda: NearestNeighbours(k=0),
    ],
)
def test_parameters_are_checked(make):
    with pytest.raises(InputError):
        make()
