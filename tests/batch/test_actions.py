"""Batches with actions and free values: what files say is what the explanations in memory say."""

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from batch import tables
from files import loans
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import sev
from sev.batch import PartitionExplainer, explain_files
from sev.exceptions import BatchError, InputError

ACTIONS = sev.Actions(
    frozen=["home"], decrease=["age"], within={"income": ("-20", "+20")}, costs={"branch": 2.5}, steps={"income": 5}
)
OPTIONS = {"values": "any", "actions": ACTIONS}


@pytest.fixture(scope="module")
def explainer():
    reference = {"age": 30, "income": 50.0, "branch": "x", "home": "own"}
    return loans.explainer(GradientBoostingClassifier(n_estimators=12, random_state=0), reference=reference)


@pytest.fixture(scope="module")
def rows():
    return tables.applications(120)


@pytest.fixture(scope="module")
def written(explainer, rows):
    found = PartitionExplainer.of(explainer, changes=True, sentences=True, **OPTIONS)(rows)
    return found, explainer.with_actions(ACTIONS).explain(rows, values="any")


def _cell(value):
    return None if pd.isna(value) else value


def test_old_new_enough_and_cost_are_those_of_the_explanations(written):
    table, many = written
    ranges = lists = 0
    for row, one in enumerate(many):
        line = table.iloc[row]
        for name in ("age", "income", "branch"):
            change = one.changes.get(name)
            old, new = _cell(line[f"{name}_old"]), _cell(line[f"{name}_new"])
            assert (old, new) == ((None, None) if change is None else (_cell(change.old), _cell(change.new)))
        for name in ("age", "income"):
            ends = [_cell(line[f"{name}_enough_{end}"]) for end in ("low", "high")]
            enough = one.enough.get(name)
            assert ends == ([None, None] if enough is None else [enough.low, enough.high])
            ranges += enough is not None
        assert line["branch_enough"] is pd.NA or tuple(line["branch_enough"]) == one.enough["branch"]
        lists += line["branch_enough"] is not pd.NA
        assert _cell(line["cost"]) == (None if one.cost is None else pytest.approx(one.cost))
        assert line["sentence"] == one.to_text()
        assert _cell(line["becomes"]) == one.becomes
        searched = line["status"] not in ("not_target", "error")
        assert _cell(line["proof_scope"]) == (one.proof_scope if searched else None)
    assert ranges > 20
    assert lists > 3
    assert table["cost"].nunique() > 10
    assert not any(name.startswith("home") for name in table.columns)


def test_numbers_with_listed_values_have_a_list_of_those_that_do(explainer, rows):
    actions = {"frozen": ["home", "branch"], "allowed": {"age": [20, 30, 40]}}
    table = PartitionExplainer.of(explainer, changes=True, values="any", actions=actions)(rows)
    many = explainer.with_actions(actions).explain(rows, values="any")
    known = table["age_enough"].dropna()
    assert len(known) > 3
    for row, texts in known.items():
        assert [float(text) for text in texts] == list(many[row].enough["age"])


@pytest.mark.parametrize("ending", ["parquet", "csv", "xlsx", "jsonl"])
def test_every_format_holds_ranges(explainer, rows, written, tmp_path, ending):
    source = tables.write(rows, tmp_path / "in.parquet")
    path = tmp_path / f"out.{ending}"
    explain_files(explainer, source, path, changes=True, **OPTIONS)
    high = [_cell(value) for value in written[0]["age_enough_high"]]
    lists = [None if value is pd.NA else list(value) for value in written[0]["branch_enough"]]
    if ending == "xlsx":
        head, *lines = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        assert [line[head.index("age_enough_high")] for line in lines] == high
        shown = [line[head.index("branch_enough")] for line in lines]
        assert shown == [None if one is None else ", ".join(one) for one in lists]
        return
    if ending == "jsonl":
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        table = {name: [line[name] for line in lines] for name in lines[0]}
    else:
        table = (pa.parquet.read_table(path) if ending == "parquet" else pa.csv.read_csv(path)).to_pydict()
    assert table["age_enough_high"] == high
    if ending == "csv":
        assert [one and json.loads(one) for one in table["branch_enough"]] == [one or "" for one in lists]
    else:
        assert table["branch_enough"] == lists


def test_the_manifest_holds_the_hash_of_the_actions_and_another_is_refused(explainer, rows, tmp_path):
    source = tables.write(rows, tmp_path / "in.parquet")
    explain_files(explainer, source, tmp_path / "out", **OPTIONS)
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert manifest["actions"] == ACTIONS.digest
    assert manifest["settings"]["values"] == "any"
    # an equal file of actions is the same batch; other actions or values are not
    ACTIONS.to_yaml(tmp_path / "actions.yaml")
    assert explain_files(explainer, source, tmp_path / "out", values="any", actions=tmp_path / "actions.yaml").rows
    with pytest.raises(BatchError, match="actions"):
        explain_files(explainer, source, tmp_path / "out", values="any", actions={"frozen": ["age"]})
    with pytest.raises(BatchError, match="values"):
        explain_files(explainer, source, tmp_path / "out", values="typical", actions=ACTIONS)
    # the explainer's own are hashed, too
    explain_files(explainer.with_actions(ACTIONS), source, tmp_path / "own")
    assert json.loads((tmp_path / "own" / "_manifest.json").read_text())["actions"] == ACTIONS.digest


def test_parts_rows_and_workers_do_not_change_results(explainer, rows, tmp_path):
    source = tables.write(rows, tmp_path / "in.parquet", row_group_size=17)
    explain_files(explainer, source, tmp_path / "out", n_jobs=2, changes=True, **OPTIONS)
    whole = PartitionExplainer.of(explainer, changes=True, **OPTIONS).arrow(
        pa.Table.from_pandas(rows, preserve_index=False)
    )
    found = tables.results(tmp_path / "out")
    for name in whole.column_names:
        assert found.column(name).to_pylist() == whole.column(name).to_pylist(), name


def _call(explain, table):
    return explain.arrow(table)


def test_the_partition_function_travels_to_other_processes(explainer, rows):
    """What engines do with it: pickled, called on arrow partitions elsewhere, with the declared schema."""
    explain = PartitionExplainer.of(explainer, changes=True, sentences=True, **OPTIONS)
    table = pa.Table.from_pandas(rows, preserve_index=False)
    pieces = [table.slice(first, 40) for first in range(0, 120, 40)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(_call, [explain] * 3, pieces))
    assert pa.concat_tables(parts).equals(explain.arrow(table))
    assert parts[0].schema.equals(explain.schema(table.schema))
    assert explain.arrow(table.slice(0, 0)).schema.equals(parts[0].schema)


def test_rows_that_cannot_be_read_have_nulls_in_all_further_columns(explainer, rows):
    table = pa.Table.from_pandas(rows.astype({"age": str}).replace({"age": {rows["age"].astype(str)[0]: "old"}}))
    found = PartitionExplainer.of(explainer, changes=True, **OPTIONS).arrow(table).to_pylist()
    bad = [line for line in found if line["status"] == "error"]
    assert bad
    for line in bad:
        assert all(line[name] is None for name in ("becomes", "proof_scope", "cost", "age_enough_low", "branch_enough"))


@pytest.mark.filterwarnings("ignore::sev.exceptions.FallbackWarning", "ignore::sev.exceptions.ReferenceWarning")
def test_what_a_row_of_several_classes_becomes_is_in_the_results():
    generator = np.random.default_rng(0)
    rows = pd.DataFrame(generator.normal(size=(200, 3)), columns=list("abc"))
    labels = np.array(["low", "middle", "high"])[np.digitize(rows.a + rows.b, [-0.7, 0.7])]
    model = LogisticRegression().fit(rows, labels)
    explainer = sev.Explainer(model, rows, labels, target="predicted")
    table = PartitionExplainer.of(explainer)(rows)
    many = explainer.explain(rows)
    assert [_cell(value) for value in table["becomes"]] == [many.becomes(row) for row in range(len(many))]
    assert set(table["becomes"].dropna()) == {"low", "middle", "high"}
    plus = PartitionExplainer.of(explainer, kind="plus")(rows)
    assert plus["becomes"].isna().all()


def test_wrong_combinations_are_refused_before_any_work(explainer, rows, tmp_path):
    source = tables.write(rows, tmp_path / "in.parquet")
    for options, match in (
        ({"kind": "plus", "values": "any"}, 'kind="plus"'),
        ({"kind": "plus", "actions": ACTIONS}, 'kind="plus"'),
        ({"values": "all"}, "values='all' is not known"),
        ({"minimise": "euros", "values": "any"}, "minimise='euros' is not known"),
        ({"actions": {"frozen": ["nobody"]}}, "frozen names 'nobody'"),
        ({"actions": 3}, "actions is 3"),
    ):
        with pytest.raises(InputError, match=match):
            explain_files(explainer, source, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
