"""Whether the decisions by score and threshold are those of the model's own ``predict``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sev.backends._outputs import as_array, as_scores, count_rows
from sev.backends._scores import ModelScores, Scorer
from sev.core import warn_user
from sev.exceptions import DecisionWarning, ModelError
from sev.typing import BoolArray, ClassLabel, IntArray, ModelOutput, NativeTable

#: Scores closer than this to the threshold are ties, which a model may decide either way.
_TIE = 1e-9


def predicted_labels(model: object, rows: NativeTable, classes: tuple[ClassLabel, ...]) -> IntArray | None:
    """Place of each row's predicted class among the classes; None where ``predict`` returns no such labels.

    Raises
    ------
    ModelError
        When it predicts several labels for each row.
    """
    predict = getattr(model, "predict", None)
    if predict is None:
        return None
    try:
        labels = as_array(predict(rows))
    except Exception:  # scores are what is explained: a model may have no working `predict`
        return None
    if labels.ndim == 2 and labels.dtype.kind in "iub":
        raise ModelError(
            f"{type(model).__name__} predicts several labels for each row: pass a function that returns the score of "
            "one of them."
        )
    if labels.ndim != 1 or len(labels) != count_rows(rows):
        return None
    places = _find_places(labels, list(classes))
    if (places < 0).any():  # CatBoost predicts text for boolean labels
        places = _find_places(np.array([str(label) for label in labels]), [str(name) for name in classes])
    return None if (places < 0).any() else places


def _find_places(labels: ModelOutput, classes: Sequence[ClassLabel]) -> IntArray:
    places = np.full(len(labels), -1, dtype=np.int64)
    for place, name in enumerate(classes):
        equal: BoolArray = np.asarray(labels == name, dtype=np.bool_)
        places[np.broadcast_to(equal, places.shape) & (places < 0)] = place
    return places


def count_other_labels(scores: ModelScores, outputs: ModelOutput, predicted: IntArray) -> int:
    """Number of rows whose predicted class does not have the highest score; ties do not count."""
    if outputs.ndim != 2 or outputs.shape[1] != len(scores.classes):
        return len(predicted)
    of_predicted = outputs[np.arange(len(outputs)), predicted]
    best = outputs.max(axis=1)
    return int((best - of_predicted > _TIE * np.maximum(1.0, np.abs(best))).sum())


def check_decisions(model: object, scores: ModelScores, scorers: list[Scorer], rows: NativeTable) -> None:
    """Warn where the model predicts otherwise than the score and the threshold say, ties apart.

    Parameters
    ----------
    model : object
        The model.
    scores : ModelScores
        How it is scored.
    scorers : list of Scorer
        The classes being explained, with the model's own threshold; one that the user chose is not to be checked.
    rows : table
        Background rows.
    """
    if scores.response not in ("predict_proba", "decision_function"):
        return
    predicted = predicted_labels(model, rows, scores.classes)
    if predicted is None:
        return
    outputs = as_scores(scores.ask(rows), count_rows(rows))
    for scorer in scorers:
        values = scorer.scores_of(outputs)
        tie = np.abs(values - scorer.threshold) <= _TIE * max(1.0, abs(scorer.threshold))
        differs = np.isfinite(values) & ~tie & (scorer.is_positive(values) != (predicted == scorer.target_index))
        if differs.any():
            warn_user(
                f"{type(model).__name__}.predict disagrees with its {scores.response} in {int(differs.sum())} "
                f"of {len(differs)} background rows. sev explains the decision {scorer.target!r} as a score of at "
                f"least {scorer.threshold:.4g}, not as predict makes it: pass threshold= the value that predict uses.",
                DecisionWarning,
            )
            return
