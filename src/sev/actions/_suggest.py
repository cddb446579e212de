"""Actions that data and names suggest, for a person to review: never applied on their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from sev.actions._bounds import plain_number
from sev.actions._ground import as_numbers
from sev.exceptions import InputError
from sev.references import holds_integers
from sev.space import FeatureSpace, TableForm, is_quantity
from sev.typing import FloatArray, NativeTable

_NEVER_FALLS = re.compile(r"(^|[^a-z])(age|tenure|seniority|years?_since|months?_since|time_since)([^a-z]|$)", re.I)
_PROTECTED = re.compile(
    r"(^|[^a-z])(sex|gender|race|racial|ethnic\w*|religio\w*|birth\w*|born|marital\w*|married|divorced|widow\w*|"
    r"disab\w*|handicap\w*|pregnan\w*|veteran\w*|nationalit\w*|national_origin|citizen\w*|foreign\w*|immigra\w*|"
    r"migra\w*|refugee\w*|caste|tribe|skin|mother_tongue|sexual\w*)([^a-z]|$)",
    re.I,
)
#: Where somebody comes from or lives often stands for a protected attribute, and is not what a decision should ask for.
_ORIGIN = re.compile(
    r"(^|[^a-z])(state|country|county|region|province|district|city|town|zip|zipcode|zip_code|postcode|postal\w*|plz|"
    r"neighbou?rhood|address|origin|native\w*)([^a-z]|$)",
    re.I,
)
_PROTECTED_VALUES = re.compile(
    r"(^|[^a-z])(male|female|husband|wife|married|unmarried|divorced|widow\w*|christian|muslim|jewish|hindu|buddhist)([^a-z]|$)",
    re.I,
)
#: Rows that a relation must hold in to be proposed.
_FEWEST_ROWS = 30
_MOST_RULES = 30
_MOST_VALUES = 20
#: Negative numbers of a column that may be codes.
_MOST_CODES = 4
#: Below this a float holds every integer exactly.
_EXACT_INTEGERS = 2.0**53
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def suggest_actions(X_train: NativeTable, y_train: Any = None) -> str:
    """Propose actions as a YAML file in which every line is commented out and states its evidence.

    Nothing is applied: a person removes the comment marks of the lines that are right, and reads the file with
    :meth:`sev.Actions.from_yaml`.

    Parameters
    ----------
    X_train : table or array of shape (n_rows, n_columns)
        Training rows.
    y_train : array-like of shape (n_rows,), default=None
        Their labels; with them, bounds state the medians of the classes.

    Returns
    -------
    str
        The text of the file.

    Raises
    ------
    InputError
        If ``y_train`` does not have one label per row.

    Examples
    --------
    >>> import pandas as pd, sev
    >>> rows = pd.DataFrame({"age": [30, 41, 52] * 20, "late_30d": [0, 1, 2] * 20, "late_12m": [0, 1, 3] * 20})
    >>> print(sev.suggest_actions(rows))  # doctest: +ELLIPSIS
    # Proposals for sev.Actions from 60 rows and 3 columns...
    # increase:
    # - age  # by its name, it never falls with time
    ...
    # rules:
    # - late_30d <= late_12m  # holds in all 60 rows, with equality in 40
    <BLANKLINE>
    """
    form = TableForm.of(X_train)
    frame = form.to_frame(X_train, what="X_train")
    space = FeatureSpace.of(frame)
    labels = None if y_train is None else np.asarray(y_train)
    if labels is not None and len(labels) != len(frame):
        raise InputError(f"y_train has {len(labels)} labels for {len(frame)} rows: both must have the same length.")
    singles = [(feature.name, feature.columns[0]) for feature in space.features if len(feature.columns) == 1]
    numbers = {
        name: as_numbers(frame[column])
        for name, column in singles
        if is_quantity(frame[column].dtype) and frame[column].dtype.kind in "fiu"
    }
    singles_of = dict(singles)
    telling = {name: _telling_value(frame[singles_of[name]]) for name in singles_of if name not in numbers}
    frozen = [
        name for name in space.names if _has_word(name, _PROTECTED) or _has_word(name, _ORIGIN) or telling.get(name)
    ]
    singles = [(name, column) for name, column in singles if name not in frozen]
    numbers = {name: values for name, values in numbers.items() if name not in frozen}
    codes = {name: _codes_among(values) for name, values in numbers.items()}
    numbers = {name: np.where(np.isin(values, codes[name]), np.nan, values) for name, values in numbers.items()}
    lines = [
        f"# Proposals for sev.Actions from {len(frame):,} rows and {frame.shape[1]} columns.",
        "# Nothing here applies until a person has removed the comment marks of the lines that are right.",
    ]
    integers = [name for name, column in singles if name in numbers and holds_integers(frame[column])]
    sections = {
        "frozen": _frozen(frozen, telling),
        "increase": _by_name([*numbers], _NEVER_FALLS, "by its name, it never falls with time"),
        "within": _bounds(numbers, codes, labels),
        "allowed": _categories(frame, [(name, column) for name, column in singles if name not in numbers]),
        "steps": (_step(name, numbers[name]) for name in integers),
        "rules": _relations(numbers, len(frame)),
    }
    for entry, proposals in sections.items():
        found = list(proposals)
        if found:
            lines += [f"# {entry}:", *(f"# {line}" for line in found)]
    return "\n".join(lines) + "\n"


def _telling_value(column: pd.Series) -> str | None:
    """A category that tells what a column stands for whatever its name, such as "Husband"."""
    if is_quantity(column.dtype):
        return None
    texts = (str(value) for value in pd.unique(column.dropna())[:_MOST_VALUES])
    return next((text for text in texts if _has_word(text, _PROTECTED_VALUES)), None)


def _frozen(names: list[str], telling: Mapping[str, str | None]) -> Iterator[str]:
    for name in names:
        protected = _has_word(name, _PROTECTED)
        what = (
            "a protected attribute" if protected else "a place or an origin, which may stand for a protected attribute"
        )
        if protected or _has_word(name, _ORIGIN):
            yield f"- {_quoted(name)}  # by its name, {what}: nobody is to be asked to change it"
            continue
        value = _one_line(json.dumps(telling[name], ensure_ascii=False))
        yield f"- {_quoted(name)}  # by its value {value}, a protected attribute: nobody is to be asked to change it"


def _by_name(names: Any, pattern: re.Pattern[str], evidence: str) -> Iterator[str]:
    for name in names:
        if _has_word(name, pattern):
            yield f"- {_quoted(name)}  # {evidence}"


def _has_word(name: str, pattern: re.Pattern[str]) -> bool:
    """Whether a name has a word of a pattern, however its words are set apart: home_state, homeState, "home state"."""
    return pattern.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)) is not None


def _codes_among(values: FloatArray) -> FloatArray:
    """Numbers that stand for something else, such as -9 for "no record": the few negative ones of a column, of one
    digit or of nines.
    """
    known = np.unique(values[np.isfinite(values)])
    negative, others = known[known < 0], known[known >= 0]
    few = len(negative) <= _MOST_CODES and len(others) > 2 * len(negative)
    looks_so = all(re.fullmatch(r"-(\d|9+)", f"{value:.12g}") for value in negative.tolist())
    return negative if few and looks_so else np.zeros(0)


def _bounds(numbers: dict[str, FloatArray], codes: dict[str, FloatArray], labels: Any) -> Iterator[str]:
    for name, values in numbers.items():
        known = np.isfinite(values)
        if not known.any():
            continue
        low, high = plain_number(values[known].min()), plain_number(values[known].max())
        medians = ""
        if labels is not None:
            classes = [one for one in pd.unique(pd.Series(labels)) if (known & (labels == one)).any()][:4]
            listed = ", ".join(
                f"{np.median(values[known & (labels == one)]):g} for {one}" for one in sorted(classes, key=str)
            )
            medians = f"; medians: {_one_line(listed)}"
        listed_codes = ", ".join(f"{code:g}" for code in codes[name])
        evidence = f"all {known.sum():,} values lie there"
        if listed_codes:
            evidence = f"all {known.sum():,} values lie there but {listed_codes}, which may be codes"
        yield f"  {_quoted(name)}: {{between: [{low}, {high}]}}  # {evidence}{medians}"


def _step(name: str, values: FloatArray) -> str:
    """The largest step that all integers of a column are multiples of: amounts in hundreds, terms in years."""
    known = values[np.isfinite(values)]
    step = 1
    # two values are always multiples of something
    if len(np.unique(known)) > 2 and np.abs(known).max() < _EXACT_INTEGERS:
        step = int(np.gcd.reduce(known.astype(np.int64)))
    evidence = "values are integers" if step == 1 else f"values are multiples of {step}"
    return f"  {_quoted(name)}: {step}  # all {len(known):,} {evidence}"


def _categories(frame: pd.DataFrame, columns: list[tuple[str, Any]]) -> Iterator[str]:
    for name, column in columns:
        counts = frame[column].value_counts()
        counts = counts[counts > 0]
        plain = [value.item() if isinstance(value, np.generic) else value for value in counts.index]
        if 1 < len(counts) <= _MOST_VALUES and all(isinstance(value, (str, bool, int, float)) for value in plain):
            listed = ", ".join(json.dumps(value, ensure_ascii=False) for value in plain)
            yield f"  {_quoted(name)}: [{listed}]  # {len(counts)} values occur, the rarest {_tell_times(counts.min())}"


def _tell_times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _relations(numbers: dict[str, FloatArray], n_rows: int) -> Iterator[str]:
    """Columns of which one is never larger than the other, without those that follow from others."""
    holds: dict[tuple[str, str], tuple[int, int]] = {}
    for first, one in numbers.items():
        for second, other in numbers.items():
            both = np.isfinite(one) & np.isfinite(other)
            if first == second or both.sum() < _FEWEST_ROWS or not (one[both] <= other[both]).all():
                continue
            equal = int((one[both] == other[both]).sum())
            # two columns whose ranges hardly meet are not in a relation, nor are two that are the same
            if equal and equal < both.sum() and one[both].max() > other[both].min():
                holds[first, second] = (int(both.sum()), equal)
    count = 0
    for (first, second), (rows, equal) in holds.items():
        if any((first, third) in holds and (third, second) in holds for third in numbers) or count >= _MOST_RULES:
            continue
        count += 1
        rule = f"{_rule_name(first)} <= {_rule_name(second)}"
        shown = rule if _PLAIN_NAME.fullmatch(first) and _PLAIN_NAME.fullmatch(second) else json.dumps(rule)
        which = "rows" if rows == n_rows else "rows where both are known"
        yield f"- {shown}  # holds in all {rows:,} {which}, with equality in {equal:,}"


def _rule_name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name}`"


def _quoted(name: str) -> str:
    """A name as YAML takes it on one line."""
    return (
        name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _YAML_WORDS else json.dumps(name)
    )


_YAML_WORDS = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")
