"""Random tables, labels, thresholds and references, and setups of fitted classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from contracts.fuzz.compare import safe_scores
from contracts.fuzz.mixing import kind_of, take
from contracts.fuzz.setups import Setup, SkipSetup

N_BACKGROUND, N_QUERIES = 70, 8
Rng = np.random.Generator


def numbers(rng: Rng, n_columns: int | None = None, *, missing: float = 0.0, n_rows: int = N_BACKGROUND) -> np.ndarray:
    """Small integers (many ties), tenths, or reals."""
    n_columns = n_columns or int(rng.integers(2, 7))
    style = rng.choice(["integers", "tenths", "reals"])
    rows = rng.normal(size=(n_rows, n_columns)) * 1.5
    rows = {"integers": rows.round(), "tenths": rows.round(1), "reals": rows}[str(style)] + 0.0
    if missing:
        rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def labels_of(rng: Rng, rows: np.ndarray, n_classes: int = 2, noise: float = 0.5) -> np.ndarray:
    """Labels that depend on the rows, with a product of columns; every class occurs."""
    plain = np.nan_to_num(rows, nan=0.7)
    signal = plain @ rng.normal(size=plain.shape[1]) + plain[:, 0] * plain[:, -1]
    signal = signal + noise * (signal.std() + 1e-9) * rng.normal(size=len(plain))
    cuts = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    labels = np.searchsorted(cuts, signal)
    labels[:n_classes] = np.arange(n_classes)
    return labels


def mixed_frame(rng: Rng, n_rows: int = N_BACKGROUND, *, kinds: list[str] | None = None, missing: float = 0.0):
    """A DataFrame of some of the kinds of columns that tables have, and labels."""
    drawn = kinds or list(rng.choice(list(_COLUMNS), int(rng.integers(3, 6))))
    names = [f"{kind}{place}" for place, kind in enumerate(drawn)]
    frame = pd.DataFrame({name: _COLUMNS[kind](rng, n_rows) for name, kind in zip(names, drawn, strict=True)})
    codes = np.column_stack([pd.factorize(frame[name])[0] % 5 for name in names]).astype(float)
    labels = labels_of(rng, codes, noise=0.2)
    if missing:
        frame = with_missing(rng, frame, missing)
    return frame, labels


def with_missing(rng: Rng, frame: pd.DataFrame, share: float) -> pd.DataFrame:
    """The same table with cells missing, each column by its own marker; integers and booleans become floats."""
    frame = frame.copy()
    for name in frame.columns:
        gone = rng.random(len(frame)) < share
        if not gone.any():
            continue
        if frame[name].dtype == object:
            frame[name] = pd.Series(
                [None if out else cell for out, cell in zip(gone, frame[name], strict=True)],
                dtype=object,
                index=frame.index,
            )
        elif isinstance(frame[name].dtype, np.dtype) and frame[name].dtype.kind in "iub":
            frame[name] = frame[name].astype(float).mask(gone)
        else:
            frame[name] = frame[name].mask(gone)
    return frame


def _words(rng: Rng, n: int) -> np.ndarray:
    return np.array(["red", "green", "blue", "grey"], dtype=object)[rng.integers(0, 4, n)]


_COLUMNS: dict[str, Callable[[Rng, int], Any]] = {
    "float": lambda rng, n: rng.normal(size=n).round(1),
    "single": lambda rng, n: rng.normal(size=n).round(1).astype(np.float32),
    "int": lambda rng, n: rng.integers(-3, 4, n),
    "small": lambda rng, n: rng.integers(0, 5, n).astype(np.int8),
    "bool": lambda rng, n: rng.random(n) < 0.5,
    "text": lambda rng, n: pd.array(_words(rng, n), dtype="str"),
    "object": lambda rng, n: pd.Series(_words(rng, n), dtype=object),
    "category": lambda rng, n: pd.Categorical(_words(rng, n), categories=["red", "green", "blue", "grey"]),
    "Int": lambda rng, n: pd.array(rng.integers(0, 5, n), dtype="Int64"),
    "boolean": lambda rng, n: pd.array(rng.random(n) < 0.5, dtype="boolean"),
    "date": lambda rng, n: pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9, n), unit="D"),
}


def split(table: Any, labels: np.ndarray, n_queries: int = N_QUERIES) -> tuple[Any, np.ndarray, Any]:
    """Background, its labels, and queries; rows of DataFrames may have any labels, also the same ones."""
    n_rows = len(labels)
    if kind_of(table) == "pandas":
        background = table.iloc[: n_rows - n_queries].reset_index(drop=True)
        queries = table.iloc[n_rows - n_queries :].reset_index(drop=True)
        odd = int(labels[0] * 7 + n_rows + table.shape[1]) % 4  # drawn from the data: the rest of a case stays as it is
        if odd == 1:
            queries.index = [f"row {number // 2}" for number in range(n_queries)]
        elif odd == 2:
            queries.index = background.index[n_queries - 1 :: -1]
        return background, labels[: n_rows - n_queries], queries
    return table[: n_rows - n_queries], labels[: n_rows - n_queries], table[n_rows - n_queries :]


def own_score(model: Any, place: int, response: str, n_classes: int = 2) -> Callable[[Any], np.ndarray]:
    """The score of one class: its probability or decision value, or its lead over the others of more than two."""

    def score(rows: Any) -> np.ndarray:
        outputs = np.asarray(getattr(model, response)(rows), dtype=np.float64)
        if outputs.ndim == 1:
            return outputs if place == 1 else -outputs
        if n_classes > 2:
            return outputs[:, place] - np.delete(outputs, place, axis=1).max(axis=1)
        return outputs[:, place]

    return score


def negative_row(rng: Rng, score: Callable[[Any], np.ndarray], threshold: float, background: Any) -> Any:
    """A background row that the model does not call positive, as a reference."""
    scores = safe_scores(score, background, background.shape[0])
    below = np.flatnonzero(scores < threshold)
    if not below.size:
        raise SkipSetup("every row is positive")
    return take(background, [int(rng.choice(below))])


def _threshold(rng: Rng, score: Callable[[Any], np.ndarray], background: Any, response: str) -> float:
    """A score that occurs, so that ties are exact; the number next to it; or the largest that there can be."""
    seen = safe_scores(score, background, background.shape[0])
    chosen = float(rng.choice(seen[np.isfinite(seen)]))
    way = rng.random()
    if way < 0.2:
        beside = float(np.nextafter(chosen, np.inf if way < 0.1 else -np.inf))
        return float(np.clip(beside, 0.0, 1.0)) if response == "predict_proba" else beside
    return 1.0 if way < 0.25 and response == "predict_proba" else chosen


def classifier(
    rng: Rng,
    model: Any,
    background: Any,
    y: np.ndarray,
    queries: Any,
    *,
    free_reference: bool = True,
    vary_threshold: bool = True,
    **known: Any,
) -> Setup:
    """The setup of a fitted classifier with a random target, threshold and reference.

    Parameters
    ----------
    free_reference : bool
        Whether the package may choose the reference.
    vary_threshold : bool
        Whether to draw a threshold.
    **known
        Fields of the setup; ``threshold`` is the model's own, on the score of the second class.
    """
    classes = np.asarray(model.classes_).tolist()
    response = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    place = int(rng.integers(len(classes))) if rng.random() < 0.3 or len(classes) > 2 else 1
    middle = 0.0 if response == "decision_function" or len(classes) > 2 else 0.5
    threshold = known.pop("threshold", middle)
    if place == 0 and len(classes) == 2:
        threshold = 2.0 * middle - threshold
    options: dict[str, Any] = dict(known.pop("options", {}))
    score = own_score(model, place, response, len(classes))
    has_own_rule = vary_threshold and len(classes) == 2 and rng.random() < 0.4
    if has_own_rule:
        threshold = options["threshold"] = _threshold(rng, score, background, response)
    if place != 1 or len(classes) > 2:
        options["target"] = classes[place]
    target = classes[place]
    setup = Setup(
        model=model,
        background=background,
        y=y if rng.random() < 0.85 else None,
        queries=queries,
        score=score,
        threshold=threshold,
        options=options,
        predict=None if has_own_rule else lambda rows: np.asarray(model.predict(rows)).ravel() == target,
        **known,
    )
    if not free_reference or rng.random() < 0.5:
        setup.reference = negative_row(rng, score, threshold, background)
    else:
        setup.options["reference"] = str(rng.choice(["auto", "auto", "mean", "median"]))
    return setup
