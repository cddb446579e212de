"""A torch module evaluated as numbers: in eval mode, without gradients, on its own device, and left as it was found."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import expit

from sev._optional import require
from sev.backends.networks import as_numbers, in_pieces
from sev.exceptions import ModelError
from sev.typing import FloatArray, NativeTable

if TYPE_CHECKING:
    from types import ModuleType

    from torch import Tensor, nn
    from torch import device as Device
    from torch import dtype as TensorType


#: What a module's outputs are.
OutputKind: TypeAlias = Literal["logit", "probability"]

#: The mode of a module is shared by all threads: one of them must not restore it while another computes.
_MODE = threading.RLock()

#: Inputs of all sizes, on which logits leave [0, 1] and probabilities do not.
_PROBE_SCALES = (0.1, 1.0, 10.0, 1000.0)

#: By how much probabilities may leave [0, 1] where arithmetic follows an activation.
_ROUNDING = 1e-6


def torch() -> ModuleType:
    """The torch package, or a message that says how to get it."""
    return require("torch", extra="train", feature="Explaining a torch module")


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module and all its parts into eval mode, and back into the mode in which each was."""
    with _MODE:
        training = [part for part in module.modules() if part.training]
        module.eval()
        try:
            yield
        finally:
            for part in training:
                part.training = True


class ModuleOutputs:
    """Calls a module on rows of numbers.

    Parameters
    ----------
    module : torch.nn.Module
        Maps a float tensor (n_rows, n_columns) to one or two outputs a row.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        torch()

    @property
    def device(self) -> Device:
        """Where the module lives now."""
        return next((tensor.device for tensor in self._list_tensors()), torch().device("cpu"))

    @property
    def tensor_type(self) -> TensorType:
        """The torch dtype that the module computes in."""
        floating = (tensor.dtype for tensor in self._list_tensors() if tensor.is_floating_point())
        return next(floating, torch().float32)

    @property
    def dtype(self) -> np.dtype[np.floating] | None:
        """The same for numpy; None where numpy has no such type or it is too coarse for margins."""
        known: dict[TensorType, np.dtype[np.floating]] = {
            torch().float32: np.dtype(np.float32),
            torch().float64: np.dtype(np.float64),
        }
        return known.get(self.tensor_type)

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Outputs as float64 (n_rows, n_outputs)."""
        package = torch()
        with evaluating(self.module), package.no_grad():
            # a copy: a tensor shares the array's memory, and a module may work in place
            inputs = package.as_tensor(np.array(rows, order="C")).to(device=self.device, dtype=self.tensor_type)
            outputs = self.module(inputs)
        if not isinstance(outputs, package.Tensor):
            raise ModelError(
                f"The module returns a {type(outputs).__name__}; one tensor of one or two outputs is expected"
            )
        values = np.asarray(outputs.detach().to(device="cpu", dtype=package.float64).numpy())
        if values.ndim == 1 and len(values) == len(rows):
            values = values[:, None]
        if values.ndim != 2 or values.shape[0] != len(rows) or values.shape[1] not in (1, 2):
            raise ModelError(
                f"The module returns outputs of shape {values.shape} for {len(rows)} rows; "
                "one or two outputs per row are expected"
            )
        return values

    def _list_tensors(self) -> Iterator[Tensor]:
        yield from self.module.parameters()
        yield from self.module.buffers()


def probe_rows(n_columns: int) -> FloatArray:
    """The rows on which the kind of a module's outputs shows, always the same."""
    normal = np.random.default_rng(0).standard_normal((64, n_columns))
    return np.concatenate([scale * normal for scale in _PROBE_SCALES])


def kind_by_probing(outputs: ModuleOutputs, n_columns: int) -> OutputKind:
    """Tell logits from probabilities by what the module gives for inputs of all sizes."""
    try:
        values = outputs(probe_rows(n_columns))
    except ModelError:
        raise
    except Exception as error:  # whatever a user's forward may raise on inputs that it was not made for
        raise ModelError(
            "Cannot tell whether this module returns logits or probabilities: it raised "
            f"{type(error).__name__} on random inputs ({error}). "
            'Wrap it: TorchClassifier(module, output="logit"), or output="probability".'
        ) from error
    values = values[np.isfinite(values).all(axis=1)]
    inside = bool(((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all())
    if values.shape[1] == 1 and values.size and values.min() < values.max() <= 0:
        raise ModelError(
            "The outputs of this module are never above 0, so they may be logarithms of probabilities: let it return "
            'logits or probabilities, or wrap it: TorchClassifier(module, output="logit")'
        )
    if values.shape[1] == 2 and inside and not np.allclose(values.sum(axis=1), 1, atol=1e-3):
        raise ModelError(
            "The two outputs of this module lie between 0 and 1 but do not sum to one: "
            'give it one output, or wrap it: TorchClassifier(module, output="logit") takes their difference'
        )
    return "probability" if inside else "logit"


def margins_of(values: FloatArray, kind: OutputKind) -> FloatArray:
    """One number a row that grows with the second class: a logit, or the probability itself."""
    if values.shape[1] == 1:
        return values[:, 0]
    return values[:, 1] - values[:, 0] if kind == "logit" else values[:, 1]


class TorchScorer:
    """Probability of the second class, for a module that gives logits or probabilities.

    The kind of the outputs is read from the module's last operation where that is plain, and else from what it gives
    for random inputs of all sizes; ``output`` says it outright. The probability of a logit is computed in float64, so
    a probability of at least 0.5 is exactly a logit of at least 0.
    """

    def __init__(self, module: nn.Module, output: OutputKind | Literal["auto"] = "auto") -> None:
        self._outputs = ModuleOutputs(module)
        self._output = output

    def __call__(self, rows: NativeTable) -> FloatArray:
        """Probabilities (n_rows,) of rows of numbers."""
        numbers = as_numbers(rows, None)
        kind = self.kind(numbers.shape[1])
        margins = in_pieces(lambda piece: margins_of(self._outputs(piece), kind), numbers)
        return np.asarray(expit(margins)) if kind == "logit" else margins

    def kind(self, n_columns: int) -> OutputKind:
        """What the module's outputs are."""
        if self._output == "auto":
            from sev.libraries.torch.read import kind_by_reading

            read = kind_by_reading(self._outputs.module)
            self._output = kind_by_probing(self._outputs, n_columns) if read is None else read
        return self._output
