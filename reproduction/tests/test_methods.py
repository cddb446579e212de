"""Figure 4, tables 4 and 5, appendices G and H: small runs, and what is counted from known results."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from sev_reproduction import Plan, _peers, appendix_g, appendix_h, figure4, reproduce, table4, table5
from sev_reproduction._models import encoder
from sev_reproduction._paper import printed_figures
from sev_reproduction._task import Done, Results, Task

SMALL = Plan.of(quick=True, data=("german",), splits=(0,), max_train_rows=300, max_test_rows=40, max_queries=2)
PEERS = [name for name in ("shap", "lime", "dice_ml") if find_spec(name) is None]
needs_peers = pytest.mark.skipif(bool(PEERS), reason=f"needs {PEERS}: pip install 'sev[compare]'")


@needs_peers
def test_methods_side_by_side(tmp_path):
    found = reproduce(tmp_path, SMALL, only=["figure4", "table5", "appendix_h"])
    assert (found.done, found.failed, found.left) == (3, 0, 0)
    page = found.markdown.read_text()
    for title in (figure4.TITLE, table5.TITLE, appendix_h.TITLE):
        assert f"## {title}" in page
    methods = json.loads((tmp_path / "figure4" / "german-gbdt-0.json").read_text())["result"]["methods"]
    assert set(methods) == set(_peers.TITLES)
    assert all(len(one["flips"]) == 2 for one in methods.values())
    assert "| German Credit | paper | 0.0137 | 0.0053 | 0.0970 | 0.0711 | 0.2670 |" in page
    assert (tmp_path / "images" / "flips_german.png").exists()


def test_l2x(tmp_path):
    pytest.importorskip("torch")
    found = reproduce(tmp_path, SMALL, only=["appendix_g"])
    assert (found.done, found.failed, found.left) == (1, 0, 0)
    result = json.loads((tmp_path / "appendix_g" / "german-gbdt-0.json").read_text())["result"]
    assert list(result["k"]) == ["1", "2", "3", "5", "8", "13", "20"]
    assert "| the model itself |" in found.markdown.read_text()


def test_encoded_columns_go_with_their_features():
    X = pd.DataFrame(
        {
            "age": [1.0, 2.0, 3.0],
            "home": ["own", "rent", "free"],
            "home_town": ["a", "b", "c"],
            "phone": ["y", "n", "y"],
        }
    )
    encode = encoder(X).fit(X)
    columns = encode.get_feature_names_out().tolist()
    groups = appendix_g._groups(encode, columns)
    assert sorted(column for group in groups.values() for column in group) == sorted(columns)
    assert {name: len(group) for name, group in groups.items()} == {
        "feature age": 1,
        "feature home": 3,
        "feature home_town": 3,
        "feature phone": 1,
    }


def test_only_what_grows_is_upward():
    query = pd.Series({"age": 20, "juv_fel_count": 0, "priors_count": 3, "juvenile_crimes": 1, "juv_misd_count": 0})
    assert table4._upward(query, {"age": 40, "priors_count": 1, "juvenile_crimes": 5}) == ["juvenile_crimes"]
    assert table4._upward(query, {"priors_count": 3.0}) == []


def _table4(up: int) -> dict:
    counts = dict.fromkeys(table4.COUNTS, 0)
    return {
        "methods": {
            "sev": {"queries": 5, "answers": 4, "upward": 0, "by_count": counts},
            "dice": {"queries": 5, "answers": 4, "upward": up, "by_count": counts | {"priors_count": up}},
        },
        "examples": [
            {"score": 0.6, "sev": [{"age": 36.88}], "dice": [{"priors_count": 9.0}]},
            {"score": 0.4, "sev": [], "dice": []},
        ],
    }


def test_shares_are_over_the_answers_of_all_splits():
    done = [Done(Task("table4", "compas", n, "gbdt"), _table4(up), 1.0) for n, up in enumerate((1, 3))]
    section = table4.section(Results(done), printed_figures())
    shares = section.tables[0].frame.set_index("method")
    assert shares["ask for more crimes, %"].to_dict() == {"SEV-": "0.0", "DiCE": "50.0"}
    assert shares.loc["DiCE", ["priors_count", "answers", "queries", "splits"]].tolist() == [4, 8, 10, 2]
    rows = section.tables[1].frame.set_index("row")
    assert rows.loc["DiCE, paper", "juvenile_crimes"].tolist() == ["5", "7"]
    assert rows.loc["SEV-, ours", "age"] == "36.88"
    assert "ours: not predicted to re-offend" in rows.index


def _methods(**flips: list[float | None]) -> dict:
    return {
        name: {"flips": values, "seconds": [0.1 * (n + 1) for n in range(len(values))], "not_minimal": 1}
        for name, values in flips.items()
    }


def test_means_leave_out_what_has_no_answer():
    found = [_methods(sev=[1, 1], lime=[3, None]), _methods(sev=[2, 1])]
    line = figure4._make_line(found, "lime")
    assert line == {
        "method": "LIME-C",
        "mean flips": "3.00",
        "largest": 3,
        "one feature, %": "0.0",
        "proven not minimal, %": "50.0",
        "no answer, %": "50.0",
        "queries": 2,
        "splits": 1,
    }
    assert figure4._make_line(found, "dice") is None
    assert figure4._make_line(found, "sev")["mean flips"] == "1.25"


def test_tails_are_of_our_own_rows():
    methods = {name: {"seconds": [0.05, 0.2]} for name in ("sev", "shap-tree", "shap-kernel", "lime")}
    methods["dice"] = {"seconds": [None, None]}
    result = {"methods": methods, "tail_seconds": [0.05, 0.05, 0.7, 2.0], "tail_all_at_once": 0.001}
    done = [Done(Task("table5", "fico", 0, "gbdt"), result, 1.0)]
    medians, tails = (table.frame for table in table5.section(Results(done), printed_figures()).tables)
    assert medians["SEV-"].tolist() == ["0.1575", "0.1250"]
    assert medians["DiCE"].tolist() == ["0.2782", "no answer"]
    assert tails["slowest, s: paper"].tolist() == ["69.05", "0.19"]
    assert tails["slowest, s: ours"].tolist() == ["2.00", "0.20"]
    assert tails["below 0.1 s, %: ours"].tolist() == ["50.0", "50.0"]
    assert tails["below 1 s, %: ours"].tolist() == ["75.0", "100.0"]


def test_examples_show_each_size_first():
    assert appendix_h._different(np.array([1.0, np.nan, 1.0, 3.0, 2.0])) == [0, 4, 3]
    assert appendix_h._different(np.array([1.0, np.nan, 1.0])) == [0, 2]
