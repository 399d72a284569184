"""One graph in which operators are replaced by a kernel, where that changes nothing but the time."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch

from exports.models.package.graphs import changed, is_view, root
from exports.models.package.operators import PlacedKernel, VerifiedCase, told
from exports.models.package.patterns import PatternMatch


class Replacing:
    """A traced graph, changed place by place."""

    def __init__(self, module: torch.fx.GraphModule, inputs: Sequence[torch.Tensor]) -> None:
        """Take a graph whose nodes hold fake values, and its inputs, which say whether gradients are asked for."""
        self._module, self.graph = module, module.graph
        self._has_updates = any(changed(node) for node in self.graph.nodes)
        self._differentiated = _differentiated(self.graph, inputs)

    def finished(self) -> torch.fx.GraphModule:
        """Return the module without what nobody reads any more."""
        self.graph.eliminate_dead_code()
        self._module.recompile()
        return self._module

    def is_read(self, node: torch.fx.Node) -> bool:
        """Tell whether something that is left in the graph reads a value."""
        return node in self._live()

    def _live(self) -> set[torch.fx.Node]:
        """Find what the outputs need, and what updates something."""
        needed = set[torch.fx.Node]()
        for node in reversed(self.graph.nodes):
            if node.op == "output" or node in needed or changed(node):
                needed.update(node.all_input_nodes)
        return needed

    def replace(self, kernel: PlacedKernel, match: PatternMatch, values: Sequence[Any]) -> str:
        """Put the kernel in the place; the reason where it must not stand there, else an empty text."""
        if any(not isinstance(value, torch.Tensor) or not _is_static(value) for value in values):
            return "a shape depends on a size that changes from call to call"
        case = kernel.case_of(
            [_ordered(value, order) for value, order in zip(values, kernel.input_orders, strict=True)]
        )
        if case is None:
            return f"it was not verified for {told(values)}"
        if not match.is_exact:
            return "the same operators stand there with other sizes"
        if not kernel.has_backward and any(node in self._differentiated for node in match.inputs):
            return "gradients are needed, and it has no backward kernel"
        outputs = [node.meta.get("val") for node in match.outputs]
        rows = zip(case.outputs, outputs, kernel.output_orders, strict=True)
        if not all(layout.holds(_ordered(value, order)) for layout, value, order in rows):
            return f"the model gives {told(outputs)}, and the kernel lays its results out otherwise"
        return self._insert(kernel, case, match)

    def _insert(self, kernel: PlacedKernel, case: VerifiedCase, match: PatternMatch) -> str:
        order = {node: position for position, node in enumerate(self.graph.nodes)}
        inner = set(match.inner)
        users = [user for node in match.outputs for user in node.users if user not in inner]
        if not users:
            return "nothing reads its results"
        first = min(users, key=order.__getitem__)
        if any(order[node] >= order[first] for node in match.inputs):
            return "an input comes after the first use of a result"
        if self._has_updates and self._is_touched(match, order, first):
            return "a value is updated in place beside it"
        with self.graph.inserting_before(first):
            inputs = [self._permuted(n, order) for n, order in zip(match.inputs, kernel.input_orders, strict=True)]
            call = self.graph.call_function(kernel.call, (*inputs, *case.sizes))
            results = [call]
            if len(match.outputs) > 1:
                results = [self.graph.call_function(operator.getitem, (call, n)) for n in range(len(match.outputs))]
            results = [
                self._permuted(result, [order.index(axis) for axis in range(len(order))])
                for result, order in zip(results, kernel.output_orders, strict=True)
            ]
        values = [node.meta.get("val") for node in match.outputs]
        for node, result, value in zip(match.outputs, results, values, strict=True):
            result.meta["val"] = value
            node.replace_all_uses_with(result, delete_user_cb=lambda user: user not in inner)
        return ""

    def _permuted(self, node: torch.fx.Node, order: Sequence[int]) -> torch.fx.Node:
        """Return the value with its axes in this order; as it is where the order is empty."""
        return self.graph.call_function(torch.ops.aten.permute.default, (node, list(order))) if order else node

    def _is_touched(self, match: PatternMatch, order: dict[torch.fx.Node, int], first: torch.fx.Node) -> bool:
        """Tell whether an update in place may come between the operators, or reach a view that they share."""
        inner = set(match.inner)
        start = min(order[node] for node in inner)
        if any(is_view(node) and any(user not in inner for user in node.users) for node in inner):
            return True
        if any(root(node) not in inner for node in match.outputs):
            return True  # a result is a view of an input: whoever updates it updates that
        between = (node for node in self.graph.nodes if start <= order[node] < order[first])
        return any(changed(node) for node in between)


def _ordered(value: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    return value.permute(order) if order else value


def _differentiated(graph: torch.fx.Graph, inputs: Sequence[torch.Tensor]) -> set[torch.fx.Node]:
    """Find the values through which gradients may flow."""
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    reached = {
        n for n, tensor in zip(placeholders, inputs, strict=True) if torch.is_grad_enabled() and tensor.requires_grad
    }
    for node in graph.nodes:
        if any(argument in reached for argument in node.all_input_nodes):
            reached.add(node)
    return reached


def _is_static(value: torch.Tensor) -> bool:
    return all(isinstance(n, int) for n in (*value.shape, *value.stride()))
