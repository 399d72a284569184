"""Reductions of a graph in one form: without their axes, variances and norms as sums, equal operations once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from imports.graph import Graph, Number, Operation, Ref, Size
from imports.names import free_name
from imports.node_arguments import correction_of, keeps, plain, reduced_axes
from imports.schedules.case_sizes import product_text

KINDS = ("sum", "prod", "any", "all", "amax", "amin", "argmax", "argmin", "squares")
EXTREMES = {"max": "amax", "min": "amin"}
SPREAD = "squares"  # of what is left of the mean: a variance without its divisor


def canonical(graph: Graph, keeps_spread: Callable[[Sequence[Size], Sequence[int]], bool]) -> Graph:
    """Rewrite the graph; `keeps_spread` says of which reductions a variance is taken in one pass."""
    writer = _Rewriter(graph, keeps_spread)
    for node in graph.nodes:
        writer.add(node)
    outputs = tuple((spec, writer.renamed.get(name, name)) for spec, name in graph.outputs)
    rewritten = Graph(graph.inputs, tuple(writer.nodes.values()), outputs, graph.notes)
    return replace(rewritten, nodes=rewritten.needed()[0])


class _Rewriter:
    def __init__(self, graph: Graph, keeps_spread: Callable[[Sequence[Size], Sequence[int]], bool]) -> None:
        self.nodes: dict[str, Operation] = {}
        self.renamed: dict[str, str] = {}
        self._keeps_spread = keeps_spread
        self._inputs = {t.name: t for t in graph.inputs}
        self._taken = {*self._inputs, *(n.name for n in graph.nodes)}
        self._keys: dict[str, str] = {}
        self._parts = {n.name: n for n in graph.nodes if not n.dtype}  # operations of several results

    def add(self, node: Operation) -> None:
        """Take over one node, or what it is made of."""
        node = replace(node, args=self._mapped(node.args), kwargs={n: self._mapped(v) for n, v in node.kwargs.items()})
        self._parts |= {node.name: node} if not node.dtype else {}
        name = plain(node.op)
        if name == "getitem" and plain(self._parts[node.args[0].name].op) in EXTREMES:
            self._extreme_part(node)
        elif not node.dtype and name in EXTREMES:
            return
        elif name in EXTREMES and len(node.args) == 1:
            self._reduction(node, EXTREMES[name], node.args[0].name)
        elif name in ("sum", "prod", "any", "all", "amax", "amin"):
            self._reduction(node, name, node.args[0].name)
        elif name in ("argmax", "argmin") and (node.args[1:] or node.kwargs.get("dim") is not None):
            axis = node.args[1] if len(node.args) > 1 else node.kwargs["dim"]
            self._reduction(replace(node, args=(node.args[0], [axis])), name, node.args[0].name)
        elif name == "mean":
            total = self._reduction(node, "sum", node.args[0].name, as_node=False)
            self._keep(replace(node, op="aten.div.Tensor", args=(Ref(total), self._count(node)), kwargs={}))
        elif name == "var":
            self._variance(node)
        elif name == "linalg_vector_norm" and (node.args[1] if len(node.args) > 1 else 2) in (1, 2):
            self._norm(node)
        else:
            self._keep(node)

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return Ref(self.renamed.get(value.name, value.name))
        if isinstance(value, (list, tuple)):
            return type(value)(self._mapped(v) for v in value)
        return value

    def _shape(self, name: str) -> tuple[Size, ...]:
        return self._inputs[name].shape if name in self._inputs else self.nodes[name].shape

    def _dtype(self, name: str) -> str:
        return self._inputs[name].dtype if name in self._inputs else self.nodes[name].dtype

    def _keep(self, node: Operation) -> str:
        """Add a node unless there is an equal one; return the name that its value has."""
        key = repr((node.op, node.args, sorted(node.kwargs.items()), node.shape, node.dtype))
        if key in self._keys:
            self.renamed[node.name] = self._keys[key]
        else:
            self._keys[key] = node.name
            self.nodes[node.name] = node
        return self._keys[key]

    def _new(self, stem: str, op: str, args: tuple[Any, ...], shape: Sequence[Size], dtype: str) -> str:
        name = free_name(stem, self._taken)
        self._taken.add(name)
        return self._keep(Operation(name, op, args, {}, tuple(shape), dtype))

    def _reduction(self, node: Operation, kind: str, operand: str, as_node: bool = True) -> str:
        """Write a reduction without its axes, and its value in the node's shape."""
        shape = self._shape(operand)
        axes = reduced_axes(node, len(shape))
        left = [s for k, s in enumerate(shape) if k not in axes]
        bare = self._new(f"{node.name}_bare", f"aten.{kind}.default", (Ref(operand), axes), left, node.dtype)
        if tuple(left) == tuple(node.shape) and as_node:
            self.renamed[node.name] = bare
            return bare
        if tuple(left) == tuple(node.shape):
            return bare
        args = (Ref(bare), list(node.shape))
        if not as_node:
            return self._new(f"{node.name}_in_shape", "aten.view.default", args, node.shape, node.dtype)
        return self._keep(replace(node, op="aten.view.default", args=args, kwargs={}))

    def _count(self, node: Operation) -> Number:
        shape = self._shape(node.args[0].name)
        return Number(f"float({product_text([shape[a] for a in reduced_axes(node, len(shape))])})", True)

    def _variance(self, node: Operation) -> None:
        x = node.args[0].name
        shape = self._shape(x)
        axes = reduced_axes(node, len(shape))
        if self._keeps_spread(shape, axes):
            spread = self._reduction(node, SPREAD, x, as_node=False)
        else:
            kept = [1 if k in axes else s for k, s in enumerate(shape)]
            over = replace(
                node, args=(node.args[0], axes, True), kwargs={}, shape=tuple(kept), op="aten.sum.dim_IntList"
            )
            total = self._reduction(over, "sum", x, as_node=False)
            mean = self._new(f"{node.name}_mean", "aten.div.Tensor", (Ref(total), self._count(node)), kept, node.dtype)
            less = self._new(f"{node.name}_less", "aten.sub.Tensor", (Ref(x), Ref(mean)), shape, node.dtype)
            square = self._new(f"{node.name}_square", "aten.mul.Tensor", (Ref(less), Ref(less)), shape, node.dtype)
            args = (Ref(square), axes, keeps(node))
            spread = self._reduction(replace(node, args=args, kwargs={}), "sum", square, as_node=False)
        count, correction = self._count(node), correction_of(node)
        less_one = getattr(correction, "text", correction)
        divisor = count if correction == 0 else Number(f"{count.text} - {less_one}", True)
        self._keep(replace(node, op="aten.div.Tensor", args=(Ref(spread), divisor), kwargs={}))

    def _norm(self, node: Operation) -> None:
        x, power = node.args[0].name, node.args[1] if len(node.args) > 1 else 2
        shape, axes = self._shape(x), node.args[2] if len(node.args) > 2 else None
        op, args = ("aten.mul.Tensor", (Ref(x), Ref(x))) if power == 2 else ("aten.abs.default", (Ref(x),))
        part = self._new(f"{node.name}_part", op, args, shape, node.dtype)
        keep = bool(node.args[3]) if len(node.args) > 3 else False
        over = replace(node, op="aten.sum.dim_IntList", args=(Ref(part), axes, keep), kwargs={})
        total = self._reduction(over, "sum", part, as_node=power != 2)
        if power == 2:
            self._keep(replace(node, op="aten.sqrt.default", args=(Ref(total),), kwargs={}))

    def _extreme_part(self, node: Operation) -> None:
        source = self._parts[node.args[0].name]
        keep = bool(source.args[2]) if len(source.args) > 2 else False
        kind = EXTREMES[plain(source.op)] if node.args[1] == 0 else f"arg{plain(source.op)}"
        over = replace(node, op="aten.amax.default", args=(source.args[0], [source.args[1]], keep), kwargs={})
        self._reduction(over, kind, source.args[0].name)


def is_reduction(node: Operation) -> bool:
    """Tell whether a node of a rewritten graph is a reduction."""
    return plain(node.op) in KINDS and node.op.endswith(".default") and len(node.args) == 2


def divided(shape: Sequence[Size], axes: Sequence[int]) -> tuple[list[Size], list[Size]]:
    """Divide a shape into the axes that stay and those that a reduction takes."""
    return [s for k, s in enumerate(shape) if k not in axes], [shape[k] for k in axes]
