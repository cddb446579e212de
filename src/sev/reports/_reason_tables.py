"""The tables of reasons: a line for each reason, and a line for each decision."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sev.core import plain_value
from sev.explanations import Explanations
from sev.reports._data import row_label
from sev.reports._ranking import Ranking
from sev.reports._records import decision_after, decision_of
from sev.reports._spreadsheet import figure
from sev.text import Speaker, block_value
from sev.typing import Cell, ColumnLabel, PlainValue

#: A feature and its code: (rank, feature number, code, text).
Reason = tuple[int, int, str, str]
#: What a feature could do alone: (whether it can change the decision, with which share of its values).
Alone = tuple[bool, float]


def long_table(
    many: Explanations, ranking: Ranking, chosen: list[list[Reason]], alone: dict[tuple[int, int], Alone]
) -> pd.DataFrame:
    """One line for each reason of each decision."""
    answers = many.answers
    n_sets = np.diff(answers.offsets)
    names, columns = many.feature_names, list(many.columns.values())
    speaker = Speaker(many.columns, labels=many.labels)
    ids = [row_label(label) for label in many.index]
    queries, references = _list_cells(many.queries), _list_cells(many.references)
    lines = []
    for row, given in enumerate(chosen):
        for rank, feature, code, text in given:
            in_sets = int(ranking.in_sets[row, feature])
            lines.append(
                (
                    *(row, ids[row], decision_of(many, row), many.statuses[row]),
                    *(figure(answers.score[row]), figure(many.thresholds[answers.target[row]]), rank, names[feature]),
                    speaker.label(names[feature]),
                    _read_value(queries, row, names[feature], columns[feature]),
                    _read_value(references, int(ranking.donor[row, feature]), names[feature], columns[feature]),
                    *(code, text, figure(ranking.score_alone[row, feature]), figure(answers.result_score[row])),
                    *(in_sets, int(n_sets[row]), in_sets == int(n_sets[row])),
                    *alone.get((row, feature), (None, None)),
                )
            )
    return pd.DataFrame(lines, columns=_LONG)


_LONG = [
    *("row", "id", "decision", "status", "score", "threshold", "rank", "feature", "label", "value", "reference_value"),
    *("code", "text", "score_alone", "score_after", "in_sets", "n_sets", "in_every_set"),
    *("alone", "alone_share"),
]


#: What a record says of each reason; the rest stands beside it.
IN_RECORDS = [
    *("rank", "feature", "label", "value", "reference_value", "code", "text", "score_alone", "in_sets"),
    *("in_every_set", "alone", "alone_share"),
]


def _list_cells(frame: pd.DataFrame) -> dict[ColumnLabel, list[Cell]]:
    return {column: frame[column].tolist() for column in frame.columns}


def _read_value(
    cells: dict[ColumnLabel, list[Cell]], row: int, feature: str, columns: tuple[ColumnLabel, ...]
) -> PlainValue:
    if len(columns) == 1:
        return plain_value(cells[columns[0]][row])
    return block_value(feature, {column: cells[column][row] for column in columns}, columns)


def wide_table(
    many: Explanations,
    chosen: list[list[Reason]],
    alone: dict[tuple[int, int], Alone],
    cut: tuple[tuple[str, ...], ...],
    hidden: tuple[tuple[str, ...], ...],
    most: int,
) -> pd.DataFrame:
    """One line for each decision, with a column for each rank."""
    answers = many.answers
    by_rank: list[dict[int, tuple[str, str]]] = [{} for _ in chosen]
    for places, given in zip(by_rank, chosen, strict=True):
        for rank, _, code, text in given:
            places.setdefault(rank, (code, text))
    # a code of several features is within reach if one of them is
    able: list[dict[int, bool]] = [{} for _ in chosen]
    for row, given in enumerate(chosen):
        for rank, feature, _, _ in given:
            if (row, feature) in alone:
                able[row][rank] = able[row].get(rank, False) or alone[row, feature][0]
    nothing = (None, None)
    return pd.DataFrame(
        {
            "row": np.arange(len(many)),
            "id": pd.Series([row_label(label) for label in many.index], dtype=object),
            "decision": pd.Series([decision_of(many, row) for row in range(len(many))], dtype=object),
            "decision_after": pd.Series([decision_after(many, row) for row in range(len(many))], dtype=object),
            "status": many.statuses,
            "score": pd.Series([figure(score) for score in answers.score], dtype=object),
            "threshold": [figure(many.thresholds[target]) for target in answers.target],
            "size": pd.Series([None if np.isnan(size) else int(size) for size in many.sizes], dtype=object),
            "n_sets": np.diff(answers.offsets),
            "sets_complete": answers.complete,
            **{f"code_{rank}": [places.get(rank, nothing)[0] for places in by_rank] for rank in range(1, most + 1)},
            **{f"text_{rank}": [places.get(rank, nothing)[1] for places in by_rank] for rank in range(1, most + 1)},
            **{
                f"alone_{rank}": pd.Series([one.get(rank) for one in able], dtype=object) for rank in range(1, most + 1)
            },
            "n_cut": [len(features) for features in cut],
            "cut": ["; ".join(names) for names in cut],
            "hidden": ["; ".join(names) for names in hidden],
        }
    )
