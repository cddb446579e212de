"""Many explanations, column by column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import pandas as pd

from sev.exceptions import InputError
from sev.explanations._answers import Answers
from sev.explanations._document import from_document, to_document
from sev.explanations._explanation import Explanation
from sev.explanations._json import dump
from sev.explanations._label import kind_label
from sev.explanations._source import Source
from sev.explanations._status import Status
from sev.explanations._verification import changed_row, verify_all
from sev.explanations._words import Speaker, said_of_all
from sev.search._masks import unpack
from sev.typing import FloatArray, IntArray, Kind

_ROWS_TO_VERIFY_AT_ONCE = 2000


class Explanations:
    """Explanations of many rows, in the order of the rows.

    Indexing returns one :class:`Explanation`, slicing fewer ``Explanations``. Nothing is computed twice, and no Python
    object is made for a row until it is used.
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
    ) -> None:
        self._answers = answers
        self._queries = queries
        self._references = references
        self._features = dict(features)
        self._targets = targets
        self._thresholds = thresholds
        self._source = source
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
    def queries(self) -> pd.DataFrame:
        """The rows that were explained; not a copy, so do not write to it."""
        return self._queries

    @property
    def references(self) -> pd.DataFrame:
        """The reference rows that queries are compared with; not a copy, so do not write to it."""
        return self._references

    @property
    def targets(self) -> tuple[Any, ...]:
        """The classes being explained."""
        return self._targets

    @property
    def thresholds(self) -> tuple[float, ...]:
        """For each of :attr:`targets`, the score from which a row is predicted as it."""
        return self._thresholds

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All features, used or not."""
        return tuple(self._features)

    # -- one by one ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, key: int) -> Explanation: ...
    @overload
    def __getitem__(self, key: slice) -> Explanations: ...
    def __getitem__(self, key: int | slice) -> Explanation | Explanations:
        if isinstance(key, slice):
            self._put_among_others()
            return self._take(np.arange(len(self), dtype=np.int64)[key])
        row = range(len(self))[int(key)]
        return self._explanation(row)

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
                "features": self._first_sets(),
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
        speaker = Speaker(self._features, wording, language)
        return [speaker.sentence(said) for said in said_of_all(self)]

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

    def verify(self, explainer: Any = None) -> None:
        """Ask the model again about every set of every row; see :meth:`Explanation.verify`."""
        for first in range(0, len(self), _ROWS_TO_VERIFY_AT_ONCE):
            some = [one for one in self[first : first + _ROWS_TO_VERIFY_AT_ONCE] if one.status is not Status.ERROR]
            verify_all(some, explainer)

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
        return {**self.__dict__, "_source": None}

    def _repr_html_(self) -> str:
        shown = self[:20]
        more = f"<p>... and {len(self) - 20} more rows</p>" if len(self) > 20 else ""
        return f"{shown.to_frame().to_html(escape=True)}{more}"

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

    def _take(self, rows: IntArray) -> Explanations:
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
        )

    def _names(self, masks: Any) -> list[tuple[str, ...]]:
        names = np.array(self.feature_names, dtype=object)
        return [tuple(names[chosen]) for chosen in unpack(masks, len(names))]

    def _first_sets(self) -> list[tuple[str, ...]]:
        first: list[tuple[str, ...]] = [()] * len(self)
        found = np.flatnonzero(self._answers.has_set)
        for row, names in zip(
            found.tolist(), self._names(self._answers.masks[self._answers.offsets[found]]), strict=True
        ):
            first[row] = names
        return first

    def _explanation(self, row: int) -> Explanation:
        query = self._queries.iloc[row]
        answers, row = self._listed_row(row)
        sets = tuple(self._names(answers.sets_of(row)))
        reference = self._references.iloc[answers.reference[row]].rename("reference")
        result = None
        if sets:
            columns = [column for name in sets[0] for column in self._features[name]]
            result = changed_row(self.kind, query, reference, columns).rename("result").infer_objects()
        return Explanation(
            kind=self.kind,
            status=Status.from_code(int(answers.status[row])),
            size=len(sets[0]) if sets else None,
            lower_bound=int(answers.lower_bound[row]),
            features=sets[0] if sets else (),
            sets=sets,
            sets_complete=bool(answers.complete[row]),
            query=query,
            reference=reference,
            result=result,
            score=float(answers.score[row]),
            result_score=float(answers.result_score[row]) if sets else None,
            threshold=self._thresholds[answers.target[row]],
            target=self._targets[answers.target[row]],
            restricted=self.restricted,
            columns=self._features,
            reason=answers.reasons.get(row, ""),
            _source=self._source,
        )


def _read_only(array: Any) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view
