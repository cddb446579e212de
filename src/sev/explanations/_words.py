"""Explanations as plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sev.core import Status
from sev.explanations._json import plain_value
from sev.explanations._language import Language, Wording, load_language, load_wording
from sev.explanations._values import feature_value, format_value
from sev.typing import Kind

if TYPE_CHECKING:
    from sev.explanations._explanation import Explanation
    from sev.explanations._explanations import Explanations


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a sentence speaks of; light enough to be made for every row of a large batch."""

    kind: Kind
    status: Status
    target: Any
    score: float
    threshold: float
    features: tuple[str, ...]
    n_sets: int
    sets_complete: bool
    lower_bound: int
    restricted: tuple[str, ...]
    reason: str
    query: Mapping[Any, Any] | pd.Series
    reference: Mapping[Any, Any] | pd.Series


class Speaker:
    """Turns explanations into sentences of one language.

    Parameters
    ----------
    columns : mapping of str to tuple
        The columns of each feature.
    wording : path, mapping or None
        What is said of each feature; see :meth:`sev.Explanation.to_text`.
    language : path, mapping or None
        The sentences; None is English.
    """

    def __init__(
        self,
        columns: Mapping[str, tuple[Any, ...]],
        wording: str | Path | Mapping[str, Any] | None = None,
        language: str | Path | Language | None = None,
    ) -> None:
        self._columns = columns
        self._wording: Wording = load_wording(wording, columns)
        self._texts: Language = load_language(language)
        self._marks = {name: self._texts[name] for name in ("decimal", "thousands", "missing")}

    def sentence(self, said: Said) -> str:
        """One explanation, as a person would say it."""
        text = self._main(said)
        more = [one for one in self._more(said) if one]
        return " ".join([text[:1].upper() + text[1:], *more])

    def label(self, feature: str) -> str:
        """What people call a feature."""
        return str(self._wording.get(feature, {}).get("label", feature))

    def value(self, feature: str, row: Mapping[Any, Any] | pd.Series) -> str:
        """The value that a row has for a feature, with its unit."""
        said = self._wording.get(feature, {})
        own = said.get("values", {}).get(self._key(feature, row))
        if own is not None:
            return str(own)
        columns = self._columns[feature]
        text = feature_value(feature, row, columns, digits=said.get("digits"), **self._marks)
        unit = said.get("unit")
        return f"{text} {unit}" if unit and text != self._marks["missing"] else text

    def join(self, words: Sequence[str]) -> str:
        """``a``, ``a and b``, ``a, b and c``."""
        if len(words) == 1:
            return words[0]
        return f"{self._texts['list_comma'].join(words[:-1])}{self._texts['list_and']}{words[-1]}"

    def _main(self, said: Said) -> str:
        if said.status is Status.NOT_TARGET:
            return self._decision("not_predicted", said)
        if said.status is Status.ERROR:
            return self._fill("error", reason=said.reason)
        predicted = self._decision("predicted", said)
        if said.status is Status.UNEXPLAINABLE:
            without = self._fill("without", restricted=self._restricted(said)) if said.restricted else ""
            return self._fill("unexplainable", predicted=predicted, without=without)
        if not said.n_sets:
            number = "undecided_one" if said.lower_bound <= 1 else "undecided_many"
            return self._fill(number, predicted=predicted, n=said.lower_bound)
        if not said.features:
            return self._fill("plus_nothing", predicted=predicted)
        return self._fill(
            said.kind,
            predicted=predicted,
            reasons=self._phrases("is", said.features, said.query),
            changes=self._phrases("been", said.features, said.reference),
            otherwise=self._decision("otherwise", said),
        )

    def _more(self, said: Said) -> Iterator[str]:
        if said.n_sets > 1:
            number = "many" if said.n_sets > 2 else "one"
            yield self._fill(f"other_sets_{number if said.sets_complete else 'at_least'}", n=said.n_sets - 1)
        if said.status is Status.FEASIBLE:
            yield self._fill("feasible", n=said.lower_bound)

    def _decision(self, name: str, said: Said) -> str:
        return self._fill(
            name,
            by_class=said.target,
            target=repr(plain_value(said.target)),
            score=self._number(said.score),
            threshold=self._number(said.threshold),
        )

    def _phrases(self, name: str, features: Sequence[str], row: Mapping[Any, Any] | pd.Series) -> str:
        return self.join([self._phrase(name, feature, row) for feature in features])

    def _phrase(self, name: str, feature: str, row: Mapping[Any, Any] | pd.Series) -> str:
        template = self._wording.get(feature, {}).get(name, self._texts[name])
        if isinstance(template, Mapping):
            template = template.get(self._key(feature, row), self._texts[name])
        return str(template.format_map({"label": self.label(feature), "value": self.value(feature, row)}))

    def _key(self, feature: str, row: Mapping[Any, Any] | pd.Series) -> Any:
        """The value that a phrase may be given for: the cell itself, or the category of a one-hot block."""
        columns = self._columns[feature]
        if len(columns) > 1:
            return feature_value(feature, row, columns)
        value = plain_value(row[columns[0]])
        return value if value is None or not isinstance(value, float) or not value.is_integer() else int(value)

    def _restricted(self, said: Said) -> str:
        return self.join([self.label(feature) for feature in said.restricted])

    def _number(self, number: float) -> str:
        text = f"{number:.3g}"
        return text if self._marks["decimal"] == "." else text.replace(".", self._marks["decimal"])

    def _fill(self, name: str, by_class: Any = None, **fields: Any) -> str:
        template = self._texts[name]
        if isinstance(template, Mapping):
            template = template.get(by_class, load_language(None)[name])
        return str(template.format_map(_Blank(fields)))


class _Blank(dict[str, Any]):
    """Fields that a template may name although this sentence has nothing to put there."""

    def __missing__(self, key: str) -> str:
        return ""


def said_of(one: Explanation) -> Said:
    """What a sentence needs of one explanation."""
    return Said(
        kind=one.kind,
        status=one.status,
        target=one.target,
        score=one.score,
        threshold=one.threshold,
        features=one.features,
        n_sets=len(one.sets),
        sets_complete=one.sets_complete,
        lower_bound=one.lower_bound,
        restricted=one.restricted,
        reason=one.reason,
        query=one.query,
        reference=one.reference,
    )


def said_of_all(many: Explanations) -> Iterator[Said]:
    """What sentences need, row after row, without an :class:`Explanation` for each."""
    many._list_sets()
    answers = many._answers
    cells = {column: many._queries[column].tolist() for column in many._queries.columns}
    references = [many._references.iloc[[row]].astype(object).iloc[0].to_dict() for row in range(len(many._references))]
    members = [Status.from_code(code) for code in range(len(Status))]
    n_sets = np.diff(answers.offsets).tolist()
    rows = zip(
        *(answers.status.tolist(), answers.target.tolist(), answers.score.tolist(), answers.lower_bound.tolist()),
        *(answers.reference.tolist(), answers.complete.tolist(), many._first_sets(), n_sets),
        strict=True,
    )
    for row, (status, target, score, lower_bound, reference, complete, features, count) in enumerate(rows):
        yield Said(
            kind=many.kind,
            status=members[status],
            target=many._targets[target],
            score=score,
            threshold=many._thresholds[target],
            features=features,
            n_sets=count,
            sets_complete=complete,
            lower_bound=lower_bound,
            restricted=many.restricted,
            reason=answers.reasons.get(row, ""),
            query={column: cells[column][row] for name in features for column in many._features[name]},
            reference=references[reference],
        )


__all__ = ["Said", "Speaker", "format_value", "said_of", "said_of_all"]
