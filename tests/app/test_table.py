"""The table of decisions: read as far as somebody looks, searched, sorted, and explained in the background."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sev.app import Service, Settings, Table
from sev.app._errors import ServiceError
from sev.app._statuses import Statuses
from sev.app._table import ROWS_OF_HEAD, Finder
from sev.exceptions import BatchError, InputError


@pytest.fixture
def large(loans, tmp_path):
    """A Parquet file with more rows than are read at once, missing cells, and text that looks like numbers."""
    _, applicants = loans
    n_rows = ROWS_OF_HEAD + 500
    frame = applicants.iloc[np.arange(n_rows) % len(applicants)].reset_index(drop=True)
    frame["applicant"] = np.arange(n_rows)
    frame["code"] = [f"{number:06d}" for number in range(n_rows)]
    frame["income"] = np.where(np.arange(n_rows) % 3 == 0, np.nan, np.arange(n_rows, dtype=float))
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n_rows), unit="D")
    path = tmp_path / "large.parquet"
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=3000)
    return path, frame


def test_only_the_first_rows_of_a_parquet_file_are_read(large, loans, monkeypatch):
    path, frame = large
    table = Table.open(path, loans[0].form, "applicant")
    assert table.n_rows == len(frame)
    assert table.head.num_rows < len(frame)
    monkeypatch.setattr(Table, "_read_column", lambda *arguments: pytest.fail("a whole column was read"))
    assert [one["applicant"] for one in table.cells(np.arange(20, 40))] == list(range(20, 40))
    rows, problems = table.frame(np.array([3, 1]), loans[0].form)
    assert problems == {}
    assert rows["duration"].tolist() == frame["duration"].iloc[[3, 1]].tolist()


def test_rows_further_down_are_the_same_as_in_the_file(large, loans):
    path, frame = large
    table = Table.open(path, loans[0].form)
    numbers = np.array([len(frame) - 1, 5, ROWS_OF_HEAD + 3])
    found = table.cells(numbers)
    for one, number in zip(found, numbers, strict=True):
        assert one["code"] == frame["code"].iloc[number]
        assert one["purpose"] == frame["purpose"].iloc[number]
        assert one["day"] == frame["day"].iloc[number].isoformat()
        income = frame["income"].iloc[number]
        assert one["income"] == (None if np.isnan(income) else income)


def test_text_that_looks_like_numbers_stays_text(loans, tmp_path):
    explainer, applicants = loans
    frame = applicants.head(20).assign(code=[f"{number:03d}" for number in range(20)])
    frame.to_csv(tmp_path / "few.csv", index=False)
    table = Table.open(tmp_path / "few.csv", explainer.form)
    assert table.kind_of("code") == "text"
    assert table.kind_of("duration") == "number"
    assert table.cells(np.array([7]))[0]["code"] == "007"


def test_conditions_meet_what_pandas_says(large, loans):
    path, frame = large
    finder = Finder(Table.open(path, loans[0].form))
    income = frame["income"]
    expected = {
        ("income", ">", 5000): income > 5000,
        ("income", "!=", 4): income != 4,
        ("income", "missing", None): income.isna(),
        ("income", "present", None): income.notna(),
        ("code", "contains", "0001"): frame["code"].str.contains("0001"),
        ("code", "=", "000042"): frame["code"] == "000042",
        ("day", "<", "2024-02-01"): frame["day"] < "2024-02-01",
        ("purpose", "!=", "education"): frame["purpose"] != "education",
    }
    for condition, rows in expected.items():
        assert finder.where(*condition).tolist() == rows.tolist(), condition
    with pytest.raises(ServiceError, match="does not hold text"):
        finder.where("income", "contains", "4")


@pytest.mark.parametrize("descending", [False, True])
def test_missing_cells_come_last(large, loans, descending):
    path, frame = large
    order = Finder(Table.open(path, loans[0].form)).sorted_by("income", descending=descending)
    assert sorted(order) == list(range(len(frame)))
    values = frame["income"].to_numpy()[order]
    known = np.isfinite(values)
    assert known[: known.sum()].all()
    assert np.all(np.diff(values[known]) * (-1 if descending else 1) > 0)


def test_files_that_cannot_be_read_are_named(loans, tmp_path):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 not really")
    with pytest.raises(BatchError, match=r"broken\.parquet"):
        Table.open(broken, loans[0].form)
    with pytest.raises(InputError, match=r"'aplicant'.*did you mean 'applicant'"):
        Table.of_frame(loans[1], "aplicant")


def test_statuses_come_in_the_background_and_wanted_rows_first(loans):
    explainer, applicants = loans
    statuses = Statuses(Table.of_frame(applicants), explainer, lambda: False)
    assert statuses.want([150, 151]) == 2
    first = statuses._next_rows(16)
    assert first.tolist() == [150, 151]
    statuses.compute(first)
    assert statuses.n_known == 2
    assert statuses.want([150]) == 0
    statuses.start()
    statuses._thread.join(300)
    assert statuses.is_complete
    many = explainer.explain(applicants[list(explainer.feature_names)])
    assert statuses.status.tolist() == [one.code for one in map(type(many[0].status), many.statuses)]
    assert statuses.score == pytest.approx(many.scores)
    statuses.stop()


def test_rows_that_do_not_fit_are_errors_and_stop_nobody(loans):
    explainer, applicants = loans
    frame = applicants.head(30).astype({"duration": object})
    frame.loc[4, "duration"] = "long"
    statuses = Statuses(Table.of_frame(frame.astype({"duration": str})), explainer, lambda: False)
    statuses.compute(np.arange(30))
    assert [row for row in range(30) if statuses.with_status(["error"])[row]] == [4]


def test_pages_of_rows_are_limited(loans, connect):
    explainer, applicants = loans
    client = connect(Service([("loans", explainer)], Table.of_frame(applicants), settings=Settings(rows_per_page=10)))
    assert len(client.get("/api/rows", params={"limit": 10}).json()["rows"]) == 10
    answer = client.get("/api/rows", params={"limit": 11})
    assert (answer.status_code, answer.json()["error"]["field"]) == (413, "limit")
