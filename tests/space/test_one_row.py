"""A single row reaches the model with the cells that its user gave, whatever holds them."""

import numpy as np
import pandas as pd
import pytest

import sev
from sev.space import TableForm

FRAME = pd.DataFrame(
    {
        "word": pd.Series(["a", None, "b"], dtype=object),
        "text": pd.array(["a", None, "b"], dtype="str"),
        "count": [1, 2, 3],
        "day": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
    }
)


@pytest.mark.parametrize("hold", ["series", "mapping", "sequence"])
@pytest.mark.parametrize("row", [0, 1])
def test_a_row_keeps_its_dtypes_and_missing_markers(hold, row):
    cells = {name: FRAME[name].array[row] for name in FRAME.columns}
    held = {"series": pd.Series(cells, dtype=object), "mapping": cells, "sequence": list(cells.values())}[hold]
    table = TableForm.of(FRAME).one_row(held)
    assert table.dtypes.tolist() == FRAME.dtypes.tolist()
    assert (table["word"].iloc[0] is None) == (row == 1)
    pd.testing.assert_frame_equal(table.reset_index(drop=True), FRAME.iloc[[row]].reset_index(drop=True))


def test_nan_and_null_stay_apart_in_a_mapping():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    background = polars.DataFrame({"a": [0.0, float("nan"), None], "b": [1, 2, None]})
    form = TableForm.of(background)
    for row in range(3):
        table = form.to_native(form.one_row(background.row(row, named=True)))
        assert table.equals(background[row], null_equal=True) or row == 1
        assert table["a"].is_null().to_list() == [row == 2]


@pytest.mark.parametrize(("cell", "other"), [(1, True), (1, 1.0), (None, float("nan")), (0.0, -0.0)])
def test_cells_that_compare_as_equal_may_differ_to_a_model(cell, other):
    """A model that reads the text of its cells tells them apart, so changing one for the other is a change."""

    def score(frame):
        return np.array([repr(value) == repr(cell) for value in frame["a"]], dtype=float)

    rows = pd.DataFrame({"a": pd.Series([cell, other], dtype=object), "b": [0, 1]})
    one = sev.Explainer(score, rows, reference=rows.iloc[[1]]).explain(rows.iloc[[0]])[0]
    assert (str(one.status), one.sets) == ("optimal", (("a",),))
