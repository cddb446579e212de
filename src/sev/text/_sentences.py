"""Explanations as plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

from sev.core import Status, plain_value
from sev.text._labels import Labels
from sev.text._language import Language, Wording, load_language, load_wording, overridden
from sev.text._values import feature_value
from sev.typing import Kind

#: What features that may not be used could do: nothing that is known, a smaller set, another set of the same size, or
#: the only sets that there are.
NotPermitted: TypeAlias = Literal["none", "smaller", "equal", "only"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
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
    not_permitted: NotPermitted = "none"
    other: Any = None


class Speaker:
    """Turns explanations into sentences of one language.

    Parameters
    ----------
    columns : mapping of str to tuple
        The columns of each feature.
    wording : path, mapping or None
        What is said of each feature, over what ``labels`` say; see :meth:`sev.Explanation.to_text`.
    language : path, mapping or None
        The sentences; None is the language of ``labels``.
    labels : Labels, default=None
        Names of features and decisions.
    """

    def __init__(
        self,
        columns: Mapping[str, tuple[Any, ...]],
        wording: str | Path | Mapping[str, Any] | None = None,
        language: str | Path | Language | None = None,
        labels: Labels | None = None,
    ) -> None:
        labels = labels or Labels()
        chosen = labels.language if language is None else language
        self._columns = columns
        self._labels = labels
        self._wording: Wording = {**labels.wording(columns), **load_wording(wording, columns)}
        self._texts: Language = load_language(chosen)
        self._overridden = overridden(chosen)
        self._marks = {name: self._texts[name] for name in ("decimal", "thousands", "missing", "yes_text", "no_text")}

    def sentence(self, statement: Statement) -> str:
        """One explanation, as a person would say it."""
        text = self._main(statement)
        more = [one for one in self._more(statement) if one]
        return " ".join([text[:1].upper() + text[1:], *more])

    def proof(self, statement: Statement) -> str:
        """How certain an answer is, and over which features."""
        name = f"proof_{statement.status}"
        permitted = f"{name}_permitted"
        text = self._fill(permitted if statement.restricted and permitted in self._texts else name)
        return " ".join([text, *self._not_permitted(statement)])

    def text(self, name: str, **fields: Any) -> str:
        """A text of the language by its name, filled in."""
        return self._fill(name, **fields)

    def decision(self, value: Any) -> str:
        """What a class stands for: the decision that the labels name, or the class itself."""
        return self._labels.decision(value) or repr(plain_value(value))

    def raw(self, name: str) -> str:
        """A text of the language by its name, with its fields left open."""
        return str(self._texts[name])

    @property
    def language(self) -> str:
        """Code of the language that the texts are in, for pages; English where it is not known."""
        return str(self._texts["code"])

    def count(self, number: int) -> str:
        """A count with the language's mark between thousands."""
        return f"{number:,}".replace(",", self._marks["thousands"])

    def label(self, feature: str) -> str:
        """What people call a feature."""
        return str(self._wording.get(feature, {}).get("label", feature))

    def value(self, feature: str, row: Mapping[Any, Any] | pd.Series) -> str:
        """The value that a row has for a feature, with its unit."""
        wording = self._wording.get(feature, {})
        own = wording.get("values", {}).get(self._key(feature, row))
        if own is not None:
            return str(own)
        columns = self._columns[feature]
        text = feature_value(feature, row, columns, digits=wording.get("digits"), **self._marks)
        unit = wording.get("unit")
        return f"{text} {unit}" if unit and text != self._marks["missing"] else text

    def join(self, words: Sequence[str]) -> str:
        """``a``, ``a and b``, ``a, b and c``."""
        if len(words) == 1:
            return words[0]
        return f"{self._texts['list_comma'].join(words[:-1])}{self._texts['list_and']}{words[-1]}"

    def _main(self, statement: Statement) -> str:
        if statement.status is Status.NOT_TARGET:
            return self._decision("not_predicted", statement)
        if statement.status is Status.ERROR:
            return self._fill("error", reason=statement.reason)
        predicted = self._decision("predicted", statement)
        if statement.status is Status.UNEXPLAINABLE:
            without = self._fill("without", restricted=self._restricted(statement)) if statement.restricted else ""
            return self._fill("unexplainable", predicted=predicted, without=without)
        if not statement.n_sets:
            number = "undecided_one" if statement.lower_bound <= 1 else "undecided_many"
            return self._fill(number, predicted=predicted, n=statement.lower_bound)
        if not statement.features:
            return self._fill("plus_nothing", predicted=predicted)
        return self._fill(
            statement.kind,
            predicted=predicted,
            reasons=self._phrases("is", statement.features, statement.query),
            changes=self._phrases("been", statement.features, statement.reference),
            otherwise=self._decision("otherwise", statement),
        )

    def _more(self, statement: Statement) -> Iterator[str]:
        if statement.n_sets > 1:
            number = "many" if statement.n_sets > 2 else "one"
            yield self._fill(f"other_sets_{number if statement.sets_complete else 'at_least'}", n=statement.n_sets - 1)
        if statement.status is Status.FEASIBLE:
            yield self._fill("feasible", n=statement.lower_bound)
        yield from self._not_permitted(statement)

    def _not_permitted(self, statement: Statement) -> Iterator[str]:
        if statement.not_permitted != "none":
            yield self._fill(f"not_permitted_{statement.not_permitted}")

    def _decision(self, name: str, statement: Statement) -> str:
        decision, other = self._labels.decision(statement.target), self._labels.decision(statement.other)
        if name not in self._overridden:
            # the better the decision is known, the plainer it can be named
            if name == "otherwise" and other is not None:
                name = "otherwise_decided"
            elif name == "otherwise" and statement.other is not None:
                name = "otherwise_other"
            elif name == "predicted" and decision is not None:
                name = "decided"
        return self._fill(
            name,
            by_class=statement.target,
            target=self.decision(statement.target),
            decision=decision or "",
            other=self.decision(statement.other),
            score=self._number(statement.score),
            threshold=self._number(statement.threshold),
        )

    def _phrases(self, name: str, features: Sequence[str], row: Mapping[Any, Any] | pd.Series) -> str:
        return self.join([self._phrase(name, feature, row) for feature in features])

    def _phrase(self, name: str, feature: str, row: Mapping[Any, Any] | pd.Series) -> str:
        template = self._wording.get(feature, {}).get(name, self._texts[name])
        if isinstance(template, Mapping):
            template = template.get(self._key(feature, row), self._texts[name])
        return str(template.format_map({"label": self.label(feature), "value": self._value_in_text(feature, row)}))

    def _value_in_text(self, feature: str, row: Mapping[Any, Any] | pd.Series) -> str:
        """A value inside a sentence: names of categories in quotation marks, unless the user chose the words."""
        text = self.value(feature, row)
        key = self._key(feature, row)
        if not isinstance(key, str) or key in self._wording.get(feature, {}).get("values", {}) or key.startswith("("):
            return text
        return str(self._texts["quoted"].format(value=text))

    def _key(self, feature: str, row: Mapping[Any, Any] | pd.Series) -> Any:
        """The value that a phrase may be given for: the cell itself, or the category of a one-hot block."""
        columns = self._columns[feature]
        if len(columns) > 1:
            return feature_value(feature, row, columns)
        value = plain_value(row[columns[0]])
        return value if value is None or not isinstance(value, float) or not value.is_integer() else int(value)

    def _restricted(self, statement: Statement) -> str:
        return self.join([self.label(feature) for feature in statement.restricted])

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
