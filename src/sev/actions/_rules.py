"""Rules between features: linear comparisons, conditions on categories, and implications.

A rule is text. It is parsed with :mod:`ast` into a small tree of its own, and never run as code. Missing values make a
comparison unknown; a rule is broken only where it is known to be false.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from sev.exceptions import InputError
from sev.typing import BoolArray, Cell, FloatArray

_REMEDY = (
    "write a comparison such as 'late_30d <= late_12m' or '2 * a + b <= 100', a condition such as \"student == 'yes'\" "
    "or \"job in ['a', 'b']\", joined by and, or, not, or an implication: \"student == 'yes' -> income <= 1000\""
)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_COMPARE: dict[type[ast.cmpop], np.ufunc] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
#: Two sides of a comparison closer than this share of their size are equal: 0.1 + 0.2 is 0.3.
_ROUNDING = 1e-12

#: Columns by the names in rules: a table of pandas, or a mapping to arrays or columns.
Columns: TypeAlias = "pd.DataFrame | Mapping[str, pd.Series | np.ndarray]"
#: A value that people write in actions: a text, a boolean or a number.
Constant: TypeAlias = str | bool | int | float


class Truth(NamedTuple):
    """What is known of a condition in each row; neither, where a value is missing."""

    true: BoolArray
    false: BoolArray


class Comparison(NamedTuple):
    """A sum of numbers that a rule compares with 0.

    Parameters
    ----------
    weights : mapping of str to float
        The weight of each feature; the constant has the name "".
    operator : type of ast.cmpop
        How.
    is_ordered : bool
        Whether it is compared by an order.
    is_closed : bool
        Whether the rule holds where the sum is 0.
    """

    weights: Mapping[str, float]
    operator: type[ast.cmpop]
    is_ordered: bool
    is_closed: bool


@dataclass(frozen=True)
class Rule:
    """One rule.

    Parameters
    ----------
    text : str
        As it was written.

    Examples
    --------
    >>> import pandas as pd
    >>> from sev.actions import Rule
    >>> rows = pd.DataFrame({"student": ["yes", "yes", "no"], "income": [900.0, 1100.0, 1100.0]})
    >>> Rule("if student == 'yes' then income <= 1000").broken(rows).tolist()
    [False, True, False]
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InputError(f"rules: {self.text!r} is not text: {_REMEDY}.")
        if not self.names:  # reads the rule
            raise InputError(f"rules: {self.text!r} names no feature: {_REMEDY}.")

    @cached_property
    def _parsed(self) -> _Parser:
        return _Parser(self.text)

    @property
    def names(self) -> tuple[str, ...]:
        """The features that it names, in order."""
        return tuple(self._parsed.names)

    @property
    def numbers(self) -> frozenset[str]:
        """The features that have to be numbers."""
        return frozenset(self._parsed.numbers)

    @property
    def booleans(self) -> frozenset[str]:
        """The features that stand alone, and have to be booleans, or 0 and 1."""
        return frozenset(self._parsed.booleans)

    @property
    def texts(self) -> Mapping[str, Sequence[str]]:
        """The texts that features are compared with."""
        return self._parsed.texts

    @property
    def is_decided_by_corners(self) -> bool:
        """Whether, for given categories, it holds everywhere in a box of numbers if it does at its corners: it compares
        numbers once, by an order.
        """
        return self._parsed.n_comparisons == 0 or (self._parsed.n_comparisons == 1 and self._parsed.is_ordered)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Its comparisons of numbers."""
        return tuple(self._parsed.comparisons)

    @property
    def only_compares(self) -> bool:
        """Whether it says that all its comparisons of numbers hold, and nothing else."""
        return self._parsed.only_compares

    def broken(self, columns: Columns) -> BoolArray:
        """Rows in which the rule is known to be false.

        Parameters
        ----------
        columns : DataFrame or mapping of str to array
            Has a column for each of :attr:`names`.

        Returns
        -------
        ndarray of bool
            One for each row.
        """
        return self._parsed.condition(columns).false

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[Rule], tuple[str]]:
        return Rule, (self.text,)  # what was parsed holds closures


class _Parser:
    """Turns text into a function of columns that returns what is known of the rule."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.names: dict[str, None] = {}
        self.numbers: dict[str, None] = {}
        self.booleans: dict[str, None] = {}
        self.texts: dict[str, list[str]] = {}
        self.n_comparisons = 0
        self.is_ordered = True
        self.comparisons: list[Comparison] = []
        self.only_compares = True
        self._in_premise = False
        self._has_negation = re.search(r"\bnot\b", text) is not None
        self._stand_ins: dict[str, str] = {}
        premise, conclusion = self._split_implication()
        self.condition = self._parse_text(conclusion)
        if premise is not None:
            self.only_compares = False
            self._in_premise = True
            self.condition = _require_either(_negate(self._parse_text(premise)), self.condition)

    def _make_error(self, why: str) -> InputError:
        return InputError(f"rules: {self._text!r} cannot be read: {why}. {_REMEDY[0].upper()}{_REMEDY[1:]}.")

    def _split_implication(self) -> tuple[str | None, str]:
        """Premise and conclusion; names in backticks get names that Python takes."""
        # quoted text is hidden, so that an arrow or a "then" inside a category splits nothing
        hidden = _QUOTED.sub(lambda match: "\0" * len(match.group()), self._text)
        started = re.match(r"\s*if\s", hidden)
        marks = list(re.finditer(r"\sthen\s" if started else r"->", hidden))
        if started and "->" in hidden:
            raise self._make_error("it has both 'if' and '->'")
        if len(marks) > 1 or (started and not marks):
            raise self._make_error("'if' needs one 'then'" if started else "it has more than one '->'")
        if not marks:
            return None, self._replace_quoted_names(self._text)
        first = started.end() if started else 0
        return self._replace_quoted_names(self._text[first : marks[0].start()]), self._replace_quoted_names(
            self._text[marks[0].end() :]
        )

    def _replace_quoted_names(self, text: str) -> str:
        def stand_in(match: re.Match[str]) -> str:
            if not match.group().startswith("`"):
                return match.group()
            name = f"_name_{len(self._stand_ins)}_"
            self._stand_ins[name] = match.group()[1:-1]
            return name

        return _QUOTED.sub(stand_in, text).strip()

    def _parse_text(self, text: str) -> Callable[[Columns], Truth]:
        try:
            tree = ast.parse(text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise self._make_error(f"{text!r} is not a condition") from error
        return self._read_condition(tree.body)

    def _read_condition(self, node: ast.expr) -> Callable[[Columns], Truth]:
        if isinstance(node, ast.BoolOp):
            self.only_compares &= isinstance(node.op, ast.And)
            parts = [self._read_condition(one) for one in node.values]
            joined = parts[0]
            for part in parts[1:]:
                joined = _require_either(joined, part) if isinstance(node.op, ast.Or) else _require_both(joined, part)
            return joined
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.only_compares = False
            return _negate(self._read_condition(node.operand))
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            steps = [self._read_comparison(*one) for one in zip(sides[:-1], node.ops, sides[1:], strict=True)]
            joined = steps[0]
            for step in steps[1:]:
                joined = _require_both(joined, step)
            return joined
        if isinstance(node, ast.Name):
            self.only_compares = False
            self.booleans[self._note_name(node)] = None
            self._count_equality(self._note_name(node), [True])
            return _is_true(self._note_name(node))
        raise self._make_error(f"{ast.unparse(node)!r} is not a condition")

    def _read_comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Callable[[Columns], Truth]:
        if isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(left, ast.Name) or not isinstance(right, (ast.List, ast.Tuple, ast.Set)):
                raise self._make_error("'in' takes a feature and a list of values")
            values = [self._read_constant(one) for one in right.elts]
            self.only_compares = False
            self._count_equality(self._note_name(left), values)
            self._note_texts(self._note_name(left), values)
            found = _is_any_of(self._note_name(left), values)
            return found if isinstance(op, ast.In) else _negate(found)
        if type(op) not in _COMPARE:
            raise self._make_error("'is' is not known: use ==")
        if isinstance(left, ast.Constant) and not _is_number(left):
            left, right = right, left
        if isinstance(right, ast.Constant) and not _is_number(right):
            if not isinstance(left, ast.Name) or not isinstance(op, (ast.Eq, ast.NotEq)):
                raise self._make_error(f"{right.value!r} can only be compared with a feature, by == or !=")
            self.only_compares = False
            self._count_equality(self._note_name(left), [right.value])
            self._note_texts(self._note_name(left), [right.value])
            found = _is_any_of(self._note_name(left), [right.value])
            return found if isinstance(op, ast.Eq) else _negate(found)
        self.n_comparisons += 1
        is_ordered = not isinstance(op, (ast.Eq, ast.NotEq))
        self.is_ordered &= is_ordered
        weights = self._read_sum(left)
        for name, weight in self._read_sum(right).items():
            weights[name] = weights.get(name, 0.0) - weight
        self.only_compares &= not isinstance(op, ast.NotEq)
        closed = (ast.Lt, ast.Gt) if self._in_premise else (ast.LtE, ast.GtE)
        is_closed = isinstance(op, closed) and not self._has_negation
        self.comparisons.append(Comparison(weights, type(op), is_ordered=is_ordered, is_closed=is_closed))
        return _compare_sum(weights, _COMPARE[type(op)])

    def _count_equality(self, name: str, values: Sequence[Cell]) -> None:
        """Note that a feature is compared with values, which may be numbers."""
        if not all(isinstance(one, str) for one in values):
            self.n_comparisons, self.is_ordered = self.n_comparisons + 1, False
            self.comparisons.append(Comparison({name: 1.0}, ast.Eq, is_ordered=False, is_closed=True))

    def _note_texts(self, name: str, values: Sequence[Cell]) -> None:
        self.texts.setdefault(name, []).extend(one for one in values if isinstance(one, str))

    def _read_constant(self, node: ast.expr) -> Constant:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._read_constant(node.operand)
            if isinstance(value, (int, float)):
                return -value
        if not isinstance(node, ast.Constant) or not isinstance(node.value, (str, bool, int, float)):
            raise self._make_error(f"{ast.unparse(node)!r} is not a value")
        return node.value

    def _note_name(self, node: ast.Name) -> str:
        name = self._stand_ins.get(node.id, node.id)
        self.names[name] = None
        return name

    def _read_sum(self, node: ast.expr) -> dict[str, float]:
        """Weight of each feature in a sum; the constant has the name "" ."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return {"": float(node.value)}
        if isinstance(node, ast.Name):
            name = self._note_name(node)
            self.numbers[name] = None
            return {name: 1.0}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            return {name: sign * weight for name, weight in self._read_sum(node.operand).items()}
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            left, right = self._read_sum(node.left), self._read_sum(node.right)
            if isinstance(node.op, (ast.Add, ast.Sub)):
                sign = 1.0 if isinstance(node.op, ast.Add) else -1.0
                return {name: left.get(name, 0.0) + sign * right.get(name, 0.0) for name in {**left, **right}}
            if isinstance(node.op, ast.Mult) and set(left) == {""}:
                left, right = right, left
            if set(right) != {""}:
                raise self._make_error(f"{ast.unparse(node)!r} is not linear: features may only be added and scaled")
            factor = right[""]
            if isinstance(node.op, ast.Div):
                if factor == 0:
                    raise self._make_error(f"{ast.unparse(node)!r} divides by zero")
                factor = 1.0 / factor
            return {name: weight * factor for name, weight in left.items()}
        raise self._make_error(f"{ast.unparse(node)!r} is not a sum of features")


def _is_number(node: ast.Constant) -> bool:
    return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def _require_both(one: Callable[[Columns], Truth], other: Callable[[Columns], Truth]) -> Callable[[Columns], Truth]:
    def joined(columns: Columns) -> Truth:
        a, b = one(columns), other(columns)
        return Truth(a.true & b.true, a.false | b.false)

    return joined


def _require_either(one: Callable[[Columns], Truth], other: Callable[[Columns], Truth]) -> Callable[[Columns], Truth]:
    def joined(columns: Columns) -> Truth:
        a, b = one(columns), other(columns)
        return Truth(a.true | b.true, a.false & b.false)

    return joined


def _negate(condition: Callable[[Columns], Truth]) -> Callable[[Columns], Truth]:
    def negated(columns: Columns) -> Truth:
        truth = condition(columns)
        return Truth(truth.false, truth.true)

    return negated


def _compare_sum(weights: dict[str, float], compare: np.ufunc) -> Callable[[Columns], Truth]:
    def condition(columns: Columns) -> Truth:
        total: float | FloatArray = weights.get("", 0.0)
        size: float | FloatArray = abs(weights.get("", 0.0))
        for name, weight in weights.items():
            if name:
                term = weight * pd.Series(columns[name]).to_numpy(dtype=np.float64, na_value=np.nan)
                total, size = total + term, size + np.abs(term)
        known = ~np.isnan(total)
        total = np.where(np.abs(total) <= _ROUNDING * size, 0.0, total)
        holds = np.asarray(compare(total, 0.0), dtype=np.bool_)
        return Truth(known & holds, known & ~holds)

    return condition


def _is_any_of(name: str, values: Sequence[Cell]) -> Callable[[Columns], Truth]:
    def condition(columns: Columns) -> Truth:
        cells = pd.Series(columns[name]).astype(object)
        known = cells.notna().to_numpy()
        found = cells.isin(values).to_numpy(dtype=np.bool_)
        return Truth(known & found, known & ~found)

    return condition


def _is_true(name: str) -> Callable[[Columns], Truth]:
    """A feature that stands alone: a boolean, or a number that is 0 or 1."""

    def condition(columns: Columns) -> Truth:
        cells = pd.Series(columns[name])
        if not (pd.api.types.is_bool_dtype(cells.dtype) or pd.api.types.is_numeric_dtype(cells.dtype)):
            values = cells.dropna()
            if not values.map(lambda value: isinstance(value, (bool, np.bool_))).all():
                raise InputError(
                    f"rules: {name!r} stands alone but is not a boolean: name the value, such as {name} == "
                    f"{values.iloc[0]!r}."
                )
        known = cells.notna().to_numpy()
        found = cells.isin([True, 1]).to_numpy(dtype=np.bool_)
        return Truth(known & found, known & ~found)

    return condition
