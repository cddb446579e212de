"""The named tuples of arrays that travel between kernels, and their types in signatures.

Fixed signatures make the kernels compile once, when they are imported, whatever calls them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sev.kernels import Form

INT, FLOAT = "int64", "float64"
INTS, SHORTS, BOOLS, WORDS, VECTOR = "int64[::1]", "int32[::1]", "boolean[::1]", "uint64[::1]", "float64[::1]"
BOOL_MATRIX, WORD_MATRIX, MATRIX = "boolean[:, ::1]", "uint64[:, ::1]", "float64[:, ::1]"


class Trees(NamedTuple):
    """A forest as kernels take it; nodes are packed as ``_collapse.py`` says."""

    nodes: Any  # (n_nodes,)
    values: Any  # (n_nodes,): threshold, number of the category set, or leaf value
    roots: Any  # (n_trees,)
    category_first: Any  # (n_category_sets + 1,): where the words of each category set begin
    category_words: Any  # category k is bit k % 64 of word k // 64
    sizes: Any  # (3,): number of leaves, sum of the depths of all leaves, largest depth


class Patterns(NamedTuple):
    """What every tree does for every pattern of its splits, for one reference (see ``_patterns.py``)."""

    columns: Any  # columns with splits
    first_edge: Any  # where the thresholds of each begin
    edges: Any  # thresholds, column after column
    passed: Any  # splits that go right, eight bits a tree, for each number of thresholds passed
    first_code: Any  # (n_trees,): where the patterns of each tree begin
    records: Any  # (n_patterns,): where the record of each begins
    stream: Any  # records one after the other


class Cubes(NamedTuple):
    """Collapsed trees, on a stack: tree t has the cubes ``tree[t]:tree[t + 1]``, cube i the groups
    ``groups[first[i]:first[i + 1]]``, of which the first ``need[i]`` must be in the set and the others must not.
    """

    tree: Any
    first: Any
    need: Any
    values: Any
    groups: Any


class Groups(NamedTuple):
    """Numbering of the features met in one row."""

    number: Any  # (n_features,): -1 for features that were not met
    feature: Any  # the reverse
    linear: Any  # effect of the trees that have this feature only


class Path(NamedTuple):
    """Scratch of the collapse."""

    node: Any
    depth: Any
    step: Any


class Found(NamedTuple):
    """Where sets are recorded."""

    masks: Any
    values: Any
    feature: Any  # the feature of each group number
    cursor: Any  # (3,): where this row begins, sets so far, sets to keep


class Queries(NamedTuple):
    """What is asked, row by row."""

    rows: Any  # (n_rows, n_columns)
    active: Any  # (n_rows, n_features)
    column_feature: Any  # (n_columns,)
    todo: Any  # the rows to answer
    from_size: Any  # (n_rows,): no smaller set crosses
    budget: Any  # (n_rows,): units of work


class Rules(NamedTuple):
    """What holds for all rows. Margins are turned so that a set crosses by going down."""

    minus: Any  # 1 when the set is taken from the reference
    sign: Any  # 1 when margins are as they are, -1 when they are turned
    base: Any  # constant part of the margin, turned
    sure: Any  # below it a set crosses
    limit: Any  # above it a set does not cross; between the two only the model knows
    max_size: Any
    max_sets: Any  # sets to list for each row, sure or not
    by_level: Any  # 1 when tables of terms may answer for all sets of one size


class Answers(NamedTuple):
    """What was found, row by row, with the sets of all rows one after the other."""

    outcome: Any  # (n_rows,)
    proven: Any  # (n_rows,): the largest size known not to cross
    first: Any  # (n_rows,): where the row's sets begin
    count: Any  # (n_rows,): how many there are; more than max_sets: the list was cut
    work: Any  # (n_rows,): units of work done
    masks: Any  # (n_sets, n_words)
    values: Any  # (n_sets,): turned margins


TREES = Form(Trees, (INTS, VECTOR, INTS, INTS, WORDS, INTS))
PATTERNS = Form(Patterns, (INTS, INTS, VECTOR, WORD_MATRIX, INTS, SHORTS, VECTOR))
QUERIES = Form(Queries, (MATRIX, BOOL_MATRIX, INTS, INTS, INTS, INTS))
RULES = Form(Rules, (INT, FLOAT, FLOAT, FLOAT, FLOAT, INT, INT, INT))
ANSWERS = Form(Answers, (INTS, INTS, INTS, INTS, INTS, WORD_MATRIX, VECTOR))
