"""Methods side by side: how many features each changes to undo the same decisions, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sev.comparison._answers import Ordering, Outcome
from sev.comparison._case import Case, NotApplicable
from sev.comparison._registry import checked_names, load
from sev.exceptions import InputError
from sev.explainers import Explainer
from sev.references import ReferenceLike
from sev.typing import ClassLabel, ColumnLabel, NativeTable

if TYPE_CHECKING:
    from tqdm import tqdm

    from sev.comparison._answers import Answer
    from sev.comparison._registry import Prepare

ALL_METHODS = ("sev", "shap-tree", "shap-kernel", "lime", "dice")
_COLUMNS = [
    *("method", "query", "flips", "seconds", "status", "features"),
    *("changes", "minimal", "reason", "setup_seconds"),
]
_ORDERINGS: dict[str, tuple[Ordering, ...]] = {
    "signed": ("signed",),
    "absolute": ("absolute",),
    "both": ("signed", "absolute"),
}


def compare_methods(
    model: object,
    X_train: NativeTable,
    y_train: ArrayLike,
    X: NativeTable,
    *,
    methods: Sequence[str] = ALL_METHODS,
    target: ClassLabel | None = None,
    reference: ReferenceLike = "auto",
    groups: Mapping[str, Sequence[ColumnLabel]] | None = None,
    restricted: Iterable[str] = (),
    threshold: float | None = None,
    allow_positive_reference: bool = False,
    max_queries: int | None = 20,
    ordering: Literal["signed", "absolute", "both"] = "signed",
    options: Mapping[str, Mapping[str, object]] | None = None,
    random_state: int = 0,
    progress: bool = False,
) -> pd.DataFrame:
    """Count the features that several methods change to undo the same decisions, and time them.

    SHAP and LIME assign each feature a number; features are set to the reference's values from the largest number down,
    until the model's own score undoes the decision (SHAP-C and LIME-C). DiCE returns another row; the features that it
    changes are counted. Text columns, one-hot blocks and groups are one feature each, for every method.

    Parameters
    ----------
    model, X_train, y_train
        As for :class:`sev.Explainer`; ``y_train`` may be None.
    X : table or array of shape (n_rows, n_columns)
        Rows to explain; those that are not predicted as the target are left out.
    methods : sequence of {"sev", "shap-tree", "shap-kernel", "lime", "dice"}
        Which to run. All but the first need ``pip install 'sev[compare]'``.
    target, reference, groups, restricted, threshold, allow_positive_reference
        As for :class:`sev.Explainer`, and the same for every method.
    max_queries : int, default=20
        Explain at most this many rows, drawn at random; None: all.
    ordering : {"signed", "absolute", "both"}, default="signed"
        Order of SHAP's and LIME's numbers: "signed" starts with the one that speaks most for the decision, "absolute"
        with the largest absolute value. "both" yields two lines, the second as the method ``"lime, absolute"``.
    options : mapping of method to mapping, default=None
        Options that a method passes to its package, such as ``{"lime": {"num_samples": 1000}}``.
    random_state : int, default=0
        Seed of the methods that draw at random. Every query has a seed of its own, so its answer is the same alone.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    DataFrame
        One line for each method and query, as :func:`sev.plots.methods` and :func:`sev.plots.flips` take it:

        - ``method``, ``query`` (the row's label in ``X``);
        - ``flips``: how many features were changed, NaN when the decision is not undone;
        - ``seconds``: for the method's own answer, from the raw row; neither set-up, nor the walk to the flip, nor the
          check counts;
        - ``status``: "flipped", "never_flips", "none_found", "not_confirmed", "not_applicable", "error", and for "sev"
          its own ("optimal", "unexplainable" and so on); ``reason`` says why;
        - ``features``: the features that were changed;
        - ``changes``: the columns that were changed, and what to;
        - ``minimal``: False when fewer features are proven to be enough, True when the set is proven to be smallest
          (with the reference's values), missing when neither is proven;
        - ``setup_seconds``: time to prepare the method, including one query to warm up.

    Raises
    ------
    InputError
        If a method or option is unknown, or ``target`` is "predicted".
    MissingDependencyError
        If the package of a method is not installed.

    Examples
    --------
    >>> import numpy as np, sev
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = (X @ [2.0, 1.0, 1.0, 0.5] > 0).astype(int)
    >>> table = sev.compare_methods(LogisticRegression().fit(X, y), X, y, X, methods=["sev"], max_queries=5)
    >>> table["status"].tolist()
    ['optimal', 'optimal', 'optimal', 'optimal', 'optimal']
    """
    names = checked_names(methods)
    orderings = _checked_ordering(ordering)
    chosen = _checked_options(options, names)
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)) or random_state < 0:
        raise InputError(f"random_state={random_state!r} must be an integer of at least 0.")
    ready = {name: load(name) for name in names}  # a missing package is named before any work starts
    if isinstance(target, str) and target == "predicted":
        raise InputError('compare_methods explains one class: target="predicted" is not supported; pass the class.')
    explainer = Explainer(
        model,
        X_train,
        y_train,
        target=target,
        reference=reference,
        groups=groups,
        restricted=restricted,
        threshold=threshold,
        allow_positive_reference=allow_positive_reference,
    )
    case, labels = _make_case(explainer, X_train, y_train, X, max_queries, int(random_state))
    bar = _Bar(len(names) * len(labels), progress)
    try:
        lines = [
            line
            for name in names
            for line in _make_lines(name, ready[name], case, chosen.get(name, {}), orderings, labels, bar)
        ]
    finally:
        bar.close()
    table = pd.DataFrame(lines)
    return table.assign(minimal=_mark_minimal(table)).drop(columns="to_reference")[_COLUMNS]


def _make_lines(
    name: str,
    prepare: Prepare,
    case: Case,
    options: dict[str, object],
    orderings: Sequence[Ordering],
    labels: list[ColumnLabel],
    bar: _Bar,
) -> list[dict[str, object]]:
    """All that one method returns, whatever happens inside it."""
    bar.now(name)
    start = time.perf_counter()
    answer, failure = _prepare_method(prepare, case, options)
    setup = time.perf_counter() - start
    lines = []
    for query, label in enumerate(labels):
        seconds, outcomes = (np.nan, [failure]) if failure else _time_answer(answer, case, query, orderings)
        for outcome in outcomes:
            lines.append(
                {
                    "method": name + outcome.ordering,
                    "query": label,
                    "flips": outcome.flips,
                    "seconds": seconds,
                    "status": outcome.status,
                    "features": outcome.features,
                    "changes": outcome.changes,
                    "reason": outcome.reason,
                    "setup_seconds": setup,
                    "to_reference": outcome.to_reference,
                }
            )
        bar.update()
    return lines


def _prepare_method(
    prepare: Prepare, case: Case, options: dict[str, object]
) -> tuple[Callable[[int], Answer], Outcome | None]:
    """A method that is ready, warmed up on the first query; or what keeps it from being so."""
    try:
        answer = prepare(case, options)
    except NotApplicable as error:
        return _refuse_query, Outcome(status="not_applicable", reason=str(error))
    except Exception as error:  # a package may fail in any way: the other methods go on
        return _refuse_query, Outcome(status="error", reason=_describe_error(error))
    _time_answer(answer, case, 0, ("signed",))
    return answer, None


def _time_answer(
    answer: Callable[[int], Answer], case: Case, query: int, orderings: Sequence[Ordering]
) -> tuple[float, list[Outcome]]:
    """Seconds for the answer to one query, and how it ended."""
    start = time.perf_counter()
    try:
        given = answer(query)
        seconds = time.perf_counter() - start
        return seconds, list(given.settle(case, query, orderings))
    except Exception as error:
        return time.perf_counter() - start, [Outcome(status="error", reason=_describe_error(error))]


def _refuse_query(query: int) -> Answer:
    raise AssertionError(f"query {query} reached a method that is not ready")


def _describe_error(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def _mark_minimal(table: pd.DataFrame) -> pd.api.extensions.ExtensionArray:
    """Whether each number of flips is the smallest there is, as far as the smallest sets of the same run prove."""
    smallest = table[table["method"] == "sev"].set_index("query")
    enough = table["query"].map(smallest["flips"]).to_numpy(dtype=float)
    proven = table["query"].isin(smallest.index[smallest["status"] == "optimal"]).to_numpy()
    flips = table["flips"].to_numpy(dtype=float)
    minimal = pd.array([pd.NA] * len(table), dtype="boolean")
    minimal[(flips == enough) & proven & table["to_reference"].to_numpy(dtype=bool)] = True
    minimal[flips == 1] = True
    minimal[flips > enough] = False
    return minimal


def _make_case(
    explainer: Explainer, X_train: NativeTable, y_train: ArrayLike, X: NativeTable, max_queries: int | None, seed: int
) -> tuple[Case, list[ColumnLabel]]:
    """The rows that are predicted as the target, at most so many, and their labels."""
    if max_queries is not None and (not isinstance(max_queries, (int, np.integer)) or max_queries < 1):
        raise InputError(f"max_queries={max_queries!r} must be an integer of at least 1, or None.")
    form = explainer.form
    rows = form.to_frame(X)
    task = explainer.tasks[0]
    scores, _ = task.score_safely(rows)
    positive = np.flatnonzero(np.isfinite(scores) & task.scorer.is_positive(scores))
    if not positive.size:
        raise InputError(f"No row of X is predicted {explainer.target!r}: there is no decision to explain.")
    if max_queries is not None and positive.size > max_queries:
        positive = np.sort(np.random.default_rng(seed).choice(positive, max_queries, replace=False))
    places = pd.Index(positive)
    labels: list[ColumnLabel] = (rows.index[positive] if rows.index.is_unique else places).tolist()
    case = Case(
        explainer=explainer,
        background=form.to_frame(X_train, what="X_train").reset_index(drop=True),
        labels=None if y_train is None else np.asarray(y_train).ravel(),
        queries=rows.iloc[positive].reset_index(drop=True),
        random_state=seed,
    )
    return case, labels


def _checked_ordering(ordering: str) -> tuple[Ordering, ...]:
    if ordering not in _ORDERINGS:
        raise InputError(f"ordering={ordering!r} is not known: use one of {list(_ORDERINGS)}.")
    return _ORDERINGS[ordering]


def _checked_options(
    options: Mapping[str, Mapping[str, object]] | None, names: list[str]
) -> dict[str, dict[str, object]]:
    given = {name: dict(values) for name, values in (options or {}).items()}
    strange = [name for name in given if name not in names]
    if strange:
        raise InputError(f"options names {strange}, which are not among the methods {names}.")
    return given


class _Bar:
    """A progress bar that says which method is at work; nothing when it is not wanted."""

    def __init__(self, total: int, wanted: bool) -> None:
        self._bar: tqdm | None = None
        if wanted:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, unit="query")

    def now(self, name: str) -> None:
        if self._bar is not None:
            self._bar.set_description(name)

    def update(self) -> None:
        if self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
