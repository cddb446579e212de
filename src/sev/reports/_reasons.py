"""Reason codes for every decision: tables for notices and a record for each."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sev.core import plain_value
from sev.exceptions import HiddenReasonWarning, InputError, UnmappedReasonError
from sev.explanations import Explanations
from sev.reports._codes import Codes, Direction, load_codes
from sev.reports._data import row_label
from sev.reports._ranking import Ranking, named_features, rank_features
from sev.reports._records import Provenance, decision_of, record
from sev.reports._spreadsheet import figure, to_csv
from sev.text import Speaker, block_value

#: A feature and its code: (rank, feature number, code, text).
_Reason = tuple[int, int, str, str]


@dataclass(frozen=True, eq=False)
class Reasons:
    """The reasons of every decision, ranked and coded.

    Attributes
    ----------
    table : DataFrame
        One line for each reason: ``row``, ``id``, ``decision``, ``status``, ``score``, ``threshold``, ``rank``,
        ``feature``, ``value``, ``reference_value``, ``code``, ``text``, ``score_alone`` (with this feature alone
        changed), ``score_after`` (with the first set changed), ``in_sets``, ``n_sets``, ``in_every_set``.
    wide : DataFrame
        One line for each row, whatever its status, with ``code_1``, ``text_1`` and so on.
    cut : tuple of tuple of str
        For each row, the features that its sets name and its reasons leave out, by rank.
    hidden : tuple of tuple of str
        For each row, the features that the unrestricted explanation names and the restricted one may not.
    """

    table: pd.DataFrame
    wide: pd.DataFrame
    cut: tuple[tuple[str, ...], ...]
    hidden: tuple[tuple[str, ...], ...]
    _explanations: Explanations
    _provenance: Provenance

    def records(self) -> Iterator[dict[str, Any]]:
        """One JSON record for each row, in order: the decision, its proof, its reasons, and where they come from."""
        lines: list[list[dict[str, Any]]] = [[] for _ in self.cut]
        plain = self.table[["row", *_IN_RECORDS]].astype(object).where(self.table.notna(), None)
        for line in plain.to_dict("records"):
            lines[line.pop("row")].append(line)
        many = self._explanations
        speaker = Speaker(many.columns, labels=many.labels)
        rows = zip(many.statements(), lines, self.cut, self.hidden, strict=True)
        for row, (statement, some, cut, hidden) in enumerate(rows):
            yield record(many, row, speaker.proof(statement), some, cut, hidden, self._provenance)

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``reasons.csv``, ``reasons_wide.csv`` and ``records.jsonl``; the same bytes for the same decisions.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.

        Returns
        -------
        list of Path
            The files.
        """
        folder = Path(folder)
        # all texts before the first file, so that a failure leaves no half of an answer behind
        lines = (json.dumps(one, ensure_ascii=False, allow_nan=False, sort_keys=True) for one in self.records())
        texts = {
            "reasons.csv": to_csv(self.table),
            "reasons_wide.csv": to_csv(self.wide),
            "records.jsonl": "".join(f"{line}\n" for line in lines),
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_bytes(text.encode("utf-8"))
        return [folder / name for name in texts]


def reasons(
    explanations: Explanations,
    codes: str | Path | Mapping[str, Any] | Codes,
    *,
    max_reasons: int = 4,
    explainer: Any = None,
    hashes: Mapping[str, str] | None = None,
) -> Reasons:
    """Rank the features of each decision over all its minimum sets and give them codes.

    First come features that are in more of the sets, then those that, changed alone, take the score further. Features
    that share a code share a rank. With restricted explanations the rows are explained once more without restriction,
    and features that the restriction hides are warned about and recorded: a notice has to name them.

    Parameters
    ----------
    explanations : Explanations
        The decisions.
    codes : path or mapping
        For each feature its code and text; see :func:`load_codes`.
    max_reasons : int, default=4
        Codes for one decision at most; what is cut is recorded.
    explainer : Explainer, default=None
        Needed only for explanations that were read from a file, which do not carry the model.
    hashes : mapping, default=None
        Your own hashes of ``model``, ``background`` or ``reference`` for the records, in place of those computed. For
        CatBoost give one of the model: copies of the same model hold different bytes.

    Raises
    ------
    UnmappedReasonError
        When a feature that would appear has no code, before anything is written.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import sev
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0], [4.0, 1.0]]
    >>> model = LogisticRegression().fit(X, [0, 0, 0, 1, 1, 1])
    >>> many = sev.Explainer(model, X, [0, 0, 0, 1, 1, 1]).explain([[5.0, 0.0]])
    >>> sev.reports.reasons(many, {"x0": {"code": "R1", "text": "Too much debt"}}).wide[["code_1", "text_1"]]
      code_1         text_1
    0     R1  Too much debt
    """
    if max_reasons < 1:
        raise InputError(f"max_reasons={max_reasons!r} must be at least 1.")
    source = explainer.source if explainer is not None else explanations.source
    if source is None:
        raise InputError("These explanations carry no model, which ranking asks for scores: pass explainer=.")
    loaded = load_codes(codes)
    ranking = rank_features(explanations, source)
    directions = _directions(explanations, ranking)
    chosen, cut = _choose(explanations, ranking, directions, loaded, max_reasons)
    hidden = _hidden(explanations, explainer)
    return Reasons(
        table=_long_table(explanations, ranking, chosen),
        wide=_wide_table(explanations, chosen, cut, hidden, max_reasons),
        cut=cut,
        hidden=hidden,
        _explanations=explanations,
        _provenance=Provenance.of(explanations, source, max_reasons, hashes or {}),
    )


def reason_table(
    explanations: Explanations, codes: str | Path | Mapping[str, Any] | Codes, **options: Any
) -> pd.DataFrame:
    """One line for each reason of each decision; see :func:`reasons`, whose options it takes."""
    return reasons(explanations, codes, **options).table


def _directions(many: Explanations, ranking: Ranking) -> dict[tuple[int, int], Direction]:
    """How each value that matters stands to the reference's."""
    directions: dict[tuple[int, int], Direction] = {}
    for feature, columns in enumerate(many.columns.values()):
        rows = np.flatnonzero(ranking.in_sets[:, feature])
        compared = _compared(many, rows, columns[0]) if len(columns) == 1 else np.zeros(len(rows))
        for row, sign in zip(rows.tolist(), compared.tolist(), strict=True):
            directions[row, feature] = "above" if sign > 0 else "below" if sign < 0 else "other"
    return directions


def _compared(many: Explanations, rows: Any, column: Any) -> Any:
    values, references = many.queries[column], many.references[column]
    if not all(pd.api.types.is_numeric_dtype(one.dtype) for one in (values, references)):
        return np.zeros(len(rows))
    mine = values.iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
    other = references.to_numpy(dtype=np.float64, na_value=np.nan)[many.answers.reference[rows]]
    return np.nan_to_num(np.sign(mine - other))


def _choose(
    many: Explanations, ranking: Ranking, directions: dict[tuple[int, int], Direction], codes: Codes, most: int
) -> tuple[list[list[_Reason]], tuple[tuple[str, ...], ...]]:
    """For each row the reasons that are given, and the features that are cut."""
    chosen: list[list[_Reason]] = []
    cut: list[tuple[str, ...]] = []
    unmapped: Counter[tuple[str, Direction]] = Counter()
    names = many.feature_names
    counts = (ranking.in_sets > 0).sum(axis=1).tolist()
    for row, count in enumerate(counts):
        given: list[_Reason] = []
        ranks: dict[str, int] = {}
        left: list[str] = []
        for feature in ranking.order[row, :count].tolist():
            direction = directions[row, feature]
            entry = codes.get(names[feature], direction)
            if entry is None:
                if len(ranks) < most:
                    unmapped[names[feature], direction] += 1
                left.append(names[feature])
            elif entry[0] in ranks or len(ranks) < most:
                given.append((ranks.setdefault(entry[0], len(ranks) + 1), feature, *entry))
            else:
                left.append(names[feature])
        chosen.append(given)
        cut.append(tuple(left))
    if unmapped:
        raise UnmappedReasonError(_unmapped_message(unmapped))
    return chosen, tuple(cut)


def _unmapped_message(unmapped: Counter[tuple[str, Direction]]) -> str:
    where = {"above": " above the reference", "below": " below the reference", "other": ""}
    listed = ", ".join(
        f"{name!r}{where[direction]} ({count} rows)" for (name, direction), count in unmapped.most_common()
    )
    return f"These would be reasons but have no code: {listed}. Add them to the map; nothing was written."


def _hidden(many: Explanations, explainer: Any) -> tuple[tuple[str, ...], ...]:
    """Features that a row's unrestricted sets name and its restriction leaves out."""
    if not many.restricted:
        return ((),) * len(many)
    named = named_features(many.unrestricted(explainer))
    restricted = [place for place, name in enumerate(many.feature_names) if name in many.restricted]
    hidden = tuple(tuple(many.feature_names[place] for place in restricted if row[place]) for row in named)
    counts = Counter(name for names in hidden for name in names)
    if counts:
        listed = ", ".join(f"{name!r} ({count})" for name, count in counts.most_common())
        warnings.warn(
            f"In {sum(map(bool, hidden))} of {len(many)} rows the restriction hides features that the unrestricted "
            f"explanation names: {listed}. A notice of reasons must not leave them out: restricted explanations tell "
            "what can be changed, not why a decision was made.",
            HiddenReasonWarning,
            stacklevel=3,
        )
    return hidden


def _long_table(many: Explanations, ranking: Ranking, chosen: list[list[_Reason]]) -> pd.DataFrame:
    answers = many.answers
    n_sets = np.diff(answers.offsets)
    names, columns = many.feature_names, list(many.columns.values())
    ids = [row_label(label) for label in many.index]
    queries, references = _cells(many.queries), _cells(many.references)
    lines = []
    for row, given in enumerate(chosen):
        for rank, feature, code, text in given:
            in_sets = int(ranking.in_sets[row, feature])
            lines.append(
                (
                    *(row, ids[row], decision_of(many, row), many.statuses[row]),
                    *(figure(answers.score[row]), figure(many.thresholds[answers.target[row]]), rank, names[feature]),
                    _value(queries, row, names[feature], columns[feature]),
                    _value(references, int(answers.reference[row]), names[feature], columns[feature]),
                    *(code, text, figure(ranking.score_alone[row, feature]), figure(answers.result_score[row])),
                    *(in_sets, int(n_sets[row]), in_sets == int(n_sets[row])),
                )
            )
    return pd.DataFrame(lines, columns=_LONG)


_LONG = [
    *("row", "id", "decision", "status", "score", "threshold", "rank", "feature", "value", "reference_value", "code"),
    *("text", "score_alone", "score_after", "in_sets", "n_sets", "in_every_set"),
]


#: What a record says of each reason; the rest stands beside it.
_IN_RECORDS = [
    *("rank", "feature", "value", "reference_value", "code", "text", "score_alone", "in_sets", "in_every_set"),
]


def _cells(frame: pd.DataFrame) -> dict[Any, list[Any]]:
    return {column: frame[column].tolist() for column in frame.columns}


def _value(cells: dict[Any, list[Any]], row: int, feature: str, columns: tuple[Any, ...]) -> Any:
    if len(columns) == 1:
        return plain_value(cells[columns[0]][row])
    return block_value(feature, {column: cells[column][row] for column in columns}, columns)


def _wide_table(
    many: Explanations,
    chosen: list[list[_Reason]],
    cut: tuple[tuple[str, ...], ...],
    hidden: tuple[tuple[str, ...], ...],
    most: int,
) -> pd.DataFrame:
    answers = many.answers
    by_rank: list[dict[int, tuple[str, str]]] = [{} for _ in chosen]
    for places, given in zip(by_rank, chosen, strict=True):
        for rank, _, code, text in given:
            places.setdefault(rank, (code, text))
    nothing = (None, None)
    return pd.DataFrame(
        {
            "row": np.arange(len(many)),
            "id": pd.Series([row_label(label) for label in many.index], dtype=object),
            "decision": pd.Series([decision_of(many, row) for row in range(len(many))], dtype=object),
            "status": many.statuses,
            "score": pd.Series([figure(score) for score in answers.score], dtype=object),
            "threshold": [figure(many.thresholds[target]) for target in answers.target],
            "size": pd.Series([None if np.isnan(size) else int(size) for size in many.sizes], dtype=object),
            "n_sets": np.diff(answers.offsets),
            "sets_complete": answers.complete,
            **{f"code_{rank}": [places.get(rank, nothing)[0] for places in by_rank] for rank in range(1, most + 1)},
            **{f"text_{rank}": [places.get(rank, nothing)[1] for places in by_rank] for rank in range(1, most + 1)},
            "n_cut": [len(features) for features in cut],
            "cut": ["; ".join(names) for names in cut],
            "hidden": ["; ".join(names) for names in hidden],
        }
    )
