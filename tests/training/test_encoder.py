"""The encoder inside the estimators: what becomes of each kind of column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from training.tables import raw

from sev.exceptions import InputError
from sev.training import TableEncoder


def test_each_encoded_column_comes_from_one_raw_column():
    frame, _ = raw()
    encoder = TableEncoder().fit(frame)
    encoded = encoder.transform(frame)
    assert encoded.shape[1] == len(encoder.column_source_)
    sources = [frame.columns[place] for place in encoder.column_source_]
    # numbers first, then where they were missing, then categories
    assert sources == ["age", "income", "constant", "income", *["home"] * 3, *["member"] * 2, *["region"] * 4]
    for place, column in enumerate(frame.columns):
        changed = frame.copy()
        changed[column] = np.roll(frame[column].to_numpy(), 1)
        moved = (encoder.transform(changed) != encoded).any(axis=0)
        assert set(np.flatnonzero(moved)) <= set(np.flatnonzero(encoder.column_source_ == place))


def test_numbers_are_scaled_or_left():
    frame, _ = raw()
    scaled = TableEncoder().fit_transform(frame)
    np.testing.assert_allclose(scaled[:, :2].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled[:, 0].std(), 1.0)
    left = TableEncoder(scale=False).fit_transform(frame)
    np.testing.assert_array_equal(left[:, 0], frame["age"])
    assert np.isnan(left[:, 1]).any()


def test_dates_count_in_days():
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-03", None])})
    days = TableEncoder(scale=False).fit_transform(frame)[:, 0]
    assert days[1] - days[0] == pytest.approx(2.0)
    assert np.isnan(days[2])


def test_whole_numbers_of_any_dtype_are_the_same_category():
    frame = pd.DataFrame({"code": pd.Categorical([1, 2, 3])})
    encoder = TableEncoder().fit(frame)
    np.testing.assert_array_equal(
        encoder.transform(frame), encoder.transform(pd.DataFrame({"code": [1.0, 2.0, 3.0]}, dtype=object))
    )


def test_text_where_numbers_were_is_refused():
    frame, _ = raw()
    encoder = TableEncoder().fit(frame)
    with pytest.raises(InputError, match="'age' was numeric in training"):
        encoder.transform(frame.assign(age="old"))
