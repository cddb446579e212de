"""Checking explanations against the model, and against the explainer that they are said to come from.

What was read from a file is a claim: its scores, sets, statuses, and also the reference, the threshold and the
restricted features that it names. With an explainer at hand nothing of that is believed. The explainer's own reference,
threshold and classes are used, every set is put through the model, and every row is explained again, because neither
"no smaller set works" nor "no set works" can be seen from scores of single rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sev.core import Status, list_names, plain_value, python_value, unpack
from sev.exceptions import InputError, VerificationError
from sev.explanations._json_tables import lost_cells
from sev.space import FeatureSpace, MixedRows
from sev.typing import BoolArray, ClassLabel, ColumnLabel, FloatArray, IntArray, Kind, Minimise, Order, Values

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._explanations import Explanations
    from sev.explanations._source import ExplainerLike, Source
    from sev.typing import VerifyOptions

_VERTICES_AT_ONCE = 100_000
_MOST_SETS = 100
#: What is taken from the explainer, not from a file.
_OWN = ("queries", "references", "reference", "targets", "thresholds", "target")
#: What a claim about values of a set's own consists of: the model is to confirm these very rows.
_OF_SETS = ("references", "reference")
#: Costs that differ by less than this factor are equal.
_SAME_COST = 1.0 + 1e-9
_FOUND = (Status.OPTIMAL.code, Status.FEASIBLE.code)


@dataclass(frozen=True, kw_only=True, eq=False)
class Claims:
    """What explanations say, one entry a row in every array; sets are the lines of a table of booleans."""

    kind: Kind
    queries: pd.DataFrame
    references: pd.DataFrame
    reference: IntArray
    features: dict[str, tuple[ColumnLabel, ...]]
    targets: tuple[ClassLabel, ...]
    thresholds: tuple[float, ...]
    target: IntArray
    restricted: tuple[str, ...]
    status: NDArray[np.int8]
    lower_bound: IntArray
    score: FloatArray
    result_score: FloatArray
    complete: BoolArray
    row_of_set: IntArray
    sets: BoolArray
    values: Values = "reference"
    order: Order = "margin"
    min_credibility: float = 0.0
    #: The changed row of each set among the references, where each has values of its own.
    set_reference: IntArray | None = None
    #: What was looked for, and with "cost" that of each row's set; NaN where there is none.
    minimise: Minimise = "features"
    cost: FloatArray | None = None

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
            values=many.values,
            order=many.order,
            min_credibility=many.min_credibility,
            set_reference=many.set_references,
            minimise=many.minimise,
            cost=_compute_costs(many) if many.minimise == "cost" else None,
        )

    @classmethod
    def of_one(cls, one: Explanation) -> Claims:
        """Claims of a single explanation."""
        names = list(one.columns)
        sets = np.array([[name in chosen for name in names] for chosen in one.sets], dtype=np.bool_)
        moved = one._moved
        return cls(
            kind=one.kind,
            queries=one._pair.queries,
            references=one._pair.references if moved is None else pd.concat([one._pair.references, moved]),
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
            values=one.values,
            order=one.order,
            min_credibility=one.min_credibility,
            set_reference=None if moved is None else np.arange(1, len(moved) + 1),
            minimise=one.minimise,
            cost=_compute_costs([one]) if one.minimise == "cost" else None,
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


def verify(
    claims: Claims, source: Source | None, explainer: ExplainerLike | None = None, **options: Unpack[VerifyOptions]
) -> None:
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
            raise VerificationError("These explanations carry no model: call verify(explainer).")
        _check_scores(claims, source)
        return
    check_explainer(explainer, "verify")
    if not len(claims.queries):
        return
    _refuse_lost_cells(claims)
    restricted = options.get("restricted")
    chosen = explainer.restricted if restricted is None else (*restricted, *explainer.frozen)
    _check_setup(claims, explainer, chosen)
    wanted: VerifyOptions = {
        "values": claims.values,
        "minimise": claims.minimise,
        "order": claims.order,
        "min_credibility": claims.min_credibility,
        "max_sets": max(_MOST_SETS, int(np.bincount(claims.row_of_set, minlength=1).max()) + 1),
        **options,
    }
    again = Claims.of_many(explainer.explain(claims.queries, kind=claims.kind, **wanted))
    source = explainer.source
    _compare_answers(claims, again, _find_tolerances(again, source))
    own = [name for name in _OWN if claims.set_reference is None or name not in _OF_SETS]
    _check_sets(replace(claims, **{name: getattr(again, name) for name in own}), source)


# -- is it the explainer that the file speaks of? ----------------------------------------------------------------------


def check_explainer(explainer: object, method: str) -> None:
    """Refuse what is not an explainer, such as the model itself."""
    if not hasattr(explainer, "explain_unrestricted"):
        raise InputError(f"{method} takes an explainer, got {type(explainer).__name__}: pass a sev.Explainer.")


def _check_setup(claims: Claims, explainer: ExplainerLike, restricted: tuple[str, ...]) -> None:
    """Reference, threshold, classes, features and restrictions must be the explainer's own."""
    tasks = explainer.tasks
    targets = [plain_value(task.scorer.target) for task in tasks]
    thresholds = [float(task.scorer.threshold) for task in tasks]
    features = {feature.name: tuple(feature.columns) for feature in explainer.space.features}
    if {name: tuple(columns) for name, columns in claims.features.items()} != features:
        raise VerificationError(
            f"The features differ: these explanations have {list_names(claims.features, 8)}, the explainer has "
            f"{list_names(features, 8)}."
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
                f"The explained classes differ: {list(claims.targets)} in these explanations, "
                f"{targets} in the explainer."
            )
        if claims.thresholds[number] != thresholds[known]:
            raise VerificationError(
                f"The threshold differs: {claims.thresholds[number]!r} in these explanations, {thresholds[known]!r} in "
                "the explainer."
            )


def _refuse_lost_cells(claims: Claims) -> None:
    lost = [(row, column, claims.queries[column].iloc[row]) for row, column in lost_cells(claims.queries)]
    if lost:
        row, column, text = lost[0]
        raise VerificationError(
            f"{claims.row_name(row)}: column {column!r} held {str(text)!r}, of a type that the file could not hold: "
            "verify these explanations before they are written."
        )


def _check_references(claims: Claims, again: Claims) -> None:
    """Each row must have been compared with the explainer's own reference, cell by cell."""
    rows = np.flatnonzero(claims.status != Status.NOT_TARGET.code)
    pairs, first = np.unique(
        np.column_stack([claims.reference[rows], again.reference[rows]]), axis=0, return_index=True
    )
    mine = claims.references[list(again.references.columns)].iloc[pairs[:, 0]]
    space = FeatureSpace.of_columns(again.features, mine.columns)
    differs = MixedRows(space, mine, again.references, pairs[:, 1]).differing_columns()
    for pair, number in np.argwhere(differs).tolist():
        column, known = mine.columns[number], again.references.iat[pairs[pair, 1], number]
        raise VerificationError(
            f"The reference differs: {claims.row_name(int(rows[first[pair]]))} is compared with "
            f"{column}={python_value(mine.iat[pair, number])!r}, the explainer's own reference has "
            f"{python_value(known)!r}."
        )


# -- does the explainer find the same? ---------------------------------------------------------------------------------


def _compare_answers(claims: Claims, again: Claims, tolerance: FloatArray) -> None:
    for different, tell in _find_differences(claims, again, tolerance):
        if different.any():
            row = int(np.flatnonzero(different)[0])
            raise VerificationError(f"{claims.row_name(row)}: {tell(row)}{_count_others(different)}.")
    _check_references(claims, again)


def _find_differences(
    claims: Claims, again: Claims, tolerance: FloatArray
) -> Iterator[tuple[BoolArray, Callable[[int], str]]]:
    """What may differ, the most telling first: rows in which it does, and words for one of them."""
    status = np.array([str(one) for one in Status])
    found, size = _first_sizes(claims)
    found_again, true_size = _first_sizes(again)
    proven = (again.status == Status.OPTIMAL.code) | (again.status == Status.UNEXPLAINABLE.code)
    says = {code: claims.status == code for code in range(len(status))}

    def named(row: int) -> str:
        mine, other = status[claims.status[row]], status[again.status[row]]
        return f"its recorded status is {mine}, the explainer finds {other}"

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
        lambda row: f"its status is {status[claims.status[row]]}, but it has {'a' if found[row] else 'no'} set",
    )
    if claims.cost is None or again.cost is None:
        wrong = found & found_again & proven & (says[Status.OPTIMAL.code] & (size != true_size) | (size < true_size))
        yield (
            wrong,
            lambda row: f"its recorded smallest set has {size[row]} features, the smallest set has {true_size[row]}",
        )
    else:
        costs = claims.cost, again.cost
        yield (
            says[Status.OPTIMAL.code] & (again.status == Status.OPTIMAL.code) & ~(costs[0] <= costs[1] * _SAME_COST),
            lambda row: f"its recorded changes cost {costs[0][row]!r}, the least cost is {costs[1][row]!r}",
        )
    bound = np.where(again.status == Status.UNEXPLAINABLE.code, len(claims.features), true_size)
    yield (
        proven & (again.status == Status.OPTIMAL.code) & (claims.lower_bound > bound),
        lambda row: (
            f"its recorded lower bound is {claims.lower_bound[row]}, the smallest set has {true_size[row]} features"
        ),
    )
    yield (
        says[Status.OPTIMAL.code]
        & ((claims.lower_bound != size) if claims.minimise == "features" else (claims.lower_bound > size)),
        lambda row: (
            f"its status is optimal, but its set has {size[row]} features and its lower bound is "
            f"{claims.lower_bound[row]}"
        ),
    )
    yield (
        (claims.status != Status.ERROR.code) & ~_scores_agree(claims.score, again.score, tolerance),
        lambda row: (
            f"its recorded score is {float(claims.score[row])!r}, the model's score is {float(again.score[row])!r}"
        ),
    )
    yield (
        says[Status.OPTIMAL.code] & claims.complete & again.complete & ~_same_sets(claims, again),
        lambda row: "its list of minimum sets is marked as complete, but the explainer finds other sets",
    )


def _compute_costs(many: Iterable[Explanation]) -> FloatArray:
    return np.array([np.nan if one.cost is None else one.cost for one in many], dtype=np.float64)


def _first_sizes(claims: Claims) -> tuple[BoolArray, IntArray]:
    """Rows with a set, and the size of their sets; the largest, if a row has sets of several sizes."""
    size = np.full(len(claims.status), -1, dtype=np.int64)
    np.maximum.at(size, claims.row_of_set, claims.sizes())
    return size >= 0, size


def _same_sets(claims: Claims, again: Claims) -> BoolArray:
    """Rows whose sets are the same, in any order."""
    same = np.ones(len(claims.status), dtype=np.bool_)
    different = np.setxor1d(_make_keys(claims), _make_keys(again))
    octets = np.frombuffer(different.tobytes(), dtype=np.uint8).reshape(len(different), different.dtype.itemsize)
    same[octets[:, :8].copy().view("<i8").ravel()] = False
    return same


def _make_keys(claims: Claims) -> np.ndarray:
    """One key for each set: the row, then the features as bits."""
    rows = np.ascontiguousarray(claims.row_of_set, dtype="<i8").view(np.uint8).reshape(-1, 8)
    keys = np.ascontiguousarray(np.hstack([rows, np.packbits(claims.sets, axis=1)]))
    return keys.view(np.dtype((np.void, keys.shape[1]))).ravel()


# -- does the model say so? --------------------------------------------------------------------------------------------


def _check_scores(claims: Claims, source: Source) -> None:
    """Every query on its side of the threshold, and every set on the other one."""
    decided = np.flatnonzero(claims.status != Status.ERROR.code)
    unchanged = np.zeros((len(decided), len(claims.features)), dtype=np.bool_)
    scores = _score_sets(claims, source, decided, unchanged if claims.kind == "minus" else ~unchanged)
    wanted = claims.status[decided] != Status.NOT_TARGET.code
    _refuse_scores(claims, decided, scores, wanted, lambda place: "as given")
    _check_sets(claims, source)


def _check_sets(claims: Claims, source: Source) -> None:
    """Put every set through the model."""
    rows = claims.row_of_set
    scores = _score_sets(claims, source, rows, claims.sets, claims.set_reference)

    def tell(place: int) -> str:
        return f"with {claims.set_name(place)} changed"

    _refuse_scores(claims, rows, scores, np.full(len(rows), claims.kind == "plus"), tell)
    tolerance = _find_tolerances(claims, source)[rows]
    told = claims.result_score[rows]
    wrong = (np.diff(rows, prepend=-1) != 0) & ~_scores_agree(told, scores, tolerance)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise VerificationError(
            f"{claims.row_name(int(rows[place]))}, {tell(place)}: its recorded score is "
            f"{float(told[place])!r}, the model's score is {float(scores[place])!r}{_count_others(wrong)}."
        )


def _find_tolerances(claims: Claims, source: Source) -> FloatArray:
    """How far the scores of each row may be from the model's by rounding."""
    tolerances = np.zeros(len(claims.queries))
    for number, target in enumerate(claims.targets):
        mine = np.flatnonzero(claims.target == number)
        if mine.size:
            tolerances[mine] = source.score_tolerances(claims.queries.iloc[mine], target)
    return tolerances


def _score_sets(
    claims: Claims, source: Source, rows: IntArray, sets: BoolArray, donors: IntArray | None = None
) -> FloatArray:
    """The model's own scores of sets that are changed in rows, each row for the class that it is explained as.

    Cells that a set changes come from the row's reference, or from the row of the references that the set names.
    """
    scores = np.empty(len(rows))
    for number, target in enumerate(claims.targets):
        mine = np.flatnonzero(claims.target[rows] == number)
        for first in range(0, len(mine), _VERTICES_AT_ONCE):
            some = mine[first : first + _VERTICES_AT_ONCE]
            queries, assigned, places = claims.queries, claims.reference, rows[some]
            if donors is not None:  # a query for each set
                queries, assigned, places = queries.iloc[places], donors[some], np.arange(len(some), dtype=np.int64)
            vertices = source.vertices(queries, claims.references, assigned, claims.kind, target)
            scores[some] = vertices.scores(places, sets[some])
    return scores


def _refuse_scores(
    claims: Claims, rows: IntArray, scores: FloatArray, wanted: BoolArray, tell: Callable[[int], str]
) -> None:
    thresholds = np.array(claims.thresholds)[claims.target[rows]]
    wrong = ~np.isfinite(scores) | ((scores >= thresholds) != wanted)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        side = "at least" if wanted[place] else "below"
        raise VerificationError(
            f"{claims.row_name(int(rows[place]))}, {tell(place)}: the model's score is {float(scores[place])!r}, it "
            f"should be {side} the threshold {float(thresholds[place])!r}{_count_others(wrong)}."
        )


# -- small things ------------------------------------------------------------------------------------------------------


def _scores_agree(one: FloatArray, other: FloatArray, tolerance: FloatArray) -> BoolArray:
    """Whether scores differ by no more than rounding, which is relative to large scores only."""
    apart = np.abs(one - other) > tolerance * np.maximum(1.0, np.abs(other))
    return np.asarray(~apart & (np.isnan(one) == np.isnan(other)))


def _count_others(different: BoolArray) -> str:
    count = int(np.count_nonzero(different)) - 1
    return f" (and {count:,} more)" if count else ""
