"""Learning to explain (Chen, Song, Wainwright and Jordan, 2018), written from its description.

One network gives a logit to each feature of a row. ``k`` samples of the concrete (Gumbel-softmax) relaxation are drawn
from them; their element-wise maximum is a soft choice of ``k`` features. A second network predicts the model's output
from the row with the other features set to zero. Both are trained together, so that the features that are kept tell
most about the output. To explain a row, the ``k`` features with the largest logits are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sev._optional import one_torch_thread, require
from sev.core import list_names
from sev.exceptions import InputError
from sev.space import FeatureSpace, TableForm
from sev.typing import BoolArray, ColumnLabel, FloatArray, NativeTable

if TYPE_CHECKING:
    from torch import Tensor, nn


class L2X:
    """Chooses, for each row, the ``k`` features from which a model's output is best predicted (Chen et al., 2018).

    Parameters
    ----------
    k : int
        How many features are kept.
    groups : mapping of str to list of columns, default=None
        Columns that are kept or dropped as one. One-hot blocks are found by themselves.
    hidden : int, default=100
        Width of the two hidden layers of the network that chooses; the one that predicts has twice as many.
    temperature : float, default=0.1
        Of the relaxation: small is close to a hard choice.
    epochs : int, default=30
        Passes over the training rows.
    batch_size : int, default=500
        Rows in a step.
    learning_rate : float, default=0.001
        Of Adam.
    random_state : int, default=0
        Seed; the same seed and rows yield the same networks.

    Attributes
    ----------
    feature_names_ : tuple of str
        Names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from sev.comparison import L2X
    >>> X = np.random.default_rng(0).normal(size=(2000, 5))
    >>> explainer = L2X(1, epochs=10).fit(X, 1 / (1 + np.exp(-6 * X[:, 2])))
    >>> explainer.selected(X[:3]).sum(axis=1).tolist()
    [1, 1, 1]
    """

    def __init__(
        self,
        k: int,
        *,
        groups: Mapping[str, Sequence[ColumnLabel]] | None = None,
        hidden: int = 100,
        temperature: float = 0.1,
        epochs: int = 30,
        batch_size: int = 500,
        learning_rate: float = 1e-3,
        random_state: int = 0,
    ) -> None:
        self.k = k
        self.groups = groups
        self.hidden = hidden
        self.temperature = temperature
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: NativeTable, output: ArrayLike) -> L2X:
        """Train both networks.

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
            Rows of numbers, best with mean zero and variance one.
        output : array-like of shape (n_rows,)
            What is to be explained: the model's probability of the second class.

        Returns
        -------
        L2X
            Itself.

        Raises
        ------
        InputError
            If ``k`` or ``output`` do not fit the rows.
        """
        torch = require("torch", extra="train", feature="sev.comparison.L2X")
        self._form = TableForm.of(X)
        frame = self._form.to_frame(X, what="X")
        self._space = FeatureSpace.of(frame, self.groups)
        self.feature_names_ = self._space.names
        self._check_columns(frame)
        rows, targets = self._encode_numbers(frame, "X"), self._check_outputs(output, len(frame))
        with torch.random.fork_rng(devices=[]), one_torch_thread(torch):
            torch.manual_seed(self.random_state)
            self._selector, self._predictor = self._make_networks()
            _train_selector(self, torch.as_tensor(rows), torch.as_tensor(targets, dtype=torch.float32))
        return self

    def selected(self, X: NativeTable) -> BoolArray:
        """The ``k`` features of each row; shape (n_rows, n_features).

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_features)
            ``k`` of each row are True.
        """
        import torch

        rows = torch.as_tensor(self._encode_numbers(self._fitted_form().to_frame(X), "X"))
        with torch.no_grad():
            logits = self._selector(rows).numpy()
        chosen = np.zeros(logits.shape, dtype=np.bool_)
        np.put_along_axis(chosen, np.argsort(-logits, axis=1, kind="stable")[:, : self.k], True, axis=1)
        return chosen

    def predict_proba(self, X: NativeTable) -> FloatArray:
        """Probabilities of the two classes, from the ``k`` features of each row alone; shape (n_rows, 2).

        Parameters
        ----------
        X : table or array of shape (n_rows, n_columns)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Probabilities.
        """
        import torch

        chosen = self.selected(X)[:, self._space.column_feature]
        rows = self._encode_numbers(self._form.to_frame(X), "X") * chosen
        with torch.no_grad():
            second = torch.sigmoid(self._predictor(torch.as_tensor(rows.astype(np.float32)))[:, 0]).numpy()
        return np.column_stack([1.0 - second, second]).astype(np.float64)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _check_columns(self, frame: pd.DataFrame) -> None:
        if not isinstance(self.k, (int, np.integer)) or not 1 <= self.k <= len(self._space):
            raise InputError(f"k={self.k!r} must be an integer from 1 to {len(self._space)}, the number of features.")
        texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name].dtype)]
        if texts:
            raise InputError(f"L2X needs numeric columns, but {list_names(texts, 5)} are not: encode the rows first.")

    def _encode_numbers(self, frame: pd.DataFrame, what: str) -> NDArray[np.float32]:
        rows = frame.to_numpy(dtype=np.float32, copy=True)  # torch takes no read-only views
        if not np.isfinite(rows).all():
            names = frame.columns[~np.isfinite(rows).all(axis=0)].tolist()
            raise InputError(
                f"{what} has missing or infinite values ({list_names(names, 5)}): L2X does not support them; fill "
                "them in first."
            )
        return rows

    def _check_outputs(self, output: ArrayLike, n_rows: int) -> FloatArray:
        values = np.asarray(output, dtype=np.float64)
        if values.shape != (n_rows,):
            raise InputError(f"output has shape {values.shape}, not ({n_rows},): one probability for each row of X.")
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise InputError("output must be probabilities of the second class, between 0 and 1.")
        return values

    def _fitted_form(self) -> TableForm:
        if not hasattr(self, "_form"):
            raise InputError("This L2X is not fitted: call fit(X, output) first.")
        return self._form

    def _make_networks(self) -> tuple[nn.Module, nn.Module]:
        from torch import nn

        n_columns, n_features, width = len(self._space.columns), len(self._space), self.hidden

        def layers(n_in: int, n_hidden: int, n_out: int) -> nn.Module:
            return nn.Sequential(
                nn.Linear(n_in, n_hidden),
                nn.ReLU(),
                nn.Linear(n_hidden, n_hidden),
                nn.ReLU(),
                nn.Linear(n_hidden, n_out),
            )

        return layers(n_columns, width, n_features), layers(n_columns, 2 * width, 1)


def _train_selector(explainer: L2X, rows: Tensor, targets: Tensor) -> None:
    """Steps of Adam on the cross entropy between the model's output and what the kept features predict."""
    import torch

    owner = torch.as_tensor(explainer._space.column_feature)
    parameters = [*explainer._selector.parameters(), *explainer._predictor.parameters()]
    adam = torch.optim.Adam(parameters, lr=explainer.learning_rate)
    loss_of = torch.nn.BCEWithLogitsLoss()
    for _ in range(explainer.epochs):
        for batch in torch.split(torch.randperm(len(rows)), explainer.batch_size):
            kept = _soft_choice(explainer._selector(rows[batch]), explainer.k, explainer.temperature)
            predicted = explainer._predictor(rows[batch] * kept[:, owner])[:, 0]
            loss = loss_of(predicted, targets[batch])
            adam.zero_grad()
            loss.backward()
            adam.step()


def _soft_choice(logits: Tensor, k: int, temperature: float) -> Tensor:
    """Element-wise maximum of ``k`` samples of the concrete distribution; shape (n_rows, n_features)."""
    import torch

    uniform = torch.rand(len(logits), k, logits.shape[1]).clamp(1e-7, 1.0 - 1e-7)
    gumbel = -torch.log(-torch.log(uniform))
    return torch.softmax((gumbel + logits[:, None, :]) / temperature, dim=2).amax(dim=1)
