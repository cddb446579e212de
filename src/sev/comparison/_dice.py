"""DiCE's counterfactuals by random sampling, on raw columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from sev.comparison._answers import Counterfactual
from sev.comparison._case import Case
from sev.comparison._quiet import quietly
from sev.typing import FloatArray, IntArray

_OUTCOME = "outcome of the comparison"


class _Model:
    """The model as DiCE calls it: two classes, the second of which is the one being explained, cut at 0.5."""

    def __init__(self, case: Case, decode: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        self._case = case
        self._decode = decode

    def predict_proba(self, rows: pd.DataFrame) -> FloatArray:
        scores = self._case.centred(self._decode(rows))
        return np.column_stack([1.0 - scores, scores])

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return (self.predict_proba(rows)[:, 1] >= 0.5).astype(int)


class _Frames:
    """Rows as DiCE takes them: quantities as numbers, everything else as text."""

    def __init__(self, case: Case) -> None:
        self._coding = case.coding
        self.names = [f"{number} {name}" for number, name in enumerate(self._coding.names)]
        self.continuous = [name for n, name in enumerate(self.names) if n not in self._coding.categorical]

    def to_frame(self, rows: FloatArray) -> pd.DataFrame:
        """Coded rows, as DiCE takes them."""
        columns: dict[str, pd.Series | np.ndarray] = {}
        for number, name in enumerate(self.names):
            if number in self._coding.categorical:
                columns[name] = pd.Series([f"{code:.0f}" for code in rows[:, number]], dtype=object)
            else:
                columns[name] = rows[:, number].astype(np.int64 if self._coding.is_whole(number) else np.float64)
        return pd.DataFrame(columns)

    def to_coded(self, frame: pd.DataFrame) -> FloatArray:
        """The way back."""
        return np.column_stack([frame[name].to_numpy(dtype=np.float64) for name in self.names])

    def decode(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of DiCE, in the common form."""
        return self._coding.decode(self.to_coded(frame))


def prepare(case: Case, options: dict[str, object]) -> Callable[[int], Counterfactual]:
    """One explainer; options are those of ``generate_counterfactuals``."""
    import dice_ml

    frames = _Frames(case)
    table = frames.to_frame(case.coding.background)
    table[_OUTCOME] = _choose_outcome(case)
    with quietly(case.random_state):
        data = dice_ml.Data(dataframe=table, continuous_features=frames.continuous, outcome_name=_OUTCOME)
        model = dice_ml.Model(model=_Model(case, frames.decode), backend="sklearn")
        explainer = dice_ml.Dice(data, model, method="random")
        rounding = data.get_decimal_precisions(output_type="dict")
    settings = {"total_CFs": 1, "desired_class": 0, "features_to_vary": _list_varying(case, frames), **options}

    def answer(query: int) -> Counterfactual:
        row = frames.to_frame(case.coding.queries[[query]])
        seed = case.seed(query)
        with quietly(seed):
            try:
                found = explainer.generate_counterfactuals(row, random_seed=seed, verbose=False, **settings)
            except Exception as error:
                if "No counterfactuals found" in str(error):  # that is an answer, not a failure
                    return Counterfactual([])
                raise
        examples = found.cf_examples_list[0]
        # the sparser one first; DiCE's search for it can end on a row that is no counterfactual
        tables = [examples.final_cfs_df_sparse, examples.final_cfs_df]
        rows = [_restore_values(case, frames, query, one, rounding) for one in tables if one is not None and len(one)]
        return Counterfactual(rows)

    return answer


def _choose_outcome(case: Case) -> IntArray:
    if case.labels is None:
        return case.is_positive(case.scores(case.background)).astype(int)
    return (case.labels == case.explainer.target).astype(int)


def _list_varying(case: Case, frames: _Frames) -> str | list[str]:
    if case.allowed.all():
        return "all"
    return [
        name for name, feature in zip(frames.names, case.coding.feature.tolist(), strict=True) if case.allowed[feature]
    ]


def _restore_values(
    case: Case, frames: _Frames, query: int, found: pd.DataFrame, rounding: dict[str, int]
) -> pd.DataFrame:
    """The counterfactual with the query's own values where DiCE only rounded them, or stored them as float32."""
    coded = frames.to_coded(found.iloc[[0]])
    mine = case.coding.queries[[query]]
    steps = np.array([10.0 ** -rounding.get(name, 0) if name in frames.continuous else 0.0 for name in frames.names])
    kept = (np.abs(coded - mine) < 0.5 * steps) | (np.abs(coded - mine) <= 1e-6 * np.abs(mine))
    kept |= np.isnan(coded) & np.isnan(mine)
    return case.coding.decode(np.where(kept, mine, coded))
