"""Texts, names, numbers and values in the words of one language and of the user's labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

from sev.core import plain_value
from sev.text._labels import Labels
from sev.text._language import Language, Wording, Words, load_language, load_wording, overridden
from sev.text._statements import AnyOther, Enough, EnoughRange
from sev.text._values import feature_value, round_inward
from sev.typing import Cell, Cells, ClassLabel, ColumnLabel, Row

#: Categories of one feature that a sentence lists.
_MOST_CHOICES = 5
#: From this many on, all values but the row's own are told as such.
_FEWEST_ANY_OTHER = 3


class Vocabulary:
    """The words of one language, with the names that the user gave to features, values and decisions.

    Its parameters are those of :class:`Speaker`, which adds the sentences.
    """

    def __init__(
        self,
        columns: Mapping[str, tuple[ColumnLabel, ...]],
        wording: str | Path | Words | None = None,
        language: str | Path | Language | None = None,
        labels: Labels | None = None,
        *,
        letters: bool = False,
    ) -> None:
        labels = labels or Labels()
        self._letters = letters
        chosen = labels.language if language is None else language
        self._columns = columns
        self._labels = labels
        self._wording: Wording = {**labels.wording(columns), **load_wording(wording, columns)}
        self._texts: Language = load_language(chosen)
        self._overridden = overridden(chosen)
        self._marks = {name: self._texts[name] for name in ("decimal", "thousands", "missing", "yes_text", "no_text")}

    def text(self, name: str, **fields: object) -> str:
        """A text of the language by its name, filled in.

        Parameters
        ----------
        name : str
            Name of the text.
        **fields
            What is filled in.

        Returns
        -------
        str
            The text.
        """
        return self._fill_text(name, **fields)

    def has_text(self, name: str) -> bool:
        """Whether the language has a text of this name.

        Parameters
        ----------
        name : str
            Name of the text.

        Returns
        -------
        bool
            True if it has.
        """
        return name in self._texts

    def raw(self, name: str) -> str:
        """A text of the language by its name, with its fields left open.

        Parameters
        ----------
        name : str
            Name of the text.

        Returns
        -------
        str
            The text.
        """
        return str(self._texts[name])

    @property
    def language(self) -> str:
        """Code of the language that the texts are in, for pages; English where it is not known."""
        return str(self._texts["code"])

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that it speaks of."""
        return tuple(self._columns)

    def count(self, number: int) -> str:
        """A count with the language's separator of thousands.

        Parameters
        ----------
        number : int
            A count.

        Returns
        -------
        str
            Such as "1,024".
        """
        return f"{number:,}".replace(",", self._marks["thousands"])

    def number(self, number: float, form: str = ".3g") -> str:
        """A number such as a score or a mean, with the language's decimal mark.

        Parameters
        ----------
        number : float
            The number.
        form : str, default=".3g"
            How it is written, as in Python's ``format``.

        Returns
        -------
        str
            Such as "0.625", or "0,625" in German.
        """
        return f"{number:{form}}".replace(".", self._marks["decimal"])

    def percent(self, share: float, form: str = ".3g") -> str:
        """A share in percent, to three digits unless asked otherwise.

        Parameters
        ----------
        share : float
            Between 0 and 1.
        form : str, default=".3g"
            How the number before the sign is written, as in Python's ``format``.

        Returns
        -------
        str
            Such as "12.5%", or "12,5 %" in German.
        """
        return self._fill_text("percent", value=self.number(100.0 * share, form))

    def join(self, words: Sequence[str], last: Literal["list_and", "list_or"] = "list_and") -> str:
        """``a``, ``a and b``, ``a, b and c``.

        Parameters
        ----------
        words : sequence of str
            Parts.
        last : {"list_and", "list_or"}, default="list_and"
            "list_and" or "list_or".

        Returns
        -------
        str
            One text.
        """
        if len(words) == 1:
            return words[0]
        return f"{self._texts['list_comma'].join(words[:-1])}{self._texts[last]}{words[-1]}"

    def label(self, feature: str) -> str:
        """What people call a feature.

        Parameters
        ----------
        feature : str
            Its name.

        Returns
        -------
        str
            The label, or the feature's own name.
        """
        return str(self._wording.get(feature, {}).get("label", feature))

    def decision(self, value: object) -> str:
        """What a class stands for: the decision that the labels name, or the class itself.

        Parameters
        ----------
        value : object
            A class.

        Returns
        -------
        str
            The name.
        """
        return self._labels.decision(value) or repr(plain_value(value))

    def value(self, feature: str, row: Row) -> str:
        """The value that a row has for a feature, with its unit.

        Parameters
        ----------
        feature : str
            Its name.
        row : mapping or Series
            Values by column.

        Returns
        -------
        str
            Such as "48 months".
        """
        wording = self._wording.get(feature, {})
        own = wording.get("values", {}).get(self._choose_key(feature, row))
        if own is not None:
            return str(own)
        text = self._format_value(feature, row, self._columns[feature], wording)
        unit = wording.get("unit")
        return f"{text} {unit}" if unit and text != self._marks["missing"] else text

    def change(
        self,
        feature: str,
        old: Row,
        new: Row,
        enough: Enough | None = None,
        limits: Mapping[str, tuple[float, float]] | None = None,
    ) -> str:
        """What a feature would have to be, and what it is now: "at most 27 months (now 48 months)".

        Parameters
        ----------
        feature : str
            Its name.
        old : mapping or Series
            Values by column, before.
        new : mapping or Series
            Values by column, after.
        enough : Enough, default=None
            Values that are enough.
        limits : mapping of str to pair of float, default=None
            Smallest and largest value of each number.

        Returns
        -------
        str
            The text.
        """
        several = self.range_text(feature, new, enough, limits or {})
        value = self._value_in_text(feature, new) if several is None else several
        return self._fill_text("now", value=value, first=self._value_in_text(feature, old))

    def range_text(
        self,
        feature: str,
        row: Row,
        enough: Enough | None,
        limits: Mapping[str, tuple[float, float]],
    ) -> str | None:
        """The values of a feature that are enough, in words; None where only the row's own value can be written.

        Parameters
        ----------
        feature : str
            The feature.
        row : Series or mapping
            The changed row.
        enough : EnoughRange, list or None
            Ends of a range of numbers, or a list of values. An end that is a limit is left out.
        limits : mapping
            The smallest and the largest value of features; an end of the range that reaches one is left out.

        Returns
        -------
        str or None
            The text, or None.
        """
        if enough is None:
            return None
        if isinstance(enough, list):
            return self._choices_text(feature, row, enough)
        if len(self._columns[feature]) > 1:
            return None
        wording = self._wording.get(feature, {})
        low, high = round_inward(enough.low, enough.high, wording.get("digits"))
        if not low < high:
            return None
        named = self._named_values(feature, enough)
        if named:  # values that have names are told by them
            return self._choices_text(feature, row, named)
        first, last = limits.get(feature, (-math.inf, math.inf))
        starts, ends = enough.low <= first, enough.high >= last
        if starts and ends:
            starts, ends = math.isinf(low), math.isinf(high)
        if starts and ends:
            return None
        name = "range_at_most" if starts else "range_at_least" if ends else "range_between"
        if name == "range_between" and enough.low_is_limit != enough.high_is_limit:
            # one end tells what is enough, the other one only what is permitted
            name = "range_at_most_permitted" if enough.low_is_limit else "range_at_least_permitted"
        unit = f" {wording['unit']}" if wording.get("unit") else ""
        [column] = self._columns[feature]
        texts = [
            "" if math.isinf(end) else self._format_value(feature, {column: end}, (column,), wording)
            for end in (low, high)
        ]
        # between two values the unit stands once
        return self._fill_text(name, first=texts[0] + ("" if name == "range_between" else unit), last=texts[1] + unit)

    def _named_values(self, feature: str, enough: EnoughRange) -> list[float]:
        """Numbers of a range that have names."""
        known = self._wording.get(feature, {}).get("values", {})
        return sorted(one for one in known if _is_number(one) and enough.low <= one <= enough.high)

    def _choices_text(self, feature: str, row: Row, values: Sequence[Cell]) -> str | None:
        columns = self._columns[feature]
        cells = cast("Sequence[Cells]", values) if len(columns) > 1 else [(value,) for value in values]
        rows = [dict(zip(columns, one, strict=True)) for one in cells]
        if len(rows) < 2:
            return None
        if isinstance(values, AnyOther) and len(rows) >= _FEWEST_ANY_OTHER:
            return self.text("range_any_other")
        if len(rows) > _MOST_CHOICES:
            return self._fill_text("range_others", value=self._value_in_text(feature, row), n=len(rows) - 1)
        return self.join([self._value_in_text(feature, one) for one in rows], "list_or")

    def _format_value(self, feature: str, row: Row, columns: tuple[ColumnLabel, ...], wording: Words) -> str:
        return feature_value(feature, row, columns, digits=wording.get("digits"), **self._marks)

    def _value_in_text(self, feature: str, row: Row) -> str:
        """A value inside a sentence: names of categories in quotation marks, unless the user chose the words."""
        text = self.value(feature, row)
        key = self._choose_key(feature, row)
        if not isinstance(key, str) or key in self._wording.get(feature, {}).get("values", {}) or key.startswith("("):
            return text
        return str(self._texts["quoted"].format(value=text))

    def _choose_key(self, feature: str, row: Row) -> Cell:
        """The value that a phrase may be given for: the cell itself, or the category of a one-hot block."""
        columns = self._columns[feature]
        if len(columns) > 1:
            return feature_value(feature, row, columns)
        value = plain_value(row[columns[0]])
        return value if value is None or not isinstance(value, float) or not value.is_integer() else int(value)

    def _fill_text(self, name: str, by_class: ClassLabel | None = None, **fields: object) -> str:
        if self._letters:
            name = self._choose_variant(name, f"letter_{name}")
        if str(fields.get("n")) == "1":
            name = self._choose_variant(name, f"{name}_one")
        template = self._texts[name]
        if isinstance(template, Mapping):
            template = template.get(by_class, load_language(None)[name])
        return str(template.format_map(_Blank(fields)))

    def _choose_variant(self, name: str, variant: str) -> str:
        """A text for letters or for one thing, where there is one: who sets a text sets its variants, too."""
        is_used = variant in self._texts and (name not in self._overridden or variant in self._overridden)
        return variant if is_used else name


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class _Blank(dict[str, object]):
    """Fields that a template may name although this sentence has nothing to put there."""

    def __missing__(self, key: str) -> str:
        return ""
