"""Many explanations, column by column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import pandas as pd

from sev.core import Answers, Status, dump, kind_label, unpack
from sev.exceptions import InputError
from sev.explanations._document import from_document, to_document
from sev.explanations._explanation import Explanation
from sev.explanations._html import many_as_html
from sev.explanations._indexing import ByLabel, places_of
from sev.explanations._not_permitted import compare_with_unrestricted
from sev.explanations._source import Source
from sev.explanations._statements import statements_of
from sev.explanations._verification import Claims, changed_row, verify
from sev.text import Labels, NotPermitted, Speaker, Statement
from sev.typing import FloatArray, IntArray, Kind


class Explanations:
    """Explanations of many rows, in the order of the rows.

    An index gives one :class:`Explanation`; a slice, a list of places or a boolean mask gives fewer ``Explanations``.
    Nothing is computed twice and no Python object is made for a row until it is asked for.
    """

    def __init__(
        self,
        *,
        answers: Answers,
        queries: pd.DataFrame,
        references: pd.DataFrame,
        features: Mapping[str, tuple[Any, ...]],
        kind: Kind,
        targets: tuple[Any, ...],
        thresholds: tuple[float, ...],
        restricted: tuple[str, ...],
        source: Source | None = None,
        not_permitted: tuple[NotPermitted, ...] | None = None,
        labels: Labels | None = None,
        classes: tuple[Any, ...] = (),
    ) -> None:
        self._answers = answers
        self._queries = queries
        self._references = references
        self._features = dict(features)
        self._targets = targets
        self._thresholds = thresholds
        self._source = source
        self._not_permitted = not_permitted
        self.labels = labels or Labels()
        self.classes = classes
        # rows whose sets were listed one at a time; put among the others once these are listed, not at every access,
        # which would copy all of them
        self._listed_alone: dict[int, Answers] = {}
        self.kind: Kind = kind
        self.restricted = restricted

    # -- arrays --------------------------------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> FloatArray:
        """Sparse explanation value of each row; NaN where no set was found."""
        return _read_only(self._answers.sizes())

    @cached_property
    def statuses(self) -> np.ndarray[Any, np.dtype[np.str_]]:
        """Status of each row, as strings."""
        return _read_only(np.array([str(status) for status in Status])[self._answers.status])

    @cached_property
    def lower_bounds(self) -> IntArray:
        """No smaller set works: proven, for each row."""
        return _read_only(self._answers.lower_bound)

    @cached_property
    def scores(self) -> FloatArray:
        """The model's own score of each row."""
        return _read_only(self._answers.score)

    @cached_property
    def result_scores(self) -> FloatArray:
        """The model's own score after the change of the first set; NaN where there is none."""
        return _read_only(self._answers.result_score)

    @property
    def index(self) -> pd.Index:
        """Labels of the rows, as in the table that was explained."""
        return self._queries.index

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All features, used or not."""
        return tuple(self._features)

    # -- the parts that tables, reports and files are made from; not to be changed ------------------------------------

    @property
    def answers(self) -> Answers:
        """What was found, column by column, with all minimum sets listed."""
        self._list_sets()
        return self._answers

    @property
    def queries(self) -> pd.DataFrame:
        """The rows that were explained."""
        return self._queries

    @property
    def references(self) -> pd.DataFrame:
        """The reference rows; ``answers.reference`` has the number of each row's own."""
        return self._references

    @property
    def columns(self) -> Mapping[str, tuple[Any, ...]]:
        """The columns of each feature."""
        return self._features

    @property
    def targets(self) -> tuple[Any, ...]:
        """The classes being explained; ``answers.target`` has the number of each row's own."""
        return self._targets

    @property
    def thresholds(self) -> tuple[float, ...]:
        """For each class, the score from which on a row is predicted as it."""
        return self._thresholds

    @property
    def source(self) -> Source | None:
        """The explainer that made these explanations, as far as they need it; None when they were read from a file."""
        return self._source

    @property
    def not_permitted(self) -> tuple[NotPermitted, ...]:
        """For each row, what the features that may not be used could do.

        "smaller": a smaller set exists that uses them; "equal": another set of the same size does; "only": no permitted
        set exists, but one that uses them does; "none": nothing of that kind is known. Found by explaining the rows
        once more without restriction, when this is first asked for.
        """
        if self._not_permitted is None:
            self._not_permitted = self._compare_with_unrestricted()
        return self._not_permitted

    def sets_of(self, row: int) -> list[tuple[str, ...]]:
        """All minimum sets of one row, by the names of the features."""
        return self._names(self.answers.sets_of(row))

    def first_sets(self) -> list[tuple[str, ...]]:
        """The first minimum set of each row; empty where there is none."""
        first: list[tuple[str, ...]] = [()] * len(self)
        found = np.flatnonzero(self._answers.has_set)
        for row, names in zip(
            found.tolist(), self._names(self._answers.masks[self._answers.offsets[found]]), strict=True
        ):
            first[row] = names
        return first

    def other_class(self, target: int) -> Any:
        """The class that a row becomes when it is no longer of this target (by number); None if there are several."""
        others = [one for one in self.classes if one != self._targets[target]]
        return others[0] if len(others) == 1 else None

    def statements(self) -> Iterator[Statement]:
        """What a sentence about each row states."""
        return statements_of(self)

    # -- one by one ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, key: int) -> Explanation: ...
    @overload
    def __getitem__(self, key: slice | Sequence[Any] | np.ndarray[Any, Any] | pd.Series) -> Explanations: ...
    def __getitem__(self, key: Any) -> Explanation | Explanations:
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return self._explanation(range(len(self))[int(key)])
        self._put_among_others()
        return self._take(places_of(key, self.index))

    @property
    def loc(self) -> ByLabel:
        """Rows by their labels: ``many.loc["A17"]`` is one, ``many.loc[["A17", "B2"]]`` and ``many.loc["A":"C"]``
        are several.
        """
        return ByLabel(self)

    def __iter__(self) -> Iterator[Explanation]:
        self._list_sets()
        return (self._explanation(row) for row in range(len(self)))

    def __repr__(self) -> str:
        counts = pd.Series(self.statuses).value_counts()
        found = ", ".join(f"{count} {status}" for status, count in counts.items())
        return f"<Explanations {kind_label(self.kind)} of {len(self)} rows: {found}>"

    # -- tables --------------------------------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """One line a row, indexed like the rows: status, size, lower_bound, features, n_sets, score, result_score."""
        self._list_sets()
        answers = self._answers
        return pd.DataFrame(
            {
                "status": self.statuses,
                "size": self.sizes,
                "lower_bound": answers.lower_bound,
                "features": self.first_sets(),
                "n_sets": np.diff(answers.offsets),
                "score": answers.score,
                "result_score": answers.result_score,
            },
            index=self.index,
        )

    def mean_size(self, unexplainable: Literal["drop", "all_features"] = "drop") -> float:
        """Mean sparse explanation value over the rows that have one.

        Parameters
        ----------
        unexplainable : {"drop", "all_features"}
            Leave unexplainable rows out, or count each as the number of features, as the paper does for restricted
            explanations. Rows that are not of the target, undecided ones and errors are always left out.
        """
        if unexplainable not in ("drop", "all_features"):
            raise InputError(f'unexplainable={unexplainable!r}: use "drop" or "all_features".')
        sizes = self._answers.sizes()
        if unexplainable == "all_features":
            sizes[self._answers.status == Status.UNEXPLAINABLE.code] = len(self._features)
        known = sizes[~np.isnan(sizes)]
        return float(known.mean()) if known.size else float("nan")

    def summary(self) -> pd.Series:
        """What happened to all rows, in a dozen numbers."""
        sizes = self.sizes[~np.isnan(self.sizes)]
        explained = self._answers.status != Status.NOT_TARGET.code
        counts = {str(status): int((self._answers.status == status.code).sum()) for status in Status}
        return pd.Series(
            {
                "rows": len(self),
                "target": int(explained.sum()),
                **counts,
                "mean_size": self.mean_size(),
                "share_of_one": float((sizes == 1).mean()) if sizes.size else np.nan,
                "max_size": float(sizes.max()) if sizes.size else np.nan,
            },
            dtype=object,
            name=kind_label(self.kind),
        )

    def feature_shares(self, sets: Literal["first", "any"] = "first") -> pd.Series:
        """Share of explained rows whose explanation uses each feature, most used first.

        Parameters
        ----------
        sets : {"first", "any"}
            Look at the first minimum set of a row, or at all of them.
        """
        if sets not in ("first", "any"):
            raise InputError(f'sets={sets!r}: use "first" or "any".')
        if sets == "any":
            self._list_sets()
        answers = self._answers
        found = np.flatnonzero(answers.has_set)
        used = np.zeros(len(self._features))
        if found.size:
            starts = answers.offsets[found]
            masks = answers.masks[starts] if sets == "first" else np.bitwise_or.reduceat(answers.masks, starts, axis=0)
            used = unpack(masks, len(self._features)).mean(axis=0)
        shares = pd.Series(used, index=pd.Index(self.feature_names, name="feature"), name="share")
        return shares.sort_values(ascending=False, kind="stable")

    def feature_pairs(self) -> pd.DataFrame:
        """Share of explained rows whose first minimum set uses both of two features; on the diagonal, one feature.

        Rows and columns are all features, in column order.
        """
        found = np.flatnonzero(self._answers.has_set)
        used = unpack(self._answers.masks[self._answers.offsets[found]], len(self._features)).astype(np.float64)
        names = pd.Index(self.feature_names, name="feature")
        return pd.DataFrame(used.T @ used / max(len(found), 1), index=names, columns=names)

    # -- words and pictures --------------------------------------------------------------------------------------------

    def to_text(
        self,
        *,
        wording: str | Path | Mapping[str, Any] | None = None,
        language: str | Path | Mapping[str, Any] | None = None,
    ) -> list[str]:
        """One plain sentence or two for each row; see :meth:`Explanation.to_text`."""
        speaker = Speaker(self._features, wording, language, self.labels)
        return [speaker.sentence(statement) for statement in self.statements()]

    def plot_sizes(self, *, ax: Any = None, **options: Any) -> Any:
        """Draw how many rows have each size; see :func:`sev.plots.sizes`."""
        from sev.plots import sizes

        return sizes(self, ax=ax, **options)

    def plot_features(self, *, ax: Any = None, **options: Any) -> Any:
        """Draw how often each feature is used; see :func:`sev.plots.feature_shares`."""
        from sev.plots import feature_shares

        return feature_shares(self, ax=ax, **options)

    def plot_together(self, *, ax: Any = None, **options: Any) -> Any:
        """Draw which features are used together; see :func:`sev.plots.together`."""
        from sev.plots import together

        return together(self, ax=ax, **options)

    # -- checks and files ----------------------------------------------------------------------------------------------

    def verify(self, explainer: Any = None, **options: Any) -> None:
        """Check every row; see :meth:`Explanation.verify`."""
        verify(Claims.of_many(self), self._source, explainer, **options)

    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything but the model as JSON (schema ``sev.explanations``, version 1).

        Parameters
        ----------
        path : path-like, default=None
            File to write; the text is returned either way.
        """
        self._list_sets()
        text = dump(to_document(self))
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, path: str | Path) -> Explanations:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        path : path-like
            A file, or the text itself if it starts with ``{``.
        """
        text = path if isinstance(path, str) and path.lstrip().startswith("{") else Path(path).read_text("utf-8")
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"This is not a JSON file of explanations: {error}.") from error
        return cls(**from_document(document))

    def __getstate__(self) -> dict[str, Any]:
        # the model stays behind, so everything that needs it is done first
        self._list_sets()
        return {**self.__dict__, "_source": None, "_not_permitted": self.not_permitted}

    def _repr_html_(self) -> str:
        return many_as_html(self)

    def unrestricted(self, explainer: Any = None) -> Explanations:
        """The same rows explained again, with every feature allowed.

        Parameters
        ----------
        explainer : Explainer, default=None
            Needed only for explanations that were read from a file, which do not carry the model.
        """
        if explainer is not None:
            return explainer.explain(self._queries, kind=self.kind, restricted=())
        if self._source is None:
            raise InputError("These explanations carry no model: pass the explainer, unrestricted(explainer).")
        free = self._source.unrestricted()
        return Explanations(
            answers=free.answer(self._queries),
            queries=self._queries,
            references=self._references,
            features=self._features,
            kind=self.kind,
            targets=self._targets,
            thresholds=self._thresholds,
            restricted=(),
            source=free,
            labels=self.labels,
            classes=self.classes,
        )

    # -- inside --------------------------------------------------------------------------------------------------------

    def _list_sets(self) -> None:
        self._put_among_others()
        if self._source is not None and not self._answers.listed.all():
            self._answers = self._source.list_sets(self._queries, self._answers)

    def _put_among_others(self) -> None:
        if self._listed_alone:
            rows = np.array(sorted(self._listed_alone), dtype=np.int64)
            alone = Answers.concatenate([self._listed_alone[row] for row in rows.tolist()])
            self._answers = self._answers.with_sets(alone, rows)
            self._listed_alone = {}

    def _listed_row(self, row: int) -> tuple[Answers, int]:
        """Answers in which all sets of a row are listed, and the place of the row there."""
        if self._source is None or self._answers.listed[row]:
            return self._answers, row
        if row not in self._listed_alone:
            alone = self._answers.take(np.array([row], dtype=np.int64))
            self._listed_alone[row] = self._source.list_sets(self._queries.iloc[[row]], alone)
        return self._listed_alone[row], 0

    def _compare_with_unrestricted(self) -> tuple[NotPermitted, ...]:
        nothing: NotPermitted = "none"
        if not self.restricted or self._source is None:
            return (nothing,) * len(self)
        free = self._source.unrestricted()
        restricted = np.isin(np.array(self.feature_names, dtype=object), list(self.restricted))
        listed = free.list_sets(self._queries, free.answer(self._queries))
        return compare_with_unrestricted(self.answers, listed, restricted)

    def _take(self, rows: IntArray) -> Explanations:
        known = self._not_permitted
        return Explanations(
            answers=self._answers.take(rows),
            queries=self._queries.iloc[rows],
            references=self._references,
            features=self._features,
            kind=self.kind,
            targets=self._targets,
            thresholds=self._thresholds,
            restricted=self.restricted,
            source=self._source,
            not_permitted=known if known is None else tuple(known[row] for row in rows.tolist()),
            labels=self.labels,
            classes=self.classes,
        )

    def _names(self, masks: Any) -> list[tuple[str, ...]]:
        names = np.array(self.feature_names, dtype=object)
        return [tuple(names[chosen]) for chosen in unpack(masks, len(names))]

    def _explanation(self, row: int) -> Explanation:
        query = self._queries.iloc[row]
        answers, place = self._listed_row(row)
        sets = tuple(self._names(answers.sets_of(place)))
        reference = self._references.iloc[answers.reference[place]].rename("reference")
        result = None
        if sets:
            columns = [column for name in sets[0] for column in self._features[name]]
            result = changed_row(self.kind, query, reference, columns).rename("result").infer_objects()
        return Explanation(
            kind=self.kind,
            status=Status.from_code(int(answers.status[place])),
            size=len(sets[0]) if sets else None,
            lower_bound=int(answers.lower_bound[place]),
            features=sets[0] if sets else (),
            sets=sets,
            sets_complete=bool(answers.complete[place]),
            query=query,
            reference=reference,
            result=result,
            score=float(answers.score[place]),
            result_score=float(answers.result_score[place]) if sets else None,
            threshold=self._thresholds[answers.target[place]],
            target=self._targets[answers.target[place]],
            restricted=self.restricted,
            columns=self._features,
            reason=answers.reasons.get(place, ""),
            labels=self.labels,
            other=self.other_class(int(answers.target[place])),
            _source=self._source,
            _compare=None if not self.restricted else partial(self._not_permitted_of, row),
        )

    def _not_permitted_of(self, row: int) -> NotPermitted:
        if self._not_permitted is not None:
            return self._not_permitted[row]
        return self._take(np.array([row], dtype=np.int64)).not_permitted[0]


def _read_only(array: Any) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view
