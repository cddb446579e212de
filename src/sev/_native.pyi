"""Types of the compiled extension; it is bound in `_native/bind/`."""

from collections.abc import Callable

import numpy as np

from sev.typing import BoolArray, FloatArray, IntArray, MaskArray

_Outcomes = np.ndarray[tuple[int], np.dtype[np.int8]]
_Answers = tuple[_Outcomes, IntArray, IntArray, IntArray, IntArray, MaskArray, FloatArray]

_Marks = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

def set_poll(poll: Callable[[], object] | None) -> None: ...
def hash_rows(rows: FloatArray) -> MaskArray: ...
def mix_rows(
    queries: FloatArray,
    references: FloatArray,
    assigned: IntArray,
    rows: IntArray,
    taken: BoolArray,
    column_feature: IntArray,
) -> FloatArray: ...
def any_by_feature(marks: BoolArray, column_feature: IntArray, n_features: int) -> _Marks: ...
def moves(
    queries: FloatArray,
    reference: FloatArray,
    weights: FloatArray,
    intercept: float,
    column_feature: IntArray,
    n_features: int,
    minus: bool,
    sign: float,
) -> tuple[FloatArray, FloatArray, FloatArray]: ...
def first_sets(
    start: FloatArray, gains: FloatArray, active: BoolArray, low: FloatArray, high: FloatArray, grid: FloatArray
) -> tuple[IntArray, IntArray, MaskArray]: ...
def list_sets(
    start: FloatArray,
    gains: FloatArray,
    active: BoolArray,
    low: FloatArray,
    high: FloatArray,
    grid: FloatArray,
    sizes: IntArray,
    max_sets: int,
    work: int,
) -> tuple[IntArray, IntArray, _Outcomes, MaskArray, FloatArray]: ...

class Rules:
    def __init__(self, minus: bool, sign: float, sure: float, limit: float, max_size: int) -> None: ...

class ProofEffort:
    def __init__(self, from_size: int, work: int, share: int) -> None: ...

class MarkedForest: ...

class Forest:
    def __init__(
        self,
        nodes: IntArray,
        values: FloatArray,
        roots: IntArray,
        category_first: IntArray,
        category_words: MaskArray,
        n_columns: int,
        base: float,
    ) -> None: ...
    @property
    def depth(self) -> int: ...
    @property
    def n_trees(self) -> int: ...
    def margins(self, rows: FloatArray) -> FloatArray: ...
    def mark(self, reference: FloatArray, partings: bool = False) -> MarkedForest: ...

class Patterns:
    def __init__(
        self, forest: MarkedForest, column_feature: IntArray, allowed: BoolArray, minus: bool, sign: float
    ) -> None: ...

class Session:
    def __init__(
        self,
        forest: MarkedForest,
        patterns: Patterns | None,
        queries: FloatArray,
        active: BoolArray,
        column_feature: IntArray,
        rules: Rules,
        grid: float,
    ) -> None: ...
    def query_margins(self) -> FloatArray: ...
    def helpful(self, rows: IntArray) -> _Marks: ...
    def facts(self, rows: IntArray) -> IntArray: ...
    def least_size(self, row: int) -> int: ...
    def count_terms(self, row: int, size: int) -> int: ...
    def pairs(
        self,
        rows: IntArray,
        from_size: IntArray,
        work: IntArray,
        seconds: float,
        max_sets: int,
        listing: int,
        widest: int,
    ) -> _Answers: ...
    def cubic(
        self,
        rows: IntArray,
        from_size: IntArray,
        work: IntArray,
        seconds: float,
        max_sets: int,
        listing: int,
        last: int,
        looks_up: bool,
        proof: ProofEffort,
    ) -> _Answers: ...
    def terms(
        self, rows: IntArray, from_size: IntArray, work: IntArray, seconds: float, max_sets: int, listing: int
    ) -> _Answers: ...
    def branch(
        self,
        rows: IntArray,
        from_size: IntArray,
        work: IntArray,
        seconds: float,
        max_sets: int,
        listing: int,
        widest_pairs: int,
    ) -> _Answers: ...
    def exists(
        self, rows: IntArray, from_size: IntArray, work: IntArray, seconds: float, max_sets: int, listing: int
    ) -> _Answers: ...
    def greedy(
        self, rows: IntArray, from_size: IntArray, work: IntArray, seconds: float, max_sets: int, listing: int
    ) -> _Answers: ...

class SecondSum:
    def __init__(
        self,
        forest: Forest,
        reference: FloatArray,
        queries: FloatArray,
        column_feature: IntArray,
        n_features: int,
        at_least: float,
    ) -> None: ...

class JointSession:
    @staticmethod
    def with_forest(
        second: SecondSum | None,
        active: BoolArray,
        sure: FloatArray,
        limit: FloatArray,
        grid: FloatArray,
        max_size: int,
        every_feature: bool,
        forest: Forest,
        reference: FloatArray,
        queries: FloatArray,
        column_feature: IntArray,
        sign: float,
    ) -> JointSession: ...
    @staticmethod
    def with_gains(
        second: SecondSum | None,
        active: BoolArray,
        sure: FloatArray,
        limit: FloatArray,
        grid: FloatArray,
        max_size: int,
        every_feature: bool,
        start: FloatArray,
        gains: FloatArray,
    ) -> JointSession: ...
    def search(
        self, rows: IntArray, from_size: IntArray, work: IntArray, seconds: float, max_sets: int, listing: int
    ) -> _Answers: ...
    def greedy(
        self, rows: IntArray, from_size: IntArray, work: IntArray, seconds: float, max_sets: int, listing: int
    ) -> _Answers: ...

class CellForest:
    def __init__(
        self,
        forest: Forest,
        n_cells: IntArray,
        column_feature: IntArray,
        column_first: IntArray,
        values: FloatArray,
        sign: float,
    ) -> None: ...
    @property
    def n_trees(self) -> int: ...
    def solve(
        self,
        at: IntArray,
        cost: FloatArray,
        sure: float,
        limit: float,
        goal: int,
        max_size: int,
        max_sets: int,
        work: int,
        seconds: float,
        ask: Callable[[int, IntArray], BoolArray],
        known: IntArray | None = None,
        processor_seconds: float = ...,
    ) -> tuple[_Outcomes, IntArray, IntArray, IntArray, _Marks, IntArray, FloatArray, _Marks, FloatArray]: ...
    def grow(
        self,
        at: IntArray,
        cost: FloatArray,
        points: IntArray,
        ordered: BoolArray,
        sure: float,
        limit: float,
        work: int,
        most_walks: int,
        ask: Callable[[int, IntArray], BoolArray],
    ) -> _Marks: ...
