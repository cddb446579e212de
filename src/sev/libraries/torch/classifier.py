"""A trained torch module as a scikit-learn classifier, alone or behind an encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from sev.libraries.torch.module import OutputKind, TorchScorer
from sev.typing import ClassLabel, FloatArray, NativeTable

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin
    from sklearn.pipeline import Pipeline
    from torch import nn


class TorchClassifier(ClassifierMixin, BaseEstimator):
    """A trained torch module with the interface of a fitted scikit-learn classifier.

    The module stays as it is: it is called in eval mode, without gradients, on its own device, and its mode is
    restored. ``fit`` does not train it.

    Parameters
    ----------
    module : torch.nn.Module
        Maps a float tensor (n_rows, n_columns) to one output a row, a logit or probability of the second class, or to
        two, logits or probabilities of both classes.
    classes : sequence of two labels, default=(0, 1)
        The classes that the outputs stand for.
    output : {"auto", "logit", "probability"}, default="auto"
        What the outputs are. "auto" takes it from the module's last operation and, where that does not tell, from
        what the module gives for random inputs of all sizes.

    Examples
    --------
    ::

        pipeline = make_pipeline(fitted_encoder, TorchClassifier(module))
        explainer = sev.Explainer(pipeline, X_train, y_train)
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        classes: Sequence[ClassLabel] = (0, 1),
        output: OutputKind | Literal["auto"] = "auto",
    ) -> None:
        self.module = module
        self.classes = classes
        self.output = output

    def fit(self, X: NativeTable, y: ArrayLike | None = None) -> Self:
        """Do nothing: the module is trained already.

        Parameters
        ----------
        X, y
            Not used.
        """
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The two classes."""
        return np.asarray(self.classes)

    def predict_proba(self, X: NativeTable) -> FloatArray:
        """Probabilities (n_rows, 2) of rows of numbers."""
        asked = (self.module, self.output)
        if getattr(self, "_scored", None) != asked:  # finding out what the outputs are takes milliseconds: once
            self._scorer, self._scored = TorchScorer(*asked), asked
        second = self._scorer(X)
        return np.column_stack([1 - second, second])

    def predict(self, X: NativeTable) -> np.ndarray:
        """The second class where its probability is at least 0.5, the first elsewhere."""
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(np.int64)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def torch_pipeline(
    encoder: TransformerMixin,
    module: nn.Module,
    *,
    classes: Sequence[ClassLabel] = (0, 1),
    output: OutputKind | Literal["auto"] = "auto",
) -> Pipeline:
    """Pair a fitted scikit-learn encoder with a trained torch module: a classifier on raw columns.

    Parameters
    ----------
    encoder : transformer
        Fitted; turns raw rows into the numbers that the module takes.
    module, classes, output
        See :class:`TorchClassifier`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        With the steps "encoder" and "module". Nothing in it needs fitting.

    Examples
    --------
    >>> import sev, torch
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]]
    >>> module = torch.nn.Linear(2, 1)
    >>> pipeline = sev.torch_pipeline(StandardScaler().fit(X), module, classes=("repaid", "defaulted"))
    >>> pipeline.predict_proba(X).shape
    (4, 2)
    """
    classifier = TorchClassifier(module, classes=classes, output=output)
    from sklearn.pipeline import Pipeline  # it loads many modules, and few models are networks

    return Pipeline([("encoder", encoder), ("module", classifier)])


def torch_scorer(module: nn.Module) -> Callable[[NativeTable], FloatArray]:
    """Probabilities of both classes, for a bare module."""
    return TorchClassifier(module).predict_proba
