"""What may change, and how: the constraints that a person, a policy or the law puts on explanations."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sev._io import write_file
from sev.actions._bounds import Between, Shifts, plain_number, read_limits
from sev.actions._contradictions import contradictions_of
from sev.actions._rules import Constant, Rule
from sev.core import python_value
from sev.exceptions import InputError
from sev.text import parse_mapping, read_mapping
from sev.typing import Cell, JSONObject, Parsed

#: A list of values, or for each value the list of values that it may become.
Allowed: TypeAlias = tuple[Constant, ...] | Mapping[Constant, tuple[Constant, ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Actions:
    """Which features may change in an explanation, in which direction, and to which values.

    Features that are not named may take every value. Contradictions are errors at once; what depends on the data (names
    of features, categories, whether a column holds numbers) is checked by :class:`sev.Explainer`.

    Parameters
    ----------
    frozen : list of str, default=()
        Never change, like ``restricted`` of the explainer.
    increase, decrease : list of str, default=()
        Only upward, or only downward, from the query's value. Numbers and ordered categories.
    within : mapping, default={}
        Limits of numbers: ``sev.between(6, 48)``, or a pair of changes from the query's value, each relative
        (``("-20%", "+0%")``, in percent of the value) or absolute (``("-500", "+500")``).
    allowed : mapping, default={}
        Values that a feature may become: a list, or a mapping from a value to the list of values that it may become. A
        feature whose value the mapping does not name cannot change.
    steps : mapping of str to float, default={}
        Only multiples of this number. Columns that hold only integers in the background have step 1 without being
        named.
    allow_missing : list of str, default=()
        Features that may become missing.
    rules : list of str, default=()
        Linear comparisons, conditions and implications between features: ``"late_30d <= late_12m"``, ``"student ==
        'yes' -> income <= 1000"``, ``"if student then income <= 1000"``. A result that breaks a rule which the query
        kept does not count. Names that are not Python names stand in backticks.
    costs : mapping of str to float, default={}
        Relative effort of a change; 1 where not given.

    Examples
    --------
    >>> import sev
    >>> actions = sev.Actions(frozen=["age"], increase=["income"], within={"amount": ("-20%", "+0%")})
    >>> print(actions.to_yaml())
    frozen:
    - age
    increase:
    - income
    within:
      amount:
      - -20%
      - +0%
    <BLANKLINE>
    >>> sev.Actions.from_yaml(actions.to_yaml()) == actions
    True
    """

    frozen: tuple[str, ...] = ()
    increase: tuple[str, ...] = ()
    decrease: tuple[str, ...] = ()
    within: Mapping[str, Between | Shifts] = field(default_factory=dict)
    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    allow_missing: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    costs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        read: dict[str, object] = {
            **{name: _read_names(name, getattr(self, name)) for name in _LISTS},
            "within": {name: read_limits(name, one) for name, one in _read_items("within", self.within)},
            "allowed": {name: _read_allowed(name, one) for name, one in _read_items("allowed", self.allowed)},
            "steps": {name: _read_step(name, one) for name, one in _read_items("steps", self.steps)},
            "rules": _read_rules(self.rules),
            "costs": {name: _read_cost(name, one) for name, one in _read_items("costs", self.costs)},
        }
        for name, value in read.items():
            object.__setattr__(self, name, value)
        for problem in self._find_contradictions():
            raise InputError(f"Actions contradict each other: {problem}.")

    # -- what is named -------------------------------------------------------------------------------------------------

    def named(self) -> Iterator[tuple[str, str]]:
        """Each entry with each feature that it names.

        Yields
        ------
        entry, feature : str, str
            Such as ``("frozen", "age")``.

        Examples
        --------
        >>> import sev
        >>> list(sev.Actions(frozen=["age"], increase=["income"]).named())
        [('frozen', 'age'), ('increase', 'income')]
        """
        for entry in (*_LISTS, *_MAPPINGS):
            for name in getattr(self, entry):
                yield entry, name
        for rule in self.rules:
            for name in rule.names:
                yield "rules", name

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))

    def _find_contradictions(self) -> Iterator[str]:
        for name in self.frozen:
            for entry in ("increase", "decrease", "within", "allowed", "allow_missing"):
                if name in getattr(self, entry):
                    yield f"frozen and {entry} both name {name!r}; leave it out of one"
        for name in self.increase:
            if name in self.decrease:
                yield f"increase and decrease both name {name!r}; write frozen if it may not change"
        for name in self.allowed:
            for entry in ("within", "steps"):
                if name in getattr(self, entry):
                    yield f"allowed lists the values of {name!r} and {entry} limits them; leave it out of one"
        for name, limits in self.within.items():
            yield from self._empty_limits(name, limits)
        yield from contradictions_of(self.rules, self.within, self.allow_missing)

    def _empty_limits(self, name: str, limits: Between | Shifts) -> Iterator[str]:
        shown = f"within[{name!r}]={limits}"
        if isinstance(limits, Shifts):
            if name in self.increase and limits.high.amount <= 0:
                yield f"increase names {name!r}, but {shown} leaves no larger value"
            if name in self.decrease and limits.low.amount >= 0:
                yield f"decrease names {name!r}, but {shown} leaves no smaller value"
        elif name in self.steps and math.isfinite(limits.low) and math.isfinite(limits.high):
            step = self.steps[name]
            if math.ceil(limits.low / step - 1e-9) > math.floor(limits.high / step + 1e-9):
                yield f"{shown} holds no multiple of steps[{name!r}]={plain_number(step)}"

    # -- files ---------------------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, actions: Actions | Mapping[str, Parsed] | str | Path | None) -> Actions | None:
        """Actions from what a user passed: actions, a mapping with the same entries, or a YAML file of one.

        Parameters
        ----------
        actions : Actions, mapping, path-like or None
            What a user passed as ``actions=``.

        Returns
        -------
        Actions or None
            None stays None.

        Raises
        ------
        InputError
            If it is none of these, the file cannot be read, or an entry is wrong.

        Examples
        --------
        >>> import sev
        >>> sev.Actions.of({"frozen": ["age"]}).frozen
        ('age',)
        """
        if actions is None or isinstance(actions, Actions):
            return actions
        if isinstance(actions, Mapping):
            return cls._from_mapping(actions)
        if isinstance(actions, (str, Path)):
            return cls.from_yaml(actions)
        raise InputError(f"actions is {actions!r}: pass sev.Actions(...), a mapping, or the path of a YAML file.")

    @classmethod
    def from_yaml(cls, path: str | Path) -> Actions:
        r"""Read a YAML file, written by :meth:`to_yaml` or by hand.

        Parameters
        ----------
        path : path-like
            A file, or the text itself if it holds a line break.

        Returns
        -------
        Actions
            The actions.

        Raises
        ------
        InputError
            If the file cannot be read, is not YAML, or has an entry that is unknown or wrong.

        Examples
        --------
        >>> import sev
        >>> sev.Actions.from_yaml("frozen: [age]\ndecrease: [debt]\n").decrease
        ('debt',)
        """
        is_text = isinstance(path, str) and "\n" in path
        content = parse_mapping(str(path), "the text of the actions") if is_text else read_mapping(path, "actions")
        return cls._from_mapping(content)

    @classmethod
    def _from_mapping(cls, content: Mapping[str, Parsed]) -> Actions:
        known = [one.name for one in fields(cls)]
        for name in content:
            if name not in known:
                raise InputError(f"Actions have an unknown entry {name!r}: they take {', '.join(known)}.")
        return cls(**{name: value for name, value in content.items() if value is not None})

    def to_yaml(self, path: str | Path | None = None) -> str:
        """Write the entries as YAML.

        Parameters
        ----------
        path : path-like, default=None
            File to write; the text is returned either way.

        Returns
        -------
        str
            The text of the file.

        Examples
        --------
        >>> import sev
        >>> print(sev.Actions(frozen=["age"], decrease=["debt"]).to_yaml())
        frozen:
        - age
        decrease:
        - debt
        """
        import yaml

        text: str = yaml.safe_dump(_as_mappings(self.to_plain()), sort_keys=False, allow_unicode=True)
        if path is not None:
            write_file(path, text.encode())
        return text

    def to_plain(self) -> JSONObject:
        """Plain values, ready for JSON; entries that are empty are left out.

        A mapping between values is a list of pairs, because keys in JSON are strings.

        Returns
        -------
        dict
            Strings, numbers, lists and mappings.

        Examples
        --------
        >>> import sev
        >>> sev.Actions(frozen=["age"], within={"duration": sev.between(6, 48)}).to_plain()
        {'frozen': ['age'], 'within': {'duration': {'between': [6, 48]}}}
        """
        plain: JSONObject = {name: list(getattr(self, name)) for name in _LISTS}
        plain["within"] = {name: one.to_plain() for name, one in self.within.items()}
        plain["allowed"] = {
            name: {"from": [[old, list(new)] for old, new in one.items()]} if isinstance(one, Mapping) else list(one)
            for name, one in self.allowed.items()
        }
        plain["steps"] = {name: plain_number(one) for name, one in self.steps.items()}
        plain["rules"] = [rule.text for rule in self.rules]
        plain["costs"] = {name: plain_number(one) for name, one in self.costs.items()}
        return {one.name: plain[one.name] for one in fields(self) if plain[one.name]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Parsed]) -> Actions:
        """Inverse of :meth:`to_plain`.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_plain` returned.

        Returns
        -------
        Actions
            The same actions.

        Raises
        ------
        InputError
            If an entry is unknown or wrong.

        Examples
        --------
        >>> import sev
        >>> actions = sev.Actions(frozen=["age"])
        >>> sev.Actions.from_plain(actions.to_plain()) == actions
        True
        """
        return cls._from_mapping(_as_mappings(plain))

    @property
    def digest(self) -> str:
        """SHA-256 of the entries, for records; the order of names does not matter."""
        plain = self.to_plain()
        for name in (*_LISTS, "rules"):
            listed = plain.get(name)
            if isinstance(listed, list):
                plain[name] = sorted(map(str, listed))
        text = json.dumps(plain, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Actions) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.to_plain().items())
        return f"Actions({shown})"


_LISTS = ("frozen", "increase", "decrease", "allow_missing")
_MAPPINGS = ("within", "allowed", "steps", "costs")


def _read_names(entry: str, names: Parsed) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise InputError(f"{entry} must be a list of names, got {names!r}: write [{names!r}].")
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if not isinstance(name, str):
            raise InputError(f"{entry} names {name!r}, which is not text: features have names, write {str(name)!r}.")
    return chosen


def _read_items(entry: str, given: Parsed) -> Iterator[tuple[str, Parsed]]:
    if not isinstance(given, Mapping):
        raise InputError(f"{entry} must be a mapping from names of features, got {given!r}.")
    for name, value in given.items():
        if not isinstance(name, str):
            raise InputError(f"{entry} names {name!r}, which is not text: features have names, write {str(name)!r}.")
        yield name, value


def _read_allowed(name: str, given: Parsed) -> Allowed:
    if isinstance(given, Mapping):
        return {
            _read_value(f"allowed[{name!r}]", old): _read_values(f"allowed[{name!r}][{old!r}]", new)
            for old, new in given.items()
        }
    values = _read_values(f"allowed[{name!r}]", given)
    if not values:
        raise InputError(f"allowed[{name!r}] lists no value: put {name!r} under frozen if it may not change.")
    return values


def _read_values(what: str, given: Parsed) -> tuple[Constant, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise InputError(f"{what} must be a list of values, got {given!r}: write [{given!r}].")
    return tuple(dict.fromkeys(_read_value(what, one) for one in given))


def _read_value(what: str, given: Cell) -> Constant:
    value = python_value(given)
    if not isinstance(value, (str, bool, int, float)) or value != value:
        raise InputError(
            f"{what} holds {value!r}: give texts, numbers or booleans; allow_missing is for missing values."
        )
    return value


def _read_step(name: str, given: Parsed) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float, np.number)) or not 0 < float(given) < math.inf:
        raise InputError(f"steps[{name!r}] is {given!r}: a step is a positive number, such as 1 for integers.")
    return float(given)


def _read_cost(name: str, given: Parsed) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float, np.number)) or not 0 <= float(given) < math.inf:
        raise InputError(f"costs[{name!r}] is {given!r}: a cost is a number of at least 0; 1 is the usual one.")
    return float(given)


def _read_rules(given: Parsed) -> tuple[Rule, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise InputError(f"rules must be a list of texts, got {given!r}: write [{given!r}].")
    return tuple(dict.fromkeys(one if isinstance(one, Rule) else Rule(one) for one in given))


def _as_mappings(plain: Mapping[str, Parsed]) -> dict[str, Parsed]:
    """With mappings between values as mappings, as YAML and people have them."""
    allowed = {
        name: dict(one["from"]) if isinstance(one, Mapping) and set(one) == {"from"} and _is_pairs(one["from"]) else one
        for name, one in plain.get("allowed", {}).items()
    }
    return {**plain, **({"allowed": allowed} if allowed else {})}


def _is_pairs(value: Parsed) -> bool:
    return isinstance(value, list) and all(isinstance(one, list) and len(one) == 2 for one in value)
