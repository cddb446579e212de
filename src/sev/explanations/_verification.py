"""Checking explanations against the model, and against the explainer that they are said to come from.

What was read from a file is a claim: its scores, sets, statuses, and also the reference, the threshold and the
restricted features that it names. With an explainer at hand nothing of that is believed. The explainer's own reference,
threshold and classes are used, every set is put through the model, and every row is explained again, because neither
"no smaller set works" nor "no set works" can be seen from scores of single rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.core import Status, plain_value, table_to_plain, unpack
from sev.exceptions import VerificationError
from sev.typing import BoolArray, FloatArray, IntArray, Kind

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._explanations import Explanations

_VERTICES_AT_ONCE = 100_000
#: A model's score may differ in its last bits with the rows that it is computed beside.
_TOLERANCE = 1e-6
_MOST_SETS = 100
_FOUND = (Status.OPTIMAL.code, Status.FEASIBLE.code)


def changed_row(kind: Kind, query: pd.Series, reference: pd.Series, columns: Sequence[Any]) -> pd.Series:
    """The query with some columns from the reference, or for "plus" the reference with some from the query."""
    base, donor = (query, reference) if kind == "minus" else (reference, query)
    values = np.array(base, dtype=object)
    values[base.index.get_indexer(list(columns))] = np.array(donor, dtype=object)[
        donor.index.get_indexer(list(columns))
    ]
    return pd.Series(values, index=base.index, name=base.name, dtype=object)


@dataclass(frozen=True, kw_only=True, eq=False)
class Claims:
    """What explanations say, one entry a row in every array; sets are the lines of a table of booleans."""

    kind: Kind
    queries: pd.DataFrame
    references: pd.DataFrame
    reference: IntArray
    features: dict[str, tuple[Any, ...]]
    targets: tuple[Any, ...]
    thresholds: tuple[float, ...]
    target: IntArray
    restricted: tuple[str, ...]
    status: np.ndarray[Any, np.dtype[np.int8]]
    lower_bound: IntArray
    score: FloatArray
    result_score: FloatArray
    complete: BoolArray
    row_of_set: IntArray
    sets: BoolArray

    @classmethod
    def of_many(cls, many: Explanations) -> Claims:
        """Claims of a batch, with all its sets."""
        many._list_sets()
        answers = many._answers
        return cls(
            kind=many.kind,
            queries=many._queries,
            references=many._references,
            reference=answers.reference,
            features=dict(many._features),
            targets=tuple(many._targets),
            thresholds=tuple(many._thresholds),
            target=answers.target,
            restricted=tuple(many.restricted),
            status=answers.status,
            lower_bound=answers.lower_bound,
            score=answers.score,
            result_score=answers.result_score,
            complete=answers.complete,
            row_of_set=np.repeat(np.arange(len(answers), dtype=np.int64), np.diff(answers.offsets)),
            sets=unpack(answers.masks, len(many._features)),
        )

    @classmethod
    def of_one(cls, one: Explanation) -> Claims:
        """Claims of a single explanation."""
        names = list(one.columns)
        sets = np.array([[name in chosen for name in names] for chosen in one.sets], dtype=np.bool_)
        return cls(
            kind=one.kind,
            queries=_one_row(one.query),
            references=_one_row(one.reference),
            reference=np.zeros(1, dtype=np.int64),
            features=dict(one.columns),
            targets=(one.target,),
            thresholds=(one.threshold,),
            target=np.zeros(1, dtype=np.int64),
            restricted=tuple(one.restricted),
            status=np.array([one.status.code], dtype=np.int8),
            lower_bound=np.array([one.lower_bound], dtype=np.int64),
            score=np.array([one.score], dtype=np.float64),
            result_score=np.array([np.nan if one.result_score is None else one.result_score]),
            complete=np.array([one.sets_complete]),
            row_of_set=np.zeros(len(sets), dtype=np.int64),
            sets=sets.reshape(len(one.sets), len(names)),
        )

    def row_name(self, row: int) -> str:
        """A row in messages."""
        return f"Row {plain_value(self.queries.index[row])!r}"

    def set_name(self, number: int) -> str:
        """A set in messages."""
        return str([name for name, chosen in zip(self.features, self.sets[number], strict=True) if chosen])

    def sizes(self) -> IntArray:
        """Number of features of each set."""
        return self.sets.sum(axis=1).astype(np.int64)

    def vertices(self, numbers: IntArray, references: pd.DataFrame, reference: IntArray) -> pd.DataFrame:
        """The rows that some sets claim to have been scored, cell by cell from the query or the reference."""
        rows = self.row_of_set[numbers]
        from_reference = self.sets[numbers] if self.kind == "minus" else ~self.sets[numbers]
        feature_of = {column: number for number, columns in enumerate(self.features.values()) for column in columns}
        cells = {}
        for column in self.queries.columns:
            mine, other = self.queries[column], references[column]
            chosen = from_reference[:, feature_of[column]]
            if mine.dtype == other.dtype == np.float64:
                values: Any = np.where(chosen, other.to_numpy()[reference[rows]], mine.to_numpy()[rows])
            else:
                values = mine.to_numpy(dtype=object)[rows]
                values[chosen] = other.to_numpy(dtype=object)[reference[rows][chosen]]
            cells[column] = values
        return pd.DataFrame(cells, columns=self.queries.columns)


def verify(claims: Claims, source: Any, explainer: Any = None, **options: Any) -> None:
    """Check all claims of explanations.

    Parameters
    ----------
    claims : Claims
        What they say.
    source : Source or None
        The model, for explanations that carry it.
    explainer : Explainer, default=None
        Whose explanations they are said to be; everything is then checked against it.
    **options
        Of :meth:`sev.Explainer.explain`, for explaining the rows again.

    Raises
    ------
    VerificationError
        Names the first row that is not confirmed, and how many more there are.
    """
    if explainer is None:
        if source is None:
            raise VerificationError("These explanations carry no model: pass the explainer, verify(explainer).")
        _check_scores(claims, source, claims.references, claims.reference, claims.targets, claims.thresholds)
        return
    if not len(claims.queries):
        return
    restricted = options.pop("restricted", None)
    _check_setup(claims, explainer, explainer.restricted if restricted is None else tuple(restricted))
    options.setdefault("max_sets", max(_MOST_SETS, int(np.bincount(claims.row_of_set, minlength=1).max()) + 1))
    again = Claims.of_many(explainer.explain(claims.queries, kind=claims.kind, restricted=restricted, **options))
    _compare(claims, again)
    if len(claims.sets):
        _check_sets(claims, explainer.source, again.references, again.reference, again.targets, again.thresholds, again)


# -- is it the explainer that the file speaks of? ----------------------------------------------------------------------


def _check_setup(claims: Claims, explainer: Any, restricted: tuple[str, ...]) -> None:
    """Reference, threshold, classes, features and restrictions must be the explainer's own."""
    tasks = explainer.tasks
    targets = [plain_value(task.scorer.target) for task in tasks]
    thresholds = [float(task.scorer.threshold) for task in tasks]
    features = {feature.name: tuple(feature.columns) for feature in explainer.space.features}
    if {name: tuple(columns) for name, columns in claims.features.items()} != features:
        raise VerificationError(
            f"The features differ: these explanations have {_few(claims.features)}, the explainer has {_few(features)}."
        )
    if set(claims.restricted) != set(restricted):
        raise VerificationError(
            f"The restricted features differ: {sorted(claims.restricted)} in these explanations, {sorted(restricted)} "
            "in the explainer. If they were restricted on purpose, pass restricted= with these features."
        )
    one_row = len(claims.queries) == 1 and len(claims.targets) == 1
    for number, target in enumerate(claims.targets):
        known = targets.index(plain_value(target)) if plain_value(target) in targets else None
        if known is None or (not one_row and known != number) or (not one_row and len(targets) != len(claims.targets)):
            raise VerificationError(
                f"The explained classes differ: {list(claims.targets)}, the explainer has {targets}."
            )
        if not _close(claims.thresholds[number], thresholds[known]):
            raise VerificationError(
                f"The threshold differs: {claims.thresholds[number]!r} in these explanations, {thresholds[known]!r} in "
                "the explainer."
            )


def _check_references(claims: Claims, again: Claims) -> None:
    """Each row must have been compared with the explainer's own reference."""
    mine, theirs = table_to_plain(claims.references)["values"], table_to_plain(again.references)["values"]
    rows = np.flatnonzero(claims.status != Status.NOT_TARGET.code)
    pairs, first = np.unique(
        np.column_stack([claims.reference[rows], again.reference[rows]]), axis=0, return_index=True
    )
    for (one, other), row in zip(pairs.tolist(), rows[first].tolist(), strict=True):
        for column, values, known in zip(claims.references.columns, mine, theirs, strict=True):
            if not _same_value(values[one], known[other]):
                raise VerificationError(
                    f"The reference differs: {claims.row_name(row)} is compared with {column}={values[one]!r}, the "
                    f"explainer's own reference has {known[other]!r}."
                )


# -- does the explainer find the same? ---------------------------------------------------------------------------------


def _compare(claims: Claims, again: Claims) -> None:
    for different, tell in _differences(claims, again):
        if different.any():
            row = int(np.flatnonzero(different)[0])
            raise VerificationError(f"{claims.row_name(row)}: {tell(row)}{_more(different)}.")
    _check_references(claims, again)


def _differences(claims: Claims, again: Claims) -> Iterator[tuple[BoolArray, Any]]:
    """What may differ, the most telling first: rows in which it does, and words for one of them."""
    status = np.array([str(one) for one in Status])
    found, size = _first_sizes(claims)
    found_again, true_size = _first_sizes(again)
    proven = (again.status == Status.OPTIMAL.code) | (again.status == Status.UNEXPLAINABLE.code)
    says = {code: claims.status == code for code in range(len(status))}

    def named(row: int) -> str:
        mine, other = status[claims.status[row]], status[again.status[row]]
        return f"these explanations say {mine}, the explainer finds {other}"

    settled = [Status.NOT_TARGET, Status.ERROR]
    yield (
        np.any([says[one.code] != (again.status == one.code) for one in settled], axis=0),
        named,
    )
    classes = [plain_value(target) for target in claims.targets], [plain_value(target) for target in again.targets]
    explained = [np.array(names, dtype=object)[one.target] for names, one in zip(classes, (claims, again), strict=True)]
    yield (
        (claims.status != Status.NOT_TARGET.code) & (explained[0] != explained[1]),
        lambda row: f"it is explained as {explained[0][row]!r}, the explainer explains it as {explained[1][row]!r}",
    )
    claimed = says[Status.OPTIMAL.code] | says[Status.UNEXPLAINABLE.code]
    yield claimed & proven & (claims.status != again.status), named
    yield (
        claimed & ~proven,
        lambda row: f"{named(row)} within its limits: raise time_limit or max_predictions of verify",
    )
    yield found & (again.status == Status.UNEXPLAINABLE.code), named
    yield (
        found & ~np.isin(claims.status, _FOUND) | ~found & np.isin(claims.status, _FOUND),
        lambda row: f"the status {status[claims.status[row]]} does not go with {'a' if found[row] else 'no'} set",
    )
    wrong_size = found & found_again & proven & (says[Status.OPTIMAL.code] & (size != true_size) | (size < true_size))
    yield wrong_size, lambda row: f"its smallest set is said to have {size[row]} features, it has {true_size[row]}"
    bound = np.where(again.status == Status.UNEXPLAINABLE.code, len(claims.features), true_size)
    yield (
        proven & (again.status == Status.OPTIMAL.code) & (claims.lower_bound > bound),
        lambda row: f"no set is said to be smaller than {claims.lower_bound[row]}, the smallest has {true_size[row]}",
    )
    yield (
        says[Status.OPTIMAL.code] & (claims.lower_bound != size),
        lambda row: f"it is called optimal with {size[row]} features and a bound of {claims.lower_bound[row]}",
    )
    yield (
        (claims.status != Status.ERROR.code) & ~_close(claims.score, again.score),
        lambda row: f"its score is said to be {float(claims.score[row])!r}, it is {float(again.score[row])!r}",
    )
    yield (
        says[Status.OPTIMAL.code] & claims.complete & again.complete & ~_same_sets(claims, again),
        lambda row: "its sets are said to be all of the smallest ones; the explainer finds others",
    )


def _first_sizes(claims: Claims) -> tuple[BoolArray, IntArray]:
    """Rows with a set, and the size of their sets; the largest, if a row has sets of several sizes."""
    size = np.full(len(claims.status), -1, dtype=np.int64)
    np.maximum.at(size, claims.row_of_set, claims.sizes())
    return size >= 0, size


def _same_sets(claims: Claims, again: Claims) -> BoolArray:
    """Rows whose sets are the same, in any order."""
    same = np.ones(len(claims.status), dtype=np.bool_)
    different = np.setxor1d(_keys(claims), _keys(again))
    octets = np.frombuffer(different.tobytes(), dtype=np.uint8).reshape(len(different), different.dtype.itemsize)
    same[octets[:, :8].copy().view("<i8").ravel()] = False
    return same


def _keys(claims: Claims) -> np.ndarray:
    """One key for each set: the row, then the features as bits."""
    rows = np.ascontiguousarray(claims.row_of_set, dtype="<i8").view(np.uint8).reshape(-1, 8)
    keys = np.ascontiguousarray(np.hstack([rows, np.packbits(claims.sets, axis=1)]))
    return keys.view(np.dtype((np.void, keys.shape[1]))).ravel()


# -- does the model say so? --------------------------------------------------------------------------------------------


def _check_scores(
    claims: Claims,
    source: Any,
    references: pd.DataFrame,
    reference: IntArray,
    targets: tuple[Any, ...],
    thresholds: tuple[float, ...],
) -> None:
    """Every query on its side of the threshold, and every set on the other one."""
    decided = np.flatnonzero(claims.status != Status.ERROR.code)
    for number, target in enumerate(targets):
        rows = decided[claims.target[decided] == number]
        if rows.size:
            scores = source.score_rows(claims.queries.iloc[rows], target)
            wanted = claims.status[rows] != Status.NOT_TARGET.code
            _refuse_scores(claims, rows, scores, thresholds[number], wanted, lambda place: "as given")
    _check_sets(claims, source, references, reference, targets, thresholds, claims)


def _check_sets(
    claims: Claims,
    source: Any,
    references: pd.DataFrame,
    reference: IntArray,
    targets: tuple[Any, ...],
    thresholds: tuple[float, ...],
    owner: Claims,
) -> None:
    """Put every set through the model; ``owner`` says which class each row is explained as."""
    for number, target in enumerate(targets):
        mine = np.flatnonzero(owner.target[claims.row_of_set] == number)
        for first in range(0, len(mine), _VERTICES_AT_ONCE):
            some = mine[first : first + _VERTICES_AT_ONCE]
            scores = source.score_rows(claims.vertices(some, references, reference), target)
            rows = claims.row_of_set[some]
            wanted = np.full(len(some), claims.kind == "plus")

            def tell(place: int, some: IntArray = some) -> str:
                return f"with {claims.set_name(int(some[place]))} changed"

            _refuse_scores(claims, rows, scores, thresholds[number], wanted, tell)
            first_of_row = np.diff(claims.row_of_set, prepend=-1)[some] != 0
            told = claims.result_score[rows]
            wrong = first_of_row & ~_close(told, scores)
            if wrong.any():
                place = int(np.flatnonzero(wrong)[0])
                raise VerificationError(
                    f"{claims.row_name(int(rows[place]))}, {tell(place)}: its score is said to be "
                    f"{float(told[place])!r}, it is {float(scores[place])!r}{_more(wrong)}."
                )


def _refuse_scores(
    claims: Claims, rows: IntArray, scores: FloatArray, threshold: float, wanted: BoolArray, tell: Any
) -> None:
    wrong = ~np.isfinite(scores) | ((scores >= threshold) != wanted)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        side = "at least" if wanted[place] else "below"
        raise VerificationError(
            f"{claims.row_name(int(rows[place]))}, {tell(place)}: the model's score is {float(scores[place])!r}, it "
            f"should be {side} the threshold {threshold!r}{_more(wrong)}."
        )


# -- small things ------------------------------------------------------------------------------------------------------


def _one_row(row: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({column: [row[column]] for column in row.index}, index=[row.name])


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, (int, float)):
        return bool(_close(one, float(other)))
    return bool(one == other)


def _close(one: Any, other: Any) -> Any:
    return np.isclose(one, other, rtol=_TOLERANCE, atol=1e-12, equal_nan=True)


def _more(different: BoolArray) -> str:
    count = int(np.count_nonzero(different)) - 1
    return f" (and {count:,} more)" if count else ""


def _few(names: Iterable[Any]) -> list[Any]:
    return list(names)[:8]
