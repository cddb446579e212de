"""What a torch module does to its input, read from its symbolic trace."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, cast

import numpy as np

from sev.backends import CannotReadError
from sev.backends.networks import Activation, DenseLayers, LayerBuilder, activations
from sev.libraries.torch.module import OutputKind, evaluating, torch
from sev.libraries.torch.steps import FUNCTIONS, End, Step, read_layer

if TYPE_CHECKING:
    from torch import Tensor, fx, nn


_ARITHMETIC: dict[object, str] = {
    operator.add: "addition",
    operator.sub: "subtraction",
    operator.mul: "multiplication",
    operator.truediv: "division",
}


def read_graph(module: nn.Module) -> tuple[DenseLayers, OutputKind]:
    """Dense layers of a module that is a chain of affine maps and activations, and what its outputs are.

    Raises
    ------
    CannotReadError
        When it is anything else.
    """
    package = torch()
    if any(part._forward_hooks or part._forward_pre_hooks for part in module.modules()):
        raise CannotReadError("the module has hooks")
    with evaluating(module), package.no_grad():
        try:
            traced = package.fx.symbolic_trace(module)
        except Exception as error:  # tracing runs the user's forward on placeholders: anything may be raised
            raise CannotReadError(f"tracing raised {type(error).__name__}: {error}") from error
        return _Chain(traced).read()


class _Chain:
    """Follows the one path from the input to the output of a traced module."""

    def __init__(self, traced: fx.GraphModule) -> None:
        self._traced = traced
        self._builder = LayerBuilder()
        self._constants: dict[object, Tensor] = {}
        self._current: fx.Node | None = None
        self._end: End | None = None

    def read(self) -> tuple[DenseLayers, OutputKind]:
        """Follow the path from node to node."""
        for node in self._traced.graph.nodes:
            if node.op == "placeholder":
                if self._current is not None:
                    raise CannotReadError("the module has several inputs")
                self._current = node
            elif node.op == "get_attr":
                self._constants[node] = operator.attrgetter(node.target)(self._traced)
            elif node.op == "output":
                if node.args[0] is not self._current:
                    raise CannotReadError("the output is not the end of one chain")
            else:
                self._follow_node(node)
                self._current = node
        return self._finish_chain()

    def _follow_node(self, node: fx.Node) -> None:
        inputs = [argument for argument in node.all_input_nodes if argument not in self._constants]
        if inputs != [self._current]:
            raise CannotReadError(f"{node} is not a step of one chain")
        step = self._read_node(node)
        if step is None:
            return
        if self._end is End.SIGMOID:
            self._builder.activation(activations.logistic())
        elif self._end is not None:
            raise CannotReadError(f"another operation follows the {self._end.value}")
        self._end = None
        if isinstance(step, End):
            self._end = step
        elif isinstance(step, Activation):
            self._builder.activation(step)
        else:
            step(self._builder)

    def _read_node(self, node: fx.Node) -> Step:
        """What one node does; None when it changes no number."""
        if node.op == "call_module":
            return read_layer(self._traced.get_submodule(str(node.target)))
        if node.op == "call_function" and node.target in _ARITHMETIC:
            return self._read_arithmetic(node)
        name = node.target if isinstance(node.target, str) else node.target.__name__
        one_output = self._builder.n_outputs == 1
        if name in ("squeeze", "flatten", "view", "reshape", "ravel") and one_output:
            return None
        if name == "getitem" and one_output and node.args[1] in ((slice(None), 0), (Ellipsis, 0)):
            return None
        make = FUNCTIONS.get(name)
        if make is None:
            raise CannotReadError(f"the operation {name} is not supported")
        try:
            return make(*node.args[1:], **node.kwargs)
        except TypeError as error:
            raise CannotReadError(f"the arguments of the operation {name} are not supported") from error

    def _read_arithmetic(self, node: fx.Node) -> Step:
        """A sum or product with constants: a scaler written into the module."""
        name = _ARITHMETIC[node.target]
        forwards = node.args[0] is self._current
        operand = node.args[1 if forwards else 0]
        constant: object = self._constants.get(operand, operand)
        values = np.asarray(constant.detach().cpu().numpy() if hasattr(constant, "detach") else constant, dtype=float)
        if node.kwargs or values.ndim > 1 or (not forwards and name in ("subtraction", "division")):
            raise CannotReadError(f"this form of {name} is not supported")
        values = np.atleast_1d(values)
        one, zero = np.ones(1), np.zeros(1)
        scale, shift = {
            "addition": (one, values),
            "subtraction": (one, -values),
            "multiplication": (values, zero),
            "division": (1 / values if name == "division" else one, zero),
        }[name]
        return lambda builder: builder.elementwise(scale, shift)

    def _finish_chain(self) -> tuple[DenseLayers, OutputKind]:
        n_outputs = self._builder.n_outputs
        if self._end is None and self._builder.ends_in_activation:
            # 0.9 * sigmoid(x) + 0.05 is a probability, tanh(x) a logit: their values tell, their last step does not
            raise CannotReadError("its outputs are those of an activation other than a plain sigmoid or softmax")
        ends, combine = {
            1: ({None: "logit", End.SIGMOID: "probability"}, [1.0]),
            2: ({None: "logit", End.LOG_SOFTMAX: "logit", End.SOFTMAX: "probability"}, [-1.0, 1.0]),
        }.get(n_outputs or 0, ({}, []))
        if self._end not in ends:
            raise CannotReadError(f"a module with {n_outputs} outputs that end in {self._end} is not supported")
        return self._builder.margin(combine), cast(OutputKind, ends[self._end])
