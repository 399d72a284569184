"""Reductions, products, convolutions and pools in NumPy: one expression each."""

from __future__ import annotations

import math
from typing import Any

from imports.graph import Graph, Number, Operation, Ref
from imports.node_arguments import (
    correction_of,
    keeps,
    plain,
    pool_arguments,
    pool_options,
    pooled_shape,
    reduced_axes,
    tuple_of,
)
from imports.numpy_helpers import NEEDS
from imports.refusal import RECORDS, ImportRefused


class NumpyReductions:
    """Expressions for the nodes of one graph; `helpers` are those that they need."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = {n.name: n for n in graph.nodes}
        self.helpers: set[str] = set()

    def text(self, value: Any) -> str:
        """Write an argument as Python."""
        if isinstance(value, Ref):
            return value.name
        if isinstance(value, Number):
            return f"({value.text})"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(self.text(v) for v in value)}]"
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            return "np.inf" if value > 0 else "-np.inf"
        return "np.nan" if isinstance(value, float) and math.isnan(value) else repr(value)

    def shape(self, node: Operation) -> str:
        """Write the node's shape as a tuple."""
        return tuple_of(node.shape)

    def _sum(self, node: Operation) -> str:
        return self._reduced("sum", node)

    def _mean(self, node: Operation) -> str:
        return self._reduced("mean", node)

    def _amax(self, node: Operation) -> str:
        return self._reduced("max", node)

    def _amin(self, node: Operation) -> str:
        return self._reduced("min", node)

    def _prod(self, node: Operation) -> str:
        return self._reduced("prod", node)

    def _any(self, node: Operation) -> str:
        return self._reduced("any", node)

    def _all(self, node: Operation) -> str:
        return self._reduced("all", node)

    def _reduced(self, call: str, node: Operation) -> str:
        axes = reduced_axes(node, len(self._graph.shape_of(node.args[0].name)))
        keep = ", keepdims=True" if keeps(node) else ""
        return f"np.{call}({self.text(node.args[0])}, axis={tuple(axes)}{keep})"

    def _var(self, node: Operation) -> str:
        axes = reduced_axes(node, len(self._graph.shape_of(node.args[0].name)))
        correction = correction_of(node)
        keep = ", keepdims=True" if keeps(node) else ""
        return f"np.var({self.text(node.args[0])}, axis={tuple(axes)}, ddof={correction}{keep})"

    def _linalg_vector_norm(self, node: Operation) -> str:
        x, power = self.text(node.args[0]), (node.args[1] if len(node.args) > 1 else 2)
        axes = reduced_axes(
            Operation("", "", (node.args[0], *node.args[2:]), {}, (), ""), len(self._graph.shape_of(node.args[0].name))
        )
        keep = bool(node.args[3]) if len(node.args) > 3 else False
        if power not in (1, 2):
            raise ImportRefused(f"a norm of the order {power} has no translation to NumPy yet; {RECORDS}")
        inner = f"np.abs({x})" if power == 1 else f"{x} * {x}"
        total = f"np.sum({inner}, axis={tuple(axes)}, keepdims={keep})"
        return total if power == 1 else f"np.sqrt({total})"

    def _argmax(self, node: Operation) -> str:
        return self._arg("argmax", node)

    def _argmin(self, node: Operation) -> str:
        return self._arg("argmin", node)

    def _arg(self, call: str, node: Operation) -> str:
        axis = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
        keep = bool(node.args[2]) if len(node.args) > 2 else False
        return f"np.{call}({self.text(node.args[0])}, axis={axis}, keepdims={keep})"

    def _max(self, node: Operation) -> str:
        return self._both("max", node)

    def _min(self, node: Operation) -> str:
        return self._both("min", node)

    def _both(self, call: str, node: Operation) -> str:
        if len(node.args) < 2:
            return f"np.{call}({self.text(node.args[0])})"
        keep = bool(node.args[2]) if len(node.args) > 2 else False
        x, axis = self.text(node.args[0]), node.args[1]
        return f"(np.{call}({x}, axis={axis}, keepdims={keep}), np.arg{call}({x}, axis={axis}, keepdims={keep}))"

    def _cumsum(self, node: Operation) -> str:
        return f"np.cumsum({self.text(node.args[0])}, axis={node.args[1]})"

    def _cumprod(self, node: Operation) -> str:
        return f"np.cumprod({self.text(node.args[0])}, axis={node.args[1]})"

    def _getitem(self, node: Operation) -> str:
        source = self._nodes[node.args[0].name]
        if plain(source.op).startswith("max_pool"):
            if node.args[1] != 0:
                raise ImportRefused(f"the places of a maximum pool have no translation to NumPy yet; {RECORDS}")
            return source.name
        return f"{source.name}[{node.args[1]}]"

    def _mm(self, node: Operation) -> str:
        return f"{self.text(node.args[0])} @ {self.text(node.args[1])}"

    _bmm = _mv = _dot = _mm

    def _steps(self, rule: str, node: Operation) -> str:
        self._helper("recurrence")
        return f'recurrence("{rule}", {", ".join(self.text(v) for v in node.args)})'

    def _lstm_steps(self, node: Operation) -> str:
        return self._steps("lstm", node)

    def _gru_steps(self, node: Operation) -> str:
        return self._steps("gru", node)

    def _tanh_steps(self, node: Operation) -> str:
        return self._steps("tanh", node)

    def _relu_steps(self, node: Operation) -> str:
        return self._steps("relu", node)

    def _convolution(self, node: Operation) -> str:
        x, w, b, stride, pad, dilation, is_transposed, _, groups = node.args
        name = "spread" if is_transposed else "convolve"
        self._helper(name)
        steps = ", ".join(self.text(v) for v in (stride, pad, dilation, groups))
        return f"{name}({self.text(x)}, {self.text(w)}, {self.text(b)}, {steps}, {self.shape(node)})"

    def _max_pool2d_with_indices(self, node: Operation) -> str:
        x, kernel, stride, pad, dilation = pool_arguments(node)
        self._helper("max_pool")
        shape = tuple_of(pooled_shape(self._graph, node))
        return f"max_pool({self.text(x)}, {kernel}, {stride}, {pad}, {dilation}, {shape})"

    _max_pool3d_with_indices = _max_pool2d_with_indices

    def _avg_pool2d(self, node: Operation) -> str:
        x, kernel, stride, pad, _ = pool_arguments(node)
        _, with_padding, divisor = pool_options(node)
        self._helper("avg_pool")
        return f"avg_pool({self.text(x)}, {kernel}, {stride}, {pad}, {self.shape(node)}, {with_padding}, {divisor})"

    _avg_pool3d = _avg_pool1d = _avg_pool2d

    def _helper(self, name: str) -> None:
        self.helpers.update((name, *NEEDS.get(name, ())))
