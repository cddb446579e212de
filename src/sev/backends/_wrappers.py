"""Wrappers around a classifier: pipelines, searches, thresholds, calibration.

Each is taken off if that is mathematically right: what comes before the final estimator becomes a transform of the
rows, what comes after it a monotone map of its score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from sev._registry import find, load, look_up
from sev.backends._links import Link
from sev.backends._overrides import refuse_overrides
from sev.backends._protocol import SplitsEncoder
from sev.typing import ClassLabel, FittedModel, FloatArray, ModelOutput, NativeTable, Response


@dataclass
class Unwrapped:
    """A final estimator and what was around it.

    Parameters
    ----------
    estimator : object
        The final estimator.
    response : {"predict_proba", "decision_function"}
        What it is scored by.
    transforms : list of callable
        Steps before it, in order.
    links : list of Link
        What wrappers do to its scores, in order.
    """

    estimator: FittedModel
    response: Response
    transforms: list[Callable[[NativeTable], ModelOutput]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def transform(self, rows: NativeTable) -> ModelOutput:
        """Rows as the model takes them, as its final estimator takes them.

        Parameters
        ----------
        rows : table or array
            Rows as the model takes them.

        Returns
        -------
        object
            What the steps before the final estimator return.
        """
        for transform in self.transforms:
            rows = transform(rows)
        return rows

    def link(self, scores: FloatArray) -> FloatArray:
        """Scores of the final estimator, as scores of the model.

        Parameters
        ----------
        scores : ndarray of float64
            Scores.

        Returns
        -------
        ndarray of float64
            Of the same shape.
        """
        for link in reversed(self.links):
            scores = link.apply(scores)
        return scores

    @property
    def direction(self) -> Literal[-1, 1]:
        """1 when the model's score never falls as that of the final estimator grows, -1 when it never rises."""
        n_falling = sum(link.direction == -1 for link in self.links)
        return -1 if n_falling % 2 else 1


@dataclass(frozen=True)
class DecisionRule:
    """How a model with a threshold of its own decides: positive when the score of ``positive`` reaches it.

    A ``positive`` of None is the second class.

    Parameters
    ----------
    response : {"predict_proba", "decision_function"}
        What the score is.
    threshold : float
        From which score on a row is positive.
    positive : object, default=None
        The class that the score is of.
    """

    response: Response
    threshold: float
    positive: ClassLabel | None = None


def unwrap(model: object, response: Response) -> Unwrapped:
    """Remove wrappers until the final estimator is reached.

    Parameters
    ----------
    model : object
        A fitted model.
    response : Response
        What it is scored by.

    Returns
    -------
    Unwrapped
        The final estimator and the steps before it.

    Raises
    ------
    CannotReadError
        When a wrapper combines several models, or maps scores in a way that is not monotone.
    """
    found = Unwrapped(model, response)
    while True:
        wrapper = find(found.estimator, "unwrap")
        if wrapper is not None:
            refuse_overrides(found.estimator, wrapper.ancestor)
            load(wrapper.route)(found)
        elif isinstance(found.estimator, SplitsEncoder):
            encode, found.estimator = found.estimator.split_encoder()
            found.transforms.append(encode)
        else:
            return found


def decision_rule(model: object) -> DecisionRule | None:
    """The threshold of its own by which a model predicts; None when it has none.

    It is looked for wherever ``predict`` leads: through pipelines, searches and frozen estimators.

    Parameters
    ----------
    model : object
        A fitted model.

    Returns
    -------
    DecisionRule or None
        What ``predict`` compares, and with what.
    """
    while (hand_on := look_up(model, "hand_on")) is not None and (inner := hand_on(model)) is not None:
        model = inner
    decide = look_up(model, "decide")
    return None if decide is None else decide(model)
